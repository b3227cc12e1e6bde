/**
 * `Incoming`: a request as it arrived, from our own server, another one (http, https, http2, Express), `fetch` or `inject`;
 * node's `IncomingMessage` fits as it is. And what its head says beside `headers`: all lines of a field, whether a body
 * follows, and the trace it belongs to.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'

/** The connection's part that is read. */
export interface Peer {
	readonly remoteAddress?: string | undefined
	/** True on TLS. */
	readonly encrypted?: boolean | undefined
	readonly destroyed?: boolean | undefined
	destroy?(): unknown
	once?(event: 'close', call: () => void): unknown
	off?(event: 'close', call: () => void): unknown
}

/** What is asked of a request object; the stream gives the bytes of its body. */
export interface Incoming extends Readable {
	readonly method?: string | undefined
	/** The request-target as on the wire; a router in front may have cut its own mount path off. */
	readonly url?: string | undefined
	/** The whole target, where a router in front has cut `url` (Express, Connect). */
	readonly originalUrl?: unknown
	/** The body as another parser has left it (express.json()). */
	readonly body?: unknown
	readonly headers: IncomingHttpHeaders
	/** Names and values in turn, in the order of the wire. */
	readonly rawHeaders: readonly string[]
	readonly httpVersionMajor: number
	readonly httpVersionMinor: number
	readonly socket: Peer | null
	/** HTTP/2's stream. */
	readonly stream?: { readonly endAfterHeaders?: boolean | undefined } | undefined
	/** True once the whole body has arrived. */
	readonly complete: boolean
}

/**
 * The values of a field's lines, in the order of the wire; `name` is in lower case. node's own `headers` join
 * the lines of most fields, and drop all but the first of others: of what is signed nothing may be dropped.
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
 * Whether a body comes with a request: a header says so (RFC 9112 §6.3); of HTTP/2 the headers' frame, which ends the
 * stream where there is none. What has become of the body meanwhile doesn't count: the answer is always the same.
 */
export function hasBody(incoming: Incoming): boolean {
	const { headers, stream } = incoming
	if (headers['transfer-encoding'] !== undefined) return true
	const length = headers['content-length']
	if (length !== undefined) return length !== '0'
	return incoming.httpVersionMajor === 2 && stream?.endAfterHeaders !== true
}

/** Version, trace id, parent id, flags; versions to come may say more behind them (§3.2, §4). */
const TRACEPARENT =
	/^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/**
 * The header as it may be passed on; `undefined` where it is none, malformed, or there are several: a trace must not be
 * restarted by what somebody else has broken (§4.3). Of a version that isn't known yet it is what version 00 says,
 * whose only flag is whether the trace is recorded.
 */
export function traceparentOf(header: unknown): string | undefined {
	if (typeof header !== 'string') return undefined
	const [, version, trace, parent, flags = '', more] = TRACEPARENT.exec(header) ?? []
	if (version === undefined || (version === '00' && more !== undefined)) return undefined
	if (version === '00') return header
	return `00-${trace}-${parent}-0${Number.parseInt(flags, 16) & 1}`
}

/** The trace's id alone, by which log lines of many servers are found; nothing where there is none. */
export function traceOf(header: unknown): { readonly traceId: string } | undefined {
	const traceparent = traceparentOf(header)
	return traceparent === undefined ? undefined : { traceId: traceparent.slice(3, 35) }
}
