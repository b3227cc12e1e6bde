/**
 * The `Driver` for a `sql` of postgres.js. A statement that is still in its queue after the timeout is taken out: it would
 * run later, though its client was told that nothing was done. One that runs is cancelled.
 */
import { Deadlines, type Due } from '../../../base/deadlines.ts'
import { type Milliseconds, type Seconds, steadyClock } from '../../../base/time.ts'
import type { Driver, Rows, Statement } from '../../sql/driver.ts'
import { Renewal } from '../../sql/pool.ts'
import { isKept } from '../../sql/text-cache.ts'
import { isReadOnly } from '../errors.ts'
import { cancel } from '../pg/cancel.ts'
import { namesOf, type StatementNames } from '../pg/statement-names.ts'

/** What is called of a `sql`, and of the one within a transaction. */
interface PostgresJsQueryable {
	unsafe(text: string, values: never[], options: PostgresJsOptions): { values(): PostgresJsQuery }
}

interface PostgresJsOptions {
	readonly prepare: boolean
	/** Called with the connection; whether others may be sent on it before it is answered. */
	readonly onexecute?: (connection: unknown) => boolean
}

export interface PostgresJsSql extends PostgresJsQueryable {
	begin(work: (sql: PostgresJsTransaction) => Promise<unknown>): Promise<unknown>
	readonly options: object
}

interface PostgresJsTransaction extends PostgresJsQueryable {
	savepoint(work: (sql: PostgresJsTransaction) => Promise<unknown>): Promise<unknown>
}

/** Of the time that a model waits, the part within which a statement must have been sent. */
const SENDING = 0.7
/** How soon it is looked again whether a statement that was given up has come to its turn. */
const AGAIN: Milliseconds = 500
/** After each request that it be cancelled the next waits twice as long, up to this: behind a silent network each is one more socket. */
const LATEST: Milliseconds = 30_000

/** A statement that is waited for. */
interface Given extends Due {
	/** How soon it is looked at again. */
	again: Milliseconds
}

export class PostgresJsDriver implements Driver {
	readonly #sql: PostgresJsSql
	readonly #deadlines: Deadlines
	readonly #most: Milliseconds
	/** It names statements itself, but would prepare any number of them, and keeps them as long as the connection. */
	readonly #names: StatementNames
	readonly #renewal = new Renewal()

	constructor(sql: PostgresJsSql, timeoutSeconds: Seconds) {
		this.#sql = sql
		this.#names = namesOf(sql)
		this.#most = timeoutSeconds * 1000
		// Noticed before the model's own timeout, which could only say that the outcome is unknown.
		this.#deadlines = new Deadlines(steadyClock, (this.#most * SENDING) / 2)
	}

	/**
	 * Refuses what would mix up records. postgres.js repeats a statement by itself where a pooler has given it another
	 * connection, on which it isn't prepared, and then hands out answers to the wrong statements (3.4.9). A pooler has
	 * keys of its own for cancelling, so that the process a connection names isn't the one that works for it.
	 *
	 * Before the first statement of each connection postgres.js asks for the types of arrays, and waits for them nowhere: a
	 * connection that is lost then ends the process, by a rejection that nobody can catch. What one connection has learnt
	 * holds for all, and our statements need none of it: so the others don't ask.
	 *
	 * @throws TypeError where it would prepare statements behind a pooler
	 */
	async begin(): Promise<void> {
		const { options } = this.#sql
		const isPreparing = Boolean(Reflect.get(options, 'prepare'))
		const isAsking = Boolean(Reflect.get(options, 'fetch_types'))
		if (!isPreparing && !isAsking) return
		const rows = await this.#sql.unsafe('select pg_backend_pid()', [], { prepare: false }).values()
		// It was sent behind the answer about the types.
		if (isAsking) Reflect.set(options, 'fetch_types', false)
		if (!isPreparing) return
		const told: unknown = Reflect.get(rows, 'state')
		const named: unknown = typeof told === 'object' && told !== null ? Reflect.get(told, 'pid') : undefined
		if (typeof named !== 'number' || Number(rows[0]?.[0]) === named) return
		throw new TypeError(
			'between postgres.js and PostgreSQL is a pooler, such as PgBouncer, behind which prepared statements get lost: pass prepare: false to postgres()',
		)
	}

	async query(statement: Statement): Promise<Rows> {
		try {
			return await this.#run(this.#sql, statement)
		} catch (error) {
			comeBackSoon(this.#sql)
			if (isMixedUp(error)) return this.#run(this.#sql, statement)
			throw error
		}
	}

	async transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		try {
			return await this.#scope((scope) => this.#sql.begin(scope), work)
		} catch (error) {
			comeBackSoon(this.#sql)
			throw error
		}
	}

	/**
	 * Closes the connections that there are, each after what it runs: as many statements as it may have connections,
	 * asked at once, find all of them. To end their backends would make postgres.js mix up answers (3.4.9).
	 */
	renew(): void {
		if (!this.#renewal.renew()) return
		const max: unknown = Reflect.get(this.#sql.options, 'max')
		for (let asked = 0; asked < (typeof max === 'number' ? max : 1); asked++) {
			const options = { prepare: false, onexecute: endAfter }
			this.#sql.unsafe('select 1', [], options).values().then(ignore, ignore)
		}
	}

	/** Its savepoints are its own: after a failure it rolls back all that they don't hold. */
	async #scope<T>(
		open: (scope: (sql: PostgresJsTransaction) => Promise<void>) => Promise<unknown>,
		work: (driver: Driver) => Promise<T>,
	): Promise<T> {
		// In a box, as postgres.js would wait for the members of an array.
		const done: T[] = []
		await open(async (sql) => {
			const inner: Driver = {
				query: (statement) => this.#run(sql, statement),
				transaction: (nested) => this.#scope((scope) => sql.savepoint(scope), nested),
			}
			done.push(await work(inner))
		})
		// Without it `open` would have rejected.
		return done[0] as T
	}

	async #run(sql: PostgresJsQueryable, statement: Statement): Promise<Rows> {
		const { text, values } = statement
		const prepare = isKept(statement) && this.#names.of(text) !== undefined
		if (prepare && this.#names.mustRenew()) this.renew()
		// Its types want values that it knows; what we bind are texts, booleans and Buffers.
		const query = sql.unsafe(text, [...values] as never[], { prepare }).values()
		const sentBy = this.#deadlines.clock() + this.#most * SENDING
		const item: Given = { due: sentBy, again: AGAIN, expire: () => this.#giveUp(query, item, sentBy) }
		this.#deadlines.add(item)
		try {
			const rows = await query
			return { rows, affected: rows.count ?? 0 }
		} catch (error) {
			if (isMixedUp(error)) this.#names.turnOff()
			if (isReadOnly(error)) this.renew()
			throw error
		} finally {
			this.#deadlines.delete(item)
		}
	}

	/**
	 * Cancels a statement that was not sent in time, and one that is not answered in time. One that waits behind others
	 * on its connection can't be cancelled, only what is at work there: it is looked at again.
	 */
	#giveUp(query: PostgresJsQuery, item: Given, sentBy: Milliseconds): void {
		if (isUnsent(query)) {
			cancelUnsent(query)
			return
		}
		const { clock } = this.#deadlines
		const answeredBy = sentBy + this.#most * (1 - SENDING)
		const isCancelled = clock() >= answeredBy && cancelSent(query, this.#sql.options)
		item.due = Math.max(answeredBy, clock() + item.again)
		if (isCancelled) item.again = Math.min(2 * item.again, LATEST)
		this.#deadlines.add(item)
	}
}

/** Whether a statement was prepared on another connection of the server's than the one that is to run it. */
function isMixedUp(error: unknown): boolean {
	return error instanceof Error && 'code' in error && (error.code === '26000' || error.code === '42P05')
}

/**
 * After each connection that it couldn't have, postgres.js waits longer, up to 20 seconds, before it tries
 * again, while requests are there that could be answered. What it counts by is put back.
 */
function comeBackSoon({ options }: PostgresJsSql): void {
	const shared: unknown = Reflect.get(options, 'shared')
	if (typeof shared === 'object' && shared !== null && 'retries' in shared) shared.retries = 0
}

/** Called with the connection that a statement goes out on. Answers that it takes no others, as it ends behind this one. */
function endAfter(connection: unknown): boolean {
	if (typeof connection !== 'object' || connection === null || !('end' in connection)) return true
	if (typeof connection.end === 'function') connection.end()
	return false
}

function ignore(): void {}

/** A statement of its, which it sends when it is first waited for. */
interface PostgresJsQuery extends PromiseLike<unknown[][] & { readonly count: number | null }> {
	cancel(): void
}

/** Its `state` is null until it is sent. */
export function isUnsent(query: PostgresJsQuery): boolean {
	return Reflect.get(query, 'state') === null
}

/**
 * One for which a connection is being made isn't in the queue; postgres.js would skip it when the connection is there,
 * and never use the connection. So it isn't to be skipped, but nothing is left of it that does anything.
 */
function cancelUnsent(query: PostgresJsQuery): void {
	if (!('strings' in query && 'args' in query)) return
	query.cancel()
	Object.assign(query, { strings: ['select 1'], args: [], cancelled: null })
}

/**
 * Cancels a statement that is at work, by a request of ours: that of postgres.js fails by a rejection that nobody can
 * catch. Its connection is free when the server has ended it. Of several hosts it isn't known which one it is; the
 * others don't know the key.
 *
 * @returns whether it is at work, and so was asked to end
 */
function cancelSent(query: PostgresJsQuery, options: object): boolean {
	const state: unknown = Reflect.get(query, 'state')
	if (Reflect.get(query, 'active') !== true || typeof state !== 'object' || state === null) return false
	const [processID, secretKey]: unknown[] = [Reflect.get(state, 'pid'), Reflect.get(state, 'secret')]
	for (const place of placesOf(options)) cancel({ ...place, processID, secretKey })
	return true
}

/** Where its connections may lead to. */
function placesOf(options: object): { host: unknown; port: unknown; ssl: object | boolean }[] {
	const [hosts, ports, path, ssl]: unknown[] = ['host', 'port', 'path', 'ssl'].map((name) =>
		Reflect.get(options, name),
	)
	if (!Array.isArray(hosts) || !Array.isArray(ports)) return []
	const secure = sslOf(ssl)
	// Of a Unix socket it tells the whole path.
	const folder = typeof path === 'string' ? path.replace(/\/\.s\.PGSQL\.\d+$/, '') : undefined
	return hosts.map((host, at) => ({ host: folder ?? host, port: ports[at], ssl: secure }))
}

/** Its words for a server whose certificate isn't looked at: so that the request goes where the statement went. */
function sslOf(ssl: unknown): object | boolean {
	if (ssl === 'require' || ssl === 'allow' || ssl === 'prefer') return { rejectUnauthorized: false }
	return typeof ssl === 'object' && ssl !== null ? ssl : Boolean(ssl)
}
