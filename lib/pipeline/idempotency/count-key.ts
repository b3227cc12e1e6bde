/** Counts the new Idempotency-Keys of a caller. Called by `idempotency.ts` for each that nobody has sent before. */

import { RestError } from '../../base/error.ts'
import type { Seconds } from '../../base/time.ts'
import type { Cache } from '../../cache/cache.ts'
import { sharedKey } from '../../cache/shares.ts'
import type { Caller } from '../../limits/rate-limit.ts'
import type { Level } from '../../limits/windows.ts'

const DAY: Seconds = 86_400
/** New keys that one user may use in that time: they are never evicted, and room is shared by all. */
const OF_USER = 10_000
/**
 * The same of an address, or a network of 64 bits, where nobody is known: all of them share the room of one user. The
 * networks of 56 and 48 bits that it is in may use a few times as many.
 */
const OF_ADDRESS = 1_000
const OF_56 = 4_000
const OF_48 = 8_000

/**
 * Of IPv6, the wider networks are looked at first, so that a key which is refused for one of them counts nowhere.
 *
 * @throws RestError `too_many_requests` for a key too many; and what the cache throws
 */
export async function countKey(cache: Cache, caller: Caller): Promise<void> {
	const [own, ...wider] = levelsOf(caller)
	const looked = await Promise.all(wider.map(({ key }) => cache.get(key)))
	for (const [at, level] of wider.entries()) if (Number(looked[at] ?? 0) >= level.limit) refuse(level)
	for (const level of [own, ...wider])
		if ((await cache.increment(level.key, level.windowSeconds)) > level.limit) refuse(level)
}

function levelsOf({ id, isUser, share, wider }: Caller): readonly [Level, ...Level[]] {
	const level = (counted: string, limit: number): Level => ({
		key: sharedKey('idempotency', share, `keys:${counted}`),
		limit,
		windowSeconds: DAY,
	})
	const own = level(id, isUser ? OF_USER : OF_ADDRESS)
	if (wider === undefined) return [own]
	const [of56, of48] = wider
	return [own, level(`address:${of56}`, OF_56), level(`address:${of48}`, OF_48)]
}

function refuse({ limit }: Level): never {
	throw new RestError('too_many_requests', `More than ${limit} Idempotency-Keys were used in a day`, {
		headers: { 'Retry-After': '3600' },
	})
}
