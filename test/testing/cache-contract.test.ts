/** The cache contract: correct caches of every kind pass it, and each broken one fails. */
import * as assert from 'uvu/assert'
import { MemoryCache } from '../../lib/cache/memory-cache.ts'
import { type CacheContractOptions, cacheContract, type MakeCache } from '../../lib/testing/index.ts'
import { describe } from '../helpers/describe.ts'
import {
	Deleting,
	InObject,
	Rekeyed,
	Releasing,
	Remote,
	Retimed,
	Sharing,
	Throwing,
	TwoSteps,
	Unsaid,
} from './broken-caches.ts'

type Broken = readonly [what: string, make: MakeCache, found: string]

const BROKEN: readonly Broken[] = [
	[
		'never ends anything',
		(_, max) => new MemoryCache({ max, clock: () => 0 }),
		'a value of set is there to the last moment of its time, and then gone',
	],
	[
		'counts in whole seconds',
		(clock, max) => new Retimed(clock, max, Math.ceil),
		'a time with a fraction ends at its millisecond',
	],
	[
		'ends a millisecond late',
		(clock, max) => new Retimed(clock, max, (seconds) => seconds + 0.001),
		'a value of add is there to the last moment of its time, and then free',
	],
	[
		'ends a millisecond early',
		(clock, max) => new Retimed(clock, max, (seconds) => seconds - 0.001),
		'a value of set is there to the last moment of its time, and then gone',
	],
	[
		'ends what is too long for a timer at once',
		(clock, max) => new Retimed(clock, max, (seconds) => (seconds > 2_147_483 ? 0.001 : seconds)),
		'a time of ten years is not cut short',
	],
	['hands out what it holds', (clock, max) => new Sharing(clock, max), 'each reader has a copy of its own'],
	[
		'holds what it is handed',
		(clock, max) => new Sharing(clock, max),
		'a value that is changed after it was stored stays as it was',
	],
	[
		'adds in two steps',
		(clock, max) => new TwoSteps(new MemoryCache({ max, clock })),
		'of 100 simultaneous adds exactly one returns true, and its value is kept',
	],
	[
		'counts in two steps',
		(clock, max) => new TwoSteps(new MemoryCache({ max, clock })),
		'100 simultaneous increments return 1 to 100, each once',
	],
	[
		'moves the time of a counter',
		(clock, max) => new TwoSteps(new MemoryCache({ max, clock })),
		"a counter's time starts at the first increment, and later ones don't move it",
	],
	[
		'evicts what was added',
		(clock, max) => new TwoSteps(new MemoryCache({ max, clock })),
		'a flood of values never evicts what add and increment made',
	],
	[
		'says that it added when it had no room',
		(clock, max) => new Unsaid(clock, max),
		'add and increment throw CacheFull when no entry may be evicted',
	],
	[
		'no longer keeps what was set again',
		(clock, max) => new Releasing(clock, max),
		'an entry of add is still kept after set has replaced its value',
	],
	[
		'throws when set has no room',
		(clock, max) => new Throwing(clock, max),
		'a set without room stores nothing, and does not throw',
	],
	['holds all in an object', () => new InObject(), 'a key without a value reads as undefined'],
	[
		'takes two writings of a letter for one key',
		(clock, max) => new Rekeyed(clock, max, (key) => key.normalize('NFC')),
		'each key has a value of its own, whatever its characters',
	],
	[
		'cuts its keys at a zero',
		(clock, max) => new Rekeyed(clock, max, (key) => key.split('\0', 1)[0] ?? ''),
		'each key has a value of its own, whatever its characters',
	],
	[
		'says that it deleted what was not there',
		(clock, max) => new Deleting(clock, max),
		'delete returns whether there was a value, and then there is none',
	],
	[
		'takes any time',
		(clock, max) => new Retimed(clock, max, (seconds) => (seconds > 0 && seconds < 1e9 ? seconds : 1)),
		'a time that is not a finite number above 0 is refused with a RangeError',
	],
]

describe('cacheContract passes', (test) => {
	let elsewhere = 0
	const good: readonly (readonly [what: string, make: MakeCache, options?: CacheContractOptions])[] = [
		['a cache that answers with promises', (clock, max) => new Remote(new MemoryCache({ max, clock }))],
		['a cache that is made by a promise', async (clock, max) => new MemoryCache({ max, clock })],
		[
			'a cache with its own time and bound',
			() => new MemoryCache({ max: 100_000, clock: () => elsewhere }),
			{
				bounded: false,
				slackSeconds: 0.1,
				// Each wait is late; a case has three at most, so that the slack covers them together.
				advance: (time) => {
					elsewhere += time + 30
				},
			},
		],
	]
	for (const [what, make, options] of good) {
		test(what, async () => assert.equal(await failuresOf(make, options), []))
	}

	test('all cases have different names', () => {
		const names = cacheContract(() => new MemoryCache({ max: 1 }), { maxBytes: 1_048_576 }).map(
			({ name }) => name,
		)
		assert.is(new Set(names).size, names.length)
	})
})

describe('cacheContract fails', (test) => {
	for (const [what, make, found] of BROKEN) {
		test(`a cache that ${what}`, async () => {
			const failures = await failuresOf(make)
			assert.ok(failures.includes(found), failures.join('\n') || 'nothing was found')
		})
	}

	test('a cache that lets one caller fill it', async () => {
		const failures = await failuresOf((clock, max) => new MemoryCache({ max, clock }), {
			maxBytes: 1_048_576,
		})
		assert.ok(failures.includes('a caller who fills a share is refused alone, and all others have room'))
	})
})

async function failuresOf(make: MakeCache, options?: CacheContractOptions): Promise<string[]> {
	const failures: string[] = []
	for (const { name, run } of cacheContract(make, options)) await run().catch(() => failures.push(name))
	return failures
}
