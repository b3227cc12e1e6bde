/** Compiles the option `tokens` of `TokenAuthenticator` into one function from digest to user. */
import { timingSafeEqual } from 'node:crypto'
import { isPlain } from '../../base/options.ts'
import { type Milliseconds, momentOf } from '../../base/time.ts'
import { frozenCopy, type User } from '../authenticator.ts'

/**
 * The user of a token. `RoleAcl` reads `roles`; other properties are up to the program. Each request gets its own copy
 * of the user, without `expires` and with frozen lists and objects; a class instance isn't copied.
 */
export interface TokenUser extends User {
	/** When the token expires: a Date, or text like `2027-01-31` (UTC) or `2027-01-31T12:00:00Z`. @default never */
	readonly expires?: Date | string | null
}

/**
 * Users by the digests of their tokens: an object, a Map, or a function that looks up a digest (64 hex digits in lower
 * case) and returns null or undefined for an unknown one. A user may have several tokens.
 */
export type TokenUsers =
	| Readonly<Record<string, TokenUser>>
	| ReadonlyMap<string, TokenUser>
	| ((digest: string) => TokenUser | null | undefined | PromiseLike<TokenUser | null | undefined>)

/** A token's user and expiry. Each request gets a shallow copy of the user. */
interface CompiledToken {
	readonly user: User
	/** Milliseconds since 1970. */
	readonly expires: Milliseconds
}

type FindToken = (digest: string) => CompiledToken | undefined | Promise<CompiledToken | undefined>

interface TokenEntry {
	readonly bytes: Buffer
	/** `undefined` for the decoy. */
	readonly token: CompiledToken | undefined
}

const DIGEST = /^[0-9a-f]{64}$/
/** Unknown digests are compared with it, so that they take the same time as known ones. */
const DECOY: TokenEntry = { bytes: Buffer.alloc(32), token: undefined }

/** @throws TypeError for a malformed digest or user; the message never shows the digest's text, which may be a token */
export function finderOf(tokens: TokenUsers): FindToken {
	if (typeof tokens !== 'function') return finderIn(entriesByDigest(tokens))
	return async (digest) => {
		const user = await tokens(digest)
		return user === null || user === undefined ? undefined : compiledToken(user)
	}
}

/**
 * The time of the Map lookup may depend on digests, but attackers can't choose the digest of a guess. The comparison
 * that decides is constant-time.
 */
function finderIn(entries: ReadonlyMap<string, TokenEntry>): FindToken {
	return (digest) => {
		const { bytes, token } = entries.get(digest) ?? DECOY
		return timingSafeEqual(Buffer.from(digest, 'hex'), bytes) ? token : undefined
	}
}

function entriesByDigest(tokens: unknown): Map<string, TokenEntry> {
	const entries = new Map<string, TokenEntry>()
	for (const [at, [key, user]] of entriesOf(tokens).entries()) {
		const entry = `entry ${at + 1} of tokens`
		if (!isUser(user)) throw new TypeError(`${entry} must map the token's digest to a user, { id: '…' }`)
		const owner = `${entry} (user ${JSON.stringify(user.id)})`
		const digest = typeof key === 'string' ? key.toLowerCase() : ''
		// The key isn't shown: it may be a token, which must not be logged.
		if (!DIGEST.test(digest)) {
			throw new TypeError(
				`${owner} must have a SHA-256 digest as its key, 64 hex digits: tokens are stored hashed, so write tokenDigest(token), or what printf %s "$TOKEN" | sha256sum prints`,
			)
		}
		if (entries.has(digest)) throw new TypeError(`${owner} repeats an earlier entry's token: use another`)
		entries.set(digest, { bytes: Buffer.from(digest, 'hex'), token: compiledToken(user) })
	}
	if (entries.size === 0) throw new TypeError('tokens is empty: nobody could authenticate')
	return entries
}

/** Doesn't check the user: `Credentials` does that for every authenticator. */
function compiledToken(user: TokenUser): CompiledToken {
	const expires = expiryOf(user)
	if (!isPlain(user)) return { user, expires }
	const { expires: _, ...rest } = user
	return { user: frozenCopy(rest), expires }
}

function entriesOf(tokens: unknown): [unknown, unknown][] {
	if (tokens instanceof Map) return [...tokens]
	if (typeof tokens === 'object' && tokens !== null && !Array.isArray(tokens)) return Object.entries(tokens)
	throw new TypeError(
		"tokens must map digests to users: { [tokenDigest(token)]: { id: 'ada' } }, a Map, or a function that looks up a digest",
	)
}

function isUser(value: unknown): value is TokenUser {
	return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
}

function expiryOf({ id, expires }: TokenUser): Milliseconds {
	if (expires === undefined || expires === null) return Number.POSITIVE_INFINITY
	const date = momentOf(expires)
	if (date !== undefined) return date.getTime()
	throw new TypeError(
		`expires of user ${JSON.stringify(id)} must be a Date, or text like '2027-01-31' or '2027-01-31T12:00:00Z'`,
	)
}
