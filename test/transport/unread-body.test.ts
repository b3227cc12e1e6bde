/** Unread bodies: the client sees the response, and the connection never loses sync. */
import { execFile } from 'node:child_process'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { RestError, RestHandler } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { listening, until } from '../helpers/listening.ts'
import { ask, connected, type RawClient, requestText } from '../helpers/raw.ts'
import { inTimesOf } from '../helpers/stalls.ts'

class Site extends RestHandler {
	override streaming = ['post_first', 'post_throw', 'post_ignore', 'post_echo']
	override access = { post_vault: 'user', post_known: 'user' }
	override authenticator = {
		authenticate: async ({ url }: { url: string }) => {
			// By then, all of one packet has arrived.
			await new Promise(setImmediate)
			return url === '/known' ? { id: 'ann' } : null
		},
	}

	get_now() {
		return 'now'
	}

	get_nothing() {
		this.status(204)
	}

	post_vault() {
		return 'vault'
	}

	post_body() {
		return this.getRawPostData().length
	}

	post_known() {
		return this.post_body()
	}

	/** Reads one piece, and answers. */
	async post_first() {
		for await (const chunk of this.request.stream) return (chunk as Buffer).length > 0
		return false
	}

	async post_throw() {
		for await (const _ of this.request.stream) throw new RestError(413, 'no more of this')
	}

	post_ignore() {
		this.header('X-Name', 'é')
		return 'ignored'
	}

	post_echo() {
		return this.request.stream
	}
}

const MEGABYTE = 1_048_576
const MAX_BODY = { maxBody: 1_000 }

interface Case {
	name: string
	line: string
	status: number
	headers?: string[]
}

const REFUSED: Case[] = [
	{ name: 'a body over maxBody', line: 'POST /body', status: 413 },
	{ name: 'a caller without credentials', line: 'POST /vault', status: 401 },
	{ name: 'an unknown path', line: 'POST /nowhere', status: 404 },
	{ name: 'a method that the path has not', line: 'PUT /now', status: 405 },
	{ name: 'a bad override', line: 'POST /body', headers: ['X-HTTP-Method-Override: GET'], status: 400 },
	{ name: 'a body with GET', line: 'GET /now', status: 200 },
	{ name: 'a body with GET, answered without one', line: 'GET /nothing', status: 204 },
	{ name: 'a streaming method that throws', line: 'POST /throw', status: 413 },
	{ name: 'a streaming method that stops reading', line: 'POST /first', status: 200 },
	{ name: 'a streaming method that reads nothing', line: 'POST /ignore', status: 200 },
	{ name: 'two Hosts', line: 'POST /body', headers: ['Host: b'], status: 400 },
]

describe('an unread body', (test) => {
	for (const framing of ['with a length', 'in chunks'] as const) {
		for (const { name, line, status, headers = [] } of REFUSED) {
			test(`20 MB ${framing}, ${name}: ${status} is read, and the connection ends`, () =>
				listening({ '': Site }, MAX_BODY, ({ port }) =>
					connected(port, async (client) => {
						await client.send(headOf(line, headers, framing === 'in chunks' ? undefined : 20 * MEGABYTE))
						const sending = upload(client, 20, framing === 'in chunks')
						const answer = await client.response()
						assert.is(answer.status, status)
						assert.is(answer.headers.connection, 'close')
						await client.closed()
						await sending
					}),
				))
		}
	}

	test('the answer does not wait for the body', () =>
		listening({ '': Site }, MAX_BODY, ({ port }) =>
			connected(port, async (client) => {
				await client.send(headOf('POST /body', [], 20 * MEGABYTE))
				assert.is((await client.response(undefined, 1_000)).status, 413)
				assert.not(client.ended, 'what is still under way is taken in')
			}),
		))

	test('a chunked body is refused when it reaches the limit', () =>
		listening({ '': Site }, MAX_BODY, ({ port }) =>
			connected(port, async (client) => {
				await client.send(headOf('POST /body', [], undefined))
				await client.send(`3e8\r\n${'a'.repeat(1_000)}\r\n`)
				await client.send('1\r\na\r\n')
				assert.is((await client.response(undefined, 1_000)).status, 413)
			}),
		))

	test('a chunked body that arrives whole during authentication has the same limit', () =>
		listening({ '': Site }, MAX_BODY, async ({ port }) => {
			for (const [size, status] of [
				[1_000, 200],
				[1_001, 413],
			] as const) {
				const body = `${size.toString(16)}\r\n${'a'.repeat(size)}\r\n0\r\n\r\n`
				const answer = await ask(port, headOf('POST /known', [], undefined) + body)
				assert.is(answer.status, status, `${size}`)
			}
		}))

	for (const [name, header] of [
		['', ''],
		[', also if it announced to wait for 100 Continue', 'Expect: 100-continue\\r\\n'],
	] as const)
		test(`a client that sends its whole body before reading still sees the response${name}`, () =>
			// Five seconds is the time to drain it.
			inTimesOf(1_000, () =>
				listening({ '': Site }, MAX_BODY, async ({ port }) => {
					const script = [
						'import socket, sys',
						`s = socket.create_connection(('127.0.0.1', ${port}))`,
						`s.sendall(b'POST /body HTTP/1.1\\r\\nHost: localhost\\r\\n${header}Content-Length: 52428800\\r\\n\\r\\n')`,
						"for _ in range(50): s.sendall(b'a' * 1048576)",
						'print(s.recv(100000).split()[1].decode())',
					].join('\n')
					const { stdout } = await promisify(execFile)('python3', ['-c', script])
					assert.is(stdout.trim(), '413')
				}),
			))

	for (const [name, line, status] of [
		['a refusal', 'POST /nowhere', 404],
		['a body with GET', 'GET /now', 200],
		['a streaming method that reads nothing', 'POST /ignore', 200],
		['a streaming method that stops reading', 'POST /first', 200],
		['a streaming method that throws', 'POST /throw', 413],
	] as const) {
		test(`${name} with 60 kB unread keeps the connection in step`, () =>
			listening({ '': Site }, {}, ({ port }) =>
				connected(port, async (client) => {
					const sneaked = requestText('GET /sneaked')
					const body = sneaked.repeat(Math.floor(60_000 / sneaked.length))
					for (let round = 0; round < 3; round++) {
						await client.send(requestText(line, [], body).slice(0, -30_000))
						const answer = client.response()
						await new Promise((resolve) => setTimeout(resolve, 20))
						await client.send(body.slice(-30_000) + requestText('GET /now'))
						assert.is((await answer).status, status)
						if (line === 'POST /ignore') assert.is((await answer).headers['x-name'], 'é')
						assert.equal((await client.response()).json(), { success: true, data: 'now' })
					}
				}),
			))
	}

	test('pipelined requests with unread bodies are answered in order', () =>
		listening({ '': Site }, {}, ({ port }) =>
			connected(port, async (client) => {
				const bodies = ['POST /nowhere', 'GET /now', 'POST /body', 'POST /ignore', 'GET /now']
				await client.send(bodies.map((line) => requestText(line, [], 'a'.repeat(5_000))).join(''))
				const statuses: number[] = []
				for (const _ of bodies) statuses.push((await client.response()).status)
				assert.equal(statuses, [404, 200, 200, 200, 200])
			}),
		))

	test('an echoed upload comes back complete', () =>
		listening({ '': Site }, {}, ({ port }) =>
			connected(port, async (client) => {
				await client.send(headOf('POST /echo', [], 3 * MEGABYTE))
				const sending = upload(client, 3, false)
				const { status, body } = await client.response()
				await sending
				assert.is(status, 200)
				assert.is(body.length, 3 * MEGABYTE)
			}),
		))

	test('a streaming method has its own limit for Content-Length', () =>
		listening({ '': Bounded }, { maxBody: 10 }, ({ port }) =>
			connected(port, async (client) => {
				await client.send(requestText('POST /upload', [], 'a'.repeat(1_000)))
				assert.equal((await client.response()).json(), { success: true, data: 1_000 })
				await client.send(requestText('POST /upload', [], 'a'.repeat(1_001)))
				assert.is((await client.response()).status, 413)
			}),
		))

	test('a streaming method gets an error when its client leaves, and nothing is logged', () => {
		const handler = new Bounded()
		return listening({ '': handler }, {}, async ({ port, log }) => {
			for (const leave of ['close', 'reset'] as const) {
				await connected(port, async (client) => {
					await client.send(headOf('POST /upload', [], 1_000))
					await client.send('abc')
					await until(() => handler.events.at(-1) === 'begun', 'the method')
					client[leave]()
				})
				await until(() => handler.events.at(-1) !== 'begun', 'the end of the method')
			}
			assert.equal(handler.events, ['begun', 'RestError', 'begun', 'RestError'])
			assert.equal(log.messages, [])
		})
	})

	test('a streaming method may keep reading after its response, for longer than bodyTimeoutSeconds', () => {
		const handler = new ReadsOn()
		return listening({ '': handler }, { bodyTimeoutSeconds: 0.1 }, ({ port }) =>
			connected(port, async (client) => {
				await client.send(`${headOf('POST /long', [], 10)}ab`)
				assert.is((await client.response()).status, 200)
				await sleep(700)
				await client.send('cdefghij')
				await until(() => handler.events.length > 0, 'the end of the body')
				assert.equal(handler.events, ['10'])
				await client.send(requestText('POST /long', [], 'abc'))
				assert.is((await client.response()).status, 200)
			}),
		)
	})

	for (const [name, line, length, leave] of [
		['whose time is over', 'POST /short', 10, false],
		['whose time is over, of a large body', 'POST /long', MEGABYTE, false],
		['whose client leaves', 'POST /long', 10, true],
	] as const) {
		test(`a streaming method that keeps reading after its response, and ${name}, gets an error`, () => {
			const handler = new ReadsOn()
			return listening({ '': handler }, { bodyTimeoutSeconds: 0.1 }, ({ port }) =>
				connected(port, async (client) => {
					await client.send(`${headOf(line, [], length)}ab`)
					assert.is((await client.response()).status, 200)
					if (leave) client.close()
					await until(() => handler.events.length > 0, 'the end of the stream')
					assert.equal(handler.events, ['RestError'])
					await client.closed()
				}),
			)
		})
	}

	test('a client whose upload nobody reads can read the 503', () =>
		listening({ '': Patient }, {}, ({ port }) =>
			connected(port, async (client) => {
				await client.send(headOf('POST /stuck', [], 20 * MEGABYTE))
				const sending = upload(client, 20, false)
				assert.is((await client.response()).status, 503)
				await client.closed()
				await sending
			}),
		))
})

class Bounded extends RestHandler {
	override streaming = { post_upload: { maxBody: 1_000 } }
	readonly events: string[] = []

	async post_upload() {
		let size = 0
		try {
			for await (const chunk of this.request.stream) {
				if (size === 0) this.events.push('begun')
				size += (chunk as Buffer).length
			}
		} catch (error) {
			this.events.push((error as Error).name)
			throw error
		}
		return size
	}
}

/** Answers at once, and reads on: records how much came, or the error. */
class ReadsOn extends RestHandler {
	override streaming = { post_long: {}, post_short: { handlerTimeoutSeconds: 0.2 } }
	readonly events: string[] = []

	post_long() {
		void this.readOn(this.request.stream)
		return 'taken'
	}

	post_short() {
		return this.post_long()
	}

	async readOn(stream: Readable) {
		let size = 0
		try {
			for await (const chunk of stream) size += (chunk as Buffer).length
			this.events.push(String(size))
		} catch (error) {
			this.events.push((error as Error).name)
		}
	}
}

class Patient extends RestHandler {
	override streaming = { post_stuck: { handlerTimeoutSeconds: 0.2 } }

	async post_stuck() {
		await new Promise(() => {})
	}
}

function headOf(line: string, headers: readonly string[], length: number | undefined): string {
	const framing = length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
	return `${[`${line} HTTP/1.1`, 'Host: localhost', framing, ...headers].join('\r\n')}\r\n\r\n`
}

async function upload(client: RawClient, megabytes: number, inChunks: boolean): Promise<void> {
	const bytes = Buffer.alloc(MEGABYTE, 'a')
	for (let at = 0; at < megabytes && !client.ended; at++) {
		if (inChunks) await client.send('100000\r\n')
		await client.send(bytes)
		if (inChunks) await client.send('\r\n')
	}
	if (inChunks) await client.send('0\r\n\r\n')
}
