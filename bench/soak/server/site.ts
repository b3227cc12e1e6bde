/** What both servers serve: records of PostgreSQL, and handlers of every other kind over one Redis. */

import { RedisCache } from '../../../lib/cache/redis/redis-cache.ts'
import { CrudHandler, createServer, type Handlers, type Server } from '../../../lib/index.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { Desk, Limited, Payments, Vault } from './guarded.ts'
import { First, Forms, Hooked, Office, Second, Streams } from './office.ts'
import type { Materials } from './serve.ts'

/** Of a page that may read answers. */
export const ORIGIN = 'https://app.example.com'
/** The most of a body: small, so that it costs little to send more. */
export const MAX_BODY = 32_768
/** How long `close()` may take. */
export const GRACE_MS = 10_000

const FIELDS = {
	visible: ['id', 'shelf', 'title', 'rank', 'note'],
	sortable: ['id', 'shelf', 'title', 'rank'],
	searchable: ['title', 'note'],
	version: 'revision',
}

/** The handlers; a test puts broken ones in their place. */
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

/** The server of some handlers. */
export function serverOf(handlers: Handlers, { cache, prefix, log }: Materials): Server {
	return createServer(handlers, {
		// A machine that stalls for a moment is no Redis that is down.
		cache: new RedisCache(cache, { prefix, timeoutSeconds: 10 }),
		logger: log,
		compression: true,
		cors: { origins: [ORIGIN] },
		// Signed requests name the host that the site has for its clients.
		hosts: '*',
		health: { path: 'health' },
		maxBody: MAX_BODY,
		graceTimeoutSeconds: GRACE_MS / 1_000,
		// Longer than clients keep what they don't use, so that no request meets the end of its connection.
		keepAliveTimeoutSeconds: 15,
	})
}

export async function siteOf(materials: Materials): Promise<Server> {
	return serverOf(await handlersOf(materials), materials)
}
