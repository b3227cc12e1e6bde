/** `RedisCache` and greedy callers: each has a share of its bytes, counted across all processes. */
import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { CacheFull, type CacheScope } from '../../../lib/cache/cache.ts'
import { RedisCache } from '../../../lib/cache/redis/redis-cache.ts'
import { sharedKey } from '../../../lib/cache/shares.ts'
import { createServer, type Request, RestHandler } from '../../../lib/index.ts'
import { rejection } from '../../cache/redis/rejection.ts'
import {
	type ClientName,
	describeRedis,
	forget,
	openClient,
	ownRedis,
	type TestClient,
} from '../../cache/redis/servers.ts'
import { until } from '../../helpers/listening.ts'

const MIB = 1_048_576
const TEXT = 'x'.repeat(16_000)
/** Six of them fill a share, except for some short entries. */
const LONG = 'x'.repeat(98_000)
const SHORT = 'x'.repeat(2_000)

/** Adds texts at once; returns which were added, and whose share was full for the others. */
async function flood(cache: RedisCache, keyOf: (index: number) => string, count: number, ttlSeconds = 60) {
	const indices = Array.from({ length: count }, (_, index) => index)
	const scopes = await Promise.all(
		indices.map(async (index): Promise<CacheScope | 'added'> => {
			try {
				assert.is(await cache.add(keyOf(index), TEXT, ttlSeconds), true)
				return 'added'
			} catch (error) {
				if (error instanceof CacheFull) return error.scope
				throw error
			}
		}),
	)
	return { added: scopes.filter((scope) => scope === 'added').length, scopes: new Set(scopes) }
}

function answers(user: string): (index: number) => string {
	return (index) => sharedKey('idempotency', user, `k${index}`)
}

describeRedis('shares of RedisCache', (test) => {
	const prefix = `verbena-test:${randomUUID()}:`
	const opened: TestClient[] = []
	const first = opening('ioredis')
	const { command } = first
	let made = 0

	function opening(name: ClientName): TestClient {
		const client = openClient(name)
		opened.push(client)
		return client
	}

	/** A cache with its own prefix, and a function that opens another on it, like another process. */
	function cached(maxBytes = MIB) {
		const own = `${prefix}${made++}:`
		const another = (name: ClientName = 'ioredis') =>
			new RedisCache(opening(name).client, { timeoutSeconds: 30, maxBytes, prefix: own })
		return { cache: another(), another, own }
	}

	test.after(async () => {
		await forget(prefix, first)
		for (const { close } of opened) close()
	})

	test('two processes together allow one caller as much as one process does', async () => {
		const { cache: alone } = cached()
		const { added, scopes } = await flood(alone, answers('ann'), 80)
		assert.ok(added > 32 && added < 40, String(added))
		assert.equal([...scopes].toSorted(), ['added', 'caller'])
		const { cache: one, another } = cached()
		const other = another('node-redis')
		const both = await Promise.all([
			flood(one, answers('ann'), 80),
			flood(other, (index) => answers('ann')(100 + index), 80),
		])
		assert.is(both[0].added + both[1].added, added)
		assert.is((await flood(other, answers('bob'), 4)).added, 4)
	})

	test('ten greedy callers leave room for a later one, and filling one purpose leaves room for the others', async () => {
		const { cache } = cached()
		const counts = Array.from({ length: 10 }, () => 0)
		for (let round = 0; round < 40; round++) {
			await Promise.all(
				counts.map(async (_, user) => {
					const key = answers(`greedy ${user}`)(round)
					if (await cache.add(key, SHORT, 60).catch(() => false)) counts[user] = (counts[user] ?? 0) + 1
				}),
			)
		}
		assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, counts.join())
		for (let index = 0; index < 8; index++)
			assert.is(await cache.add(answers('late')(index), SHORT, 60), true, counts.join())
		// Each entry has another caller: in the end there is no room for a caller's first entry.
		const { scopes } = await flood(cache, (index) => answers(`user ${index}`)(0), 40)
		assert.ok(scopes.has('purpose'), [...scopes].join())
		assert.is((await flood(cache, (index) => sharedKey('nonce', 'k1', `n${index}`), 3)).added, 3)
	})

	test('set counts towards the share as add does, and a refused set keeps the previous value', async () => {
		const { cache } = cached()
		const refused: Error[] = []
		for (let index = 0; index < 80; index++) {
			await cache.add(answers('ann')(index), 'running', 60).catch((error) => refused.push(error))
			await cache.set(answers('ann')(index), TEXT, 60).catch((error) => refused.push(error))
		}
		assert.ok(refused.length > 40 && refused.every((error) => error instanceof CacheFull))
		assert.is(await cache.get(answers('ann')(0)), TEXT)
		assert.is(await cache.get(answers('ann')(79)), undefined)
		await cache.set(answers('ann')(0), 'short', 3_600)
		assert.is(await cache.get(answers('ann')(0)), 'short')
		assert.is((await flood(cache, (index) => answers('ann')(100 + index), 3)).added, 1)
	})

	test('a deletion frees exactly what was taken, whatever the number and TTLs', async () => {
		const { cache, own } = cached()
		for (let round = 0; round < 200; round++) {
			const key = answers('ann')(round % 7)
			await cache.add(key, 'x'.repeat((round * 37) % 900), 40 + ((round * 13) % 300))
			if (round % 3 === 0) await cache.set(key, 'x'.repeat((round * 91) % 900), 86_400)
			await cache.increment(sharedKey('idempotency', 'ann', `count ${round % 5}`), 86_400)
			if (round % 2 === 0) await cache.delete(key)
			if (round % 9 === 0) await cache.delete(sharedKey('idempotency', 'ann', `count ${round % 5}`))
		}
		for (let index = 0; index < 7; index++) await cache.delete(answers('ann')(index))
		for (let index = 0; index < 5; index++)
			await cache.delete(sharedKey('idempotency', 'ann', `count ${index}`))
		for (const hash of [`${own}\0share:idempotency:ann`, `${own}\0shares`]) {
			const fields = (await command('HGETALL', hash)) as string[]
			const buckets = fields.filter((_, at) => at % 2 === 0 && /:\d+$/.test(fields[at] ?? '')).length
			// The bytes of each bucket itself remain until it expires.
			assert.is(Number(fields[fields.indexOf('idempotency') + 1]), 200 * buckets, fields.join(' '))
		}
	})

	test('expired entries leave nothing, not even counters', async () => {
		const { cache, own } = cached()
		await flood(cache, answers('ann'), 60, 0.4)
		await cache.add(sharedKey('nonce', 'k1', 'n1'), 1, 0.4)
		await cache.add(sharedKey('nonce', 'k1', 'n2'), 1, 0.8)
		let at = 100
		await until(async () => (await flood(cache, () => answers('ann')(at++), 1, 0.4)).added === 1, 'room')
		await until(async () => ((await command('KEYS', `${own}*`)) as string[]).length === 0, 'nothing left')
	})

	test('short TTLs share their buckets, and the longest one has its own', async () => {
		const { cache, own } = cached()
		const times = Array.from({ length: 180 }, (_, at) => 100 + 5 * at)
		await Promise.all(times.map((time) => cache.add(sharedKey('nonce', 'k1', `${time}`), 1, time / 1_000)))
		const fields = Number(await command('HLEN', `${own}\0share:nonce:k1`))
		assert.ok(fields <= 12, String(fields))
		await cache.add(sharedKey('nonce', 'k1', 'long'), 1, Number.MAX_VALUE)
		assert.is(await cache.add(sharedKey('nonce', 'k1', 'long'), 1, 1), false)
		assert.ok(Number(await command('PTTL', `${own}\0shares`)) > 9e14)
		assert.is(await cache.delete(sharedKey('nonce', 'k1', 'long')), true)
	})

	test('scripts flushed from Redis are sent again', async () => {
		const { cache } = cached()
		const calls = [
			() => cache.add(answers('ann')(0), 1, 60),
			() => cache.set(answers('ann')(0), 2, 60),
			() => cache.increment(answers('ann')(0), 60),
			() => cache.delete(answers('ann')(0)),
		]
		const answered: unknown[] = []
		for (const call of calls) {
			await command('SCRIPT', 'FLUSH')
			answered.push(await call())
		}
		assert.equal(answered, [true, undefined, 3, true])
	})

	test('callers whose names differ in a colon or a lone surrogate stay separate', async () => {
		const { cache } = cached()
		await flood(cache, answers('acme:bob'), 60)
		for (const name of ['acme.bob', 'acme', 'acme%3Abob', 'a\ud83d', 'a\udc00'])
			assert.is((await flood(cache, answers(name), 1)).added, 1, name)
		await flood(cache, answers('b\ud83d'), 20)
		await flood(cache, answers('b\udc00'), 1)
	})

	test('with Infinity no share is counted', async () => {
		const { cache, own } = cached(Number.POSITIVE_INFINITY)
		assert.is((await flood(cache, answers('ann'), 80)).added, 80)
		assert.is(Number(await command('EXISTS', `${own}\0shares`)), 0)
	})

	test('the application has no share: its own entries are not counted', async () => {
		const { cache, own } = cached()
		for (let index = 0; index < 80; index++) await cache.add(`mine ${index}`, TEXT, 60)
		assert.is(Number(await command('EXISTS', `${own}\0shares`)), 0)
		// Nor can an application's key collide with the counters.
		assert.is(await cache.add('\0shares', 1, 60), true)
		assert.is(Number(await command('EXISTS', `${own}\0shares`)), 0)
	})

	test('a user who fills a share gets 409 where a response was not stored, then 429, and no one else does', async () => {
		class Notes extends RestHandler {
			override access = { '*': 'user' } as const
			override authenticator = {
				authenticate: ({ headers }: Request) => ({ id: String(headers['x-user']), roles: [] }),
			}
			post_note() {
				return LONG
			}
		}
		const { cache } = cached()
		const server = createServer({ api: new Notes() }, { cache, logger: { info() {}, warn() {}, error() {} } })
		const post = async (user: string, key: string) => {
			const headers = { 'x-user': user, 'idempotency-key': key }
			return (await server.inject({ method: 'POST', url: '/api/note', headers })).status
		}
		let ran = 0
		let status = await post('ann', 'k0')
		for (; status === 200 && ran < 1_000; ran++) status = await post('ann', `k${ran + 1}`)
		assert.is(status, 429)
		assert.ok(ran > 6, String(ran))
		assert.is(await post('ann', 'k0'), 200)
		// It is known that it was run, but there was no room for its response.
		assert.is(await post('ann', `k${ran - 1}`), 409)
		for (const at of ['1', '2', '2']) assert.is(await post('bob', at), 200)
	})
})

describeRedis('shares of a Redis with maxmemory', (test) => {
	test('callers share three quarters of maxmemory, and the error says to raise it', async () => {
		const redis = await ownRedis()
		await redis.start('--maxmemory', '12mb')
		const opened = openClient('iovalkey', redis.port)
		try {
			const cache = new RedisCache(opened.client, { timeoutSeconds: 30 })
			const { added, scopes } = await flood(cache, answers('ann'), 800)
			assert.equal([...scopes].toSorted(), ['added', 'caller'])
			const part = (added * TEXT.length) / (12 * MIB)
			assert.ok(part > 0.4 && part < 0.45, String(part))
			const error = await rejection(cache.add(answers('ann')(1_000), TEXT, 60))
			assert.match(
				error.message,
				/^the caller's share of the cache is full: .* raise maxmemory \(now 12582912\)$/,
			)
		} finally {
			opened.close()
			await redis.remove()
		}
	})
})
