/** `cacheContract`: all that a `Cache` promises, for whoever writes one. */
import { COUNT_SCENES } from './cache/counts.ts'
import { REFUSAL_SCENES } from './cache/refusals.ts'
import { ROOM_SCENES } from './cache/room.ts'
import { shareScenes } from './cache/shares.ts'
import { type CacheContractOptions, type MakeCache, toCase } from './cache/stage.ts'
import { TIME_SCENES } from './cache/times.ts'
import { VALUE_SCENES } from './cache/values.ts'
import type { Case } from './case.ts'

/**
 * The promises of `Cache` as cases that any test runner can loop over; each makes a cache of its own. Methods
 * may answer at once or with a promise.
 *
 *     const cases = cacheContract((clock, max) => new MemoryCache({ max, clock }))
 *     for (const { name, run } of cases) test(name, run)
 *
 * A cache with a time of its own is told how to let it pass, by a real wait if need be (about 10 s in all),
 * and one that isn't bounded by a number of entries leaves those cases out:
 *
 *     import { setTimeout } from 'node:timers/promises'
 *     cacheContract(() => new RemoteCache(randomUUID()), { bounded: false, advance: setTimeout, slack: 100 })
 *
 * @throws RangeError when `slack` isn't from 0 to 100
 */
export function cacheContract(make: MakeCache, options: CacheContractOptions = {}): Case[] {
	const { bounded = true, maxBytes } = options
	const scenes = [
		...VALUE_SCENES,
		...TIME_SCENES,
		...COUNT_SCENES,
		...REFUSAL_SCENES,
		...(bounded ? ROOM_SCENES : []),
		...(maxBytes === undefined ? [] : shareScenes(maxBytes)),
	]
	return scenes.map((scene) => toCase(scene, make, options))
}
