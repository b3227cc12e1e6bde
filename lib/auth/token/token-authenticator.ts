/** `TokenAuthenticator`: bearer tokens (RFC 6750) and API keys, stored as digests; and `newToken`, which makes them. */

import { createHash, randomBytes } from 'node:crypto'
import { validateHeaderName } from 'node:http'
import { RestError } from '../../base/error.ts'
import { functionLike, isPlain, optional, optionsOf, or, refusal, such } from '../../base/options.ts'
import { type Clock, timeOfDay } from '../../base/time.ts'
import type { Request } from '../../request/request.ts'
import type { Authenticator, User } from '../authenticator.ts'
import { finderOf, type TokenUsers } from './token-users.ts'

/** Options of `TokenAuthenticator`. */
export interface TokenAuthenticatorOptions {
	/** Users by the SHA-256 digests of their tokens. No default: without tokens every request would be refused. */
	readonly tokens: TokenUsers
	/**
	 * Header that holds the bare token, such as `X-Api-Key`.
	 * @default none: the token is in `Authorization: Bearer <token>`
	 */
	readonly header?: string
	/** The realm in the challenge of a 401: visible ASCII and spaces, without `"` and `\`. @default 'api' */
	readonly realm?: string
	/** The time of day, in milliseconds since 1970. @default Date.now */
	readonly clock?: Clock
}

/** The `b64token` of RFC 6750 §2.1. */
const B64TOKEN = /^[\w.~+/-]+=*$/
const realmText = such<string>(
	'text of visible ASCII characters and spaces, without " and \\',
	(realm) => typeof realm === 'string' && /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/.test(realm),
)

/**
 * Identifies users by a token in a header. A token in the URL isn't accepted, because URLs end up in logs and
 * histories.
 *
 *     const { token, digest } = newToken('acme_')   // give the token to the user; store the digest
 *     new TokenAuthenticator({ tokens: { [digest]: { id: 'ada', roles: ['editor'] } } })
 *     new TokenAuthenticator({ tokens: (digest) => findUser(digest), header: 'X-Api-Key' })
 *
 * Unknown, expired, malformed, repeated and overlong (above 1,024 characters) tokens all get the same response:
 *
 *     401 WWW-Authenticate: Bearer realm="api", error="invalid_token"
 *
 * The reason is logged as a warning. If `tokens` is an object or a Map, the constructor reads it once: pass a function
 * if tokens are added or revoked later. Each request gets its own copy of the user.
 *
 * @throws TypeError for unknown options, and for tokens that aren't hashed
 */
export class TokenAuthenticator implements Authenticator {
	readonly challenge: Readonly<Record<string, string>>
	readonly #find: ReturnType<typeof finderOf>
	readonly #header: string | undefined
	readonly #clock: Clock

	constructor(options: TokenAuthenticatorOptions) {
		// The value isn't shown: it may be a token.
		if (typeof options !== 'object' || options === null || !('tokens' in options))
			throw new TypeError('TokenAuthenticator needs options: { tokens: { [tokenDigest(token)]: user } }')
		const { tokens, header, realm, clock } = optionsOf('TokenAuthenticator', options, {
			header: optional(headerIn),
			realm: or(realmText, 'api'),
			clock: or(functionLike<Clock>('() => milliseconds since 1970'), timeOfDay),
			tokens: (_where, value) => finderOf(value as TokenUsers), // `finderOf` checks the value
		})
		this.#find = tokens
		this.#header = header
		this.#clock = clock
		// A 401 must name a scheme (RFC 9110 §15.5.2). None is registered for a key in its own header, so we use `ApiKey`.
		const scheme =
			header === undefined ? `Bearer realm="${realm}"` : `ApiKey realm="${realm}", header="${header}"`
		this.challenge = Object.freeze({ 'WWW-Authenticate': scheme })
	}

	/** @throws RestError `unauthorized` (the promise rejects) if the token isn't valid */
	async authenticate(request: Request): Promise<User | null> {
		const lines = request.fieldLines(this.#header ?? 'authorization')
		const token = this.#header === undefined ? bearerIn(lines) : onlyOf(lines)
		if (token === undefined) return null
		if (!isToken(token) || (this.#header === undefined && !B64TOKEN.test(token)))
			throw this.#refusal('the header does not hold exactly one well-formed token')
		const found = await this.#find(tokenDigest(token))
		if (found === undefined) throw this.#refusal('the token is not known')
		const { user, expires } = found
		if (expires <= this.#clock())
			throw this.#refusal(`the token of user ${JSON.stringify(user.id)} has expired`)
		// Copied, so that other requests don't see properties that a method sets.
		return isPlain(user) ? { ...user } : user
	}

	/**
	 * The response doesn't depend on the reason, which would help guessing: the reason is only logged, without the token.
	 */
	#refusal(reason: string): RestError {
		const cause = new Error(reason)
		if (this.#header !== undefined) {
			const message = `The key in ${this.#header} is not valid`
			return new RestError('unauthorized', message, { headers: this.challenge, cause })
		}
		// `error` is only for requests that sent a token (RFC 6750 §3.1).
		const headers = { 'WWW-Authenticate': `${this.challenge['WWW-Authenticate']}, error="invalid_token"` }
		return new RestError('unauthorized', 'The bearer token is not valid', { headers, cause })
	}
}

/**
 * The token after `Bearer` (case-insensitive: RFC 9110 §11.1); `undefined` if all lines have other schemes. A bearer
 * line together with another line gives the empty text, which isn't a valid token.
 */
function bearerIn(lines: readonly string[]): string | undefined {
	const values = lines.map((line) => /^bearer(?: +|$)(.*)$/i.exec(line)?.[1])
	return values.every((value) => value === undefined) ? undefined : onlyOf(values)
}

/**
 * The only value. Several give the empty text, which is refused: Node would use the first line, a proxy may have
 * checked another.
 */
function onlyOf(values: readonly (string | undefined)[]): string | undefined {
	return values.length > 1 ? '' : values[0]
}

/** Headers that have another meaning. `Cookie` would be unsafe: browsers send it with requests that any page triggers. */
const RESERVED =
	/^(?:host|cookie|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|date|age|via|range|origin|referer|forwarded|from|prefer|pragma|cache-control|max-forwards|idempotency-key|last-event-id|user-agent|want-\S+|x-http-method-override|x-request-id|x-real-ip|traceparent|tracestate|signature(?:-\S+)?|proxy-\S+|content-\S+|accept(?:-\S+)?|if-\S+|sec-\S+|access-control-\S+|x-forwarded-\S+)$/i

function headerIn(where: string, header: unknown): string {
	if (typeof header !== 'string') throw refusal(where, "a header's name: 'X-Api-Key'", header)
	validateHeaderName(header)
	if (header.toLowerCase() === 'authorization') {
		throw new TypeError(`${where} must not be Authorization: leave it out to read Authorization: Bearer`)
	}
	if (!RESERVED.test(header)) return header
	throw new TypeError(`${where} must not be ${header}, which has another meaning: use 'X-Api-Key'`)
}

/** A token, to be shown to its user once, and its digest, to be stored. */
export interface NewToken {
	/** The prefix and 43 characters of base64url: 256 random bits. */
	readonly token: string
	/** The token's SHA-256 digest: 64 hex digits in lower case. */
	readonly digest: string
}

/** In characters. Limits how much unauthenticated clients can make the server hash. */
const MAX_TOKEN_LENGTH = 1_024

/** Visible ASCII, which a header can carry unchanged. */
const TOKEN_TEXT = /^[\x21-\x7e]+$/
const PREFIX = /^[\w.~-]{0,32}$/

/**
 * Makes a token of 256 random bits. With a prefix of your own (`acme_`), secret scanners can find a token that was
 * published by mistake, and tell whose it is.
 *
 *     newToken('acme_')   // { token: 'acme_3q2-7w…', digest: '9f86d0…' }
 *
 * @throws TypeError unless the prefix is at most 32 letters, digits and `_ - . ~`
 */
export function newToken(prefix = ''): NewToken {
	if (typeof prefix !== 'string' || !PREFIX.test(prefix)) {
		throw new TypeError("the prefix of a token must be up to 32 letters, digits and _ - . ~: 'acme_'")
	}
	const token = `${prefix}${randomBytes(32).toString('base64url')}`
	return { token, digest: tokenDigest(token) }
}

/**
 * The SHA-256 digest of a token, by which `TokenAuthenticator` looks it up: 64 hex digits in lower case. Unsalted and
 * fast, which is safe for random tokens, but not for passwords.
 *
 * @throws TypeError unless the token is 1 to 1,024 visible ASCII characters
 */
export function tokenDigest(token: string): string {
	// If the variable is missing, `tokenDigest(process.env.TOKEN)` must not be the digest of 'undefined'.
	if (!isToken(token)) {
		throw new TypeError('a token must be text of 1 to 1,024 visible ASCII characters, without spaces')
	}
	return createHash('sha256').update(token).digest('hex')
}

function isToken(text: unknown): text is string {
	return typeof text === 'string' && text.length <= MAX_TOKEN_LENGTH && TOKEN_TEXT.test(text)
}
