/** The site of both servers: records in PostgreSQL, and handlers of every other kind, with one shared Redis. */

import { RedisCache } from '../../../lib/cache/redis/redis-cache.ts'
import { CrudHandler, createServer, type Handlers, type Server } from '../../../lib/index.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { Desk, Limited, Payments, Vault } from './guarded.ts'
import { First, Forms, Hooked, Office, Second, Streams } from './office.ts'
import type { Materials } from './serve.ts'

/** The origin that CORS allows. */
export const ORIGIN = 'https://app.example.com'
/** Maximum size of a body: small, so that it is cheap to exceed. */
export const MAX_BODY = 32_768
/** The grace period of `close()`. */
export const GRACE_MS = 10_000

const FIELDS = {
	visible: ['id', 'shelf', 'title', 'rank', 'note'],
	sortable: ['id', 'shelf', 'title', 'rank'],
	searchable: ['title', 'note'],
	version: 'revision',
}

/** The handlers; tests replace them with broken ones. */
export async function handlersOf(materials: Materials): Promise<Record<string, Handlers[string]>> {
	const { pool, records, payments, streams, secret } = materials
	const model = await PostgresModel.open(pool, records)
	return {
		records: new CrudHandler(model, {
			...FIELDS,
			creatable: ['shelf', 'title', 'rank', 'note'],
			updatable: ['title', 'rank', 'note'],
			allow: ['list', 'read', 'create', 'update', 'replace', 'remove'],
			rules: { rank: ['integer', { min: 0, max: 1_000 }] },
			maxLimit: 50,
		}),
		shown: new CrudHandler(model, FIELDS),
		office: new Office(),
		forms: new Forms(),
		streams: new Streams(streams),
		hooked: new Hooked(),
		limited: new Limited(),
		payments: new Payments(pool, payments),
		vault: new Vault(secret),
		desk: new Desk(),
		v1: First,
		v2: Second,
	}
}

/** Creates a server for handlers. */
export function serverOf(handlers: Handlers, { cache, prefix, log }: Materials): Server {
	return createServer(handlers, {
		// Long, so that a stall of the machine isn't taken for a failed Redis.
		cache: new RedisCache(cache, { prefix, timeoutSeconds: 10 }),
		logger: log,
		compression: true,
		cors: { origins: [ORIGIN] },
		// Signed requests have the site's public host, not that of a server.
		hosts: '*',
		health: { path: 'health' },
		maxBody: MAX_BODY,
		graceTimeoutSeconds: GRACE_MS / 1_000,
		// Longer than clients keep idle connections, so that no request is sent on a connection that the server is closing.
		keepAliveTimeoutSeconds: 15,
	})
}

export async function siteOf(materials: Materials): Promise<Server> {
	return serverOf(await handlersOf(materials), materials)
}
