/** Many misbehaving clients, and the state a server must be in when they are gone. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as assert from 'uvu/assert'
import { RestHandler, type Server } from '../../../lib/index.ts'
import { listening, type Site, until } from '../../helpers/listening.ts'
import { ask, RawClient, requestText } from '../../helpers/raw.ts'
import { stopwatch } from '../../helpers/stalls.ts'

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

/** Handles of sockets and timers, without the test runner's own streams. */
function handles(): number {
	return process.getActiveResourcesInfo().filter((name) => /TCPSocketWrap|Timeout|Immediate/.test(name))
		.length
}

/** `count` uploads that are aborted within the body, in every possible way. */
export function abortUploads(count: number): Promise<void> {
	return listening({ '': Target }, {}, async ({ port, server, log }) => {
		const size = Math.min(count, 200)
		await batch(port, size)
		let heap = await settledHeap()
		const open = handles()
		let growth = Number.POSITIVE_INFINITY
		// A leak grows in each round. The first suite of a process also sees its own code being compiled.
		for (let round = 0; round < 5 && growth >= 2 * 1_048_576; round++) {
			for (let done = 0; done < count; done += size) await batch(port, size)
			await until(async () => (await connectionsOf(server)) === 0, 'no connections')
			await until(() => handles() <= open, 'no handles')
			const now = await settledHeap()
			growth = now - heap
			heap = now
		}
		assert.ok(growth < 2 * 1_048_576, `the heap has grown by ${growth} bytes`)
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

/** node's own function, hidden without a flag. */
function collectGarbage(): void {
	setFlagsFromString('--expose-gc')
	runInNewContext('gc')()
}

async function settledHeap(): Promise<number> {
	// A second collection frees what finalizers and closing handles of the first have let go.
	for (let round = 0; round < 2; round++) {
		collectGarbage()
		await new Promise((resolve) => setTimeout(resolve, 50))
	}
	const { heapUsed, arrayBuffers } = process.memoryUsage()
	return heapUsed + arrayBuffers
}

/** `count` clients with slow headers, bodies or reading delay no other request, and are disconnected in time. */
export async function slowClients(count: number): Promise<void> {
	// Long enough that all stay to the end: the test is whether others are delayed.
	await withTimes(600_000, (site) =>
		besideBare(async (bare) => {
			await assertPrompt(site.port, bare, 'alone')
			await amongSlow(count, site, async () => {
				await assertPrompt(site.port, bare, `among ${count} slow clients`)
				assert.is(await connectionsOf(site.server), count, 'all of them were there')
			})
		}),
	)
	const time = 1_000
	await withTimes(time, (site) => untilGone(count, site, time))
}

/** Slow clients connect, and are disconnected after the server's timeout, `time`. */
function untilGone(count: number, site: Site, time: number): Promise<void> {
	return amongSlow(count, site, async () => {
		const { server } = site
		const took = stopwatch()
		await until(async () => (await connectionsOf(server)) === 0, 'the slow ones are gone')
		assert.ok(took() < time * 4, 'and in time')
	})
}

/** Runs `use` with a server whose timeouts are all `time` milliseconds. */
function withTimes(time: number, use: (site: Site) => Promise<void>): Promise<void> {
	const seconds = time / 1_000
	const clients = { headersTimeoutSeconds: seconds, keepAliveTimeoutSeconds: seconds }
	const bodies = { bodyTimeoutSeconds: seconds, sendTimeoutSeconds: seconds }
	// All come from one address, and a quarter of them leaves 5 MiB unread.
	const maxUnsentBytes = Number.POSITIVE_INFINITY
	return listening({ '': Target }, { ...clients, ...bodies, maxUnsentBytes }, use)
}

/** Runs `use` when so many slow clients are connected. */
async function amongSlow(count: number, site: Site, use: () => Promise<void>): Promise<void> {
	const came = connectionsTo(site.server)
	const clients = Array.from({ length: count }, (_, at) => slowClient(site.port, at % 4))
	try {
		await until(() => came() === count, 'all of them')
		await use()
	} finally {
		for (const client of clients) client.close()
	}
}

function slowClient(port: number, kind: number): RawClient {
	const client = new RawClient(port)
	client.socket.pause()
	if (kind === 0) void client.send('GET /now HTTP/1.1\r\nHost: localhost\r\nX-Slow: ')
	if (kind === 1) void client.send(`${requestText('POST /body', ['Content-Length: 1000'])}abc`)
	if (kind === 2) void client.send(requestText('GET /large'))
	// The last kind sends nothing at all.
	return client
}

/** How many requests each server gets in a round. */
const ASKED = 24
/** The maximum number of rounds. */
const ROUNDS = 10
/** How much slower a response may be than three times the bare server's, in milliseconds. */
const BEYOND = 20

/**
 * Fails where a server answers later than a bare one of node's, asked in turns with it. Compared are the upper quartiles:
 * what is late every second time, or every third, is in them. A round may fall into a time that other programs take; whoever
 * is late always is so in every round.
 */
async function assertPrompt(port: number, bare: number, when: string): Promise<void> {
	const seen: string[] = []
	for (let round = 0; round < ROUNDS; round++) {
		const [times, bares]: [number[], number[]] = [[], []]
		for (let at = 0; at < ASKED; at++) {
			bares.push(await timeOf(bare))
			times.push(await timeOf(port))
		}
		const [time, reference] = [upperQuartile(times), upperQuartile(bares)]
		if (time < reference * 3 + BEYOND) return
		seen.push(`${time.toFixed(1)} ms, a bare server ${reference.toFixed(1)} ms`)
	}
	assert.unreachable(`answers are late ${when}: ${seen.join('; ')}`)
}

/** How long a server takes to respond, in milliseconds. */
async function timeOf(port: number): Promise<number> {
	const start = performance.now()
	assert.is((await ask(port, requestText('GET /now', ['Connection: close']))).status, 200)
	return performance.now() - start
}

/** The upper quartile: at least a quarter of the numbers are as large. */
function upperQuartile(numbers: readonly number[]): number {
	const sorted = numbers.toSorted((one, other) => one - other)
	return sorted[Math.ceil(sorted.length * 0.75) - 1] ?? Number.NaN
}

/** Runs `use` next to a bare node server that only responds. */
async function besideBare(use: (port: number) => Promise<void>): Promise<void> {
	const server = createServer((_request, response) => response.end('now')).listen(0, '127.0.0.1')
	await once(server, 'listening')
	try {
		await use((server.address() as AddressInfo).port)
	} finally {
		server.closeAllConnections()
		await new Promise((resolve) => server.close(resolve))
	}
}

/** Counts the connections that come from now on. */
function connectionsTo({ server }: Server): () => number {
	let count = 0
	server.on('connection', () => count++)
	return () => count
}

function connectionsOf({ server }: Server): Promise<number> {
	return new Promise((resolve, reject) => {
		server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
	})
}
