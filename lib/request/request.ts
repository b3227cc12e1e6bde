/** `Request`: what a handler and an authenticator may ask of the request they serve. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Method } from '../base/http.ts'
import type { Cache } from '../cache/cache.ts'
import { fieldLines, hasBody, type Incoming, traceparentOf } from './incoming.ts'

/** Where a `Request` gets what it tells; each is worked out when it is asked for. */
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
	rawBody(): Buffer
	stream(): Readable
	requireDigest(headers: Readonly<Record<string, string>>): void
}

/** A nonce that a request has used up: it is no replay to itself, where two authenticators ask about it. */
export interface UsedNonce {
	readonly cache: Cache
	readonly key: string
	/** Whether it was new. */
	readonly isNew: boolean | Promise<boolean>
}

/** The request being served: `this.request` in a handler's method, the argument of an authenticator. */
export class Request {
	readonly #source: RequestSource
	/** @internal What `auth/hmac/signatures.ts` knows of this request: a WeakMap would cost as much as a hash. */
	usedNonces: UsedNonce[] | undefined = undefined

	constructor(source: RequestSource) {
		this.#source = source
	}

	/** The method that is served: after X-HTTP-Method-Override; HEAD stays HEAD. */
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

	/** Headers by lower-case name, as node:http gives them. */
	get headers(): IncomingHttpHeaders {
		return this.#source.headers
	}

	/** One header's value, its name in any case; repeated ones joined by `, `. */
	header(name: string): string | undefined {
		const { headers } = this.#source
		const key = name.toLowerCase()
		const value = Object.hasOwn(headers, key) ? headers[key] : undefined
		return Array.isArray(value) ? value.join(', ') : value
	}

	/** The values of a field's lines as received, none dropped; empty for a field that isn't there. */
	fieldLines(name: string): readonly string[] {
		return fieldLines(this.#source.incoming, name.toLowerCase())
	}

	/** Whether a body comes with the request, as far as its head tells; it may turn out to be empty. */
	get hasBody(): boolean {
		return hasBody(this.#source.incoming)
	}

	/** The server's cache. */
	get cache(): Cache {
		return this.#source.app.cache
	}

	/** The client's address; what a proxy says of it counts only with `trustProxy`. Empty on a unix socket. */
	get ip(): string {
		return this.#source.ip()
	}

	/** Name and port the client asked for: of an absolute target, else X-Forwarded-Host (`trustProxy`), else Host. */
	get host(): string {
		return this.#source.host()
	}

	/** `https` on TLS, or where a trusted proxy says so. */
	get protocol(): 'http' | 'https' {
		return this.#source.protocol()
	}

	/** Names this request in logs and error answers: taken from, or made for, the option `requestId`. */
	get id(): string {
		return this.#source.id()
	}

	/**
	 * The `traceparent` that came with it (W3C Trace Context), to be passed on to servers that are asked for it;
	 * `undefined` where there is none, or one that is malformed.
	 */
	get traceparent(): string | undefined {
		return traceparentOf(this.#source.headers.traceparent)
	}

	/** Aborted when the client is gone before the answer, or the handler's time is over. */
	get signal(): AbortSignal {
		return this.#source.signal()
	}

	/**
	 * The bytes of the body as received, whatever its type; empty without a body.
	 *
	 * @throws TypeError in a streaming method, or where a parser in front has taken the bytes
	 */
	get rawBody(): Buffer {
		return this.#source.rawBody()
	}

	/**
	 * Demands that the body be what Content-Digest says of it (RFC 9530; sha-256, sha-512). For authenticators:
	 * where one is declared, the bytes are compared when they have been read, before the method is called
	 * (`before` runs earlier); by `requireAuth()` in a method, before that resolves. A body that a method reads as a
	 * stream is compared as it flows: one that is not what was signed breaks off with the refusal, and has no end.
	 * Without a body there is nothing to demand, but a digest that is sent must be that of no bytes.
	 *
	 * `challenge` are the headers of a refusal, where no authenticator is declared that has its own.
	 *
	 * @throws RestError `unauthorized`, at once where the head or the bytes known show it; TypeError where a
	 *   parser in front has taken the bytes
	 */
	requireDigest(challenge: Readonly<Record<string, string>> = {}): void {
		this.#source.requireDigest(challenge)
	}

	/**
	 * The unread body, for methods named in `streaming`.
	 *
	 * @throws TypeError in any other method
	 */
	get stream(): Readable {
		return this.#source.stream()
	}
}
