import * as assert from 'uvu/assert'
import { RestHandler } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { connected, type RawResponse } from '../helpers/raw.ts'

class Echo extends RestHandler {
	readonly calls: string[] = []

	get_name() {
		this.calls.push('get_name')
		return this.request.host
	}

	post_name() {
		this.calls.push('post_name')
		return this.body
	}
}

interface Case {
	name: string
	/** Bytes of the request, by line. */
	lines: string[]
	status: number
	/** Part of the error, or the whole data. */
	says?: string
	/** Whether the connection closes. */
	closes?: boolean
}

const LONG = 'a'.repeat(17_000)

const CASES: Case[] = [
	{
		name: 'one Host',
		lines: ['GET /name HTTP/1.1', 'Host: a.localhost:80'],
		status: 200,
		says: 'a.localhost:80',
	},
	{
		name: 'a Host with an IPv6 address',
		lines: ['GET /name HTTP/1.1', 'Host: [::1]:80'],
		status: 200,
		says: '[::1]:80',
	},
	{
		name: 'two Host lines',
		lines: ['GET /name HTTP/1.1', 'Host: localhost', 'host: localhost'],
		status: 400,
		says: 'Host',
		closes: true,
	},
	{
		name: 'two Content-Type lines, of which node shows the first alone',
		lines: [
			'POST /name HTTP/1.1',
			'Host: localhost',
			'Content-Type: application/json',
			'content-type: text/plain',
			'Content-Length: 2',
			'',
			'[]',
		],
		status: 400,
		says: 'Content-Type',
		closes: true,
	},
	{
		name: 'a Host that is no host',
		lines: ['GET /name HTTP/1.1', 'Host: a b/c@d'],
		status: 400,
		says: 'Host',
		closes: true,
	},
	{ name: 'a Host with userinfo', lines: ['GET /name HTTP/1.1', 'Host: u@a'], status: 400, closes: true },
	{ name: 'a Host with two ports', lines: ['GET /name HTTP/1.1', 'Host: a:1:2'], status: 400, closes: true },
	{
		name: 'a Host that is a port alone',
		lines: ['GET /name HTTP/1.1', 'Host: :80'],
		status: 400,
		closes: true,
	},
	{ name: 'an empty Host', lines: ['GET /name HTTP/1.1', 'Host:'], status: 400, says: 'Host', closes: true },
	{ name: 'no Host', lines: ['GET /name HTTP/1.1'], status: 400, says: 'Host', closes: true },
	{ name: 'HTTP/1.0 without Host', lines: ['GET /name HTTP/1.0'], status: 200, says: '', closes: true },
	{
		name: 'HTTP/1.0 with two Host lines',
		lines: ['GET /name HTTP/1.0', 'Host: localhost', 'Host: b'],
		status: 400,
		closes: true,
	},
	{
		name: 'HTTP/1.0 with a Host that is no host',
		lines: ['GET /name HTTP/1.0', 'Host: a/b'],
		status: 400,
		closes: true,
	},
	{
		name: 'HTTP/2.0 on the request line',
		lines: ['GET /name HTTP/2.0', 'Host: localhost'],
		status: 505,
		says: 'HTTP/1.1',
		closes: true,
	},
	{
		name: 'HTTP/2.0 that asks to be kept alive',
		lines: ['GET /name HTTP/2.0', 'Host: localhost', 'Connection: keep-alive'],
		status: 505,
		closes: true,
	},
	{
		name: 'HTTP/1.2',
		lines: ['GET /name HTTP/1.2', 'Host: localhost'],
		status: 505,
		says: 'HTTP/1.1',
		closes: true,
	},
	{ name: 'HTTP/0.9', lines: ['GET /name HTTP/0.9', 'Host: localhost'], status: 505, closes: true },
	{
		name: 'HTTP/1.0 with chunked',
		lines: [
			'POST /name HTTP/1.0',
			'Host: localhost',
			'Transfer-Encoding: chunked',
			'Connection: keep-alive',
			'',
			'0',
		],
		status: 400,
		says: 'HTTP/1.0',
		closes: true,
	},
	{
		name: 'gzip, chunked',
		lines: ['POST /name HTTP/1.1', 'Host: localhost', 'Transfer-Encoding: gzip, chunked', '', '0'],
		status: 501,
		says: 'chunked',
		closes: true,
	},
	{
		name: 'two Transfer-Encoding lines',
		lines: [
			'POST /name HTTP/1.1',
			'Host: localhost',
			'Transfer-Encoding: identity',
			'Transfer-Encoding: chunked',
			'',
			'0',
		],
		status: 501,
		closes: true,
	},
	{
		name: 'chunked in capitals',
		lines: [
			'POST /name HTTP/1.1',
			'Host: localhost',
			'Content-Type: application/json',
			'Transfer-Encoding: Chunked',
			'',
			'2',
			'{}',
			'0',
		],
		status: 200,
	},
	{
		name: 'a thousand header lines',
		lines: ['GET /name HTTP/1.1', 'Host: localhost', ...Array.from({ length: 999 }, (_, at) => `a${at}: 1`)],
		status: 200,
		says: 'localhost',
	},
	{
		name: 'one header line more',
		lines: [
			'GET /name HTTP/1.1',
			'Host: localhost',
			...Array.from({ length: 1_000 }, (_, at) => `a${at}: 1`),
		],
		status: 431,
		says: '1000 header lines',
		closes: true,
	},
	{
		name: 'two thousand header lines',
		lines: [
			'GET /name HTTP/1.1',
			'Host: localhost',
			...Array.from({ length: 2_000 }, (_, at) => `a${at}: 1`),
		],
		status: 431,
		closes: true,
	},
	{
		name: 'a target over 16,384 characters',
		lines: [`GET /${LONG} HTTP/1.1`, 'Host: localhost'],
		status: 414,
		closes: true,
	},
	{ name: 'a fragment in the path', lines: ['GET /name#b HTTP/1.1', 'Host: localhost'], status: 404 },
	{ name: 'a backslash in the path', lines: ['GET /name\\b HTTP/1.1', 'Host: localhost'], status: 404 },
	{ name: 'TRACE', lines: ['TRACE /name HTTP/1.1', 'Host: localhost'], status: 501 },
	{ name: 'an unknown method of HTTP', lines: ['PROPFIND /name HTTP/1.1', 'Host: localhost'], status: 501 },
]

const NEXT = 'GET /name HTTP/1.1\r\nHost: localhost\r\n\r\n'

describe('vetting', (test) => {
	for (const { name, lines, status, says, closes = false } of CASES) {
		test(`${name} → ${status}${closes ? ', and the connection ends' : ''}`, async () => {
			const handler = new Echo()
			await listening({ '': handler }, {}, async ({ port }) => {
				const { first, second } = await askTwice(port, `${lines.join('\r\n')}\r\n\r\n`)
				assert.is(first.status, status, first.body.toString())
				if (status === 200 && says !== undefined) assert.equal(first.json(), { success: true, data: says })
				if (status !== 200) {
					const { success, error } = first.json() as { success: boolean; error: string }
					assert.is(success, false)
					assert.ok(error.includes(says ?? ''), error)
					assert.is(first.headers['x-content-type-options'], 'nosniff')
				}
				assert.is(first.headers.connection === 'close', closes)
				assert.is(second?.status, closes ? undefined : 200)
				assert.is(handler.calls.length, (status === 200 ? 1 : 0) + (closes ? 0 : 1), handler.calls.join())
			})
		})
	}

	test('Host is checked for every request of a connection', async () => {
		await listening({ '': Echo }, {}, ({ port }) =>
			connected(port, async (client) => {
				await client.send(`${NEXT}GET /name HTTP/1.1\r\nHost: a/b\r\n\r\n`)
				assert.is((await client.response()).status, 200)
				assert.is((await client.response()).status, 400)
			}),
		)
	})
})

/** The answer, and that to a pipelined request, if the connection stays open. */
function askTwice(
	port: number,
	bytes: string,
): Promise<{ first: RawResponse; second: RawResponse | undefined }> {
	return connected(port, async (client) => {
		await client.send(bytes + NEXT)
		const first = await client.response()
		if (first.headers.connection !== 'close') return { first, second: await client.response() }
		await client.closed(2_000)
		assert.is(client.unread.length, 0, 'nothing follows an answer that closes')
		return { first, second: undefined }
	})
}
