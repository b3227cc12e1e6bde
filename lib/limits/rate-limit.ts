/** What a rate limit is, as it is declared and as it is counted; and who is counted as one caller. */
import type { User } from '../auth/authenticator.ts'
import type { Seconds } from '../base/time.ts'
import { type Purpose, sharedKey } from '../cache/shares.ts'
import type { Count, Level } from './count.ts'
import { Guesses } from './guesses.ts'
import { networksOf } from './network.ts'

/** A limit as a handler declares it: at most `limit` requests in `windowSeconds`. */
export interface RateLimit {
	/** Requests that are let in within a window: a whole number from 1 up, to 1,000 where the window slides. */
	readonly limit: number
	/** Length of the window: a whole number of seconds from 1 to 2,592,000 (30 days). */
	readonly windowSeconds: Seconds
	/**
	 * `'fixed'`: a caller's window begins with their first request, and all that comes in it counts. At the seam
	 * of two windows up to twice the limit may come in a short time.
	 *
	 * `'sliding'`: in no span of `windowSeconds`, wherever it begins, are more than `limit` requests let in. Each
	 * of them takes an entry of the cache for that time.
	 *
	 * @default 'fixed'
	 */
	readonly window?: 'fixed' | 'sliding'
	/**
	 * Serves requests uncounted while the cache can't be reached or is full, instead of answering 503.
	 * @default false
	 */
	readonly failOpen?: boolean
}

/** A limit that was checked, with what all its answers share. */
export interface CompiledLimit extends Count {
	/** What all addresses of an IPv6 network of 56 and of 48 bits may send together. */
	readonly wider: readonly [of56: Count, of48: Count]
	readonly isSliding: boolean
	readonly failOpen: boolean
	/** What `RateLimit-Policy` and `RateLimit` call it: an `sf-string` of RFC 9651, with its quotes. */
	readonly name: string
	/** The value of `RateLimit-Policy`. */
	readonly policy: string
	/** What tells its keys in the cache from other limits'; a caller and `]` follow. */
	readonly prefix: string
	/** The guesses at credentials that are under way. */
	readonly guesses: Guesses
}

/** Who is counted, and whose share of the cache that takes. */
export interface Caller {
	readonly id: string
	readonly isUser: boolean
	readonly share: string
	readonly wider: readonly [of56: string, of48: string] | undefined
}

/** The longest window: what is counted is kept in the cache so long. */
const LONGEST: Seconds = 30 * 86_400
/** The fields of the answer are integers of RFC 9651 §3.3.1. */
const MOST = 999_999_999_999_999
/**
 * How many times of a limit the IPv6 networks of 56 and 48 bits may send. A home has often 56 bits, a site 48; but a
 * mobile carrier's 48 bits are those of many subscribers, each of whom has 64.
 */
const WIDER = [8, 64] as const
/** Most requests of a sliding window, each of which has an entry of its own. */
const MOST_SLIDING = 1_000
const NAMES = ['limit', 'windowSeconds', 'window', 'failOpen']

/**
 * Checks one entry of `rateLimits`.
 *
 * @param where the entry as the user typed it, for messages
 * @param name the method it is of, or `*`
 * @param place what tells this mount's counters from others', the same in every process
 * @throws TypeError for a name or a kind that there isn't, RangeError for a number out of its range
 */
export function compileLimit(where: string, name: string, value: unknown, place: string): CompiledLimit {
	if (typeof value !== 'object' || value === null || Array.isArray(value))
		throw new TypeError(`${where} must be an object: { limit: 10, windowSeconds: 60 }`)
	const given: Readonly<Record<string, unknown>> = { ...value }
	for (const key of Object.keys(given)) {
		if (!NAMES.includes(key))
			throw new TypeError(`${where} has no option ${key}: there are ${NAMES.join(', ')}`)
	}
	const { window = 'fixed', failOpen = false } = given
	if (window !== 'fixed' && window !== 'sliding')
		throw new TypeError(`${where}.window must be 'fixed' or 'sliding', got ${shown(window)}`)
	if (typeof failOpen !== 'boolean')
		throw new TypeError(`${where}.failOpen must be true or false, got ${shown(failOpen)}`)
	const isSliding = window === 'sliding'
	const most = isSliding ? MOST_SLIDING : MOST
	const limit = wholeNumber(`${where}.limit`, given.limit, most)
	const windowSeconds = wholeNumber(`${where}.windowSeconds`, given.windowSeconds, LONGEST)
	const quoted = quotedName(name)
	return {
		...{ limit, windowSeconds, isSliding, failOpen, name: quoted },
		wider: [widened(limit, WIDER[0], windowSeconds), widened(limit, WIDER[1], windowSeconds)],
		policy: `${quoted};q=${limit};w=${windowSeconds}`,
		guesses: new Guesses(),
		prefix: `${JSON.stringify([place, name]).slice(0, -1)},`,
	}
}

function widened(limit: number, times: number, windowSeconds: Seconds): Count {
	return { limit: Math.min(limit * times, MOST), windowSeconds }
}

function wholeNumber(where: string, value: unknown, most: number): number {
	if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most) return value
	const kind = typeof value === 'number' ? RangeError : TypeError
	throw new kind(`${where} must be a whole number from 1 to ${most}, got ${shown(value)}`)
}

function shown(value: unknown): string {
	return typeof value === 'string' || value === undefined ? String(JSON.stringify(value)) : String(value)
}

/** An `sf-string` holds printable ASCII alone (RFC 9651 §3.3.3); method names may be in any script. */
function quotedName(name: string): string {
	return name === '*' ? '"default"' : `"${name.replaceAll(/[^\x20-\x7e]|["\\]/gu, '_')}"`
}

/** The cache's key for one caller, or a network that they are in. What is put behind it can't make it another's. */
export function keyOf(
	{ prefix }: CompiledLimit,
	{ id, isUser, share }: Caller,
	counted = id,
	purpose: Purpose = isUser ? 'limit' : 'address',
): string {
	return sharedKey(purpose, share, `${prefix}${JSON.stringify(counted)}]`)
}

/** What is counted for a caller: themselves, and of an IPv6 address the networks that it is in. */
export function levelsOf(
	limit: CompiledLimit,
	caller: Caller,
	purpose?: Purpose,
): readonly [Level, ...Level[]] {
	const { windowSeconds, wider } = limit
	const own = { key: keyOf(limit, caller, caller.id, purpose), limit: limit.limit, windowSeconds }
	if (caller.wider === undefined) return [own]
	const [of56, of48] = caller.wider
	return [
		own,
		{ key: keyOf(limit, caller, `address:${of56}`, purpose), ...wider[0] },
		{ key: keyOf(limit, caller, `address:${of48}`, purpose), ...wider[1] },
	]
}

/**
 * Who is counted: the user, else the address. Of IPv6 it is the network of 64 bits, as whoever has one of its
 * addresses has them all (RFC 6177 §2); and all of a network of 48 bits share one part of the cache.
 */
export function callerOf(user: User | null, address: string): Caller {
	if (user !== null) return { id: `user:${user.id}`, isUser: true, share: user.id, wider: undefined }
	const { own, wider } = networksOf(address)
	return { id: `address:${own}`, isUser: false, share: wider?.[1] ?? own, wider }
}
