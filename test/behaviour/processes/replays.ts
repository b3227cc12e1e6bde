/** Signed requests, each sent many times at once to several processes: counts how often each was accepted. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { signRequest } from '../../../lib/client/index.ts'
import { ORIGIN, SECRET } from './keys.ts'
import type { Members } from './members.ts'

/** A signed request: its path and its headers. */
interface Signed {
	readonly path: string
	readonly headers: Readonly<Record<string, string>>
}

/** How often each request was answered with each status. */
export type Tally = readonly ReadonlyMap<number, number>[]

export function signedRequests(count: number): Promise<Signed[]> {
	return Promise.all(
		Array.from({ length: count }, async (_, number) => {
			const path = `/vault/note/${number}`
			const { headers } = await signRequest(new Request(`${ORIGIN}${path}`), { id: 'k1', secret: SECRET })
			return { path, headers: Object.fromEntries(headers) }
		}),
	)
}

/** Connections to each process; copies are spread over all of them, and pipelined. */
const SOCKETS = 5

/** Sends each request `copies` times, all at once; calls `each` after each request. */
export async function replay(
	{ urls }: Members,
	requests: readonly Signed[],
	copies: number,
	each: (done: number) => void = () => {},
): Promise<Tally> {
	const lines = await Promise.all(
		urls.flatMap((url) => Array.from({ length: SOCKETS }, () => Line.to(Number(new URL(url).port)))),
	)
	const tally: Map<number, number>[] = []
	try {
		for (const { path, headers } of requests) {
			const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
			const text = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${fields.join('')}\r\n`
			const found = new Map<number, number>()
			const statuses = await Promise.all(
				lines.map((line, at) => line.ask(text, shareOf(copies, lines.length, at))),
			)
			for (const status of statuses.flat()) found.set(status, (found.get(status) ?? 0) + 1)
			each(tally.push(found))
		}
	} finally {
		for (const line of lines) line.close()
	}
	return tally
}

/** How many of `count` are those of place `at`, of `places`. */
function shareOf(count: number, places: number, at: number): number {
	return Math.floor((count + places - 1 - at) / places)
}

/** One connection: it counts the answers by their status lines, which no body here has. */
class Line {
	readonly #socket: Socket
	#text = ''
	#heard = (): void => {}

	private constructor(socket: Socket) {
		this.#socket = socket
		socket.setEncoding('latin1').on('data', (text) => {
			this.#text += text
			this.#heard()
		})
		// `ask` reports it by the missing responses; unhandled, it would end all tests.
		socket.on('error', () => {}).on('close', () => this.#heard())
	}

	static async to(port: number): Promise<Line> {
		const socket = connect(port, '127.0.0.1')
		await once(socket, 'connect')
		return new Line(socket)
	}

	/** Sends a request so many times, and waits for all responses. */
	async ask(text: string, count: number): Promise<number[]> {
		this.#text = ''
		if (count === 0) return []
		this.#socket.write(text.repeat(count))
		for (;;) {
			const found = [...this.#text.matchAll(/HTTP\/1\.1 (\d{3}) /g)]
			if (found.length === count && this.#text.endsWith('}')) return found.map(([, status]) => Number(status))
			if (this.#socket.destroyed) throw new Error(`the connection ended after ${found.length} answers`)
			await new Promise<void>((resolve) => {
				this.#heard = resolve
			})
		}
	}

	close(): void {
		this.#socket.destroy()
	}
}

/** Every request was accepted once, and all other copies were refused alike. */
export function eachOnce(tally: Tally, copies: number): void {
	for (const [at, found] of tally.entries()) {
		assert.is(found.get(200), 1, `request ${at}: ${JSON.stringify([...found])}`)
		assert.is(found.get(401), copies - 1, `request ${at}: ${JSON.stringify([...found])}`)
	}
}
