/** Generates load: a number of keep-alive connections, each with one pending request. */
import { Connection, type Expected } from './connection.ts'

/** The requests, and where and how they are sent. */
export interface LoadOptions {
	readonly port: number
	readonly requests: readonly Buffer[]
	readonly expected: Expected
	/** Connections that are open at the same time. */
	readonly connections: number
}

/** The result of a closed loop. */
export interface Load {
	readonly responses: number
	/** From the first request to the last response. */
	readonly seconds: number
}

/** Open connections to one server, each of which has received a response. */
export class Loader {
	readonly #connections: readonly Connection[]
	readonly #requests: readonly Buffer[]
	#next: number

	private constructor(connections: readonly Connection[], requests: readonly Buffer[]) {
		this.#connections = connections
		this.#requests = requests
		this.#next = Math.floor(Math.random() * requests.length)
	}

	/** Connects, and waits for one response on each connection, so that accepting them isn't measured. */
	static async open({ port, requests, expected, connections }: LoadOptions): Promise<Loader> {
		const buffer = Buffer.allocUnsafe(65_536)
		const open = Array.from({ length: connections }, () => new Connection(port, expected, buffer))
		const loader = new Loader(open, requests)
		await loader.#until((connection, done) => {
			connection.onAnswer = done
			connection.send(loader.#request())
		})
		return loader
	}

	/** Closed loop: each connection sends its next request as soon as it has received a response. */
	async run(seconds: number): Promise<Load> {
		const start = performance.now()
		const end = start + seconds * 1_000
		let responses = 0
		await this.#until((connection, done) => {
			connection.onAnswer = () => {
				responses++
				if (performance.now() < end) connection.send(this.#request())
				else done()
			}
			connection.send(this.#request())
		})
		return { responses, seconds: (performance.now() - start) / 1_000 }
	}

	/**
	 * Open loop: requests are due at a steady rate, whether or not earlier ones have been answered. Returns each latency in
	 * milliseconds from when the request was due, so that waiting for a connection counts too.
	 */
	async pace(perSecond: number, seconds: number): Promise<number[]> {
		const times: number[] = []
		const free = [...this.#connections]
		const total = Math.max(1, Math.floor(perSecond * seconds))
		const start = performance.now()
		await new Promise<void>((done, fail) => {
			const send = (connection: Connection, due: number): void => {
				connection.onAnswer = () => {
					free.push(connection)
					if (times.push(performance.now() - due) === total) done()
				}
				connection.send(this.#request())
			}
			let sent = 0
			const turn = (): void => {
				const due = Math.min(total, Math.ceil(((performance.now() - start) / 1_000) * perSecond))
				for (let connection = free.pop(); connection !== undefined; connection = free.pop()) {
					if (sent >= due) {
						free.push(connection)
						break
					}
					send(connection, start + (sent++ / perSecond) * 1_000)
				}
				if (sent < total) setImmediate(turn)
			}
			for (const connection of this.#connections) connection.onError = fail
			turn()
		})
		return times
	}

	close(): void {
		for (const connection of this.#connections) connection.close()
	}

	#request(): Buffer {
		this.#next = (this.#next + 1) % this.#requests.length
		return this.#requests[this.#next] as Buffer // in range, by the line above
	}

	/** Calls `begin` for every connection, and waits until each has called `done`, or one has failed. */
	async #until(begin: (connection: Connection, done: () => void) => void): Promise<void> {
		const waits = this.#connections.map(
			(connection) =>
				new Promise<void>((done, fail) => {
					connection.onError = fail
					begin(connection, done)
				}),
		)
		await Promise.all(waits)
	}
}
