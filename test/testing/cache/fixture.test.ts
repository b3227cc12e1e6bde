/** The fixture of the cache contract, and the options that fit it to other caches. */
import { rejects } from 'node:assert/strict'
import * as assert from 'uvu/assert'
import type { Cache } from '../../../lib/cache/cache.ts'
import { MemoryCache } from '../../../lib/cache/memory-cache.ts'
import { type CacheFixture, toCase } from '../../../lib/testing/cache/fixture.ts'
import { describe } from '../../helpers/describe.ts'
import { inTimesOf } from '../../helpers/stalls.ts'

const make = (): Cache => new MemoryCache({ max: 1 })

describe('cache fixture', (test) => {
	test('before and after are one millisecond apart around an expiry', async () => {
		const times: number[] = []
		let clock = (): number => 0
		const run = async ({ before, after }: CacheFixture): Promise<void> => {
			const start = clock()
			await before(600)
			times.push(clock() - start)
			await after(600)
			times.push(clock() - start)
		}
		const made = toCase(
			{ name: 'n', run },
			(given) => {
				clock = given
				return make()
			},
			{},
		)
		await made.run()
		assert.equal(times, [599, 600])
	})

	test('advance gets the time to wait, with the slack on both sides', async () => {
		const waits: number[] = []
		const advance = async (time: number): Promise<void> => {
			waits.push(time)
		}
		const run = async ({ before, after }: CacheFixture): Promise<void> => {
			await after(300)
			await before(600)
			await after(600)
		}
		await toCase({ name: 'n', run }, make, { advance, slackSeconds: 0.1 }).run()
		assert.equal(waits, [400, 99, 201])
	})

	test('time never goes backwards', async () => {
		const waits: number[] = []
		const advance = (time: number): void => {
			waits.push(time)
		}
		const run = async ({ before, after }: CacheFixture): Promise<void> => {
			await after(600)
			await before(600)
		}
		await toCase({ name: 'n', run }, make, { advance }).run()
		assert.equal(waits, [600, 0])
	})

	const wrong = new Error('wrong')
	const block = (time: number): void => {
		for (const end = performance.now() + time; performance.now() < end; );
	}
	const retries: [string, number, number, number][] = [
		['a case that fails behind time is played again, twenty times in all', 10, 30, 20],
		['a case that fails in time is not played again', 100, 0, 1],
		['a case that fails without real waits is not played again', 0, 30, 1],
	]
	for (const [name, slack, held, plays] of retries) {
		// Held up otherwise for longer than the slack, a case fails behind time that was to fail in time.
		test(name, () =>
			inTimesOf(100, async () => {
				let played = 0
				const run = async ({ after }: CacheFixture): Promise<void> => {
					played++
					await after(5)
					block(held)
					throw wrong
				}
				const advance = (time: number): void => block(time)
				await rejects(toCase({ name: 'n', run }, make, { advance, slackSeconds: slack / 1_000 }).run(), wrong)
				assert.is(played, plays)
			}),
		)
	}

	test('a case that never waits is not repeated, however long it took', async () => {
		let played = 0
		const run = async (): Promise<void> => {
			played++
			block(20)
			throw wrong
		}
		await rejects(toCase({ name: 'n', run }, make, { advance: () => {}, slackSeconds: 0.01 }).run(), wrong)
		assert.is(played, 1)
	})

	test('a case that passes when repeated has passed', async () => {
		let played = 0
		const run = async ({ after }: CacheFixture): Promise<void> => {
			await after(5)
			if (++played < 3) {
				block(30)
				throw wrong
			}
		}
		await toCase({ name: 'n', run }, make, { advance: (time) => block(time), slackSeconds: 0.01 }).run()
		assert.is(played, 3)
	})

	for (const fails of [false, true]) {
		test(`the cache is closed after a case that ${fails ? 'fails' : 'passes'}`, async () => {
			const made = make()
			const closed: Cache[] = []
			const run = async (): Promise<void> => {
				if (fails) throw new Error('broken promise')
			}
			const close = (cache: Cache): void => {
				closed.push(cache)
			}
			const outcome = await toCase({ name: 'n', run }, () => made, { close })
				.run()
				.then(
					() => 'passed',
					(error: Error) => error.message,
				)
			assert.is(outcome, fails ? 'broken promise' : 'passed')
			assert.is(closed.length, 1)
			assert.is(closed[0], made)
		})
	}

	test('a case declares the capacity of its cache', async () => {
		const asked: number[] = []
		const makeMax = (_: unknown, max: number): Cache => {
			asked.push(max)
			return make()
		}
		const run = async ({ max }: CacheFixture): Promise<void> => {
			asked.push(max)
		}
		await toCase({ name: 'n', max: 4, run }, makeMax, {}).run()
		await toCase({ name: 'n', run }, makeMax, {}).run()
		assert.equal(asked, [4, 4, 1_000, 1_000])
	})

	for (const slack of [-0.001, 0.101, Number.NaN]) {
		test(`a slack of ${slack} is refused`, () => {
			const run = async (): Promise<void> => {}
			assert.throws(
				() => toCase({ name: 'n', run }, make, { slackSeconds: slack }),
				(error: unknown) =>
					error instanceof RangeError &&
					error.message === `cacheContract: slackSeconds must be a number from 0 to 0.1, got ${slack}`,
			)
		})
	}
})
