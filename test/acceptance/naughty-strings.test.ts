/** Naughty strings: each round-trips unchanged, or is refused with an expected error. */
import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { ROOT } from '../helpers/program.ts'
import { connected, type RawClient, type RawResponse } from '../helpers/raw.ts'
import { AcceptanceApp } from './app.ts'

const STRINGS = JSON.parse(readFileSync(`${ROOT}/test/acceptance/naughty-strings.json`, 'utf8')) as string[]

interface Echo {
	readonly params: string[]
	readonly query: Record<string, string>
	readonly body: unknown
}

interface Way {
	readonly name: string
	readonly path: (text: string) => string
	readonly body?: (text: string) => string
	readonly type?: string
	/** What came back. */
	readonly read: (echo: Echo) => unknown
	/** The status of strings that can't go this way. */
	readonly refused?: (text: string) => number | undefined
}

// A lone surrogate has no UTF-8 and so no percent-encoding; the list has none.
const WAYS: Way[] = [
	{
		name: 'as JSON',
		path: () => '/blog/api/echo',
		body: (text) => JSON.stringify({ text }),
		type: 'application/json',
		read: ({ body }) => (body as { text: string }).text,
	},
	{
		name: 'as a form',
		path: () => '/blog/api/echo',
		body: (text) => `text=${encodeURIComponent(text)}`,
		type: 'application/x-www-form-urlencoded',
		read: ({ body }) => (body as { text: string }).text,
	},
	{
		name: 'in the query',
		path: (text) => `/blog/api/echo?text=${encodeURIComponent(text)}`,
		read: ({ query }) => query.text,
	},
	{
		name: 'as a name in the query',
		path: (text) => `/blog/api/echo?${encodeURIComponent(text)}=1`,
		read: ({ query }) => Object.keys(query)[0] ?? '',
	},
	{
		name: 'as a path segment',
		path: (text) => `/blog/api/echo/${encodeURIComponent(text)}`,
		read: ({ params }) => params[0] ?? '',
		refused: (text) => (/[\x00-\x1f\x7f]/.test(text) ? 400 : undefined),
	},
]

function requestOf(way: Way, text: string): Buffer {
	const body = Buffer.from(way.body?.(text) ?? '')
	const lines = [`POST ${way.path(text)} HTTP/1.1`, 'Host: localhost', `Content-Length: ${body.length}`]
	if (way.type !== undefined) lines.push(`Content-Type: ${way.type}`)
	return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body])
}

async function send(client: RawClient, way: Way, text: string): Promise<RawResponse> {
	await client.send(requestOf(way, text))
	return client.response()
}

describe('naughty strings', (test) => {
	for (const way of WAYS) {
		test(`all ${STRINGS.length} round-trip ${way.name}`, () =>
			listening({ 'blog/api': AcceptanceApp }, { maxBody: 1_000_000 }, ({ port, log }) =>
				connected(port, async (client) => {
					for (const text of STRINGS) {
						const { status, json } = await send(client, way, text)
						const expected = way.refused?.(text) ?? 200
						assert.is(status, expected, JSON.stringify(text))
						if (status !== 200) continue
						assert.is(way.read((json() as { data: Echo }).data), text)
					}
					assert.equal(log.messages, [])
				}),
			))
	}
})
