/**
 * What is called of the user's own mysql2 objects, and `connectionsOf`, which makes them alike: a pool, a pool cluster or
 * one connection, of `mysql2` or of `mysql2/promise`; mysql2 is never imported. `boundedRows` reads the rows of a list.
 * Used by `driver.ts`.
 */

import type { Bytes } from '../../../base/time.ts'
import { ModelError } from '../../model-error.ts'
import { type GetConnection, Renewal } from '../../sql/pool.ts'
import type { PreparedTexts } from '../../sql/text-cache.ts'

/** Any of mysql2's objects that statements can be sent through. */
export type MysqlDatabase =
	| { execute(...args: never[]): unknown }
	| { getConnection(...args: never[]): unknown; of(...args: never[]): unknown }

/** The options of one statement; those of the user's pool that would change the rows' form are set back. */
export interface StatementOptions {
	readonly sql: string
	readonly values?: readonly unknown[]
	readonly rowsAsArray: true
	readonly nestTables: false
	readonly typeCast: true
}

/** What mysql2 answers for a statement without rows. */
export interface Changed {
	readonly affectedRows: number
	readonly insertId: number | string
}

export type Answered = (error: unknown, result?: readonly (readonly unknown[])[] | Changed) => void

/** A connection of mysql2, with callbacks. */
export interface Connection {
	/** Prepared, and kept by its text until it is unprepared. Without a callback the command that it answers emits. */
	execute(options: StatementOptions, answered?: Answered): unknown
	query(options: StatementOptions, answered?: Answered): unknown
	unprepare(options: StatementOptions): unknown
	destroy(): void
	/** Gives it back to its pool; a connection that is none of a pool has no such method. */
	release?(): void
	on(event: 'error', listener: (error: unknown) => void): unknown
	removeListener(event: 'error', listener: (error: unknown) => void): unknown
	readonly stream?: { destroy?(): void } | undefined
	readonly config?: { readonly clientFlags?: number } | undefined
	/** The texts that stay prepared on it. Ours. */
	[PREPARED]?: PreparedTexts<true>
}

/** On the connection itself, as all models that share a pool share what is prepared. */
export const PREPARED: unique symbol = Symbol('verbena.prepared')

/** Where connections come from. Each that was got is either given back or thrown away. */
export interface Connections {
	readonly get: GetConnection<Connection>
	giveBack(connection: Connection): void
	/** For a connection that is broken, or in an unknown state. */
	throwAway(connection: Connection): void
	/** For a connection to a server that takes no changes now, and all those that were made before. */
	renew(connection?: Connection): void
}

interface Pool {
	readonly getConnection: GetConnection<Connection>
}

/** @throws TypeError for what is no object of mysql2 */
export function connectionsOf(database: MysqlDatabase): Connections {
	const core = coreOf(database)
	if (core === undefined) {
		throw new TypeError(
			`the database must be a pool of mysql2 or mysql2/promise, as createPool(…) makes it, got ${typeof database}`,
		)
	}
	return isPool(core) ? new PooledConnections(core) : new OneConnection(core)
}

/** The object with callbacks: promise objects are thin wrappers around one. */
function coreOf(database: unknown): Pool | Connection | undefined {
	if (typeof database !== 'object' || database === null) return undefined
	for (const wrapped of ['pool', 'connection', 'poolCluster', 'poolNamespace']) {
		const inner: unknown = Reflect.get(database, wrapped)
		if (isCore(inner)) return inner
	}
	return isCore(database) ? database : undefined
}

function isCore(value: unknown): value is Pool | Connection {
	if (typeof value !== 'object' || value === null) return false
	return (
		('getConnection' in value && typeof value.getConnection === 'function') ||
		('execute' in value && typeof value.execute === 'function' && 'unprepare' in value)
	)
}

function isPool(core: Pool | Connection): core is Pool {
	return 'getConnection' in core
}

class PooledConnections implements Connections {
	readonly #pool: Pool
	readonly #renewal: Renewal

	constructor(pool: Pool) {
		this.#pool = pool
		this.#renewal = Renewal.of(pool)
	}

	get(got: (error: unknown, connection?: Connection) => void): void {
		this.#pool.getConnection((error, connection) => {
			if (connection === undefined || this.#renewal.isFresh(connection)) got(error, connection)
			else {
				this.throwAway(connection)
				this.get(got)
			}
		})
	}

	renew(connection?: Connection): void {
		if (connection !== undefined) this.throwAway(connection)
		this.#renewal.renew()
	}

	giveBack(connection: Connection): void {
		connection.release?.()
	}

	throwAway(connection: Connection): void {
		connection.destroy()
		// `destroy` only says goodbye, and a server that is silent would keep the socket open for ever.
		connection.stream?.destroy?.()
	}
}

/** Lends the one connection to one borrower after the other, so that nothing gets into another's transaction. */
class OneConnection implements Connections {
	readonly #connection: Connection
	readonly #waiting: ((error: unknown, connection?: Connection) => void)[] = []
	#isLent = false

	constructor(connection: Connection) {
		this.#connection = connection
	}

	get(got: (error: unknown, connection?: Connection) => void): void {
		if (this.#isLent) this.#waiting.push(got)
		else {
			this.#isLent = true
			got(undefined, this.#connection)
		}
	}

	/** There is no other. */
	renew(connection?: Connection): void {
		if (connection !== undefined) this.giveBack()
	}

	giveBack(): void {
		const next = this.#waiting.shift()
		if (next === undefined) this.#isLent = false
		else next(undefined, this.#connection)
	}

	throwAway(connection: Connection): void {
		connection.destroy()
		connection.stream?.destroy?.()
		this.giveBack()
	}
}

/** A command of mysql2 that was given no callback. */
interface Command {
	on(event: 'result', listener: (row: unknown) => void): unknown
	on(event: 'error', listener: (error: unknown) => void): unknown
	on(event: 'end', listener: () => void): unknown
}

/**
 * Answers once: the rows, the driver's error, or ModelError `too_large` as soon as the rows before the last have more
 * than `maxBytes`. Those that come after it are dropped.
 */
export function boundedRows(
	connection: Connection,
	command: unknown,
	maxBytes: Bytes,
	answered: Answered,
): void {
	if (!isCommand(command)) throw new TypeError('mysql2 has answered no command for a statement')
	const rows: unknown[][] = []
	let bytes = 0
	let isOver = false
	const answer: Answered = (error, result) => {
		if (isOver) return
		isOver = true
		connection.removeListener('error', fail)
		answered(error, result)
	}
	const fail = (error: unknown): void => answer(error)
	// Of a connection that is lost a command without a callback isn't told.
	connection.on('error', fail)
	command.on('error', fail)
	command.on('result', (row) => {
		if (isOver || !Array.isArray(row)) return
		if (bytes > maxBytes) {
			answer(new ModelError('too_large'))
			return
		}
		bytes += sizeOf(row[0])
		// The last record, or the one before where there is one behind the page.
		const passed = rows.at(-2)
		if (passed !== undefined) passed[1] = undefined
		rows.push(row)
	})
	command.on('end', () => answer(null, rows))
}

function isCommand(value: unknown): value is Command {
	return typeof value === 'object' && value !== null && 'on' in value && typeof value.on === 'function'
}

/** At least so many bytes of UTF-8. */
function sizeOf(value: unknown): Bytes {
	if (typeof value === 'string') return value.length
	return value instanceof Uint8Array ? value.byteLength : 0
}
