/** Clients that request large responses and don't read them: how much memory they may use together. */
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { RestHandler, type Server } from '../../lib/index.ts'
import { bundled } from '../helpers/bundled.ts'
import { describe } from '../helpers/describe.ts'
import { listening, until } from '../helpers/listening.ts'
import { ROOT, start } from '../helpers/program.ts'
import { RawClient, requestText } from '../helpers/raw.ts'

/** Far more than the kernel buffers for a connection. */
const LARGE = 30_000_000
const CUT_OFF = 'warn: the answer was cut off: more than maxUnsentBytes were waiting to be read'

class Site extends RestHandler {
	readonly events: string[] = []

	get_now() {
		return 'now'
	}

	get_large() {
		this.events.push('large')
		return Buffer.alloc(LARGE)
	}

	async get_after(time: string) {
		await sleep(Number(time), undefined, { ref: false })
		return time
	}

	/** Each chunk is large. */
	async *get_flood() {
		try {
			for (;;) yield 'a'.repeat(10_000_000)
		} finally {
			this.events.push('closed')
		}
	}
}

/** Clients of one server. */
class Crowd {
	readonly clients: RawClient[] = []
	readonly #port: number
	/** The clients' ports. */
	readonly #ports: (number | undefined)[] = []
	readonly #endedPorts: (number | undefined)[] = []

	constructor({ server }: Server, port: number) {
		this.#port = port
		server.on('connection', (socket) => {
			const { remotePort } = socket
			socket.on('close', () => this.#endedPorts.push(remotePort))
		})
	}

	/** The places of those whose connection the server has closed, in that order. */
	get ended(): number[] {
		return this.#endedPorts.map((port) => this.#ports.indexOf(port))
	}

	/** Sends requests, and reads nothing after the first bytes of the answer. */
	async add(requests: string, address?: string): Promise<RawClient> {
		const client = await this.send(requests, address)
		await client.bytes(1)
		return client
	}

	async send(requests: string, address?: string): Promise<RawClient> {
		const client = new RawClient(this.#port, '127.0.0.1', address)
		const place = this.clients.push(client) - 1
		client.socket.once('connect', () => {
			this.#ports[place] = client.socket.localPort
		})
		client.socket.once('data', () => client.socket.pause())
		await client.send(requests)
		return client
	}

	close(): void {
		for (const client of this.clients) client.close()
	}
}

/** Runs `use` with a server that keeps at most so many bytes. */
function bounded(
	maxUnsentBytes: number,
	use: (site: { crowd: Crowd; site: Site; messages: () => string[] }) => Promise<void>,
	options = {},
): Promise<void> {
	const site = new Site()
	return listening({ '': site }, { maxUnsentBytes, ...options }, async ({ server, port, log }) => {
		const crowd = new Crowd(server, port)
		try {
			await use({ crowd, site, messages: () => log.messages })
		} finally {
			crowd.close()
		}
	})
}

const GET_LARGE = requestText('GET /large')

describe('slow readers', (test) => {
	test('up to maxUnsentBytes each gets all of its answer', () =>
		bounded(4 * LARGE, async ({ crowd, messages }) => {
			for (let at = 0; at < 3; at++) await crowd.add(GET_LARGE)
			await sleep(50)
			for (const client of crowd.clients) {
				client.socket.resume()
				assert.is((await client.response()).body.length, LARGE)
			}
			assert.equal(messages(), [])
		}))

	test('above it, those that have waited longest are cut off', () =>
		bounded(2.5 * LARGE, async ({ crowd, messages }) => {
			for (let at = 0; at < 4; at++) await crowd.add(GET_LARGE)
			await until(() => crowd.ended.length === 2, 'the end of two connections')
			assert.equal(crowd.ended, [0, 1])
			assert.equal(messages(), [CUT_OFF, CUT_OFF])
			for (const client of crowd.clients.slice(2)) {
				client.socket.resume()
				assert.is((await client.response()).body.length, LARGE)
			}
		}))

	test('the address with the most bytes is cut off first: a slow reader at another gets all of its answer', () =>
		bounded(3.5 * LARGE, async ({ crowd, messages }) => {
			const honest = await crowd.add(GET_LARGE, '127.0.0.2')
			for (let at = 1; at <= 6; at++) await crowd.add(GET_LARGE)
			await until(() => crowd.ended.length === 4, 'the end of four connections')
			assert.equal(crowd.ended, [1, 2, 3, 4])
			honest.socket.resume()
			assert.is((await honest.response()).body.length, LARGE)
			assert.is(messages().length, 4)
		}))

	test('behind a trusted proxy, the address is the one that the proxy names', () =>
		bounded(
			3.5 * LARGE,
			async ({ crowd }) => {
				const from = (address: string) => requestText('GET /large', [`X-Forwarded-For: ${address}`])
				await crowd.add(from('192.0.2.1'))
				for (let at = 1; at <= 3; at++) await crowd.add(from('192.0.2.2'))
				await until(() => crowd.ended.length === 1, 'the end of a connection')
				assert.equal(crowd.ended, [1])
			},
			{ trustProxy: 1 },
		))

	test('pipelined answers behind an unread one count, and after the cut no further request is served', () =>
		bounded(4.5 * LARGE, async ({ crowd, site, messages }) => {
			await crowd.add(GET_LARGE.repeat(40))
			await until(() => crowd.ended.length === 1, 'the end of the connection')
			assert.equal(messages(), [CUT_OFF])
			assert.is(site.events.length, 5)
		}))

	test('answers that wait for an earlier method are cut off with their connection', () =>
		bounded(2.5 * LARGE, async ({ crowd, site }) => {
			await crowd.send(requestText('GET /after/60000') + GET_LARGE.repeat(3))
			await until(() => crowd.ended.length === 1, 'the end of the connection')
			assert.is(site.events.length, 3)
		}))

	test('pipelined requests count while their methods run', () =>
		bounded(3_000_000, async ({ crowd, messages }) => {
			await crowd.send(requestText('GET /after/60000').repeat(1_000))
			await until(() => crowd.ended.length === 1, 'the end of the connection')
			assert.equal(messages(), [CUT_OFF])
		}))

	test('and once, with their answers', () =>
		bounded(3_000_000, async ({ crowd, messages }) => {
			const client = await crowd.add(requestText('GET /after/100') + requestText('GET /now').repeat(450))
			client.socket.resume()
			for (let at = 0; at <= 450; at++) assert.is((await client.response()).status, 200)
			assert.equal(messages(), [])
		}))

	test('streams count with what they have buffered, and their source is closed when they are cut off', () =>
		bounded(50_000_000, async ({ crowd, site, messages }) => {
			for (let at = 0; at < 3; at++) await crowd.add(requestText('GET /flood'))
			await until(() => site.events.length === 1, 'the end of a source')
			await until(() => crowd.ended.length === 1, 'the end of a connection')
			assert.equal(crowd.ended, [0])
			assert.equal(messages(), [CUT_OFF])
		}))

	test('what clients leave unread when they disconnect counts no longer', () =>
		bounded(2.5 * LARGE, async ({ crowd, messages }) => {
			for (let at = 0; at < 4; at++) {
				const requests =
					at % 2 === 0 ? GET_LARGE : requestText('GET /now') + GET_LARGE + requestText('GET /flood')
				;(await crowd.add(requests)).close()
				await until(() => crowd.ended.length === at + 1, 'the end of the connection')
			}
			assert.equal(messages(), [])
			const client = await crowd.add(GET_LARGE.repeat(2))
			await sleep(20)
			client.socket.resume()
			for (let at = 0; at < 2; at++) assert.is((await client.response()).body.length, LARGE)
			assert.equal(messages(), [])
		}))

	test('what was read counts no longer, however many answers a connection has had', () =>
		bounded(1.5 * LARGE, async ({ crowd, messages }) => {
			const client = await crowd.add(GET_LARGE)
			for (let at = 0; at < 3; at++) {
				client.socket.resume()
				assert.is((await client.response()).body.length, LARGE)
				await client.send(requestText('GET /now') + GET_LARGE)
				assert.is((await client.response()).status, 200)
			}
			assert.equal(messages(), [])
		}))

	test('texts that wait are outside the heap, whose limit ends the process', async () => {
		const { child, output, ended } = start({
			args: ['--max-old-space-size=96', ...(await bundled(`${ROOT}/test/transport/slow-reader-host.ts`))],
		})
		const clients: RawClient[] = []
		try {
			let port = 0
			child.on('message', (message) => {
				port = message as number
			})
			await until(() => port !== 0 || child.exitCode !== null, 'the server')
			for (let at = 0; at < 30; at++) {
				const client = new RawClient(port)
				clients.push(client)
				client.socket.once('data', () => client.socket.pause())
				await client.send(requestText('GET /text'))
				await client.bytes(1)
			}
			assert.is(child.exitCode ?? child.signalCode, null, output())
		} finally {
			for (const client of clients) client.close()
			child.kill('SIGKILL')
			await ended
		}
	})
})
