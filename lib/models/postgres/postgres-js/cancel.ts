/** Statements of postgres.js that nobody waits for any more: taken back, or cancelled. Used by `postgres-js-driver.ts`. */
import { cancel } from '../pg/cancel.ts'

/** A statement of its, which it sends when it is first waited for. */
export interface PostgresJsQuery extends PromiseLike<unknown[][] & { readonly count: number | null }> {
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
export function cancelUnsent(query: PostgresJsQuery): void {
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
export function cancelSent(query: PostgresJsQuery, options: object): boolean {
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
