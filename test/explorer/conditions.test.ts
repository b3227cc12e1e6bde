/** Conditional requests of browsers: a page has no ETag, so no cached ETag matches it. */
import * as assert from 'uvu/assert'
import { CrudHandler, createServer, MemoryModel, RestHandler, reply } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { NAVIGATION, open } from './page-of.ts'

/** A file with a date and an ETag, whose method evaluates the conditions itself. */
class Files extends RestHandler {
	get_leaflet() {
		const { 'if-none-match': named, 'if-modified-since': since } = this.request.headers
		const headers = { ETag: '"f"', 'Last-Modified': DATE, 'Content-Type': 'text/plain' }
		if (named === '"f"' || since === DATE) return reply(null, { status: 304, headers })
		return reply(Buffer.from('sow in May'), { headers })
	}
}

const DATE = 'Fri, 01 May 2026 08:00:00 GMT'
const options = { explorer: true, compression: { threshold: 0 } }

function handlers() {
	const model = new MemoryModel('article', {
		key: 'id',
		fields: { id: 'integer', title: 'text', revision: 'integer' },
		rows: [{ id: 1, title: 'Thyme', revision: 1 }],
	})
	return { article: new CrudHandler(model, { visible: 'all', version: 'revision' }), files: new Files() }
}

describe('explorer: conditional requests', (test) => {
	const server = createServer(handlers(), options)

	for (const tag of ['"1"', 'W/"1"', '"1;br"', '*']) {
		for (const method of ['GET', 'HEAD']) {
			test(`${method} of a page with If-None-Match: ${tag}, which is the JSON's, is 200`, async () => {
				const headers = { 'If-None-Match': tag }
				assert.is((await server.inject({ method, url: '/article/1', headers })).status, 304)
				const page = await open(server, '/article/1', headers, method)
				assert.is(page.status, 200)
				assert.is(page.headers['content-type'], 'text/html; charset=utf-8')
			})
		}
	}

	for (const [name, value] of [
		['If-None-Match', '"f"'],
		['If-Modified-Since', DATE],
	] as const) {
		test(`a file of a method is sent whole to browsers, whatever ${name} says`, async () => {
			const headers = { [name]: value }
			assert.is((await server.inject({ url: '/files/leaflet', headers })).status, 304)
			const whole = await open(server, '/files/leaflet', headers)
			assert.equal([whole.status, whole.headers.etag, whole.text()], [200, '"f"', 'sow in May'])
		})
	}

	test('a write respects its conditions, whatever Accept says', async () => {
		const model = new MemoryModel('herb', { key: 'name', fields: { name: 'text' }, rows: [{ name: 'sage' }] })
		const herbs = new CrudHandler(model, { visible: 'all', allow: ['create'] })
		const headers = { Accept: NAVIGATION, 'If-None-Match': '*' }
		const request = { method: 'POST', url: '/herb', headers, body: { name: 'sage' } }
		assert.is((await createServer({ herb: herbs }, options).inject(request)).status, 412)
	})

	test('conditions work over a socket', () =>
		listening(handlers(), options, async ({ url }) => {
			const headers = { Accept: NAVIGATION, 'If-None-Match': '"1"' }
			const page = await fetch(`${url}/article/1`, { headers })
			assert.is(page.status, 200)
			assert.match(await page.text(), /^<!doctype html>/)
		}))
})
