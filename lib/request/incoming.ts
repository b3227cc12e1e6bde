/**
 * `Incoming`: a request as it arrived, from our own server, another one (http, https, http2, Express), `fetch` or
 * `inject`; node's `IncomingMessage` implements it. Also functions for its head: all lines of a field, whether a body
 * follows, and its trace context.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'

/** What we use of a connection. */
export interface Peer {
	readonly remoteAddress?: string | undefined
	/** True on TLS. */
	readonly encrypted?: boolean | undefined
	readonly destroyed?: boolean | undefined
	destroy?(): unknown
	once?(event: 'close', call: () => void): unknown
	off?(event: 'close', call: () => void): unknown
}

/** What we use of a request object; as a stream it yields the bytes of the body. */
export interface Incoming extends Readable {
	readonly method?: string | undefined
	/** The request-target as on the wire; a router in front may have removed its mount path. */
	readonly url?: string | undefined
	/** The whole target, if a router in front has changed `url` (Express, Connect). */
	readonly originalUrl?: unknown
	/** The result of another body parser (express.json()). */
	readonly body?: unknown
	readonly headers: IncomingHttpHeaders
	/** Alternating names and values, in the order of the wire. */
	readonly rawHeaders: readonly string[]
	readonly httpVersionMajor: number
	readonly httpVersionMinor: number
	readonly socket: Peer | null
	/** HTTP/2's stream. */
	readonly stream?:
		| { readonly endAfterHeaders?: boolean | undefined; readonly aborted?: boolean | undefined }
		| undefined
	/** True once the whole body has arrived. */
	readonly complete: boolean
}

/**
 * The values of a field's lines, in the order of the wire; `name` is in lower case. node's `headers` join the lines of
 * most fields, but keep only the first of others, and a signature covers all lines.
 */
export function fieldLines({ rawHeaders }: Incoming, name: string): string[] {
	const values: string[] = []
	for (let at = 0; at < rawHeaders.length; at += 2) {
		const other = rawHeaders[at] ?? ''
		if (other.length !== name.length) continue
		if (other === name || other.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? '')
	}
	return values
}

/**
 * Whether a request has a body: by its headers (RFC 9112 §6.3), and with HTTP/2 by the HEADERS frame, which ends the
 * stream if there is none. The result is the same before and after the body is read.
 */
export function hasBody(incoming: Incoming): boolean {
	const { headers, stream } = incoming
	if (headers['transfer-encoding'] !== undefined) return true
	const length = headers['content-length']
	if (length !== undefined) return length !== '0'
	return incoming.httpVersionMajor === 2 && stream?.endAfterHeaders !== true
}

/** Version, trace id, parent id, flags; later versions may append more (W3C Trace Context §3.2, §4). */
const TRACEPARENT =
	/^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/**
 * `traceparent` as it may be passed on (W3C Trace Context, level 1); `undefined` if it is missing, malformed or
 * repeated (§4.3). A header of an unknown version is reduced to version 00, whose only flag is `sampled`.
 */
export function traceparentOf(header: unknown): string | undefined {
	if (typeof header !== 'string') return undefined
	const [, version, trace, parent, flags = '', more] = TRACEPARENT.exec(header) ?? []
	if (version === undefined || (version === '00' && more !== undefined)) return undefined
	if (version === '00') return header
	return `00-${trace}-${parent}-0${Number.parseInt(flags, 16) & 1}`
}

/** The trace id for log lines, which is the same on all servers; `undefined` without a trace. */
export function traceOf(header: unknown): { readonly traceId: string } | undefined {
	const traceparent = traceparentOf(header)
	return traceparent === undefined ? undefined : { traceId: traceparent.slice(3, 35) }
}
