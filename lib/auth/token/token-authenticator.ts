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
	/** Header that holds the bare token, such as `X-Api-Key`. @default none: it is in `Authorization: Bearer <token>` */
	readonly header?: string
	/** The realm named in a 401: visible ASCII and spaces, without `"` and `\`. @default 'api' */
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
 * Identifies users by a token in a header; never in the URL, which ends up in logs and histories.
 *
 *     const { token, digest } = newToken('acme_')   // the token is for the user; keep the digest
 *     new TokenAuthenticator({ tokens: { [digest]: { id: 'ada', roles: ['editor'] } } })
 *     new TokenAuthenticator({ tokens: (digest) => findUser(digest), header: 'X-Api-Key' })
 *
 * Unknown, expired, malformed, repeated and overlong (above 1,024 characters) tokens are refused alike:
 *
 *     401 WWW-Authenticate: Bearer realm="api", error="invalid_token"
 *
 * The reason goes to the log, as a warning. An object or a Map is read once, here: pass a function where tokens
 * come and go. Each request gets its own copy of the user.
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
			tokens: (_where, value) => finderOf(value as TokenUsers), // it checks them
		})
		this.#find = tokens
		this.#header = header
		this.#clock = clock
		// Keys in headers of their own have no registered scheme; a 401 must name one (RFC 9110 §15.5.2).
		const scheme =
			header === undefined ? `Bearer realm="${realm}"` : `ApiKey realm="${realm}", header="${header}"`
		this.challenge = Object.freeze({ 'WWW-Authenticate': scheme })
	}

	/** @throws RestError `unauthorized`, by the promise, for a token that is not valid */
	async authenticate(request: Request): Promise<User | null> {
		const lines = request.fieldLines(this.#header ?? 'authorization')
		const token = this.#header === undefined ? bearerIn(lines) : onlyOf(lines)
		if (token === undefined) return null
		if (!isToken(token) || (this.#header === undefined && !B64TOKEN.test(token)))
			throw this.#refusal('what was sent is not one token')
		const found = await this.#find(tokenDigest(token))
		if (found === undefined) throw this.#refusal('the token is not known')
		const { user, expires } = found
		if (expires <= this.#clock())
			throw this.#refusal(`the token of user ${JSON.stringify(user.id)} has ended`)
		// A copy, so that what a method sets on it isn't seen by other requests.
		return isPlain(user) ? { ...user } : user
	}

	/** The same response for all reasons, which would help guessing; the reason is logged, without the token. */
	#refusal(reason: string): RestError {
		const cause = new Error(reason)
		if (this.#header !== undefined) {
			const message = `The key in ${this.#header} is not valid`
			return new RestError('unauthorized', message, { headers: this.challenge, cause })
		}
		// Only if a token was sent may a challenge have an error (RFC 6750 §3.1).
		const headers = { 'WWW-Authenticate': `${this.challenge['WWW-Authenticate']}, error="invalid_token"` }
		return new RestError('unauthorized', 'The bearer token is not valid', { headers, cause })
	}
}

/**
 * The token after the scheme, which is case-insensitive (RFC 9110 §11.1); `undefined` if all lines have other schemes,
 * and empty, which is no valid token, if there is another line.
 */
function bearerIn(lines: readonly string[]): string | undefined {
	const values = lines.map((line) => /^bearer(?: +|$)(.*)$/i.exec(line)?.[1])
	return values.every((value) => value === undefined) ? undefined : onlyOf(values)
}

/** Refuses several lines: Node would use the first one, but a proxy may have checked another. */
function onlyOf(values: readonly (string | undefined)[]): string | undefined {
	return values.length > 1 ? '' : values[0]
}

/** Headers with another meaning. Browsers send `Cookie` for any page that makes them send a request. */
const RESERVED =
	/^(?:host|cookie|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|date|age|via|range|origin|referer|forwarded|from|prefer|pragma|cache-control|max-forwards|idempotency-key|last-event-id|user-agent|want-\S+|x-http-method-override|x-request-id|x-real-ip|traceparent|tracestate|signature(?:-\S+)?|proxy-\S+|content-\S+|accept(?:-\S+)?|if-\S+|sec-\S+|access-control-\S+|x-forwarded-\S+)$/i

function headerIn(where: string, header: unknown): string {
	if (typeof header !== 'string') throw refusal(where, "the name of one: 'X-Api-Key'", header)
	validateHeaderName(header)
	if (header.toLowerCase() === 'authorization') {
		throw new TypeError(
			`${where} must not be Authorization: without this option, Authorization: Bearer is read`,
		)
	}
	if (!RESERVED.test(header)) return header
	throw new TypeError(`${where} must not be ${header}, which has another meaning: take 'X-Api-Key'`)
}

/** A token, to be shown to its user once, and its digest, to be stored. */
export interface NewToken {
	/** The prefix and 43 characters of base64url: 256 random bits. */
	readonly token: string
	/** Its SHA-256 digest: 64 hex digits in lower case. */
	readonly digest: string
}

/** In characters; bounds the hashing for unauthenticated clients. */
const MAX_TOKEN_LENGTH = 1_024

/** Visible ASCII, which a header can carry unchanged. */
const TOKEN_TEXT = /^[\x21-\x7e]+$/
const PREFIX = /^[\w.~-]{0,32}$/

/**
 * Makes a token of 256 random bits. A prefix of your own (`acme_`) lets secret scanners find a token that was
 * published by mistake, and says whose it is.
 *
 *     newToken('acme_')   // { token: 'acme_3q2-7w…', digest: '9f86d0…' }
 *
 * @throws TypeError for a prefix of anything but up to 32 letters, digits and `_ - . ~`
 */
export function newToken(prefix = ''): NewToken {
	if (typeof prefix !== 'string' || !PREFIX.test(prefix)) {
		throw new TypeError("the prefix of a token must be up to 32 letters, digits and _ - . ~: 'acme_'")
	}
	const token = `${prefix}${randomBytes(32).toString('base64url')}`
	return { token, digest: tokenDigest(token) }
}

/**
 * The SHA-256 digest of a token, as `TokenAuthenticator` looks it up: 64 hex digits in lower case. Unsalted and fast,
 * which is safe for random tokens, but not for passwords.
 *
 * @throws TypeError for anything but 1 to 1,024 visible ASCII characters
 */
export function tokenDigest(token: string): string {
	// `tokenDigest(process.env.TOKEN)` without that variable must not accept the token 'undefined'.
	if (!isToken(token)) {
		throw new TypeError('a token must be text of 1 to 1,024 visible ASCII characters, without spaces')
	}
	return createHash('sha256').update(token).digest('hex')
}

function isToken(text: unknown): text is string {
	return typeof text === 'string' && text.length <= MAX_TOKEN_LENGTH && TOKEN_TEXT.test(text)
}
