/** Many clients that behave badly, and what a server must look like when they are gone. */
import * as assert from 'uvu/assert'
import { RestHandler, type Server, type ServerOptions } from '../../lib/index.ts'
import { listening, type Site, until } from '../helpers/listening.ts'
import { ask, RawClient, requestText } from '../helpers/raw.ts'

export class Target extends RestHandler {
	override streaming = ['post_stream']

	get_now() {
		return 'now'
	}

	post_body() {
		return this.body
	}

	async post_stream() {
		for await (const _ of this.request.stream);
	}

	get_large() {
		return Buffer.alloc(5 * 1_048_576)
	}
}

/** Handles that sockets and timers are. Those of the runner's own streams aren't counted. */
function handles(): number {
	return process.getActiveResourcesInfo().filter((name) => /TCPSocketWrap|Timeout|Immediate/.test(name))
		.length
}

function waitingIn(server: Server): number {
	// The private service is read here alone: what waits for a deadline must not pile up.
	return Number(Reflect.get(server, 'waiting') ?? 0)
}

/** `count` uploads that are cut off within the body, in every way there is. */
export function abortUploads(count: number): Promise<void> {
	return listening({ '': Target }, {}, async ({ port, server, log }) => {
		await batch(port, 200)
		const [heap, open] = [await settledHeap(), handles()]
		for (let done = 0; done < count; done += 200) await batch(port, 200)
		await until(async () => (await connectionsOf(server)) === 0, 'no connections')
		await until(() => handles() <= open, 'no handles')
		const growth = (await settledHeap()) - heap
		assert.ok(growth < 8 * 1_048_576, `the heap has grown by ${growth} bytes`)
		assert.is(waitingIn(server), 0)
		assert.equal(
			log.messages.filter((message) => message.startsWith('error')),
			[],
		)
		assert.is((await ask(port, requestText('GET /now'))).status, 200)
	})
}

async function batch(port: number, count: number): Promise<void> {
	const clients = Array.from({ length: count }, () => new RawClient(port))
	await Promise.all(
		clients.map(async (client, at) => {
			const path = at % 2 === 0 ? '/body' : '/stream'
			const framing = at % 3 === 0 ? 'Transfer-Encoding: chunked' : 'Content-Length: 100000'
			await client.send(requestText(`POST ${path}`, ['Content-Type: application/json', framing]))
			await client.send(at % 3 === 0 ? 'ff\r\nabc' : 'a'.repeat(1_000))
			if (at % 5 === 0) client.reset()
			else client.close()
		}),
	)
}

async function settledHeap(): Promise<number> {
	for (let round = 0; round < 5; round++) {
		globalThis.gc?.()
		await new Promise((resolve) => setTimeout(resolve, 20))
	}
	return process.memoryUsage().heapUsed
}

const SHORT: ServerOptions = {
	headersTimeout: 700,
	bodyTimeout: 700,
	handlerTimeout: 700,
	sendTimeout: 700,
	keepAliveTimeout: 700,
}

/** `count` clients that are slow with headers, bodies or reading, and one that is not. */
export function slowClients(count: number): Promise<void> {
	return listening({ '': Target }, SHORT, async (site) => {
		const before = await latencyOf(site, 20)
		const clients = Array.from({ length: count }, (_, at) => slowClient(site.port, at % 4))
		try {
			await until(async () => (await connectionsOf(site.server)) >= count, 'all of them')
			const among = await latencyOf(site, 20)
			assert.ok(among < before * 5 + 30, `${among} ms among them, ${before} ms before`)
			await until(async () => (await connectionsOf(site.server)) === 0, 'the slow ones are gone', 6_000)
		} finally {
			for (const client of clients) client.close()
		}
	})
}

function slowClient(port: number, kind: number): RawClient {
	const client = new RawClient(port)
	client.socket.pause()
	if (kind === 0) void client.send('GET /now HTTP/1.1\r\nHost: a\r\nX-Slow: ')
	if (kind === 1) void client.send(`${requestText('POST /body', ['Content-Length: 1000'])}abc`)
	if (kind === 2) void client.send(requestText('GET /large'))
	// The last kind sends nothing at all.
	return client
}

/** The middle of so many answers' times, in milliseconds. */
async function latencyOf({ port }: Site, rounds: number): Promise<number> {
	const times: number[] = []
	for (let round = 0; round < rounds; round++) {
		const start = performance.now()
		assert.is((await ask(port, requestText('GET /now', ['Connection: close']))).status, 200)
		times.push(performance.now() - start)
	}
	return times.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0
}

function connectionsOf({ server }: Server): Promise<number> {
	return new Promise((resolve, reject) => {
		server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
	})
}
