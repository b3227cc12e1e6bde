/** The option `tokens` of `TokenAuthenticator`, checked, as one function from digest to user. */
import { timingSafeEqual } from 'node:crypto'
import { isPlain } from '../../base/options.ts'
import { type Milliseconds, momentOf } from '../../base/time.ts'
import { frozenCopy, type User } from '../authenticator.ts'

/**
 * The user of a token. `RoleAcl` reads its roles; the rest is the program's. Each request gets its own copy, without
 * `expires`, in which lists and objects are frozen; an instance of a class is passed on as it is.
 */
export interface TokenUser extends User {
	/** When the token ends: a Date, or a text like `2027-01-31` (UTC) or `2027-01-31T12:00:00Z`. @default never */
	readonly expires?: Date | string | null
}

/**
 * Users by the digests of their tokens: an object, a Map, or a function that looks a digest up (64 hex digits in
 * lower case) and answers null or undefined for an unknown one. A user may have several tokens.
 */
export type TokenUsers =
	| Readonly<Record<string, TokenUser>>
	| ReadonlyMap<string, TokenUser>
	| ((digest: string) => TokenUser | null | undefined | PromiseLike<TokenUser | null | undefined>)

/** A user, whose outermost object each request copies, and when the token ends: milliseconds since 1970. */
export interface Found {
	readonly user: User
	readonly ends: Milliseconds
}

type Find = (digest: string) => Found | undefined | Promise<Found | undefined>

interface Known {
	readonly bytes: Buffer
	/** `undefined` for the decoy. */
	readonly found: Found | undefined
}

const DIGEST = /^[0-9a-f]{64}$/
/** An unknown digest is compared with it, so that it takes the path of a known one. */
const DECOY: Known = { bytes: Buffer.alloc(32), found: undefined }
/** @throws TypeError for a malformed digest or user; its message never shows the key, which may be a token */
export function finderOf(tokens: TokenUsers): Find {
	if (typeof tokens !== 'function') return finderIn(knownIn(tokens))
	return async (digest) => {
		const user = await tokens(digest)
		return user === null || user === undefined ? undefined : foundOf(user)
	}
}

/**
 * The time of a Map lookup may leak something of the digests, but an attacker can't choose the digest of a guess; the
 * comparison that decides takes constant time.
 */
function finderIn(known: ReadonlyMap<string, Known>): Find {
	return (digest) => {
		const { bytes, found } = known.get(digest) ?? DECOY
		return timingSafeEqual(Buffer.from(digest, 'hex'), bytes) ? found : undefined
	}
}

function knownIn(tokens: unknown): Map<string, Known> {
	const known = new Map<string, Known>()
	for (const [at, [key, user]] of entriesOf(tokens).entries()) {
		const entry = `entry ${at + 1} of tokens`
		if (!isUser(user)) throw new TypeError(`${entry} must be a user, { id: '…' }, under the token's digest`)
		const owner = `${entry} (user ${JSON.stringify(user.id)})`
		const digest = typeof key === 'string' ? key.toLowerCase() : ''
		// Not shown: it may be a token, which must not get into a log.
		if (!DIGEST.test(digest)) {
			throw new TypeError(
				`${owner} is under a key that is no SHA-256 digest, 64 hex digits: tokens are kept hashed, so write tokenDigest(token), or what printf %s "$TOKEN" | sha256sum prints`,
			)
		}
		if (known.has(digest)) throw new TypeError(`${owner} repeats an earlier entry's token: use another`)
		known.set(digest, { bytes: Buffer.from(digest, 'hex'), found: foundOf(user) })
	}
	if (known.size === 0) throw new TypeError('tokens has no token: nobody could be let in')
	return known
}

/** What is no user is passed on, and refused where every authenticator's answer is checked. */
function foundOf(user: TokenUser): Found {
	const ends = endOf(user)
	if (!isPlain(user)) return { user, ends }
	const { expires: _, ...rest } = user
	return { user: frozenCopy(rest), ends }
}

function entriesOf(tokens: unknown): [unknown, unknown][] {
	if (tokens instanceof Map) return [...tokens]
	if (typeof tokens === 'object' && tokens !== null && !Array.isArray(tokens)) return Object.entries(tokens)
	throw new TypeError(
		"tokens must be users by digest, { [tokenDigest(token)]: { id: 'ada' } }, a Map of them, or a function that looks a digest up",
	)
}

function isUser(value: unknown): value is TokenUser {
	return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
}

function endOf({ id, expires }: TokenUser): Milliseconds {
	if (expires === undefined || expires === null) return Number.POSITIVE_INFINITY
	const ends = momentOf(expires)
	if (ends !== undefined) return ends.getTime()
	throw new TypeError(
		`expires of user ${JSON.stringify(id)} must be a Date, or text like '2027-01-31' or '2027-01-31T12:00:00Z'`,
	)
}
