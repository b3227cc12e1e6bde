/** `remember`: one load for all waiting callers, a copy for each, failures not cached. */
import * as assert from 'uvu/assert'
import type { Cache, JsonValue } from '../../lib/cache/cache.ts'
import { MemoryCache } from '../../lib/cache/memory-cache.ts'
import { remember } from '../../lib/cache/remember.ts'
import { describe } from '../helpers/describe.ts'

for (const [kind, make] of [
	['a cache that answers at once', () => new MemoryCache({ max: 10 })],
	['a cache that answers with promises', () => promised(new MemoryCache({ max: 10 }))],
] as const) {
	describe(`remember with ${kind}`, (test) => {
		test('a thousand concurrent misses load once, and each gets its own copy', async () => {
			const cache = make()
			const load = counted(async () => ({ list: [1] }))
			const answers = await Promise.all(
				Array.from({ length: 1_000 }, () => remember(cache, 'k', 60, load.load)),
			)
			assert.is(load.calls, 1)
			assert.is(new Set(answers).size, 1_000)
			assert.is(new Set(answers.map((answer) => answer.list)).size, 1_000)
			for (const answer of answers) assert.equal(answer, { list: [1] })
			assert.equal(await cache.get('k'), { list: [1] })
		})

		test('a cached value is not loaded, and each caller gets a copy', async () => {
			const cache = make()
			await cache.set('k', { a: 1 }, 60)
			const load = counted(() => ({ a: 2 }))
			const answers = await Promise.all(Array.from({ length: 3 }, () => remember(cache, 'k', 60, load.load)))
			assert.equal(answers, [{ a: 1 }, { a: 1 }, { a: 1 }])
			assert.is(new Set(answers).size, 3)
			assert.is(load.calls, 0)
		})

		test('null is a value, and cached', async () => {
			const cache = make()
			const load = counted(() => null)
			assert.is(await remember(cache, 'k', 60, load.load), null)
			assert.is(await remember(cache, 'k', 60, load.load), null)
			assert.is(load.calls, 1)
		})

		test('undefined is returned and not cached', async () => {
			const cache = make()
			const load = counted(() => undefined)
			assert.is(await remember(cache, 'k', 60, load.load), undefined)
			assert.is(await remember(cache, 'k', 60, load.load), undefined)
			assert.is(load.calls, 2)
		})

		test('different keys load separately', async () => {
			const cache = make()
			const answers = await Promise.all([1, 2].map((n) => remember(cache, `k${n}`, 60, async () => n)))
			assert.equal(answers, [1, 2])
		})

		for (const [how, fail] of [
			['rejects', () => Promise.reject(new Error('no database'))],
			['throws', thrower('no database')],
		] as const) {
			test(`a load that ${how} fails all who wait for it, and the next call loads again`, async () => {
				const cache = make()
				const load = counted<number>(fail)
				const waiting = Array.from({ length: 10 }, () => remember(cache, 'k', 60, load.load))
				const outcomes = await Promise.allSettled(waiting)
				assert.is(load.calls, 1)
				for (const outcome of outcomes)
					assert.is(outcome.status === 'rejected' && outcome.reason.message, 'no database')
				assert.is(await cache.get('k'), undefined)
				assert.is(await remember(cache, 'k', 60, () => 5), 5)
			})
		}

		test('a waiter that retries right after the failure loads again', async () => {
			const cache = make()
			const first = remember(cache, 'k', 60, thrower<number>('no database'))
			assert.is(await first.catch(() => remember(cache, 'k', 60, () => 5)), 5)
		})

		test('changing the loaded value afterwards affects neither the caller nor the cache', async () => {
			const cache = make()
			const shared = { list: [1] }
			const answer = await remember(cache, 'k', 60, () => shared)
			shared.list.push(2)
			assert.equal(answer, { list: [1] })
			assert.equal(await cache.get('k'), { list: [1] })
		})

		test('a value that JSON cannot represent is refused, naming its key', async () => {
			const load = (): number => 1n as unknown as number
			await refused(() => remember(make(), 'big', 60, load), TypeError, /'big'/)
		})
	})
}

describe('remember', (test) => {
	test('the value expires after its TTL', async () => {
		let now = 0
		const cache = new MemoryCache({ max: 10, clock: () => now })
		const load = counted(() => 1)
		await remember(cache, 'k', 1, load.load)
		now = 999
		await remember(cache, 'k', 1, load.load)
		assert.is(load.calls, 1)
		now = 1_000
		await remember(cache, 'k', 1, load.load)
		assert.is(load.calls, 2)
	})

	test('two caches load separately', async () => {
		const load = counted(() => 1)
		await Promise.all([0, 1].map(() => remember(new MemoryCache({ max: 1 }), 'k', 60, load.load)))
		assert.is(load.calls, 2)
	})

	test('a call while the value is being stored waits for the same load', async () => {
		const memory = new MemoryCache({ max: 10 })
		let stored = (): void => {}
		const storing = new Promise<void>((done) => {
			stored = done
		})
		const cache = { ...promised(memory), set: () => storing }
		const load = counted(() => 1)
		const first = remember(cache, 'k', 60, load.load)
		await new Promise(setImmediate)
		assert.is(load.calls, 1)
		const second = remember(cache, 'k', 60, load.load)
		stored()
		assert.equal(await Promise.all([first, second]), [1, 1])
		assert.is(load.calls, 1)
	})

	const failing: readonly (readonly [what: string, broken: Partial<Cache>, told: string[]])[] = [
		['get throws', { get: thrower('get is down') }, ['get is down']],
		['get rejects', { get: async () => thrower('get is down')() }, ['get is down']],
		['set throws', { set: thrower('set is down') }, ['set is down']],
		['set rejects', { set: async () => thrower('set is down')() }, ['set is down']],
		[
			'both fail',
			{ get: thrower('get is down'), set: thrower('set is down') },
			['get is down', 'set is down'],
		],
	]
	for (const [what, broken, told] of failing) {
		test(`a cache whose ${what} does not fail the read`, async () => {
			const cache = { ...promised(new MemoryCache({ max: 10 })), ...broken }
			assert.is(await remember(cache, 'k', 60, () => 5), 5)
			const errors: unknown[] = []
			const onError = (error: unknown): void => {
				if (error instanceof Error) errors.push(error.message)
			}
			assert.is(await remember(cache, 'other', 60, () => 5, { onError }), 5)
			assert.equal(errors, told)
		})
	}

	test('a cache that is full does not fail the read', async () => {
		const cache = new MemoryCache({ max: 1 })
		cache.add('nonce', true, 60)
		assert.is(await remember(cache, 'k', 60, () => 5), 5)
	})

	test('an unavailable cache still loads once for all who wait', async () => {
		const cache = {
			...promised(new MemoryCache({ max: 1 })),
			get: thrower('get is down'),
			set: thrower('set is down'),
		}
		const load = counted(() => 5)
		await Promise.all(Array.from({ length: 100 }, () => remember(cache, 'k', 60, load.load)))
		assert.is(load.calls, 1)
	})

	test('an invalid TTL or key is refused before anything is loaded', async () => {
		const cache = new MemoryCache({ max: 1 })
		const load = counted(() => 5)
		cache.set('k', 1, 60)
		await refused(() => remember(cache, 'k', 0, load.load), RangeError, /ttlSeconds must be/)
		await refused(
			() => remember(cache, 7 as unknown as string, 1, load.load),
			TypeError,
			/a cache key must be/,
		)
		assert.is(load.calls, 0)
	})
})

function counted<T>(answer: () => T | Promise<T>): { readonly calls: number; load: () => T | Promise<T> } {
	let calls = 0
	return {
		get calls() {
			return calls
		},
		load() {
			calls++
			return answer()
		},
	}
}

function thrower<T = never>(message: string): () => T {
	return () => {
		throw new Error(message)
	}
}

/** The same cache, asynchronous like one over a network. */
function promised(cache: Cache): Cache {
	const later = (): Promise<void> => new Promise(setImmediate)
	return {
		get: (key) => later().then(() => cache.get(key)),
		set: (key: string, value: JsonValue, time: number) => later().then(() => cache.set(key, value, time)),
		delete: (key) => later().then(() => cache.delete(key)),
		add: (key, value, time) => later().then(() => cache.add(key, value, time)),
		increment: (key, time) => later().then(() => cache.increment(key, time)),
	}
}

async function refused(act: () => Promise<unknown>, kind: ErrorConstructor, message: RegExp): Promise<void> {
	const error: unknown = await act().then(
		() => undefined,
		(reason: unknown) => reason,
	)
	assert.instance(error, kind)
	assert.match((error as Error).message, message)
}
