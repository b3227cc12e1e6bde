/** `RedisCache` with a Redis Cluster of three primaries and their replicas, with each of the three clients. */
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { type Cache, CacheFull, CacheUnavailable } from '../../../lib/cache/cache.ts'
import { RedisCache, type RedisCacheOptions } from '../../../lib/cache/redis/redis-cache.ts'
import { slotOf } from '../../../lib/cache/redis/slots.ts'
import { RestHandler, createServer as restServer } from '../../../lib/index.ts'
import { cacheContract } from '../../../lib/testing/index.ts'
import { backWithin } from '../../helpers/failover.ts'
import { until } from '../../helpers/listening.ts'
import { hasMachines } from '../../helpers/machines.ts'
import { alarm } from '../../helpers/stalls.ts'
import { rejection } from './rejection.ts'
import {
	CLIENTS,
	type ClientName,
	describeRedis,
	type OwnRedis,
	openClient,
	openCluster,
	ownCluster,
	type TestClient,
} from './servers.ts'

const MAX_BYTES = 1_048_576
/** Concurrent cases per client: they wait in real time. */
const LANES = 14
const LIMIT = 300

class Counted extends RestHandler {
	override rateLimits = { get_a: { limit: LIMIT, windowSeconds: 600 } }
	get_a() {
		return 1
	}
}

class Unlimited extends RestHandler {
	override rateLimits = { get_a: { limit: 1_000_000, windowSeconds: 600 } }
	get_a() {
		return 1
	}
}

/** After so long a client leaves a silent server, milliseconds: docs/caching.md says by which settings. */
const SILENCE = 1_000
/** No request takes longer than its calls of the cache, 0.5 s each, but for what a busy machine adds, milliseconds. */
const LATE = 5_000

describeRedis('RedisCache with Redis Cluster', (test) => {
	let servers: readonly OwnRedis[] = []
	const closing: (() => unknown)[] = []
	const opened = new Map<ClientName, TestClient>()
	const killed = new Set<OwnRedis>()

	const kill = async (server: OwnRedis) => {
		killed.add(server)
		await server.kill()
	}

	test.before(async () => {
		const cluster = await ownCluster()
		servers = cluster.servers
		closing.push(() => cluster.remove())
		for (const name of CLIENTS) {
			const client = openCluster(name, servers)
			opened.set(name, client)
			closing.unshift(() => client.close())
			// The first server to be asked may not have heard of the others yet.
			await until(
				() =>
					cacheOf(name)
						.check()
						.then(isAny, () => false),
				`${name} to be connected`,
			)
		}
	})

	test.after(async () => {
		for (const close of closing) await close()
	})

	function cacheOf(name: ClientName, options: RedisCacheOptions = {}): RedisCache {
		const client = opened.get(name)?.client
		if (client === undefined) throw new Error(`${name} is not open`)
		return new RedisCache(client, { timeoutSeconds: 30, prefix: `${randomUUID()}:`, ...options })
	}

	/** Sends a command to a server, not through the cluster's clients. */
	async function tell({ host, port }: OwnRedis, ...command: string[]): Promise<unknown> {
		const { command: send, close } = openClient('ioredis', port, undefined, host)
		try {
			return await send(...command)
		} finally {
			close()
		}
	}

	/** The server whose slots a key's is among. */
	async function primaryOf(key: string): Promise<OwnRedis> {
		for (const server of servers.filter((one) => !killed.has(one))) {
			// It refuses other keys with MOVED.
			const held = await tell(server, 'EXISTS', key).catch(() => undefined)
			if (held !== undefined) return server
		}
		throw new Error(`no server has the slot of ${key}`)
	}

	/** The cases of the contract, many at once, each with its own client: each cache listens to all connections of its client. */
	async function keepsContract(
		name: ClientName,
		options: () => RedisCacheOptions,
		maxBytes?: number,
	): Promise<void> {
		const own = new Map<Cache, TestClient>()
		const make = async () => {
			const client = openCluster(name, servers)
			const cache = new RedisCache(client.client, {
				timeoutSeconds: 30,
				prefix: `${randomUUID()}:`,
				...options(),
			})
			await until(() => cache.check().then(isAny, () => false), `${name} to be connected`)
			own.set(cache, client)
			return cache
		}
		const cases = cacheContract(make, {
			...{
				bounded: false,
				advance: setTimeout,
				slackSeconds: 0.1,
				close: (cache) => own.get(cache)?.close(),
			},
			...(maxBytes === undefined ? {} : { maxBytes }),
		})
		const lane = async (at: number) => {
			for (const { name: what, run } of cases.filter((_, place) => place % LANES === at))
				await run().catch((error: unknown) => {
					throw new Error(`${name}: ${what}: ${String(error)}`, { cause: error })
				})
		}
		await Promise.all(Array.from({ length: LANES }, (_, at) => lane(at)))
	}

	test('each client keeps the contract, with callers at all servers', async () => {
		await Promise.all(CLIENTS.map((name) => keepsContract(name, () => ({}))))
	})

	test('with a hash tag in the prefix, all callers share the bytes as in a single Redis', async () => {
		const options = () => ({ maxBytes: MAX_BYTES, prefix: `{${randomUUID()}}:` })
		await Promise.all(CLIENTS.map((name) => keepsContract(name, options, MAX_BYTES)))
	})

	for (const name of CLIENTS) {
		test(`${name}: a caller that exceeds its part is refused, and callers at all servers are not`, async () => {
			const cache = cacheOf(name, { maxBytes: 16 * MAX_BYTES })
			const fill = async () => {
				for (let at = 0; at < 100; at++) await cache.add(`nonce:greedy:${at}`, 'x'.repeat(50_000), 60)
			}
			const error = await rejection(fill())
			assert.instance(error, CacheFull)
			assert.is((error as CacheFull).scope, 'caller')
			for (let caller = 0; caller < 50; caller++) assert.is(await cache.add(`nonce:${caller}:1`, 1, 60), true)
			assert.is(await cache.add('nonce:7:1', 1, 60), false)
		})

		test(`${name}: nonces are refused where a server may evict them, and only there`, async () => {
			const prefix = `${randomUUID()}:`
			const evicting = await primaryOf(`${prefix}one`)
			await tell(evicting, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
			try {
				const cache = cacheOf(name, { prefix })
				const keys = Array.from({ length: 20 }, (_, at) => `${at}`)
				const outcomes = await Promise.all(
					keys.map((key) => cache.add(key, 1, 60).then(String, (error: Error) => error.message)),
				)
				for (const [at, outcome] of outcomes.entries()) {
					if ((await primaryOf(prefix + keys[at])) !== evicting) assert.is(outcome, 'true')
					else assert.match(outcome, 'its maxmemory-policy is allkeys-lru')
				}
				assert.equal(new Set(outcomes).size, 2)
			} finally {
				await tell(evicting, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
			}
		})
	}

	test('a count goes on while its slot moves to another server', async () => {
		const caches = CLIENTS.map((name) => ({ name, prefix: `{${randomUUID()}}:` }))
		for (const { name, prefix } of caches) {
			const cache = cacheOf(name, { prefix })
			const key = `${prefix}count`
			const slot = String(slotOf(key))
			assert.is(await cache.increment('count', 600), 1)
			const from = await primaryOf(key)
			const roles = await Promise.all(servers.map((server) => tell(server, 'ROLE')))
			const to = servers.find((server, at) => server !== from && String(roles[at]).startsWith('master'))
			if (to === undefined) throw new Error('there is no other primary')
			const [fromId, toId] = [await tell(from, 'CLUSTER', 'MYID'), await tell(to, 'CLUSTER', 'MYID')].map(
				String,
			)
			await tell(to, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId ?? '')
			await tell(from, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId ?? '')
			assert.is(await cache.increment('count', 600), 2)
			// A key that isn't there yet is made at the new server.
			assert.is(await cache.increment('new', 600), 1)
			// Other tests' keys may be in the slot, too.
			const held = (await tell(from, 'CLUSTER', 'GETKEYSINSLOT', slot, '1000')) as string[]
			assert.ok(held.includes(key))
			await tell(from, 'MIGRATE', to.host, String(to.port), '', '0', '5000', 'KEYS', ...held)
			assert.is(await cache.increment('count', 600), 3)
			for (const server of [to, from]) await tell(server, 'CLUSTER', 'SETSLOT', slot, 'NODE', toId ?? '')
			assert.is(await cache.increment('count', 600), 4)
			assert.is(await cache.increment('new', 600), 2)
		}
	})

	test('while a server hangs, only requests that need it are refused', async () => {
		const prefix = `${randomUUID()}:`
		const hanging = await primaryOf(`${prefix}0`)
		const keys = Array.from({ length: 12 }, (_, at) => `${at}`)
		const isThere = await Promise.all(keys.map(async (key) => (await primaryOf(prefix + key)) === hanging))
		const caches = CLIENTS.map((name) => cacheOf(name, { prefix, timeoutSeconds: 0.5 }))
		const answer = (cache: RedisCache, key: string) =>
			until(async () => cache.get(key).then(isAny, () => false), 'an answer')
		// Clients connect to a server with the first command for it.
		for (const cache of caches) for (const key of keys) await answer(cache, key)
		hanging.pause()
		try {
			// Shorter than it takes the cluster to replace it. The second round follows timeouts in the first.
			for (let round = 0; round < 2; round++) {
				const outcomes = await Promise.all(
					caches.flatMap((cache) => keys.map((key) => cache.get(key).then(isAny, String))),
				)
				const wrong = outcomes.map((outcome, at) => `${CLIENTS[Math.floor(at / keys.length)]}: ${outcome}`)
				assert.equal(
					wrong.filter((_, at) => (outcomes[at] === true) === isThere[at % keys.length]),
					[],
				)
			}
		} finally {
			hanging.resume()
		}
		for (const cache of caches) for (const key of keys) await answer(cache, key)
	})

	const silently: (title: string, work: () => Promise<void>) => void = hasMachines ? test : test.skip

	silently(
		'a primary that falls silent: 503 in time, others serve, and its replica within 5 s of taking over',
		async () => {
			const prefix = `{${randomUUID()}}:`
			const primary = await primaryOf(prefix)
			const clients = CLIENTS.map((name) => openCluster(name, servers, SILENCE))
			const sides = clients.map(({ name, client }) => {
				const cache = new RedisCache(client, { prefix: `${prefix}${name}:`, timeoutSeconds: 0.5 })
				const elsewhere = new RedisCache(client, { prefix: `${randomUUID()}:`, timeoutSeconds: 0.5 })
				const logger = { info() {}, warn() {}, error() {} }
				const server = restServer({ api: new Unlimited() }, { cache, logger })
				const request = async () => (await server.inject({ url: '/api/a' })).status
				return { name, cache, elsewhere, request, statuses: [] as number[], late: 0 }
			})
			let isOver = false
			let loads: readonly Promise<void>[] = []
			try {
				for (const side of sides) {
					await until(async () => (await side.request()) === 200, `${side.name} to be connected`)
					assert.is(await side.cache.add('nonce', 1, 600), true)
				}
				assert.is(await tell(primary, 'WAIT', '1', '0'), 1)
				loads = sides.map(async (side) => {
					while (!isOver) {
						const callOff = alarm(LATE, () => side.late++)
						side.statuses.push(await side.request())
						callOff()
						await setTimeout(5)
					}
				})
				await primary.machine?.cut()
				killed.add(primary) // not to be asked for slots
				await until(() => sides.every(({ statuses }) => statuses.includes(503)), 'refusals')
				// Of 40 keys about a third are at the silent server; the first of a client's to a server also connects to it.
				for (const { name, elsewhere } of sides) {
					const keys = Array.from({ length: 40 }, (_, at) => `${at}`)
					const stored = await Promise.all(
						keys.map((key) => elsewhere.set(key, 1, 60).then(isAny, () => false)),
					)
					const count = stored.filter(Boolean).length
					assert.ok(count >= 10, `${name}: ${count} of 40`)
				}
				await until(async () => primaryOf(prefix).then(isAny, () => false), 'the new primary')
				await backWithin(5_000, async () => sides.every(({ statuses }) => statuses.at(-1) === 200))
				for (const { cache } of sides) assert.is(await cache.add('nonce', 2, 600), false)
			} finally {
				isOver = true
				await Promise.all(loads)
				await primary.machine?.mend()
				killed.delete(primary)
				for (const { close } of clients) close()
			}
			for (const { name, statuses, late } of sides) {
				assert.equal([...new Set(statuses)].sort(), [200, 503], name)
				assert.is(late, 0, name)
			}
			await until(async () => String(await tell(primary, 'ROLE')).startsWith('slave'), 'it to be a replica')
			await until(
				async () => String(await tell(primary, 'INFO', 'replication')).includes('link_status:up'),
				'the copy',
			)
		},
	)

	test('a primary killed under load: no limit is exceeded, and its replica serves', async () => {
		// At one server, the one that is killed.
		const prefix = `{${randomUUID()}}:`
		const primary = await primaryOf(prefix)
		const sides = CLIENTS.map((name) => {
			const cache = cacheOf(name, { prefix: `${prefix}${name}:`, timeoutSeconds: 0.5 })
			const logger = { info() {}, warn() {}, error() {} }
			const server = restServer({ api: new Counted() }, { cache, logger })
			const statuses: number[] = []
			return { name, cache, statuses, request: async () => (await server.inject({ url: '/api/a' })).status }
		})
		let isOver = false
		const loads = sides.flatMap(({ statuses, request }) =>
			[1, 2].map(async () => {
				while (!isOver) {
					statuses.push(await request())
					await setTimeout(2)
				}
			}),
		)
		const granted = ({ statuses }: { statuses: number[] }) =>
			statuses.filter((status) => status === 200).length
		await until(() => sides.every((side) => granted(side) > LIMIT / 4), 'a quarter of the limit')
		for (const { cache } of sides) assert.is(await cache.add('nonce', 1, 600), true)
		// What a primary has not sent to its replica when it is killed is lost: here that is a few milliseconds' counts.
		const before = sides.map(granted)
		await setTimeout(50)
		await kill(primary)
		const recent = sides.map((side, at) => granted(side) - (before[at] ?? 0))
		await until(() => sides.every(({ statuses }) => statuses.includes(503)), 'a refusal')
		await until(
			() => sides.every(({ statuses }) => statuses.slice(-10).every((status) => status === 429)),
			'the limit',
		)
		isOver = true
		await Promise.all(loads)
		for (const [at, side] of sides.entries()) {
			assert.equal(
				side.statuses.filter((status) => ![200, 429, 503].includes(status)),
				[],
			)
			const most = LIMIT + (recent[at] ?? 0)
			assert.ok(granted(side) <= most, `${side.name}: ${granted(side)} of ${most}`)
			assert.is(await side.cache.add('nonce', 2, 600), false)
			await side.cache.check()
		}
		for (const { cache } of sides) assert.is(await cache.add('after', 1, 600), true)
	})

	test('a call whose connection is lost is refused, though ioredis and iovalkey repeat it', async () => {
		const prefix = `{${randomUUID()}}:`
		const primary = await primaryOf(prefix)
		const caches = CLIENTS.map((name) => cacheOf(name, { prefix: `${prefix}${name}:` }))
		for (const cache of caches) assert.is(await cache.increment('count', 600), 1)
		// The server holds commands back while connections are lost.
		await tell(primary, 'CLIENT', 'PAUSE', '30000', 'WRITE')
		const calls = caches.map((cache) => rejection(cache.increment('count', 600)))
		await setTimeout(200)
		await tell(primary, 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
		await tell(primary, 'CLIENT', 'UNPAUSE')
		for (const error of await Promise.all(calls)) {
			assert.instance(error, CacheUnavailable)
			assert.match(error.message, 'connection')
		}
	})
})

function isAny(): boolean {
	return true
}
