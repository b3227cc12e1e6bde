/** `PgInserts`: inserts on the connections of pg; those that wait at the same time are sent `Together`. */
import type { Rows, Statement } from '../../sql/driver.ts'
import { NotSent, Unanswered } from './failure.ts'
import type { PgConnections } from './pg-connections.ts'
import { isBreaking, type Lease } from './pg-lease.ts'
import { takesStatements } from './pg-statement.ts'
import { type Insert, Together } from './together.ts'

export class PgInserts {
	readonly #connections: PgConnections
	/** By their texts; only of those that are waited for. */
	readonly #together = new Map<string, Together>()

	constructor(connections: PgConnections) {
		this.#connections = connections
	}

	query(statement: Statement): Promise<Rows> {
		const { text } = statement
		let together = this.#together.get(text)
		if (together === undefined) {
			together = new Together({
				begin: (item) => this.#connections.begin(item),
				end: (item) => this.#connections.end(item),
				send: (take) => new Promise((done) => this.#send(take, done)),
				idle: () => this.#together.delete(text),
			})
			this.#together.set(text, together)
		}
		return together.query(statement)
	}

	/** `done` is called when the connection is free again. */
	#send(take: () => readonly Insert[], done: () => void): void {
		const lend = (lease: Lease): void => {
			const inserts = take()
			const [first, ...others] = inserts
			const release = (): void => {
				lease.release()
				done()
			}
			if (first === undefined) release()
			else if (others.length > 0 && takesStatements(lease.client)) this.#runBatch(lease, inserts, release)
			else {
				this.#run(lease, first, release)
				for (const other of others) this.#sendAlone(other)
			}
		}
		const fail = (error: NotSent): void => {
			for (const insert of take()) insert.reject(error)
			done()
		}
		this.#connections.borrow(lend, fail)
	}

	#runBatch(lease: Lease, inserts: readonly Insert[], release: () => void): void {
		const statements = inserts.map(({ statement }) => statement)
		this.#connections.runTogether(lease, statements, (error, results) => {
			release()
			for (const [at, insert] of inserts.entries()) {
				const rows = results?.[at]
				if (rows !== undefined) insert.resolve(rows)
				// All are undone: whose fault it was is found out by each on its own.
				else if (error !== undefined && !isBreaking(error)) this.#sendAlone(insert)
				else insert.reject(error ?? new Unanswered())
			}
		})
	}

	/** Within what is left of the time to have a connection. */
	#sendAlone(insert: Insert): void {
		const { reject } = insert
		const left = this.#connections.left(insert)
		if (left <= 0) reject(new NotSent(undefined))
		else {
			const lend = (lease: Lease): void => this.#run(lease, insert, () => lease.release())
			this.#connections.borrow(lend, reject, left)
		}
	}

	#run(lease: Lease, { statement, resolve, reject }: Insert, release: () => void): void {
		this.#connections.run(lease, statement, true, (error, rows) => {
			release()
			if (rows === undefined) reject(error)
			else resolve(rows)
		})
	}
}
