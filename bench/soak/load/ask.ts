/** Sends one request over node:http, and reads the complete response. */
import { Agent, type IncomingHttpHeaders, request as open } from 'node:http'
import { buffer } from 'node:stream/consumers'

export interface Ask {
	readonly method: string
	/** Path and query, as sent. */
	readonly path: string
	readonly headers?: Readonly<Record<string, string>>
	/** Sent with a `Content-Length`. */
	readonly body?: string | Uint8Array
	/** A body that is sent as JSON. */
	readonly json?: unknown
}

export interface Answer {
	readonly status: number
	readonly headers: IncomingHttpHeaders
	readonly body: Buffer
}

/** Timeout of a request; reaching it counts as a wrong answer. */
export const PATIENCE_MS = 30_000

/** The connections of the load to all servers. */
export class Connections {
	// Idle connections are closed before the server closes them, so that no request is sent on a closing one.
	readonly #kept = new Agent({ keepAlive: true, timeout: 2_000, maxSockets: 64, scheduling: 'lifo' })
	readonly #fresh = new Agent({ keepAlive: false })

	/** @param isFresh whether to open a connection for this request only */
	async ask(port: number, ask: Ask, isFresh: boolean): Promise<Answer> {
		const body = bodyOf(ask)
		const headers: Record<string, string | number> = { ...typeOf(ask), ...ask.headers }
		if (body !== undefined) headers['Content-Length'] = Buffer.byteLength(body)
		const signal = AbortSignal.timeout(PATIENCE_MS)
		const { method, path } = ask
		const agent = isFresh ? this.#fresh : this.#kept
		return new Promise((resolve, reject) => {
			const request = open({ host: '127.0.0.1', port, method, path, headers, agent, signal })
			request.on('error', reject)
			request.on('response', (response) => {
				const { statusCode: status = 0, headers } = response
				buffer(response).then((body) => resolve({ status, headers, body }), reject)
			})
			request.end(body)
		})
	}

	close(): void {
		this.#kept.destroy()
		this.#fresh.destroy()
	}
}

function typeOf({ json }: Ask): Record<string, string> {
	return json === undefined ? {} : { 'Content-Type': 'application/json' }
}

export function bodyOf({ body, json }: Ask): string | Uint8Array | undefined {
	return json === undefined ? body : JSON.stringify(json)
}
