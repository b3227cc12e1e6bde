/** `cacheContract`: the requirements of `Cache`, as cases for a test runner. */

import { type CacheContractOptions, type MakeCache, toCase } from './cache/fixture.ts'
import { ROOM_TESTS, shareTests } from './cache/room.ts'
import { TIME_TESTS } from './cache/times.ts'
import { COUNT_TESTS, REFUSAL_TESTS, VALUE_TESTS } from './cache/values.ts'
import type { Case } from './case.ts'

/**
 * The contract of `Cache` as cases for any test runner; each creates a cache. Methods may return values or promises.
 *
 *     const cases = cacheContract((clock, max) => new MemoryCache({ max, clock }))
 *     for (const { name, run } of cases) test(name, run)
 *
 * For a cache with its own clock, `advance` lets time pass, by waiting if necessary (about 10 s in all). For a cache without
 * a maximum number of entries, `bounded: false` omits the cases of a full cache:
 *
 *     import { setTimeout } from 'node:timers/promises'
 *     cacheContract(() => new RemoteCache(randomUUID()), { bounded: false, advance: setTimeout, slackSeconds: 0.1 })
 *
 * @throws TypeError for an option that does not exist, RangeError when `slackSeconds` isn't from 0 to 0.1
 */
export function cacheContract(make: MakeCache, options: CacheContractOptions = {}): Case[] {
	const { bounded = true, maxBytes } = options
	const tests = [
		...VALUE_TESTS,
		...TIME_TESTS,
		...COUNT_TESTS,
		...REFUSAL_TESTS,
		...(bounded ? ROOM_TESTS : []),
		...(maxBytes === undefined ? [] : shareTests(maxBytes)),
	]
	return tests.map((test) => toCase(test, make, options))
}
