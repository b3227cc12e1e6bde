/**
 * Rate limits: checks and compiles handlers' declarations, decides which requests count as one caller's, and makes the cache
 * keys of the counters. Called by `handler/mount` and by `pipeline/enforce-limits.ts`, which counts with `counters.ts` and,
 * for credentials, `guesses.ts`.
 */
import { isIPv6 } from 'node:net'
import type { User } from '../auth/authenticator.ts'
import { flag, nested, oneOf, or, type Readers, wholeNumber } from '../base/options.ts'
import type { Seconds } from '../base/time.ts'
import { type Purpose, sharedKey } from '../cache/shares.ts'
import { type Counter, KeyedMutex, type SlidingLimit, type WindowLimit } from './counters.ts'
import { Guesses } from './guesses.ts'

/** A limit as a handler declares it: at most `limit` requests in `windowSeconds`. */
export interface RateLimit {
	/** Requests allowed within a window: a whole number from 1 up, at most 1,000 for a sliding window. */
	readonly limit: number
	/** Length of the window: a whole number of seconds from 1 to 2,592,000 (30 days). */
	readonly windowSeconds: Seconds
	/**
	 * `'fixed'`: a caller's window begins with their first request. Around the end of a window, up to twice the limit may be
	 * allowed in a short time.
	 *
	 * `'sliding'`: no span of `windowSeconds`, wherever it begins, has more than `limit` requests. Each request takes a cache
	 * entry for that time.
	 *
	 * @default 'fixed'
	 */
	readonly window?: 'fixed' | 'sliding'
	/**
	 * Serves requests uncounted while the cache can't be reached or is full, instead of refusing them with 503.
	 * @default false
	 */
	readonly failOpen?: boolean
}

/** A checked limit, with the parts of `RateLimit` headers that are the same in all its replies. */
export interface CompiledLimit extends SlidingLimit {
	/** Limits of an IPv6 /56 and /48 network. */
	readonly wider: readonly [of56: WindowLimit, of48: WindowLimit]
	readonly isSliding: boolean
	readonly failOpen: boolean
	/** Its name in `RateLimit-Policy` and `RateLimit`: an `sf-string` of RFC 9651, with its quotes. */
	readonly name: string
	/** The value of `RateLimit-Policy`. */
	readonly policy: string
	/** Prefix of its cache keys, different from any other limit's; the caller and `]` follow. */
	readonly prefix: string
	/** Guesses at credentials in progress. */
	readonly guesses: Guesses
}

/** The caller that a request counts for. `share` is the share of the cache that holds the caller's counters. */
export interface Caller {
	readonly id: string
	readonly isUser: boolean
	readonly share: string
	readonly wider: readonly [of56: string, of48: string] | undefined
}

/** Maximum length of a window: its counters stay in the cache that long. */
const MAX_WINDOW_SECONDS: Seconds = 30 * 86_400
/** Largest integer of a structured field (RFC 9651 §3.3.1). */
const MAX_LIMIT = 999_999_999_999_999
/**
 * The limits of an IPv6 /56 and /48 network, in multiples of a /64's limit. A home often has a /56, a site a /48; but a
 * mobile carrier's /48 has many subscribers, each with a /64.
 */
const WIDER_FACTORS = [8, 64] as const
/** Maximum `limit` of a sliding window: each of its requests has a cache entry. */
const MAX_SLIDING = 1_000
const slidingLimit = wholeNumber({ from: 1, to: MAX_SLIDING })

const read = nested('{ limit: 10, windowSeconds: 60 }', {
	limit: wholeNumber({ from: 1, to: MAX_LIMIT }),
	windowSeconds: wholeNumber({ from: 1, to: MAX_WINDOW_SECONDS }),
	window: or(oneOf('fixed', 'sliding'), 'fixed'),
	failOpen: or(flag, false),
} satisfies Readers<RateLimit>)

/**
 * Checks one entry of `rateLimits`.
 *
 * @param where the entry as the user typed it, for messages
 * @param name the method, or `*`
 * @param place distinguishes this mount's counters from others'; the same in every process
 * @throws TypeError for an unknown option or a wrong type, RangeError for a number out of range
 */
export function compileLimit(where: string, name: string, value: unknown, place: string): CompiledLimit {
	const { limit, windowSeconds, window, failOpen } = read(where, value)
	const isSliding = window === 'sliding'
	if (isSliding) slidingLimit(`${where}.limit`, limit)
	const quoted = quotedName(name)
	return {
		...{ limit, windowSeconds, isSliding, failOpen, name: quoted },
		wider: [widened(limit, WIDER_FACTORS[0], windowSeconds), widened(limit, WIDER_FACTORS[1], windowSeconds)],
		policy: `${quoted};q=${limit};w=${windowSeconds}`,
		guesses: new Guesses(),
		mutex: new KeyedMutex(),
		prefix: `${JSON.stringify([place, name]).slice(0, -1)},`,
	}
}

function widened(limit: number, times: number, windowSeconds: Seconds): WindowLimit {
	return { limit: Math.min(limit * times, MAX_LIMIT), windowSeconds }
}

/** An `sf-string` is printable ASCII (RFC 9651 §3.3.3); method names may have any characters. */
function quotedName(name: string): string {
	return name === '*' ? '"default"' : `"${name.replaceAll(/[^\x20-\x7e]|["\\]/gu, '_')}"`
}

/** The cache key of a caller, or of the caller's network. No suffix can turn it into another caller's key. */
export function keyOf(
	{ prefix }: CompiledLimit,
	{ id, isUser, share }: Caller,
	counted = id,
	purpose: Purpose = isUser ? 'limit' : 'address',
): string {
	return sharedKey(purpose, share, `${prefix}${JSON.stringify(counted)}]`)
}

/** The counters of a caller: the caller's own, and those of an IPv6 address's networks. */
export function countersOf(
	limit: CompiledLimit,
	caller: Caller,
	purpose?: Purpose,
): readonly [Counter, ...Counter[]] {
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
 * The caller: the user, otherwise the address. In IPv6 the caller is the /64 network, because all its addresses have one
 * owner (RFC 6177 §2). A /48 network has one share of the cache.
 */
export function callerOf(user: User | null, address: string): Caller {
	if (user !== null) return { id: `user:${user.id}`, isUser: true, share: user.id, wider: undefined }
	const { own, wider } = networksOf(address)
	return { id: `address:${own}`, isUser: false, share: wider?.[1] ?? own, wider }
}

interface Networks {
	/** An IPv4 address, also one embedded in IPv6; otherwise the first 64 bits of an IPv6 address, normalized: `2001:db8:0:1`. */
	readonly own: string
	/** The IPv6 /56 and /48: a site has one of them, and can change its /64 at will. */
	readonly wider: readonly [of56: string, of48: string] | undefined
}

export function networksOf(address: string): Networks {
	const groups = prefixOf(address)
	if (typeof groups === 'string') return { own: groups, wider: undefined }
	const of48 = hexOf(groups.slice(0, 3))
	const of56 = `${of48}:${((groups[3] ?? 0) & 0xff00).toString(16)}`
	return { own: hexOf(groups), wider: [`${of56}/56`, `${of48}/48`] }
}

/** The first four groups of an IPv6 address; any other address unchanged. */
function prefixOf(address: string): string | readonly number[] {
	if (!isIPv6(address)) return address
	const [start = ''] = address.split('%')
	const [head = '', tail] = start.split('::')
	const first = groupsOf(head)
	const last = tail === undefined ? [] : groupsOf(tail)
	const zeros = Array.from({ length: tail === undefined ? 0 : 8 - first.length - last.length }, () => '0')
	const groups = [...first, ...zeros, ...last].map((group) => Number.parseInt(group, 16))
	if (EMBEDDING.has(hexOf(groups.slice(0, 6)))) return v4Of(groups.slice(6))
	return groups.slice(0, 4)
}

/** Prefixes that embed an IPv4 address: mapped (RFC 4291 §2.5.5.2) and NAT64 (RFC 6052 §2.1). */
const EMBEDDING: ReadonlySet<string> = new Set(['0:0:0:0:0:ffff', '64:ff9b:0:0:0:0'])

function hexOf(groups: readonly number[]): string {
	return groups.map((group) => group.toString(16)).join(':')
}

function v4Of([high = 0, low = 0]: readonly number[]): string {
	return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** An IPv4 address at the end is two groups. */
function groupsOf(text: string): string[] {
	if (text === '') return []
	return text.split(':').flatMap((group) => {
		if (!group.includes('.')) return [group]
		const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
		return [(a * 256 + b).toString(16), (c * 256 + d).toString(16)]
	})
}
