/** What a rate limit is, as it is declared and as it is counted; and who is counted as one caller. */
import type { User } from '../auth/authenticator.ts'
import type { Seconds } from '../time.ts'
import { networkOf } from './network.ts'

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
export interface CompiledLimit {
	readonly limit: number
	readonly windowSeconds: Seconds
	readonly isSliding: boolean
	readonly failOpen: boolean
	/** What `RateLimit-Policy` and `RateLimit` call it: an `sf-string` of RFC 9651, with its quotes. */
	readonly name: string
	/** The value of `RateLimit-Policy`. */
	readonly policy: string
	/** What its keys in the cache begin with; a caller and `]` follow. */
	readonly prefix: string
}

/** What came of counting one request. */
export interface Taken {
	readonly isAllowed: boolean
	/** How many more requests would be served now. */
	readonly remaining: number
	/** Until more are: whole seconds, from 1 to the window's length. */
	readonly resetSeconds: Seconds
}

/** The longest window: what is counted is kept in the cache so long. */
const LONGEST: Seconds = 30 * 86_400
/** The fields of the answer are integers of RFC 9651 §3.3.1. */
const MOST = 999_999_999_999_999
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
		policy: `${quoted};q=${limit};w=${windowSeconds}`,
		prefix: `limit:${JSON.stringify([place, name]).slice(0, -1)},`,
	}
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

/** The cache's key for one caller. What is put behind it can't make it another caller's. */
export function keyOf({ prefix }: CompiledLimit, caller: string): string {
	return `${prefix}${JSON.stringify(caller)}]`
}

/**
 * Who is counted: the user, else the address. Of IPv6 it is the network of 64 bits, as whoever has one of its
 * addresses has them all (RFC 6177 §2).
 */
export function callerOf(user: User | null, address: string): string {
	return user === null ? `address:${networkOf(address)}` : `user:${user.id}`
}
