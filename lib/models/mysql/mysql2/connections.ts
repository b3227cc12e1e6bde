/**
 * `connectionsOf`: one interface to the user's mysql2 object, which may be a pool, a pool cluster or one connection, of
 * `mysql2` or of `mysql2/promise`; mysql2 is never imported. `boundedRows` reads rows with a size limit. Used by
 * `driver.ts`.
 */

import { hasMethods } from '../../../base/options.ts'
import type { Bytes } from '../../../base/time.ts'
import { ModelError } from '../../model-error.ts'
import { type GetConnection, Renewal } from '../../sql/pool.ts'
import type { PreparedTexts } from '../../sql/text-cache.ts'
import type { PoolUsage } from '../../usage.ts'

/** Any object of mysql2 that can run statements. */
export type MysqlDatabase =
	| { execute(...args: never[]): unknown }
	| { getConnection(...args: never[]): unknown; of(...args: never[]): unknown }

/** Options of a statement; they override options of the user's pool that change the form of rows. */
export interface StatementOptions {
	readonly sql: string
	readonly values?: readonly unknown[]
	readonly rowsAsArray: true
	readonly nestTables: false
	readonly typeCast: true
}

/** The result of a statement without rows. */
interface Changed {
	readonly affectedRows: number
	readonly insertId: number | string
}

export type Result = readonly (readonly unknown[])[] | Changed

export type Callback = (error: unknown, result?: Result) => void

/** A connection of mysql2 with the callback API. */
export interface Connection {
	/** Prepares the text, until `unprepare`. Without a callback it returns a command that emits events. */
	execute(options: StatementOptions, callback?: Callback): unknown
	query(options: StatementOptions, callback?: Callback): unknown
	unprepare(options: StatementOptions): unknown
	destroy(): void
	/** The same connection with promises. */
	promise?(): object
	/** Returns it to its pool; only connections of a pool have it. */
	release?(): void
	on(event: 'error', listener: (error: unknown) => void): unknown
	removeListener(event: 'error', listener: (error: unknown) => void): unknown
	readonly stream?: { destroy?(): void } | undefined
	readonly config?: { readonly clientFlags?: number } | undefined
	/** The texts that stay prepared on it; set by `driver.ts`. */
	[PREPARED]?: PreparedTexts<true>
}

/** The property of a connection for its prepared statements; there because all models over a pool share them. */
export const PREPARED: unique symbol = Symbol('verbena.prepared')

/** A source of connections. Each one is either released or destroyed. */
export interface Connections {
	readonly get: GetConnection<Connection>
	release(connection: Connection): void
	/** For a connection that is broken, or in an unknown state. */
	destroy(connection: Connection): void
	/** The connection in the form that the user's object returns: with promises, or with callbacks. */
	lent(connection: Connection): object
	/** Replaces a connection to a server that became read-only in a failover, and all older connections. */
	renew(connection?: Connection): void
	/** The pool's state; `undefined` if it isn't known. */
	usage?(): Pick<PoolUsage, 'pool' | 'inUse' | 'max'> | undefined
}

interface Pool {
	readonly getConnection: GetConnection<Connection>
	readonly config?: { readonly connectionLimit?: number }
	readonly _allConnections?: { readonly length: number }
	readonly _freeConnections?: { readonly length: number }
}

/** @throws TypeError unless `database` is a pool, a pool cluster or a connection of mysql2 */
export function connectionsOf(database: MysqlDatabase): Connections {
	const core = coreOf(database)
	if (core === undefined) {
		throw new TypeError(
			`the database must be a pool of mysql2 or mysql2/promise, as returned by createPool(…), got ${typeof database}`,
		)
	}
	const lent = core === database ? withCallbacks : withPromises
	return 'getConnection' in core ? new PooledConnections(core, lent) : new OneConnection(core, lent)
}

type Lent = Connections['lent']

const withCallbacks: Lent = (connection) => connection

function withPromises(connection: Connection): object {
	return connection.promise?.() ?? connection
}

/** The object with the callback API, which promise objects wrap. */
function coreOf(database: unknown): Pool | Connection | undefined {
	if (typeof database !== 'object' || database === null) return undefined
	for (const wrapped of ['pool', 'connection', 'poolCluster', 'poolNamespace']) {
		const inner: unknown = Reflect.get(database, wrapped)
		if (isCore(inner)) return inner
	}
	return isCore(database) ? database : undefined
}

function isCore(value: unknown): value is Pool | Connection {
	return hasMethods(value, 'getConnection') || hasMethods(value, 'execute', 'unprepare')
}

class PooledConnections implements Connections {
	readonly #pool: Pool
	readonly #renewal: Renewal
	readonly lent: Lent

	constructor(pool: Pool, lent: Lent) {
		this.lent = lent
		this.#pool = pool
		this.#renewal = Renewal.of(pool)
	}

	get(callback: (error: unknown, connection?: Connection) => void): void {
		this.#pool.getConnection((error, connection) => {
			if (connection === undefined || this.#renewal.isFresh(connection)) callback(error, connection)
			else {
				this.destroy(connection)
				this.get(callback)
			}
		})
	}

	renew(connection?: Connection): void {
		if (connection !== undefined) this.destroy(connection)
		this.#renewal.renew()
	}

	/** Reads what mysql2 has no public name for; OpenTelemetry's instrumentation reads the same. */
	usage(): ReturnType<NonNullable<Connections['usage']>> {
		const { config, _allConnections: all, _freeConnections: free } = this.#pool
		if (all === undefined || free === undefined || config?.connectionLimit === undefined) return undefined
		return { pool: this.#pool, inUse: all.length - free.length, max: config.connectionLimit }
	}

	release(connection: Connection): void {
		connection.release?.()
	}

	destroy(connection: Connection): void {
		destroy(connection)
	}
}

function destroy(connection: Connection): void {
	connection.destroy()
	// `connection.destroy` only ends the socket, and a server that doesn't respond would keep it open forever.
	connection.stream?.destroy?.()
}

/** Mutex for a single connection, so that no statement gets into another caller's transaction. */
class OneConnection implements Connections {
	readonly #connection: Connection
	readonly #waiting: ((error: unknown, connection?: Connection) => void)[] = []
	#isBusy = false

	readonly lent: Lent

	constructor(connection: Connection, lent: Lent) {
		this.lent = lent
		this.#connection = connection
	}

	get(callback: (error: unknown, connection?: Connection) => void): void {
		if (this.#isBusy) this.#waiting.push(callback)
		else {
			this.#isBusy = true
			callback(undefined, this.#connection)
		}
	}

	/** A single connection can't be replaced, so it is only released. */
	renew(connection?: Connection): void {
		if (connection !== undefined) this.release()
	}

	release(): void {
		const next = this.#waiting.shift()
		if (next === undefined) this.#isBusy = false
		else next(undefined, this.#connection)
	}

	destroy(connection: Connection): void {
		destroy(connection)
		this.release()
	}
}

/** A command of mysql2 without a callback. */
interface Command {
	on(event: 'result', listener: (row: unknown) => void): unknown
	on(event: 'error', listener: (error: unknown) => void): unknown
	on(event: 'end', listener: () => void): unknown
}

/** The size that rows may have: see `Statement`. */
interface Bound {
	readonly maxBytes: Bytes
	readonly isOfLists?: boolean | undefined
}

/**
 * Collects the rows of a command. Calls `callback` once: with the rows, the driver's error, or ModelError `too_large`
 * as soon as the rows before the latest one exceed `maxBytes`. Later rows are dropped.
 */
export function boundedRows(
	connection: Connection,
	command: unknown,
	{ maxBytes, isOfLists = false }: Bound,
	callback: Callback,
): void {
	if (!isCommand(command)) throw new TypeError('mysql2 returned no command for a statement')
	const rows: unknown[][] = []
	let bytes = 0
	let isDone = false
	const finish: Callback = (error, result) => {
		if (isDone) return
		isDone = true
		connection.removeListener('error', fail)
		callback(error, result)
	}
	const fail = (error: unknown): void => finish(error)
	// A command without a callback gets no event when the connection is lost.
	connection.on('error', fail)
	command.on('error', fail)
	command.on('result', (row) => {
		if (isDone || !Array.isArray(row)) return
		if (bytes > maxBytes) {
			finish(new ModelError('too_large'))
			return
		}
		bytes += sizeOf(row[0])
		// Only the cursors of a list's last two rows may be needed: the page's last record is the last row, or the one before
		// it if an extra record follows the page.
		const previous = rows.at(-2)
		if (previous !== undefined && !(isOfLists && previous.at(-1) !== row.at(-1))) previous[1] = undefined
		rows.push(row)
	})
	command.on('end', () => finish(null, rows))
}

function isCommand(value: unknown): value is Command {
	return hasMethods(value, 'on')
}

/** A lower bound of the size in UTF-8. */
function sizeOf(value: unknown): Bytes {
	if (typeof value === 'string') return value.length
	return value instanceof Uint8Array ? value.byteLength : 0
}
