/** Which headers of a response its page keeps, and which ones the map of the API keeps when it replaces a response. */
import * as assert from 'uvu/assert'
import { createServer, RestHandler } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { Log } from '../helpers/listening.ts'
import { open } from './page-of.ts'

const CONTROLS: Readonly<Record<string, string | readonly string[]>> = {
	one: 'private, no-transform',
	upper: 'No-Transform',
	lines: ['private', 'no-transform'],
	other: 'max-age=60, no-transformation',
}

class Secrets extends RestHandler {
	get_secret(name: string) {
		this.header('Cache-Control', CONTROLS[name] ?? '')
		return { q: this.query.q, secret: 'x'.repeat(2_000) }
	}
	override onError() {
		this.header('X-Refused', 'yes')
		this.header('Set-Cookie', 'lost=1')
	}
}

const server = createServer(
	{ '': new Secrets(), 'v1/deep': new Secrets() },
	{ explorer: true, compression: true, requestId: 'X-Request-Id', logger: new Log() },
)

describe('explorer: kept headers', (test) => {
	for (const name of ['one', 'upper', 'lines']) {
		// Its length would reveal the secret next to the URL's text in it (BREACH), as the JSON's would.
		test(`a page of JSON that must not be compressed is not compressed either: ${CONTROLS[name]}`, async () => {
			for (const method of ['GET', 'HEAD']) {
				const headers = { 'Accept-Encoding': 'gzip' }
				const page = await open(server, `/secret/${name}?q=a`, headers, method)
				assert.is(page.headers['content-type'], 'text/html; charset=utf-8')
				assert.is(page.headers['cache-control'], 'no-store, no-transform')
				assert.is(page.headers['content-encoding'], undefined)
			}
		})
	}

	test('other Cache-Control directives apply to the JSON only', async () => {
		const page = await open(server, '/secret/other', { 'Accept-Encoding': 'gzip' })
		assert.is(page.headers['cache-control'], 'no-store')
		assert.is(page.headers['content-encoding'], 'gzip')
	})

	test('the map has no headers of the error it replaces', async () => {
		for (const url of ['/', '/v1']) {
			for (const method of ['GET', 'HEAD']) {
				const { status, headers } = await open(server, url, { 'X-Request-Id': 'r1' }, method)
				assert.is(status, 200)
				assert.equal([headers['x-refused'], headers['set-cookie']], [undefined, undefined])
				assert.is(headers['x-request-id'], 'r1')
				assert.is(headers.vary, 'Accept, Accept-Encoding')
			}
		}
	})

	test("the page of an error has the error's headers", async () => {
		const { status, headers } = await open(server, '/nothing')
		assert.equal([status, headers['x-refused'], headers['set-cookie']], [404, 'yes', 'lost=1'])
	})
})
