/** `MysqlDriver`: runs each statement on a connection of mysql2, and destroys those that are broken or don't respond. */
import { Deadlines } from '../../base/deadlines.ts'
import { type Bytes, type Milliseconds, type Seconds, steadyClock } from '../../base/time.ts'
import { ModelError } from '../model-error.ts'
import type { Driver, Rows, Statement } from '../sql/driver.ts'
import { NoAnswer, NoConnection, WaitQueue } from '../sql/pool.ts'
import { isKept, PreparedTexts } from '../sql/text-cache.ts'
import { runTransaction } from '../sql/transaction.ts'
import { usageOf } from '../usage.ts'
import { isLost, isReadOnly, isUnsent, numberOf } from './errors.ts'
import {
	boundedRows,
	type Callback,
	type Connection,
	type Connections,
	connectionsOf,
	type MysqlDatabase,
	PREPARED,
	type Result,
	type StatementOptions,
} from './mysql2/connections.ts'

/** Maximum per connection. The server allows 16,382 in total, which clients could exhaust by their choice of filters. */
const MAX_PREPARED = 200

/**
 * Errors after which the server has rolled back the whole transaction, or may have (lock wait timeout, depending on its
 * settings): deadlock, lock wait timeout, record changed, lock table full, error during commit, XA.
 */
const ROLLED_BACK: ReadonlySet<number> = new Set([1213, 1205, 1020, 1206, 1180, 1613, 1614])

const TWO_TO_64 = 2n ** 64n

/** @throws TypeError unless `database` is a pool, a pool cluster or a connection of mysql2 */
export function driverOf(database: MysqlDatabase, timeoutSeconds: Seconds): MysqlDriver {
	return new MysqlDriver(connectionsOf(database), timeoutSeconds)
}

export class MysqlDriver implements Driver {
	readonly #connections: Connections
	readonly #waiting: WaitQueue<Connection>
	readonly #deadlines: Deadlines
	/** Shorter than the model's timeout, because this driver's errors are more precise. */
	readonly #timeout: Milliseconds
	/** Timeout in the server, shorter than the driver's: abandoned statements would keep connections that no pool counts. */
	readonly statementTimeout: Milliseconds
	/** See `Server`; set once the server was queried. */
	withSettings: (statement: Statement) => string = ({ text }) => text
	/** `max_allowed_packet`: on a larger packet the server disconnects, often before its error has arrived. */
	maxPacketBytes: Bytes = Number.POSITIVE_INFINITY

	constructor(connections: Connections, timeoutSeconds: Seconds) {
		const milliseconds = timeoutSeconds * 1000
		this.#connections = connections
		this.#deadlines = new Deadlines(steadyClock, milliseconds / 2)
		this.#waiting = new WaitQueue<Connection>(
			this.#deadlines,
			(callback) => connections.get(callback),
			(connection) => connections.release(connection),
		)
		this.#timeout = milliseconds * 0.8
		usageOf(this).pool = () => {
			const usage = connections.usage?.()
			return usage && { ...usage, system: 'mysql', waiting: this.#waiting.size }
		}
		this.statementTimeout = this.#timeout - Math.min(500, this.#timeout / 8)
	}

	async query(statement: Statement): Promise<Rows> {
		const connection = await this.#acquire()
		try {
			const rows = await this.#run(connection, statement)
			this.#connections.release(connection)
			return rows
		} catch (error) {
			this.#releaseAfter(error, connection)
			throw error
		}
	}

	async transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		const connection = await this.#acquire()
		let isBroken = false
		const leaves = (error: unknown): 'everything' | 'nothing' => {
			if (isLost(error) || isReadOnly(error)) isBroken = true
			return isBroken || ROLLED_BACK.has(numberOf(error) ?? 0) ? 'nothing' : 'everything'
		}
		const session = {
			run: (statement: Statement) => this.#run(connection, statement),
			control: async (text: string) => {
				// A rollback on a connection that doesn't respond would only wait for another timeout.
				if (!isBroken) await this.#send((callback) => connection.query(optionsOf(text), callback))
			},
			leaves,
			connection: this.#connections.lent(connection),
		}
		const rollbackFailed = () => {
			isBroken = true
		}
		try {
			const result = await runTransaction(session, work, rollbackFailed, 'start transaction')
			this.#connections.release(connection)
			return result
		} catch (error) {
			if (isReadOnly(error instanceof NoConnection ? error.cause : error)) this.#connections.renew(connection)
			else if (isBroken) this.#destroy(connection, error instanceof NoConnection ? error.cause : error)
			else this.#connections.release(connection)
			throw error
		}
	}

	renew(): void {
		this.#connections.renew()
	}

	/** @throws NoConnection after the timeout at the latest */
	#acquire(): Promise<Connection> {
		return new Promise((resolve, reject) => this.#waiting.acquire(resolve, reject, this.#timeout))
	}

	/** Sends a statement, prepared if it has values. The caller destroys a connection that doesn't respond. */
	#run(connection: Connection, statement: Statement): Promise<Rows> {
		const { values, maxBytes, isOfLists } = statement
		const sql = this.withSettings(statement)
		if (!fits(sql, values, this.maxPacketBytes)) return Promise.reject(new ModelError('invalid'))
		return this.#send((callback) => {
			const prepared = preparedOn(connection)
			const send = (method: 'query' | 'execute', done: Callback): void => {
				const options = optionsOf(sql, values)
				if (maxBytes === undefined) connection[method](options, done)
				else boundedRows(connection, connection[method](options), { maxBytes, isOfLists }, done)
			}
			if (values.length === 0) send('query', callback)
			else if (isKept(statement) && staysPrepared(prepared, sql)) send('execute', callback)
			else {
				send('execute', (error, result) => {
					connection.unprepare(optionsOf(sql))
					callback(error, result)
				})
			}
		})
	}

	/** Releases the connection, or destroys it if its state is unknown. */
	#releaseAfter(error: unknown, connection: Connection): void {
		// If a page is too large, the rest of it is still being received. A pool's connection is destroyed; a single
		// connection, which has no `release`, must wait for the rest.
		const isBusy = error instanceof ModelError && error.kind !== 'invalid' && connection.release !== undefined
		if (isReadOnly(error)) this.#connections.renew(connection)
		else if (isBusy || isLost(error) || isUnsent(error)) this.#destroy(connection, error)
		else this.#connections.release(connection)
	}

	/** Other connections to a silent server would be found out one after the other, each by a statement that times out. */
	#destroy(connection: Connection, error: unknown): void {
		this.#connections.destroy(connection)
		if (error instanceof NoAnswer) this.#connections.renew()
	}

	#send(send: (callback: Callback) => unknown): Promise<Rows> {
		return new Promise((resolve, reject) => {
			const item = this.#deadlines.after(this.#timeout, () => reject(new NoAnswer()))
			const callback: Callback = (error, result) => {
				this.#deadlines.delete(item)
				// mysql2 passes null for no error.
				if (error === undefined || error === null) resolve(rowsOf(result))
				else reject(error)
			}
			try {
				send(callback)
			} catch (error) {
				callback(error)
			}
		})
	}
}

function rowsOf(result: Result | undefined): Rows {
	if (result === undefined) return { rows: [], affected: 0 }
	if (!('affectedRows' in result)) return { rows: result, affected: result.length }
	return { rows: [], affected: result.affectedRows, insertId: digitsOf(result.insertId) }
}

/** The digits of a generated key: it is unsigned, but mysql2 reads it as signed. */
function digitsOf(insertId: number | string): string | undefined {
	const digits = String(insertId)
	if (digits === '0') return undefined
	return digits.startsWith('-') ? String(TWO_TO_64 + BigInt(digits)) : digits
}

function optionsOf(sql: string, values?: readonly unknown[]): StatementOptions {
	const options = { sql, rowsAsArray: true, nestTables: false, typeCast: true } as const
	return values === undefined ? options : { ...options, values }
}

/** The texts that stay prepared on a connection; the first call checks the connection's flags. */
function preparedOn(connection: Connection): PreparedTexts<true> {
	const known = connection[PREPARED]
	if (known !== undefined) return known
	assertFoundRows(connection)
	const prepared = new PreparedTexts<true>((text) => connection.unprepare(optionsOf(text)), MAX_PREPARED)
	connection[PREPARED] = prepared
	// mysql2 emits 'error' for errors between statements; without a listener the process would end.
	connection.on('error', () => {})
	return prepared
}

/** Whether a text stays prepared. Not at its first use: it must not evict texts that are used repeatedly. */
function staysPrepared(prepared: PreparedTexts<true>, text: string): boolean {
	if (prepared.get(text) !== undefined) return true
	if (!prepared.isSeenAgain(text)) return false
	prepared.add(text, true)
	return prepared.get(text) !== undefined
}

/** Capability flag: changes report the rows they have matched, not only the rows they have modified. */
const FOUND_ROWS = 2

function assertFoundRows({ config }: Connection): void {
	if (config?.clientFlags === undefined || (config.clientFlags & FOUND_ROWS) !== 0) return
	throw new TypeError(
		"the pool has the flag '-FOUND_ROWS', so a change that keeps all values would look as if no record matched: leave the flag out",
	)
}

/** Allowance for the rest of the packet (`OVERHEAD`), and for a value that is neither text nor bytes (`SMALL`). */
const OVERHEAD: Bytes = 1_024
const SMALL: Bytes = 16

/** Whether a statement fits into a packet. Texts are measured only if an upper bound of their size doesn't fit. */
function fits(sql: string, values: readonly unknown[], maxBytes: Bytes): boolean {
	let upperBound = sql.length + OVERHEAD
	for (const value of values) upperBound += typeof value === 'string' ? value.length * 3 : sizeOf(value)
	if (upperBound <= maxBytes) return true
	let bytes = Buffer.byteLength(sql) + OVERHEAD
	for (const value of values) bytes += typeof value === 'string' ? Buffer.byteLength(value) : sizeOf(value)
	return bytes <= maxBytes
}

function sizeOf(value: unknown): Bytes {
	return value instanceof Uint8Array ? value.length : SMALL
}
