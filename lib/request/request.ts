/**
 * `request/` parses requests: the head (`incoming.ts`, `url.ts`, `accept.ts`) and the body (`body.ts`, `body/`); `Request`
 * is the view of both for handlers and authenticators. `exchange/`, `pipeline/` and `transport/` call it.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Method } from '../base/http.ts'
import type { Cache } from '../cache/cache.ts'
import { fieldLines, hasBody, type Incoming, traceparentOf } from './incoming.ts'

/** Where a `Request` gets its values, each computed on demand: the exchange. */
export interface RequestSource {
	readonly incoming: Incoming
	readonly app: { readonly cache: Cache }
	readonly method: Method
	readonly headers: IncomingHttpHeaders
	target(): string
	ip(): string
	host(): string
	protocol(): 'http' | 'https'
	id(): string
	signal(): AbortSignal
	readonly body: { raw(): Buffer; stream(): Readable }
	requireDigest(headers: Readonly<Record<string, string>>): void
}

/** A nonce that this request has used: a second authenticator must not take it for a replay. */
interface UsedNonce {
	readonly cache: Cache
	readonly key: string
	/** Whether it was new. */
	readonly isNew: boolean | Promise<boolean>
}

/** The request being served: `this.request` in a handler's method, the argument of an authenticator. */
export class Request {
	readonly #source: RequestSource
	/** @internal Kept here by `auth/hmac/nonces.ts`: a WeakMap would cost as much as a hash. */
	usedNonces: UsedNonce[] | undefined = undefined

	constructor(source: RequestSource) {
		this.#source = source
	}

	/** The method served, after X-HTTP-Method-Override; HEAD stays HEAD. */
	get method(): Method {
		return this.#source.method
	}

	/** The method on the wire, before X-HTTP-Method-Override. */
	get sentMethod(): string {
		return this.#source.incoming.method ?? ''
	}

	/** The request-target as the client sent it, path and query, still percent-encoded: `/blog/api/article/5?a=1`. */
	get url(): string {
		return this.#source.target()
	}

	/** Headers by lower-case name, as in node:http. */
	get headers(): IncomingHttpHeaders {
		return this.#source.headers
	}

	/** One header's value, its name in any case; repeated headers are joined by `, `. */
	header(name: string): string | undefined {
		const { headers } = this.#source
		const key = name.toLowerCase()
		const value = Object.hasOwn(headers, key) ? headers[key] : undefined
		return Array.isArray(value) ? value.join(', ') : value
	}

	/** The values of a field's lines as received, none dropped; empty without the field. */
	fieldLines(name: string): readonly string[] {
		return fieldLines(this.#source.incoming, name.toLowerCase())
	}

	/** Whether the request has a body, by its head; the body may turn out to be empty. */
	get hasBody(): boolean {
		return hasBody(this.#source.incoming)
	}

	/** The server's cache. */
	get cache(): Cache {
		return this.#source.app.cache
	}

	/** The client's address; X-Forwarded-For counts only with `trustProxy`. Empty on a Unix socket. */
	get ip(): string {
		return this.#source.ip()
	}

	/** Host and port as requested: from an absolute target, else X-Forwarded-Host (`trustProxy`), else Host. */
	get host(): string {
		return this.#source.host()
	}

	/** `https` on TLS, or if a trusted proxy says so. */
	get protocol(): 'http' | 'https' {
		return this.#source.protocol()
	}

	/** The id in logs and error answers: the client's, in the header that the option `requestId` names, or a new one. */
	get id(): string {
		return this.#source.id()
	}

	/**
	 * The request's `traceparent` (W3C Trace Context), to pass on in calls to other servers; `undefined` if it is missing
	 * or malformed.
	 */
	get traceparent(): string | undefined {
		return traceparentOf(this.#source.headers.traceparent)
	}

	/** Aborted when the client disconnects before the end of the answer, or when the handler times out. */
	get signal(): AbortSignal {
		return this.#source.signal()
	}

	/**
	 * The bytes of the body as received, whatever its type; empty without a body.
	 *
	 * @throws TypeError in a streaming method, or if a parser in front has taken the bytes
	 */
	get rawBody(): Buffer {
		return this.#source.body.raw()
	}

	/**
	 * Requires that the body matches its Content-Digest (RFC 9530; sha-256, sha-512). For authenticators. For a declared
	 * authenticator, the body is compared after it is read and before the method is called (`before` runs earlier). For
	 * `this.requireAuth()` in a method, it is compared before that promise resolves. A streamed body is compared while
	 * the method reads it: on a mismatch the stream fails with the refusal instead of ending. Without a body no digest is
	 * required, but if one is sent, it must be the digest of zero bytes.
	 *
	 * `challenge` has the headers of the refusal, unless the declared authenticator has its own challenge.
	 *
	 * @throws RestError `unauthorized` if the head or the bytes read so far already show a mismatch; TypeError if a parser
	 *   in front has taken the bytes
	 */
	requireDigest(challenge: Readonly<Record<string, string>> = {}): void {
		this.#source.requireDigest(challenge)
	}

	/** The unread body, for methods listed in `streaming`. @throws TypeError in any other method */
	get stream(): Readable {
		return this.#source.body.stream()
	}
}
