/** `CacheFull` and `CacheUnavailable`: their messages, and the client's response. */
import * as assert from 'uvu/assert'
import { CacheFull, CacheUnavailable } from '../../lib/cache/cache.ts'
import { RestHandler } from '../../lib/index.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

describe('CacheFull', (test) => {
	test('names the number held and the option to raise', () => {
		const error = new CacheFull(100)
		assert.instance(error, Error)
		assert.is(error.name, 'CacheFull')
		assert.is(error.message, "the cache holds 100 entries that can't be evicted yet: raise max")
	})

	test('names maxBytes where that is what is full', () => {
		assert.is(
			new CacheFull(2_000, 'maxBytes').message,
			'the cache has no room within 2000 bytes, and nothing more can be evicted yet: raise maxBytes',
		)
	})

	test("names Redis' maxmemory where that is what is full", () => {
		const cause = new Error('OOM')
		const error = new CacheFull(undefined, 'maxmemory', { cause })
		assert.is(error.message, 'Redis is out of memory, and evicts nothing: raise its maxmemory')
		assert.is(error.cause, cause)
	})
})

describe('an unavailable or full cache', (test) => {
	const failures = [new CacheFull(100), new CacheUnavailable('no Redis at 10.0.0.7')]
	for (const failure of failures) {
		test(`${failure.name} is answered 503 with Retry-After, and explained in the log only`, async () => {
			class Failing extends RestHandler {
				get_a() {
					throw failure
				}
				async get_later() {
					throw failure
				}
			}
			const { ask, lines } = asking({ f: new Failing() })
			for (const url of ['/f/a', '/f/later']) {
				const reply = await ask(url)
				assert.is(reply.status, 503)
				assert.is(reply.headers['retry-after'], '1')
				assert.match(
					reply.text(),
					/^\{"success":false,"error":"Service Unavailable","code":"unavailable","requestId":"[\w-]+"\}$/,
				)
				assert.is(lines.at(-1)?.fields.err, failure)
			}
		})
	}
})
