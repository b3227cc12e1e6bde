/**
 * `Transaction`: a driver whose statements all run on one connection, between begin and commit. Made by
 * `driver.ts` for each transaction.
 */
import type { Driver, Rows, Statement } from '../sql/driver.ts'
import { NoConnection } from '../sql/pool.ts'
import type { Connection } from './connections.ts'
import { isLost, isReadOnly, numberOf } from './lost.ts'

/**
 * After these the server has rolled back the whole transaction, or may have (lock wait, by its settings):
 * what came next would no longer be one. Deadlock, lock wait, record changed, lock table full, error during commit.
 */
const ROLLED_BACK = new Set([1213, 1205, 1020, 1206, 1180, 1613, 1614])

/** What a transaction sends its statements by. */
interface Sender {
	run(connection: Connection, statement: Statement): Promise<Rows>
	control(connection: Connection, text: string): Promise<void>
}

export class Transaction implements Driver {
	readonly #sender: Sender
	readonly #connection: Connection
	#depth = 0
	#isOver = false
	/** The error by which the transaction ended before its commit. */
	#broken: { readonly error: unknown } | undefined
	/** Whether the connection is broken, or nobody knows the state of it. */
	isLost = false

	constructor(sender: Sender, connection: Connection) {
		this.#sender = sender
		this.#connection = connection
	}

	async run<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		try {
			await this.#control('start transaction')
		} catch (error) {
			throw isLost(error) ? new NoConnection(error) : error
		}
		try {
			const result = await work(this)
			if (this.#broken !== undefined) throw this.#broken.error
			await this.#control('commit')
			return result
		} catch (error) {
			await this.#rollBack()
			throw error
		} finally {
			this.#isOver = true
		}
	}

	async query(statement: Statement): Promise<Rows> {
		if (this.#isOver) throw new TypeError('the transaction is over: await what is done within it')
		if (this.#broken !== undefined) throw this.#broken.error
		try {
			return await this.#sender.run(this.#connection, statement)
		} catch (error) {
			this.#note(error)
			throw error
		}
	}

	/** Within a transaction, another one is a savepoint. */
	async transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		if (this.#isOver) throw new TypeError('the transaction is over: await what is done within it')
		const name = `verbena_${++this.#depth}`
		await this.#control(`savepoint ${name}`)
		try {
			const result = await work(this)
			if (this.#broken !== undefined) throw this.#broken.error
			await this.#control(`release savepoint ${name}`)
			return result
		} catch (error) {
			if (this.#broken === undefined) await this.#control(`rollback to savepoint ${name}`)
			throw error
		}
	}

	async #control(text: string): Promise<void> {
		try {
			await this.#sender.control(this.#connection, text)
		} catch (error) {
			this.#note(error)
			throw error
		}
	}

	#note(error: unknown): void {
		if (isLost(error) || isReadOnly(error)) this.isLost = true
		if (this.isLost || ROLLED_BACK.has(numberOf(error) ?? 0)) this.#broken ??= { error }
	}

	async #rollBack(): Promise<void> {
		if (this.isLost) return
		try {
			await this.#control('rollback')
		} catch {
			// The connection is thrown away, which rolls back too.
			this.isLost = true
		}
	}
}
