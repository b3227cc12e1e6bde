/** `HmacAuthenticator`: requests signed with a shared secret, by HTTP Message Signatures (RFC 9421). */
import { isRestError, RestError } from '../../base/error.ts'
import {
	functionLike,
	optional,
	optionsOf,
	or,
	type Readers,
	refusal,
	wholeNumber,
} from '../../base/options.ts'
import { type Clock, type Seconds, timeOfDay } from '../../base/time.ts'
import type { Cache } from '../../cache/cache.ts'
import type { Request } from '../../request/request.ts'
import { authorityOf, ParameterComponents, type RequestComponents } from '../../wire/signature.ts'
import type { Authenticator, User } from '../authenticator.ts'
import { finderOf, type HmacKeys, type KeyFinder } from './keys.ts'
import { useNonce } from './nonces.ts'
import {
	ACCEPT_SIGNATURE,
	claimOf,
	isDigestDue,
	isSignedBy,
	type SentSignature,
	signaturePairs,
} from './verify.ts'

/** Options of `HmacAuthenticator`. */
export interface HmacAuthenticatorOptions {
	/** Secrets by key id. No default: without keys every signature would be refused. */
	readonly keys: HmacKeys
	/**
	 * Scheme and authority that clients sign, `'https://api.example.com'`. Needed if other hosts have the same keys,
	 * because a signature for one host would be valid for all; and behind a proxy that changes the scheme or authority and
	 * doesn't forward the original.
	 * @default the request's own; with `trustProxy`, those that a proxy forwards
	 */
	readonly origin?: string
	/** The time of day, in milliseconds since 1970. @default Date.now */
	readonly clock?: Clock
}

const readers = {
	keys: finderOf,
	origin: optional(originOf),
	clock: or(functionLike<Clock>('() => milliseconds since 1970'), timeOfDay),
} satisfies Readers<HmacAuthenticatorOptions>
const windowIn = wholeNumber({ from: 1, to: 86_400, unit: 'seconds' })

/** A 401 must name a scheme (RFC 9110 §15.5.2), and RFC 9421 registers none; `Accept-Signature` says what to sign. */
const CHALLENGE = Object.freeze({
	'WWW-Authenticate': 'Signature realm="api"',
	'Accept-Signature': ACCEPT_SIGNATURE,
})

/**
 * Authenticates requests that are signed with `hmac-sha256`. The user is `{ id: keyid }` with the properties of the
 * key's `user`. Clients sign with `signRequest` of `verbena/client` or any library for RFC 9421.
 *
 *     Content-Digest: sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:
 *     Signature-Input: sig=("@method" "@authority" "@path" "@query" "content-type" "content-digest");
 *       created=1795305600;keyid="k1";nonce="jXv1…"
 *     Signature: sig=:bS3qyA+SPNni2/YprJYOjcyNSqHMMIhD2zn/hDIZ5B4=:
 *
 * A signature must cover:
 * - `@method` (as on the wire), and `@authority`, `@path` and `@query`, or `@target-uri` instead of these three
 * - with a body: `content-digest` (RFC 9530: sha-256, sha-512), and `content-type` if it is sent
 * - `x-http-method-override`, `idempotency-key` and `if-match`, if they are sent
 *
 * `created`, `keyid` and `nonce` are required, the last two with 1 to 128 characters; `expires` is checked if present.
 * If there are several signatures, one must be valid; the first four are checked, with at most 64 components each.
 *
 * If this is the declared `authenticator`, the body is compared with the signed digest before the method is called, and
 * methods in `streaming` are refused at mount. If a method calls `requireAuth()` with it, the body is compared before
 * `requireAuth()` resolves; in a streaming method, while the body is read: reading fails at the end if the body
 * differs.
 *
 * The nonce of a verified signature is stored in the cache for `windowSeconds` + 60 s, which takes requests per second
 * × (`windowSeconds` + 60) entries. If the cache is full or fails, the request is refused with 503, or with 429 if this
 * key has used up its share. All other refusals are the same 401; the reason is logged as a warning.
 */
export class HmacAuthenticator implements Authenticator {
	readonly challenge: Readonly<Record<string, string>> = CHALLENGE
	readonly comparesBody = true
	readonly #cache: Cache | undefined
	readonly #windowSeconds: Seconds
	readonly #find: KeyFinder
	readonly #origin: Origin | undefined
	readonly #clock: Clock

	/**
	 * Created per request, in a method; or once, as `authenticator` of a handler or of the server:
	 *
	 *     await this.requireAuth(new HmacAuthenticator(this, this.cache, 300, { keys }))
	 *     override authenticator = new HmacAuthenticator(this, undefined, 300, { keys })
	 *     createServer(handlers, { authenticator: new HmacAuthenticator(undefined, undefined, 300, { keys }) })
	 *
	 * @param handler the handler whose requests are signed; not used
	 * @param cache stores nonces; `undefined` for the server's cache, which a handler can't access while it is constructed
	 * @param windowSeconds maximum age of a signature, from 1 to 86,400 s; 300 is usually enough
	 * @throws TypeError for a wrong argument, RangeError for a number out of bounds or a secret below 32 bytes
	 */
	constructor(
		handler: object | undefined,
		cache: Cache | undefined,
		windowSeconds: Seconds,
		options: HmacAuthenticatorOptions,
	) {
		checkArguments(handler, cache, options)
		const { keys, origin, clock } = optionsOf('HmacAuthenticator', options, readers)
		this.#cache = cache
		this.#windowSeconds = windowIn('HmacAuthenticator: windowSeconds', windowSeconds)
		this.#find = keys
		this.#origin = origin
		this.#clock = clock
	}

	/**
	 * The user; null if the request has neither `Signature` nor `Signature-Input`.
	 *
	 * @throws RestError `unauthorized` with the reason as its cause; `unavailable` or `too_many_requests` if the nonce
	 *   can't be stored
	 */
	async authenticate(request: Request): Promise<User | null> {
		const inputs = request.fieldLines('signature-input')
		const signatures = request.fieldLines('signature')
		if (inputs.length === 0 && signatures.length === 0) return null
		const now = this.#clock() / 1_000
		const pairs = caught(() => signaturePairs(inputs.join(', '), signatures.join(', ')))
		if (pairs instanceof Error) throw this.#refusal(pairs)
		const components = this.#componentsOf(request)
		// Created only on failure: creating an Error takes longer than verifying a valid request.
		let reason: Error | undefined
		for (const pair of pairs) {
			const claim = caught(() => claimOf(request, components, pair, now, this.#windowSeconds))
			if (claim instanceof Error) {
				reason = claim
				continue
			}
			const { keyid } = claim.sent
			const found = this.#find(keyid)
			const key = found instanceof Promise ? await found : found
			if (isSignedBy(key, claim) && key !== undefined) {
				const pending = this.#accept(request, claim.sent, now)
				if (pending !== undefined) await pending
				return { id: keyid, ...key.user }
			}
			reason = wrongSignature(key !== undefined, keyid)
		}
		throw this.#refusal(reason ?? new Error('no label has both a Signature-Input and a Signature'))
	}

	/** After verification: requires the body's digest and stores the nonce. Synchronous if the cache is. */
	#accept(request: Request, sent: SentSignature, now: number): Promise<void> | undefined {
		if (isDigestDue(request, sent)) this.#requireDigest(request)
		const cache = this.#cache ?? request.cache
		const isNew = useNonce(request, cache, sent, now, this.#windowSeconds)
		if (isNew === true) return undefined
		const refusal = (): RestError =>
			this.#refusal(new Error(`the nonce of key ${quoted(sent.keyid)} was used before`))
		if (isNew === false) throw refusal()
		return isNew.then((wasNew) => {
			if (!wasNew) throw refusal()
		})
	}

	/** A wrong digest gets the same 401 as any other reason. */
	#requireDigest(request: Request): void {
		try {
			request.requireDigest(this.challenge)
		} catch (error) {
			throw isRestError(error) && error.status === 401 ? this.#refusal(error.cause) : error
		}
	}

	#componentsOf(request: Request): RequestComponents {
		const scheme = this.#origin?.scheme ?? request.protocol
		return new ParameterComponents({
			method: request.sentMethod,
			scheme,
			authority: this.#origin?.authority ?? authorityOf(request.host, scheme),
			target: request.url,
			fieldLines: (name) => request.fieldLines(name),
		})
	}

	#refusal(cause: unknown): RestError {
		return new RestError('unauthorized', undefined, { headers: this.challenge, cause })
	}
}

/** Returns a SyntaxError or RangeError: the request is wrong. Any other error is a bug, and is thrown. */
function caught<T>(work: () => T): T | Error {
	try {
		return work()
	} catch (error) {
		if (error instanceof SyntaxError || error instanceof RangeError) return error
		throw error
	}
}

function wrongSignature(isKnown: boolean, keyid: string): Error {
	return new Error(
		isKnown
			? `the signature is not that of key ${quoted(keyid)} for this request`
			: `no key is known as ${quoted(keyid)}`,
	)
}

/** A key id for the log, truncated. */
function quoted(keyid: string): string {
	return JSON.stringify(keyid.length > 64 ? `${keyid.slice(0, 64)}…` : keyid)
}

function checkArguments(handler: unknown, cache: unknown, options: unknown): void {
	if (handler !== undefined && (typeof handler !== 'object' || handler === null))
		throw new TypeError("HmacAuthenticator's first argument must be the handler, or undefined")
	if (cache !== undefined && typeof Reflect.get(Object(cache), 'add') !== 'function')
		throw new TypeError("HmacAuthenticator's cache must be a Cache, or undefined for the server's")
	// The value isn't shown: it may be a secret.
	if (typeof options !== 'object' || options === null || !('keys' in options))
		throw new TypeError('HmacAuthenticator needs options: { keys: { [keyid]: secret } }')
}

/** The option `origin`: what clients sign as `@scheme` and `@authority`. */
interface Origin {
	readonly scheme: 'http' | 'https'
	readonly authority: string
}

/** @throws TypeError unless `origin` consists of scheme, host and optional port */
function originOf(where: string, origin: unknown): Origin {
	const url = typeof origin === 'string' && URL.canParse(origin) ? new URL(origin) : undefined
	const scheme = url?.protocol === 'https:' ? 'https' : 'http'
	// The `href` of a bare origin is the origin and a slash.
	if (url === undefined || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`)
		throw refusal(where, "scheme, host and port: 'https://api.example.com'", origin)
	return { scheme, authority: url.host }
}
