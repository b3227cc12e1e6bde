/** `inject`: serves a request without a socket, on the same path as any other; for tests and calls in the process. */
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { Exchange } from '../exchange/exchange.ts'
import type { Watched } from '../exchange/watched.ts'
import { linesByName, type Reply } from '../reply/headers.ts'
import type { Incoming } from '../request/incoming.ts'
import { expectationError, isContinue, refuse, type Service, serve, startWatch } from './serving.ts'

/** A request to inject. */
export interface InjectedRequest {
	/** @default 'GET' */
	readonly method?: string
	/** Path and query: `/blog/api/article/5?a=1`. */
	readonly url: string
	/**
	 * Names in any case; a list becomes one line per value. @default Host, and the body's Content-Type and Content-Length
	 */
	readonly headers?: Readonly<Record<string, string | readonly string[]>>
	/** Text and bytes are sent as they are; anything else as JSON, with its content type. */
	readonly body?: unknown
	/** The client's address. @default '127.0.0.1' */
	readonly remoteAddress?: string
}

/** The whole answer. */
export interface InjectedReply {
	readonly status: number
	/** By lower-case name; a repeated header has a list. */
	readonly headers: Readonly<Record<string, string | readonly string[]>>
	readonly body: Buffer
	/** The body as text. */
	text(): string
	/** The body parsed as JSON. */
	json(): unknown
}

/**
 * Answers a request as the server would, and collects the answer. Rejects where the server would cut the connection
 * off.
 */
export async function inject(service: Service, request: InjectedRequest): Promise<InjectedReply> {
	const incoming = incomingOf(request, service.hosts?.own)
	const exchange = new Exchange(service.app, incoming)
	const watch = startWatch(service, exchange)
	const reply = await replyOf(service, exchange)
	watch?.answered(reply)
	const body = await readBody(reply, watch)
	return {
		status: reply.status,
		headers: linesByName(reply.headers),
		body,
		text: () => body.toString('utf8'),
		json: () => JSON.parse(body.toString('utf8')) as unknown,
	}
}

/** The answer's bytes; ends the watch. */
async function readBody(reply: Reply, watch: Watched | undefined): Promise<Buffer> {
	try {
		const body = await bytesOf(reply)
		watch?.end(true)
		return body
	} catch (error) {
		watch?.failed(error)
		watch?.end(false)
		throw error
	}
}

/** The reply to a request that didn't come through node:http; checks run in node's order. Also for `fetch.ts`. */
export function replyOf(service: Service, exchange: Exchange): Reply | Promise<Reply> {
	let sent: Reply | undefined
	let resolve: ((reply: Reply) => void) | undefined
	const send = (_exchange: Exchange, _to: undefined, reply: Reply): void => {
		exchange.isReplied = true
		if (resolve === undefined) sent = reply
		else resolve(reply)
	}
	const { expect } = exchange.headers
	const isUnexpected = expect !== undefined && !isContinue(expect)
	const refusal = isUnexpected ? expectationError() : service.vetting.check(exchange.incoming)
	if (refusal === undefined) serve(service, exchange, undefined, send)
	else refuse(exchange, refusal, undefined, send)
	return sent ?? new Promise((done) => (resolve = done))
}

async function bytesOf({ body }: Reply): Promise<Buffer> {
	if (body === null) return Buffer.alloc(0)
	if (typeof body === 'string') return Buffer.from(body)
	if (body instanceof Uint8Array) return Buffer.from(body)
	const chunks: Buffer[] = []
	for await (const chunk of body) chunks.push(Buffer.from(chunk))
	return Buffer.concat(chunks)
}

/** The request as an `Incoming`: a stream of the body with the fields of an `IncomingMessage`. */
function incomingOf(request: InjectedRequest, host = 'localhost'): Incoming {
	const { body, type } = encodeBody(request.body)
	const defaults: Record<string, string> = { Host: host }
	if (type !== undefined) defaults['Content-Type'] = type
	if (body !== undefined) defaults['Content-Length'] = String(body.length)
	const lines = linesOf(defaults, request.headers ?? {})
	const fields = {
		method: request.method ?? 'GET',
		url: request.url,
		headers: joinLines(lines),
		rawHeaders: lines.flat(),
		httpVersionMajor: 1,
		httpVersionMinor: 1,
		socket: { remoteAddress: request.remoteAddress ?? '127.0.0.1' },
		complete: true,
	}
	return Object.assign(Readable.from(body === undefined ? [] : [body], { objectMode: false }), fields)
}

type Line = readonly [name: string, value: string]

/** The given lines, after the defaults that they don't replace. */
function linesOf(
	defaults: Readonly<Record<string, string>>,
	given: Readonly<Record<string, string | readonly string[]>>,
): Line[] {
	const names = new Set(Object.keys(given).map((name) => name.toLowerCase()))
	const lines: Line[] = Object.entries(defaults).filter(([name]) => !names.has(name.toLowerCase()))
	for (const [name, value] of Object.entries(given)) {
		for (const one of typeof value === 'string' ? [value] : value) lines.push([name, one])
	}
	return lines
}

/** Headers by name, repeated lines joined as node:http does (RFC 9110 §5.3, RFC 9113 §8.2.3). */
function joinLines(lines: readonly Line[]): IncomingHttpHeaders {
	const headers: IncomingHttpHeaders = {}
	for (const [name, value] of lines) {
		const key = name.toLowerCase()
		const before = headers[key]
		headers[key] = typeof before === 'string' ? before + (key === 'cookie' ? '; ' : ', ') + value : value
	}
	return headers
}

function encodeBody(body: unknown): { readonly body?: Buffer; readonly type?: string } {
	if (body === undefined) return {}
	if (typeof body === 'string' || body instanceof Uint8Array) return { body: Buffer.from(body) }
	return { body: Buffer.from(JSON.stringify(body)), type: 'application/json' }
}
