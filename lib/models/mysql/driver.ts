/**
 * `MysqlDriver`: runs statements through mysql2, each on a connection of its own, and leaves none
 * behind that is broken or silent. Used by `model.ts`.
 */
import { Deadlines, type Due } from '../../base/deadlines.ts'
import { type Bytes, type Milliseconds, type Seconds, steadyClock } from '../../base/time.ts'
import { ModelError } from '../model-error.ts'
import type { Driver, Rows, Statement } from '../sql/driver.ts'
import { NoAnswer, NoConnection, WaitQueue } from '../sql/pool.ts'
import { isKept, PreparedTexts } from '../sql/text-cache.ts'
import { runTransaction } from '../sql/transaction.ts'
import { isLost, isReadOnly, isUnsent, numberOf } from './errors.ts'
import {
	type Answered,
	boundedRows,
	type Changed,
	type Connection,
	type Connections,
	connectionsOf,
	type MysqlDatabase,
	PREPARED,
	type StatementOptions,
} from './mysql2/connections.ts'

/**
 * The server allows 16,382 prepared statements in all, and clients choose which filters they send: no
 * connection keeps more than this, so that no client can use up what other programs need.
 */
const MOST_PREPARED = 200

/**
 * After these the server has rolled back the whole transaction, or may have (lock wait, by its settings):
 * deadlock, lock wait, record changed, lock table full, error during commit, XA.
 */
const ROLLED_BACK: ReadonlySet<number> = new Set([1213, 1205, 1020, 1206, 1180, 1613, 1614])

/** Of 2^64, for numbers that mysql2 has read with a sign. */
const TWO_TO_64 = 18_446_744_073_709_551_616n

/** @throws TypeError for what is no object of mysql2 */
export function driverOf(database: MysqlDatabase, timeoutSeconds: Seconds): MysqlDriver {
	return new MysqlDriver(connectionsOf(database), timeoutSeconds)
}

export class MysqlDriver implements Driver {
	readonly #connections: Connections
	readonly #waiting: WaitQueue<Connection>
	readonly #deadlines: Deadlines
	/** Shorter than the model's timeout, so that its error says what was waited for. */
	readonly #most: Milliseconds
	/**
	 * How long the server may work on a statement, so that it has ended before nobody waits for it any more: what was only
	 * given up would go on beside its successors, on connections that no pool counts.
	 */
	readonly longest: Milliseconds
	/** A statement with what holds for it alone; known once the server was asked. */
	withSettings: (statement: Statement) => string = ({ text }) => text
	/** The server's `max_allowed_packet`: it hangs up on what is larger, often before its error has arrived. */
	largest: Bytes = Number.POSITIVE_INFINITY

	constructor(connections: Connections, timeoutSeconds: Seconds) {
		const milliseconds = timeoutSeconds * 1000
		this.#connections = connections
		this.#deadlines = new Deadlines(steadyClock, milliseconds / 2)
		this.#waiting = new WaitQueue<Connection>(
			this.#deadlines,
			(got) => connections.get(got),
			(connection) => connections.giveBack(connection),
		)
		this.#most = milliseconds * 0.8
		this.longest = this.#most - Math.min(500, this.#most / 8)
	}

	async query(statement: Statement): Promise<Rows> {
		const connection = await this.take()
		try {
			const rows = await this.run(connection, statement)
			this.#connections.giveBack(connection)
			return rows
		} catch (error) {
			this.#leave(connection, error)
			throw error
		}
	}

	async transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		const connection = await this.take()
		let isBroken = false
		const leaves = (error: unknown): 'everything' | 'nothing' => {
			if (isLost(error) || isReadOnly(error)) isBroken = true
			return isBroken || ROLLED_BACK.has(numberOf(error) ?? 0) ? 'nothing' : 'everything'
		}
		const session = {
			run: (statement: Statement) => this.run(connection, statement),
			control: async (text: string) => {
				// A rollback would only wait once more for a silent connection.
				if (!isBroken) await this.#control(connection, text)
			},
			leaves,
		}
		const rollbackFailed = () => {
			isBroken = true
		}
		try {
			const result = await runTransaction(session, work, rollbackFailed, 'start transaction')
			this.#connections.giveBack(connection)
			return result
		} catch (error) {
			if (isReadOnly(error instanceof NoConnection ? error.cause : error)) this.#connections.renew(connection)
			else if (isBroken) this.#connections.throwAway(connection)
			else this.#connections.giveBack(connection)
			throw error
		}
	}

	renew(): void {
		this.#connections.renew()
	}

	/** @throws NoConnection, in bounded time */
	take(): Promise<Connection> {
		return new Promise((resolve, reject) => this.#waiting.acquire(resolve, reject, this.#most))
	}

	/**
	 * Sends a statement; prepared if it has values, while one without is complete as it is, and may never come
	 * again. The caller throws away a connection that is silent.
	 */
	run(connection: Connection, statement: Statement): Promise<Rows> {
		const { values, maxBytes } = statement
		const sql = this.withSettings(statement)
		if (!fits(sql, values, this.largest)) return Promise.reject(new ModelError('invalid'))
		return this.#answer((answered) => {
			const prepared = preparedOn(connection)
			const send = (how: 'query' | 'execute', told: Answered): void => {
				const options = optionsOf(sql, values)
				if (maxBytes === undefined) connection[how](options, told)
				else boundedRows(connection, connection[how](options), maxBytes, told)
			}
			if (values.length === 0) {
				send('query', answered)
				return
			}
			if (isKept(statement) && staysPrepared(prepared, sql)) {
				send('execute', answered)
				return
			}
			send('execute', (error, result) => {
				connection.unprepare(optionsOf(sql))
				answered(error, result)
			})
		})
	}

	/** Sends `start transaction`, `savepoint …` and the like. */
	async #control(connection: Connection, text: string): Promise<void> {
		await this.#answer((answered) => connection.query(optionsOf(text), answered))
	}

	/** After an error: gives the connection back, or throws it away if its state is unknown. */
	#leave(connection: Connection, error: unknown): void {
		// Of a page that is too large the rest is still on its way; the one connection there is must take it all.
		const isBusy = error instanceof ModelError && error.kind !== 'invalid' && connection.release !== undefined
		if (isReadOnly(error)) this.#connections.renew(connection)
		else if (isBusy || isLost(error) || isUnsent(error)) this.#connections.throwAway(connection)
		else this.#connections.giveBack(connection)
	}

	#answer(send: (answered: (error: unknown, result?: Result) => void) => unknown): Promise<Rows> {
		return new Promise((resolve, reject) => {
			const item: Due = {
				due: this.#deadlines.clock() + this.#most,
				expire: () => reject(new NoAnswer()),
			}
			this.#deadlines.add(item)
			const answered = (error: unknown, result?: Result): void => {
				this.#deadlines.delete(item)
				// mysql2 gives null where there is none.
				if (error === undefined || error === null) resolve(rowsOf(result))
				else reject(error)
			}
			try {
				send(answered)
			} catch (error) {
				answered(error)
			}
		})
	}
}

type Result = readonly (readonly unknown[])[] | Changed

function rowsOf(result: Result | undefined): Rows {
	if (result === undefined) return { rows: [], affected: 0 }
	if (isRows(result)) return { rows: result, affected: result.length }
	const { affectedRows, insertId } = result
	return { rows: [], affected: affectedRows, insertId: digitsOf(insertId) }
}

/** `Array.isArray` alone doesn't know of readonly arrays. */
function isRows(result: Result): result is readonly (readonly unknown[])[] {
	return Array.isArray(result)
}

/** A key that the server has made; it is never negative, but mysql2 reads it with a sign. */
function digitsOf(insertId: number | string): string | undefined {
	const digits = String(insertId)
	if (digits === '0') return undefined
	return digits.startsWith('-') ? String(TWO_TO_64 + BigInt(digits)) : digits
}

function optionsOf(sql: string, values?: readonly unknown[]): StatementOptions {
	const forms = { rowsAsArray: true, nestTables: false, typeCast: true } as const
	return values === undefined ? { sql, ...forms } : { sql, values, ...forms }
}

/** The texts that stay prepared on a connection; one that is new to us is looked at first. */
function preparedOn(connection: Connection): PreparedTexts<true> {
	const known = connection[PREPARED]
	if (known !== undefined) return known
	mustCountMatched(connection)
	const prepared = new PreparedTexts<true>((text) => connection.unprepare(optionsOf(text)), MOST_PREPARED)
	connection[PREPARED] = prepared
	// mysql2 emits 'error' for what goes wrong between statements; without a listener the program would end.
	connection.on('error', () => {})
	return prepared
}

/** A text that is asked for only once is closed again: it must not evict what others use. */
function staysPrepared(prepared: PreparedTexts<true>, text: string): boolean {
	if (prepared.get(text) !== undefined) return true
	if (!prepared.isSeenAgain(text)) return false
	prepared.add(text, true)
	return prepared.get(text) !== undefined
}

/** Bit of the protocol's capabilities by which a change counts the rows it has met, not those it has changed. */
const FOUND_ROWS = 2

function mustCountMatched({ config }: Connection): void {
	if (config?.clientFlags === undefined || (config.clientFlags & FOUND_ROWS) !== 0) return
	throw new TypeError(
		"the pool has the flag '-FOUND_ROWS', and a change to what is already so would look like no record: leave it out",
	)
}

/** Lru for what is sent beside texts and bytes, and for a value that is neither. */
const BESIDE: Bytes = 1_024
const SMALL: Bytes = 16

/** Only where it comes near, each text is measured. */
export function fits(sql: string, values: readonly unknown[], largest: Bytes): boolean {
	let most = sql.length + BESIDE
	for (const value of values) most += typeof value === 'string' ? value.length * 3 : sizeOf(value)
	if (most <= largest) return true
	let bytes = Buffer.byteLength(sql) + BESIDE
	for (const value of values) bytes += typeof value === 'string' ? Buffer.byteLength(value) : sizeOf(value)
	return bytes <= largest
}

function sizeOf(value: unknown): Bytes {
	return value instanceof Uint8Array ? value.length : SMALL
}
