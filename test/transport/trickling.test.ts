/** Clients that now and then send bytes nobody reads: none can keep its connection open for ever. */
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { RestHandler, type ServerOptions } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { connected, type RawClient, requestText } from '../helpers/raw.ts'

class Site extends RestHandler {
	override streaming = ['post_ignore']
	override access = { post_vault: 'user' }
	override authenticator = { authenticate: () => null }

	get_now() {
		return 'now'
	}

	post_vault() {}

	post_ignore() {
		return 'ignored'
	}
}

interface Trickle {
	readonly name: string
	/** Sent first; `status` is its answer, if there is one. */
	readonly head: string
	readonly status?: number
	/** Sent repeatedly. */
	readonly drop: string
}

const LENGTH = ['Content-Length: 60000']
const CHUNKED = ['Transfer-Encoding: chunked']
const TRICKLES: Trickle[] = [
	{ name: 'the body of a GET', head: requestText('GET /now', LENGTH), status: 200, drop: 'a' },
	{ name: 'a refused body', head: requestText('POST /vault', LENGTH), status: 401, drop: 'a' },
	{
		name: 'a refused body in chunks',
		head: requestText('POST /vault', CHUNKED),
		status: 401,
		drop: '1\r\na\r\n',
	},
	{ name: 'a body at no path', head: requestText('POST /nowhere', LENGTH), status: 404, drop: 'a' },
	{
		name: 'a body that its method ignores',
		head: requestText('POST /ignore', LENGTH),
		status: 200,
		drop: 'a',
	},
	{ name: 'blank lines before any request', head: '', drop: '\r\n' },
	{ name: 'blank lines behind a request', head: requestText('GET /now'), status: 200, drop: '\r\n' },
]

const TIMES: ServerOptions = {
	bodyTimeoutSeconds: 1,
	headersTimeoutSeconds: 1,
	keepAliveTimeoutSeconds: 600,
}

/** Sends a drop each 20 ms, until the server ends the connection. */
async function trickle(client: RawClient, { head, status, drop }: Trickle): Promise<void> {
	await client.send(head)
	if (status !== undefined) assert.is((await client.response()).status, status)
	const dropping = setInterval(() => void client.send(drop), 20)
	try {
		await client.closed()
	} finally {
		clearInterval(dropping)
	}
}

describe('trickling clients', (test) => {
	for (const kind of TRICKLES) {
		test(`${kind.name}: 40 connections are ended`, () =>
			listening({ '': Site }, TIMES, async ({ port }) => {
				await Promise.all(
					Array.from({ length: 40 }, () => connected(port, (client) => trickle(client, kind))),
				)
			}))
	}

	test('blank lines are answered 408, like headers that take too long', () =>
		listening({ '': Site }, TIMES, ({ port }) =>
			connected(port, async (client) => {
				await client.send(requestText('GET /now'))
				assert.is((await client.response()).status, 200)
				const dropping = setInterval(() => void client.send('\r\n'), 20)
				try {
					const answer = await client.response()
					assert.equal([answer.status, answer.headers.connection], [408, 'close'])
				} finally {
					clearInterval(dropping)
				}
			}),
		))

	test('a blank line after a request, as old clients send it, is accepted', () =>
		listening({ '': Site }, { ...TIMES, headersTimeoutSeconds: 0.1 }, ({ port }) =>
			connected(port, async (client) => {
				for (let turn = 0; turn < 3; turn++) {
					await client.send(`${requestText('GET /now')}\r\n`)
					assert.is((await client.response()).status, 200)
					await client.send('\r\n')
					await sleep(400)
				}
				assert.not(client.ended)
			}),
		))

	test('an unread body that arrives in time leaves the connection open', () =>
		listening({ '': Site }, { ...TIMES, bodyTimeoutSeconds: 60, headersTimeoutSeconds: 0.1 }, ({ port }) =>
			connected(port, async (client) => {
				await client.send(requestText('GET /now', ['Content-Length: 20']))
				assert.is((await client.response()).status, 200)
				for (let sent = 0; sent < 20; sent++) {
					await client.send('a')
					await sleep(30)
				}
				await sleep(300)
				await client.send(requestText('GET /now'))
				assert.is((await client.response()).status, 200)
			}),
		))

	test('without bodyTimeoutSeconds an unread body may take any time', () =>
		listening(
			{ '': Site },
			{ ...TIMES, bodyTimeoutSeconds: Number.POSITIVE_INFINITY, headersTimeoutSeconds: 0.1 },
			({ port }) =>
				connected(port, async (client) => {
					await client.send(requestText('GET /now', ['Content-Length: 20']))
					assert.is((await client.response()).status, 200)
					for (let sent = 0; sent < 20; sent++) {
						await client.send('a')
						await sleep(30)
					}
					await client.send(requestText('GET /now'))
					assert.is((await client.response()).status, 200)
				}),
		))

	test('an upgraded connection is left alone', () =>
		listening({ '': Site }, { ...TIMES, headersTimeoutSeconds: 0.1 }, ({ port, server }) =>
			connected(port, async (client) => {
				server.server.on('upgrade', (_request, socket) => {
					socket.on('data', () => {}).on('error', () => {})
					socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
				})
				await client.send(requestText('GET /now'))
				assert.is((await client.response()).status, 200)
				await client.send(requestText('GET /now', ['Connection: Upgrade', 'Upgrade: echo']))
				assert.is((await client.response()).status, 101)
				for (let sent = 0; sent < 20; sent++) {
					await client.send('\r\n')
					await sleep(30)
				}
				assert.not(client.ended)
			}),
		))
})
