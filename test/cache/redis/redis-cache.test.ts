/** `RedisCache`: options, key names, and entries stored by other programs. */
import { randomUUID } from 'node:crypto'
import { Cluster, Redis } from 'ioredis'
import { createClient, createClientPool, createCluster } from 'redis'
import * as assert from 'uvu/assert'
import { CacheUnavailable } from '../../../lib/cache/cache.ts'
import { RedisCache, type RedisCacheOptions, type RedisClient } from '../../../lib/cache/redis/redis-cache.ts'
import { remember } from '../../../lib/cache/remember.ts'
import { messageOf } from '../../helpers/asking.ts'
import { REDIS_PORT } from '../../helpers/redis.ts'
import { rejection } from './rejection.ts'
import { CLIENTS, describeRedis, forget, openClient } from './servers.ts'

const nowhere = { host: '127.0.0.1', port: 1, lazyConnect: true }

describeRedis('RedisCache: options', (test) => {
	const others: readonly (readonly [string, () => unknown])[] = [
		['nothing', () => undefined],
		['null', () => null],
		['a URL', () => 'redis://127.0.0.1'],
		['an object', () => ({})],
		['the class', () => Redis],
		['a pool of node-redis', () => createClientPool()],
	]
	for (const [what, make] of others) {
		test(`refuses ${what} as a client`, () => {
			const client = make() as RedisClient // On purpose: JavaScript has no types to stop it.
			assert.throws(
				() => new RedisCache(client),
				(error: unknown) =>
					error instanceof TypeError && /^RedisCache needs a Redis or Cluster of/.test(error.message),
			)
		})
	}

	test('refuses a cluster of ioredis that reads from replicas', () => {
		const client = new Cluster([nowhere], { lazyConnect: true, scaleReads: 'slave' })
		assert.match(
			messageOf(() => new RedisCache(client)),
			"RedisCache needs a Cluster with scaleReads: 'master'",
		)
	})

	test("refuses an empty hash tag in a cluster's prefix: a script's keys would have different slots", () => {
		const client = createCluster({ rootNodes: [{ url: 'redis://127.0.0.1:1' }] })
		const message = 'RedisCache: prefix must have no empty hash tag {} for a Redis Cluster'
		assert.match(
			messageOf(() => new RedisCache(client, { prefix: 'blog{}:' })),
			message,
		)
		for (const prefix of ['blog:', '{blog}:', 'blog{', '{a}{}']) new RedisCache(client, { prefix })
	})

	const wrong: readonly (readonly [unknown, ErrorConstructor, string])[] = [
		[null, TypeError, 'the options of RedisCache must be an object, got null'],
		['blog:', TypeError, 'the options of RedisCache must be an object, got "blog:"'],
		[{ prefx: 'blog:' }, TypeError, 'RedisCache has no option prefx: did you mean prefix?'],
		[{ prefix: 5 }, TypeError, 'RedisCache: prefix must be a string without lone surrogates, got 5'],
		[
			{ prefix: 'a\ud83d' },
			TypeError,
			'RedisCache: prefix must be a string without lone surrogates, got "a\\ud83d"',
		],
		[
			{ prefix: '\udc00:' },
			TypeError,
			'RedisCache: prefix must be a string without lone surrogates, got "\\udc00:"',
		],
		[
			{ maxmemoryPolicy: 'allkeys-lru' },
			TypeError,
			`RedisCache: maxmemoryPolicy must be 'noeviction', got "allkeys-lru"`,
		],
		[
			{ maxBytes: '1' },
			TypeError,
			'RedisCache: maxBytes must be a number from 1048576 up, or Infinity, got "1"',
		],
		[
			{ maxBytes: 1_000_000 },
			RangeError,
			'RedisCache: maxBytes must be a number from 1048576 up, or Infinity, got 1000000',
		],
		[
			{ maxBytes: Number.NaN },
			RangeError,
			'RedisCache: maxBytes must be a number from 1048576 up, or Infinity, got NaN',
		],
		[
			{ timeoutSeconds: '1' },
			TypeError,
			'RedisCache: timeoutSeconds must be a number above 0 and at most 86400, got "1"',
		],
		[
			{ timeoutSeconds: 0 },
			RangeError,
			'RedisCache: timeoutSeconds must be a number above 0 and at most 86400, got 0',
		],
		[
			{ timeoutSeconds: Number.NaN },
			RangeError,
			'RedisCache: timeoutSeconds must be a number above 0 and at most 86400, got NaN',
		],
		[
			{ timeoutSeconds: 1e9 },
			RangeError,
			'RedisCache: timeoutSeconds must be a number above 0 and at most 86400, got 1000000000',
		],
	]
	for (const [options, kind, message] of wrong) {
		test(`refuses the options ${JSON.stringify(options)}: ${message}`, () => {
			const client = new Redis(nowhere)
			assert.throws(
				() => new RedisCache(client, options as RedisCacheOptions), // On purpose, as above.
				(error: unknown) => error instanceof kind && error.message === message,
			)
		})
	}

	test('a never-connected client of node-redis gets an error that says so', async () => {
		const cache = new RedisCache(createClient())
		const error = await rejection(cache.get('k'))
		assert.instance(error, CacheUnavailable)
		assert.is(error.message, 'the Redis client is closed, or was never connected')
	})

	test('a lazy client of ioredis is connected by the first call', async () => {
		const client = new Redis({ host: '127.0.0.1', port: REDIS_PORT, lazyConnect: true })
		const cache = new RedisCache(client, { prefix: `verbena-test:${randomUUID()}:` })
		assert.is(await cache.add('k', 1, 1), true)
		await cache.delete('k')
		client.disconnect()
	})
})

for (const name of CLIENTS) {
	describeRedis(`RedisCache with ${name}`, (test) => {
		const prefix = `verbena-test:${randomUUID()}:`
		const opened = openClient(name)
		const { command } = opened
		const cache = new RedisCache(opened.client, { prefix })

		test.after(async () => {
			await forget(prefix, opened)
			opened.close()
		})

		/** The server's clock, in whole milliseconds. */
		const time = async () => {
			const [seconds, microseconds] = (await command('TIME')) as [string, string] // As Redis documents it.
			return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000)
		}

		test('stores JSON under prefix and key, with a TTL in milliseconds', async () => {
			const began = await time()
			await cache.set('json', { a: 1 }, 60.5)
			const ended = await time()
			assert.is(await command('GET', `${prefix}json`), '{"a":1}')
			// By the server's clock, with which it was set, so that a late check makes no difference.
			const end = Number(await command('PEXPIRETIME', `${prefix}json`))
			assert.ok(
				end >= began + 60_500 && end <= ended + 60_500,
				`${end - began} ms from before, ${end - ended} ms from after`,
			)
		})

		test('caches with different prefixes share nothing', async () => {
			const other = new RedisCache(opened.client, { prefix: `${prefix}other:` })
			await cache.set('shared', 1, 60)
			assert.is(await other.get('shared'), undefined)
			assert.is(await other.add('shared', 2, 60), true)
			assert.is(await cache.get('shared'), 1)
		})

		test('keys with lone surrogates have an entry each', async () => {
			const keys = ['\ud83d', '\ud83e', '\ufffd', '\udc00', 'a\ud83d', '\0utf16:3dd8', '\u{1f680}']
			for (const [at, key] of keys.entries())
				assert.is(await cache.add(key, at, 60), true, JSON.stringify(key))
			for (const [at, key] of keys.entries()) assert.is(await cache.get(key), at)
		})

		test('accepts the longest TTL', async () => {
			await cache.set('long', 1, Number.MAX_VALUE)
			assert.is(await cache.add('long add', 1, Number.MAX_VALUE), true)
			assert.is(await cache.increment('long count', Number.MAX_VALUE), 1)
			for (const key of ['long', 'long add', 'long count']) {
				assert.is(await cache.get(key), 1)
				assert.ok(Number(await command('PTTL', prefix + key)) > 9e15)
			}
		})

		test('a counter always has a TTL, even one stored by another program', async () => {
			await cache.increment('new count', 60)
			await command('SET', `${prefix}old count`, '41')
			assert.is(await cache.increment('old count', 60), 42)
			for (const key of ['new count', 'old count']) {
				const left = Number(await command('PTTL', prefix + key))
				assert.ok(left > 50_000 && left <= 60_000, `${key}: ${left} ms`)
			}
		})

		test('counts from -2^53 to 2^53 - 1, and no further', async () => {
			await command('SET', `${prefix}bounds`, '-9007199254740992')
			assert.is(await cache.increment('bounds', 60), -9007199254740991)
			await command('SET', `${prefix}bounds`, '9007199254740990')
			assert.is(await cache.increment('bounds', 60), 9007199254740991)
			assert.instance(await rejection(cache.increment('bounds', 60)), TypeError)
			assert.is(await command('GET', `${prefix}bounds`), '9007199254740991')
		})

		for (const text of ['007', '-0', '+1', ' 1', '1 ', '1\n', '', '1e3', '0x10', '9'.repeat(400), '-']) {
			test(`doesn't count from ${JSON.stringify(text.slice(0, 9))}, which it can't have stored`, async () => {
				await command('SET', `${prefix}foreign count`, text)
				assert.instance(await rejection(cache.increment('foreign count', 60)), TypeError)
				assert.is(await command('GET', `${prefix}foreign count`), text)
			})
		}

		for (const text of ['not JSON', '', '{', 'undefined']) {
			test(`${JSON.stringify(text)} stored by another program is not a value, and remember loads instead`, async () => {
				await command('SET', `${prefix}foreign`, text)
				const error = await rejection(cache.get('foreign'))
				assert.instance(error, CacheUnavailable)
				assert.match(error.message, /^Redis holds a value under 'foreign' that isn't JSON/)
				assert.is(await remember(cache, 'foreign', 60, () => 'loaded'), 'loaded')
				assert.is(await cache.get('foreign'), 'loaded')
			})
		}

		test('an entry of another Redis type is an error for get and increment, and can be deleted or replaced', async () => {
			await command('RPUSH', `${prefix}list`, '1')
			assert.instance(await rejection(cache.get('list')), CacheUnavailable)
			assert.instance(await rejection(cache.increment('list', 60)), TypeError)
			assert.is(await cache.add('list', 1, 60), false)
			assert.is(await cache.delete('list'), true)
			await command('RPUSH', `${prefix}list`, '1')
			await cache.set('list', 2, 60)
			assert.is(await cache.get('list'), 2)
		})
	})
}
