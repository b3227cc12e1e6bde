/**
 * A raw TCP client: it sends any bytes, and parses responses by RFC 9112. Real clients (fetch, node:http) refuse to send most
 * of what is tested with it.
 */
import { connect, type Socket } from 'node:net'
import { alarm } from './stalls.ts'

/** One response as received. */
export interface RawResponse {
	readonly status: number
	/** `HTTP/1.1` */
	readonly version: string
	/** By lower-case name; repeated ones joined by `, `. */
	readonly headers: Readonly<Record<string, string>>
	readonly body: Buffer
	/** The body as JSON. */
	json(): unknown
}

interface Parsed {
	readonly response: RawResponse
	readonly length: number
}

export class RawClient {
	readonly socket: Socket
	/** The code of the error that ended the connection, if one did. */
	error: string | undefined = undefined
	#chunks: Buffer[] = []
	#size = 0
	/** The number of bytes at which parsing is tried again. */
	#wanted = 0
	#ended = false
	#closed = false
	#wake: () => void = () => {}

	constructor(port: number, host = '127.0.0.1', localAddress?: string) {
		this.socket = connect({ port, host, localAddress, allowHalfOpen: true, noDelay: true })
		this.socket.on('data', (chunk: Buffer) => {
			this.#chunks.push(chunk)
			this.#size += chunk.length
			if (this.#size >= this.#wanted) this.#wake()
		})
		this.socket.on('end', () => {
			this.#ended = true
			this.#wake()
		})
		this.socket.on('error', (error: NodeJS.ErrnoException) => {
			this.error = error.code
		})
		this.socket.on('close', () => {
			this.#ended = true
			this.#closed = true
			this.#wake()
		})
	}

	/** Bytes not yet parsed into a response. */
	get unread(): Buffer {
		if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks)]
		return this.#chunks[0] ?? Buffer.alloc(0)
	}

	/** Whether the server has ended its side. */
	get ended(): boolean {
		return this.#ended
	}

	/** Sends bytes, text as latin1; resolves when the kernel has taken them, or never will. */
	send(bytes: string | Uint8Array): Promise<void> {
		if (this.#closed) return Promise.resolve()
		return new Promise((resolve) => {
			this.socket.once('close', resolve)
			this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, () => {
				this.socket.off('close', resolve)
				resolve()
			})
		})
	}

	/** The next response, interim ones included; `method` is the request's. Fails after `time`, stalls excluded. */
	async response(method = 'GET', time = 30_000): Promise<RawResponse> {
		let parsed: Parsed | undefined
		await this.#wait(
			() => {
				const { unread } = this
				parsed = parseResponse(unread, method, this.#ended)
				this.#wanted = parsed === undefined ? wantedFor(unread) : 0
				return parsed !== undefined || this.#ended
			},
			time,
			'an answer',
		)
		if (parsed === undefined)
			throw new Error(
				`the connection ended (${this.error ?? 'in order'}) within an answer, after ${this.#beginning}`,
			)
		this.#chunks = [this.unread.subarray(parsed.length)]
		this.#size -= parsed.length
		return parsed.response
	}

	/** Waits until the server has ended the connection. */
	async closed(time = 30_000): Promise<void> {
		await this.#wait(() => this.#ended, time, 'the end of the connection')
	}

	/** Waits until so many unparsed bytes have arrived. */
	async bytes(count: number, time = 30_000): Promise<Buffer> {
		this.#wanted = count
		await this.#wait(() => this.#size >= count || this.#ended, time, `${count} bytes`)
		return this.unread
	}

	get #beginning(): string {
		return JSON.stringify(this.unread.toString('latin1', 0, 300))
	}

	close(): void {
		this.socket.destroy()
	}

	/** Ends the connection by RST. */
	reset(): void {
		this.socket.resetAndDestroy()
	}

	async #wait(holds: () => boolean, time: number, what: string): Promise<void> {
		let late = false
		const callOff = alarm(time, () => {
			late = true
			this.#wake()
		})
		try {
			while (!holds()) {
				if (late) throw new Error(`${what} did not come within ${time} ms, only ${this.#beginning}`)
				await new Promise<void>((resolve) => {
					this.#wake = resolve
				})
			}
		} finally {
			callOff()
		}
	}
}

/** Runs `use` with a connection, and closes it. */
export async function connected<T>(port: number, use: (client: RawClient) => Promise<T>): Promise<T> {
	const client = new RawClient(port)
	try {
		return await use(client)
	} finally {
		client.close()
	}
}

/** Sends one request on a new connection, and reads its response. */
export function ask(port: number, bytes: string | Uint8Array, method = 'GET'): Promise<RawResponse> {
	return connected(port, async (client) => {
		void client.send(bytes)
		return client.response(method)
	})
}

/** A request as text: `Host` and, for a body, `Content-Length` are added. */
export function requestText(line: string, headers: readonly string[] = [], body = ''): string {
	const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
	return `${[`${line} HTTP/1.1`, 'Host: localhost', ...length, ...headers].join('\r\n')}\r\n\r\n${body}`
}

/** The first complete response in the bytes, or `undefined`. */
function parseResponse(bytes: Buffer, method: string, ended: boolean): Parsed | undefined {
	const end = bytes.indexOf('\r\n\r\n')
	if (end === -1) return undefined
	const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
	const start = /^(HTTP\/1\.[01]) (\d{3}) /.exec(first)
	if (start === null) throw new Error(`no status line: ${JSON.stringify(first.slice(0, 200))}`)
	const status = Number(start[2])
	const headers = headersOf(lines)
	const hasNone = method === 'HEAD' || status < 200 || status === 204 || status === 304
	const content = hasNone
		? { body: Buffer.alloc(0), length: 0 }
		: contentOf(bytes.subarray(end + 4), headers, ended)
	if (content === undefined) return undefined
	const { body, length } = content
	const json = (): unknown => JSON.parse(body.toString('utf8'))
	return { response: { status, version: start[1] ?? '', headers, body, json }, length: end + 4 + length }
}

/** The size of the response that the bytes start with, if its head is complete and says so; else 0. */
function wantedFor(bytes: Buffer): number {
	const end = bytes.indexOf('\r\n\r\n')
	const length = /\r\ncontent-length: (\d+)/i.exec(bytes.toString('latin1', 0, Math.max(0, end)))
	return end === -1 || length === null ? 0 : end + 4 + Number(length[1])
}

function headersOf(lines: readonly string[]): Record<string, string> {
	const headers: Record<string, string> = Object.create(null)
	for (const line of lines) {
		const at = line.indexOf(':')
		const name = line.slice(0, at).toLowerCase()
		const value = line.slice(at + 1).trim()
		headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
	}
	return headers
}

function contentOf(
	bytes: Buffer,
	headers: Readonly<Record<string, string>>,
	ended: boolean,
): { body: Buffer; length: number } | undefined {
	if (headers['transfer-encoding'] === 'chunked') return chunksOf(bytes)
	const length = headers['content-length']
	if (length === undefined) return ended ? { body: bytes, length: bytes.length } : undefined
	return bytes.length < Number(length)
		? undefined
		: { body: bytes.subarray(0, Number(length)), length: Number(length) }
}

function chunksOf(bytes: Buffer): { body: Buffer; length: number } | undefined {
	const chunks: Buffer[] = []
	for (let at = 0; ; ) {
		const line = bytes.indexOf('\r\n', at)
		if (line === -1) return undefined
		const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
		const next = line + 2 + size + 2
		if (bytes.length < next) return undefined
		chunks.push(bytes.subarray(line + 2, line + 2 + size))
		if (size === 0) return { body: Buffer.concat(chunks), length: next }
		at = next
	}
}
