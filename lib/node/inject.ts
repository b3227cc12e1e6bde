/** `inject`: a request without a socket, on the same path as every other. For tests, and for calls from inside. */
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { Exchange } from '../exchange.ts'
import type { Incoming } from '../incoming.ts'
import { sealError } from '../reply-error.ts'
import type { Reply } from '../reply-text.ts'
import { linesByName } from './header-lines.ts'
import { answerUnlessClosed, type Service } from './listener.ts'
import { discard } from './send.ts'

/** A request to inject. */
export interface InjectedRequest {
	/** @default 'GET' */
	readonly method?: string
	/** Path and query: `/blog/api/article/5?a=1`. */
	readonly url: string
	/** Names in any case; a list of values stands for so many lines. */
	readonly headers?: Readonly<Record<string, string | readonly string[]>>
	/** Text and bytes are sent as they are; anything else as JSON, with its content type. */
	readonly body?: unknown
	/** The client's address. @default '127.0.0.1' */
	readonly remoteAddress?: string
}

/** The whole answer. */
export interface InjectedReply {
	readonly status: number
	/** By lower-case name; a repeated header's values in a list. */
	readonly headers: Readonly<Record<string, string | readonly string[]>>
	readonly body: Buffer
	/** The body as text. */
	text(): string
	/** The body parsed as JSON. */
	json(): unknown
}

/** Answers a request as the server would, and collects the answer. Rejects where a connection would be cut. */
export async function inject(service: Service, request: InjectedRequest): Promise<InjectedReply> {
	const exchange = new Exchange(service.app, incomingOf(request))
	const reply = await settled(service, exchange)
	exchange.replied = true
	const body = await bytesOf(reply)
	return {
		status: reply.status,
		headers: linesByName(reply.headers),
		body,
		text: () => body.toString('utf8'),
		json: () => JSON.parse(body.toString('utf8')) as unknown,
	}
}

/** The answer, or what replaces it when its time is over. */
function settled(service: Service, exchange: Exchange): Reply | Promise<Reply> {
	const reply = answerUnlessClosed(service, exchange)
	if (!(reply instanceof Promise)) return reply
	const { deadlines } = service.app
	return new Promise((resolve) => {
		exchange.interrupt = (error) => {
			exchange.replied = true
			resolve(sealError(exchange, error))
		}
		deadlines.add(exchange)
		void reply.then((done) => {
			deadlines.delete(exchange)
			if (exchange.replied) discard(done)
			else resolve(done)
		})
	})
}

async function bytesOf({ body }: Reply): Promise<Buffer> {
	if (body === null) return Buffer.alloc(0)
	if (typeof body === 'string') return Buffer.from(body)
	if (body instanceof Uint8Array) return Buffer.from(body)
	const chunks: Buffer[] = []
	for await (const chunk of body) chunks.push(Buffer.from(chunk))
	return Buffer.concat(chunks)
}

/** A body with what an `IncomingMessage` tells of its request. */
function incomingOf(request: InjectedRequest): Incoming {
	const { body, type } = encoded(request.body)
	const headers: IncomingHttpHeaders = { host: 'localhost' }
	if (type !== undefined) headers['content-type'] = type
	if (body !== undefined) headers['content-length'] = String(body.length)
	for (const [name, value] of Object.entries(request.headers ?? {})) {
		// As node:http joins the lines of one name (RFC 9110 §5.3, RFC 9113 §8.2.3).
		const separator = /^cookie$/i.test(name) ? '; ' : ', '
		headers[name.toLowerCase()] = typeof value === 'string' ? value : value.join(separator)
	}
	const facts = {
		method: request.method ?? 'GET',
		url: request.url,
		headers,
		rawHeaders: Object.entries(headers).flatMap(([name, value]) => [name, String(value)]),
		httpVersionMajor: 1,
		httpVersionMinor: 1,
		socket: { remoteAddress: request.remoteAddress ?? '127.0.0.1' },
		complete: true,
	}
	return Object.assign(Readable.from(body === undefined ? [] : [body], { objectMode: false }), facts)
}

function encoded(body: unknown): { body: Buffer | undefined; type: string | undefined } {
	if (body === undefined) return { body: undefined, type: undefined }
	if (typeof body === 'string') return { body: Buffer.from(body), type: undefined }
	if (body instanceof Uint8Array) return { body: Buffer.from(body), type: undefined }
	return { body: Buffer.from(JSON.stringify(body)), type: 'application/json' }
}
