/**
 * The `Driver` for a `sql` of postgres.js. A statement that is still queued after the timeout is removed from the
 * queue, because the client is told that nothing was changed. A statement that is running is cancelled.
 */
import { Deadlines, type Due } from '../../../base/deadlines.ts'
import { type Milliseconds, type Seconds, steadyClock } from '../../../base/time.ts'
import type { Driver, Rows, Statement } from '../../sql/driver.ts'
import { lend, transactionEnded } from '../../sql/lend.ts'
import { NoConnection, Renewal } from '../../sql/pool.ts'
import { isKept } from '../../sql/text-cache.ts'
import { Turn } from '../../sql/turn.ts'
import { codeOf, isAborted, isMixedUp, isReadOnly, PROBE } from '../errors.ts'
import { cancel } from '../pg/cancel.ts'
import { namesOf, type StatementNames } from '../pg/statement-names.ts'

/** The part of `sql` that is used; a transaction's `sql` has it too. */
interface PostgresJsQueryable {
	unsafe(text: string, values: never[], options: PostgresJsOptions): { values(): PostgresJsQuery }
}

interface PostgresJsOptions {
	readonly prepare: boolean
	/** Called with the connection; returns whether more statements may be pipelined on it. */
	readonly onexecute?: (connection: unknown) => boolean
}

export interface PostgresJsSql extends PostgresJsQueryable {
	begin(work: (sql: PostgresJsTransaction) => Promise<unknown>): Promise<unknown>
	readonly options: object
}

interface PostgresJsTransaction extends PostgresJsQueryable {
	savepoint(work: (sql: PostgresJsTransaction) => Promise<unknown>): Promise<unknown>
}

/** Share of the model's timeout within which a statement must have been sent. */
const SEND_SHARE = 0.7
/** Delay between attempts to cancel a statement, doubled each time: in a dead network, each opens a socket. */
const RETRY_DELAY: Milliseconds = 500
const MAX_RETRY_DELAY: Milliseconds = 30_000

interface StatementDeadline extends Due {
	retryDelay: Milliseconds
}

export class PostgresJsDriver implements Driver {
	readonly #sql: PostgresJsSql
	readonly #deadlines: Deadlines
	readonly #timeout: Milliseconds
	/** Limits what is prepared: postgres.js names statements itself, but never closes them. */
	readonly #names: StatementNames
	readonly #renewal = new Renewal()

	constructor(sql: PostgresJsSql, timeoutSeconds: Seconds) {
		this.#sql = sql
		this.#names = namesOf(sql)
		this.#timeout = timeoutSeconds * 1000
		// These deadlines expire before the model's own timeout, after which the outcome would be unknown.
		this.#deadlines = new Deadlines(steadyClock, (this.#timeout * SEND_SHARE) / 2)
	}

	/**
	 * Rejects prepared statements behind a pooler. When a pooler switches connections, postgres.js repeats a statement
	 * that isn't prepared there, and then assigns results to the wrong statements (3.4.9). A pooler is recognized by its
	 * own cancel keys: the process id that a connection reports differs from its backend's.
	 *
	 * Also turns off `fetch_types`. With it, postgres.js queries the types of arrays on each new connection, in a promise
	 * that it never awaits: if the connection is lost meanwhile, an unhandled rejection ends the process. The statements
	 * of models don't need these types, and the first connection has fetched them for all.
	 *
	 * @throws TypeError if postgres.js would prepare statements behind a pooler
	 */
	async begin(): Promise<void> {
		const { options } = this.#sql
		const isPreparing = Boolean(Reflect.get(options, 'prepare'))
		const fetchesTypes = Boolean(Reflect.get(options, 'fetch_types'))
		if (!isPreparing && !fetchesTypes) return
		const rows = await this.#sql.unsafe('select pg_backend_pid()', [], { prepare: false }).values()
		// The types have been fetched before this statement.
		if (fetchesTypes) Reflect.set(options, 'fetch_types', false)
		if (!isPreparing) return
		const state: unknown = Reflect.get(rows, 'state')
		const pid: unknown = typeof state === 'object' && state !== null ? Reflect.get(state, 'pid') : undefined
		if (typeof pid !== 'number' || Number(rows[0]?.[0]) === pid) return
		throw new TypeError(
			'postgres.js connects through a pooler, such as PgBouncer, which loses prepared statements: pass prepare: false to postgres()',
		)
	}

	async query(statement: Statement): Promise<Rows> {
		try {
			return await this.#run(this.#sql, statement)
		} catch (error) {
			resetBackoff(this.#sql)
			if (isMixedUp(error)) return this.#run(this.#sql, statement)
			throw error
		}
	}

	async transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		const life = { isOver: false }
		try {
			return await this.#scope((scope) => this.#sql.begin(scope), work, life)
		} catch (error) {
			resetBackoff(this.#sql)
			throw error
		} finally {
			life.isOver = true
		}
	}

	/**
	 * Closes all connections, each after its current statement: sends as many statements at once as there may be
	 * connections, and each of them ends its connection. Terminating the backends would make postgres.js mix up results
	 * (3.4.9).
	 */
	renew(): void {
		if (!this.#renewal.renew()) return
		const max: unknown = Reflect.get(this.#sql.options, 'max')
		for (let sent = 0; sent < (typeof max === 'number' ? max : 1); sent++) {
			const options = { prepare: false, onexecute: endConnection }
			this.#sql
				.unsafe('select 1', [], options)
				.values()
				.then(undefined, () => {})
		}
	}

	/**
	 * Uses the transactions and savepoints of postgres.js. When the connection is lost, it may already be replaced by one
	 * that others use, perhaps in a transaction: nothing may be sent any more, not even the `rollback` that postgres.js
	 * sends when its callback ends. So the callback never ends; the transaction rejects because of the lost connection. The
	 * same for a savepoint whose transaction has ended.
	 */
	async #scope<T>(
		open: (scope: (sql: PostgresJsTransaction) => Promise<void>) => Promise<unknown>,
		work: (driver: Driver) => Promise<T>,
		life: { isOver: boolean },
		outer?: Scope,
	): Promise<T> {
		// Not returned through postgres.js, which would await the elements of an array.
		const results: T[] = []
		const scope: Scope = { outer, hasEnded: false }
		// postgres.js itself would run later statements on the connection, which may be another transaction's by then.
		const assertOpen = (): void => {
			if (hasEnded(scope)) throw transactionEnded()
			if (life.isOver) throw new NoConnection()
		}
		let last: unknown
		let abandon = (_: Error): void => {}
		const abandoned = new Promise<never>((_, reject) => {
			abandon = reject
		})
		const opened = open(async (sql) => {
			const turn = new Turn()
			/** The result of the statement sent last. */
			let sent: Promise<unknown> | undefined
			let isByHand = false
			const run = async (statement: Statement): Promise<Rows> => {
				assertOpen()
				try {
					const result = this.#run(sql, statement)
					sent = result
					return await result
				} catch (error) {
					if (isLost(error)) life.isOver = true
					if (!isAborted(error)) last = error
					throw last ?? failedByHand(error)
				}
			}
			const inner: Driver = {
				query: (statement, isGivenUp) => turn.after(() => run(statement), isGivenUp),
				transaction: (nested) =>
					turn.take(async () => {
						assertOpen()
						return this.#scope((inside) => sql.savepoint(inside), nested, life, scope)
					}),
				// After an error by hand, `begin` rejects with it.
				connection: lend(sql, {
					begin: () => {
						assertOpen()
						isByHand = true
					},
				}),
			}
			try {
				const result = await work(inner)
				// Waits for operations that `work` hasn't awaited: postgres.js wouldn't see their errors after the end.
				await turn.after(async () => {
					scope.hasEnded = true
				})
				await sent?.catch(() => {})
				// The same for statements by hand: they are answered before this one.
				if (isByHand) await this.#run(sql, PROBING).catch(() => {})
				results.push(result)
			} finally {
				scope.hasEnded = true
				const isLeftBehind = outer !== undefined && hasEnded(outer)
				if (isLeftBehind) abandon(transactionEnded())
				if (isLeftBehind || life.isOver) await new Promise(() => {})
			}
		})
		await Promise.race([opened, abandoned])
		// Without a result, `open` would have rejected.
		return results[0] as T
	}

	async #run(sql: PostgresJsQueryable, statement: Statement): Promise<Rows> {
		const { text, values } = statement
		const prepare = isKept(statement) && this.#names.of(text) !== undefined
		if (prepare && this.#names.mustRenew()) this.renew()
		// `never[]` only for the types of postgres.js: at run time it takes the strings, booleans and Buffers of `bind`.
		const query = sql.unsafe(text, [...values] as never[], { prepare }).values()
		const sendBy = this.#deadlines.clock() + this.#timeout * SEND_SHARE
		const expire = () => this.#abandon(query, item, sendBy)
		const item: StatementDeadline = { due: sendBy, retryDelay: RETRY_DELAY, expire }
		this.#deadlines.add(item)
		try {
			const rows = await query
			return { rows: ownRows(rows), affected: rows.count ?? 0 }
		} catch (error) {
			if (isMixedUp(error)) this.#names.turnOff()
			if (isReadOnly(error)) this.renew()
			throw error
		} finally {
			this.#deadlines.delete(item)
		}
	}

	/**
	 * Cancels a statement that was not sent in time, or whose result isn't there in time. A statement that is pipelined
	 * behind others can't be cancelled yet, so this is tried again.
	 */
	#abandon(query: PostgresJsQuery, item: StatementDeadline, sendBy: Milliseconds): void {
		if (isUnsent(query)) {
			cancelUnsent(query)
			return
		}
		const { clock } = this.#deadlines
		const resultBy = sendBy + this.#timeout * (1 - SEND_SHARE)
		const isCancelled = clock() >= resultBy && cancelSent(query, this.#sql.options)
		item.due = Math.max(resultBy, clock() + item.retryDelay)
		if (isCancelled) item.retryDelay = Math.min(2 * item.retryDelay, MAX_RETRY_DELAY)
		this.#deadlines.add(item)
	}
}

const PROBING: Statement = { text: PROBE, values: [], writes: false }

/** A transaction, or a savepoint in it. */
interface Scope {
	readonly outer: Scope | undefined
	hasEnded: boolean
}

function hasEnded(scope: Scope): boolean {
	return scope.hasEnded || (scope.outer !== undefined && hasEnded(scope.outer))
}

/**
 * The rows of a result. After a connection was lost within a result, postgres.js (3.4.9) continues to count rows from there: the
 * first result of the next connection begins with as many holes.
 */
function ownRows(rows: unknown[][]): unknown[][] {
	return rows.length === 0 || 0 in rows ? rows : rows.filter(() => true)
}

/** The error by hand isn't known: watching a query of `sql` would run it, even if it is only a part of another query. */
function failedByHand(cause: unknown): TypeError {
	return new TypeError('a statement by hand has failed in this transaction: throw its error on', { cause })
}

/** Whether an error says that the connection is closed, or is being closed by the server. */
function isLost(error: unknown): boolean {
	return /^(?:CONNECTION_(?:CLOSED|DESTROYED)|ECONNRESET|EPIPE|57P0[1245]|25P0[34])$/.test(
		codeOf(error) ?? '',
	)
}

/** Resets the backoff after a failed connection: up to 20 seconds, even while requests are waiting. */
function resetBackoff({ options }: PostgresJsSql): void {
	const shared: unknown = Reflect.get(options, 'shared')
	if (typeof shared === 'object' && shared !== null && 'retries' in shared) shared.retries = 0
}

/** An `onexecute` that ends the connection after its statement. */
function endConnection(connection: unknown): boolean {
	if (typeof connection !== 'object' || connection === null || !('end' in connection)) return true
	if (typeof connection.end === 'function') connection.end()
	return false
}

/** A statement of postgres.js, sent when it is first awaited. */
interface PostgresJsQuery extends PromiseLike<unknown[][] & { readonly count: number | null }> {
	cancel(): void
}

/** Whether a statement was not sent yet: until then, its `state` is null. */
export function isUnsent(query: PostgresJsQuery): boolean {
	return Reflect.get(query, 'state') === null
}

/**
 * Cancels an unsent statement and replaces it with one that has no effect. postgres.js may already be connecting for
 * it; if it then skipped the statement, it would never use the new connection.
 */
function cancelUnsent(query: PostgresJsQuery): void {
	if (!('strings' in query && 'args' in query)) return
	query.cancel()
	Object.assign(query, { strings: ['select 1'], args: [], cancelled: null })
}

/**
 * Cancels a running statement with a request of its own, because the request of postgres.js fails with an unhandled
 * rejection. With several hosts the request is sent to each: the wrong ones don't know the key, so they ignore it.
 *
 * @returns whether the statement was running, so that a request was sent
 */
function cancelSent(query: PostgresJsQuery, options: object): boolean {
	const state: unknown = Reflect.get(query, 'state')
	if (Reflect.get(query, 'active') !== true || typeof state !== 'object' || state === null) return false
	const [processID, secretKey]: unknown[] = [Reflect.get(state, 'pid'), Reflect.get(state, 'secret')]
	for (const address of addressesOf(options)) cancel({ ...address, processID, secretKey })
	return true
}

function addressesOf(options: object): { host: unknown; port: unknown; ssl: object | boolean }[] {
	const [hosts, ports, path, ssl]: unknown[] = ['host', 'port', 'path', 'ssl'].map((name) =>
		Reflect.get(options, name),
	)
	if (!Array.isArray(hosts) || !Array.isArray(ports)) return []
	const secure = sslOf(ssl)
	// For a Unix socket, `path` is the whole path of the socket.
	const folder = typeof path === 'string' ? path.replace(/\/\.s\.PGSQL\.\d+$/, '') : undefined
	return hosts.map((host, at) => ({ host: folder ?? host, port: ports[at], ssl: secure }))
}

/** Translates modes that don't verify certificates, so that cancel requests don't verify them either. */
function sslOf(ssl: unknown): object | boolean {
	if (ssl === 'require' || ssl === 'allow' || ssl === 'prefer') return { rejectUnauthorized: false }
	return typeof ssl === 'object' && ssl !== null ? ssl : Boolean(ssl)
}
