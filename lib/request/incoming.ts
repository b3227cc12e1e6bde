/**
 * A request as it came in, before anybody has understood it: from our own server, from somebody
 * else's (http, https, http2, Express), or from `inject`. node's `IncomingMessage` is one as it is.
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
