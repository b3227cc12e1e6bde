/** The cache contract for `RedisCache`, on a real server, with each of the three clients. */
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Cache } from '../../../lib/cache/cache.ts'
import { RedisCache } from '../../../lib/cache/redis/redis-cache.ts'
import { type Case, cacheContract } from '../../../lib/testing/index.ts'
import { CLIENTS, type ClientName, describeRedis, forget, openClient, type TestClient } from './servers.ts'

/** Concurrent cases per client: they wait in real time, 10 s in all. */
const LANES = 14

const MAX_BYTES = 1_048_576

const PREFIX = `verbena-test:${randomUUID()}:`

/** The cases, each with its own client. */
function casesBy(name: ClientName): Case[] {
	const opened = new Map<Cache, TestClient>()
	const make = async () => {
		const client = openClient(name)
		// Closed while still connecting, some clients leave a handle open.
		await client.command('PING')
		// Long timeout for Redis on a machine that stalls.
		const options = { maxBytes: MAX_BYTES, prefix: `${PREFIX}${randomUUID()}:`, timeoutSeconds: 30 }
		const cache = new RedisCache(client.client, options)
		opened.set(cache, client)
		return cache
	}
	const close = (cache: Cache) => opened.get(cache)?.close()
	return cacheContract(make, {
		bounded: false,
		advance: setTimeout,
		slackSeconds: 0.1,
		maxBytes: MAX_BYTES,
		close,
	})
}

describeRedis('RedisCache: the contract', (test) => {
	const cases = CLIENTS.map((name) => ({ name, cases: casesBy(name) }))
	const outcomes = new Map<Case, Promise<void>>()

	test.before(() => {
		for (const { cases: all } of cases) {
			for (let lane = 0; lane < LANES; lane++) {
				let before: Promise<unknown> = Promise.resolve()
				for (const one of all.filter((_, at) => at % LANES === lane)) {
					const outcome = before.then(() => one.run())
					outcomes.set(one, outcome)
					before = outcome.catch(() => {})
				}
			}
		}
	})

	test.after(async () => {
		const client = openClient('ioredis')
		await forget(PREFIX, client)
		client.close()
	})

	for (const { name, cases: all } of cases) {
		for (const one of all) test(`${name}: ${one.name}`, () => outcomes.get(one))
	}
})
