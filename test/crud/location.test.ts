/** `Location` is the URL of the record, whatever route created it. */
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import * as assert from 'uvu/assert'
import { CrudHandler, createServer, type ServerOptions } from '../../lib/index.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { Log } from '../helpers/listening.ts'
import { articleModel, OPTIONS } from './articles.ts'

class Articles extends CrudHandler {
	override customRoutes = { 'POST make/one': 'create', 'POST %s/copy/%d': 'create' }
}

const handlers = () => ({ 'blog/article': new Articles(articleModel(), OPTIONS) })

describe('crud: Location', (test) => {
	const cases: [ServerOptions, string, string][] = [
		[{}, '/blog/article', '/blog/article/6'],
		[{}, '/blog/article/?fields=title', '/blog/article/6'],
		[{}, '/%62log/article', '/blog/article/6'],
		[{}, '/blog/article/make/one', '/blog/article/6'],
		[{}, '/blog/article/1/copy/2/', '/blog/article/6'],
		[{ base: 'api/v1' }, '/api/v1/blog/article', '/api/v1/blog/article/6'],
		[{ base: 'api/v1' }, '/api/v1/blog/article/make/one?fields=title', '/api/v1/blog/article/6'],
	]
	for (const [options, request, location] of cases) {
		test(`POST ${request} creates ${location}, which can be read`, async () => {
			const asked = asking(handlers(), options)
			const made = await asked.ask(`POST ${request}`, { body: { title: 'Made' } })
			assert.equal([made.status, made.headers.location], [201, location])
			assert.match(await asked.said(location), /^200 .*"title":"Made"/)
		})
	}

	test('a handler at the root has its records at the root', async () => {
		const asked = asking({ '': new Articles(articleModel(), OPTIONS) })
		const made = await asked.ask('POST /make/one', { body: { title: 'Made' } })
		assert.is(made.headers.location, '/6')
	})

	test('a handler made by a factory knows its path', async () => {
		const model = articleModel()
		const asked = asking({ 'b/c': () => new Articles(model, OPTIONS) })
		const made = await asked.ask('POST /b/c/make/one', { body: { title: 'Made' } })
		assert.is(made.headers.location, '/b/c/6')
	})

	test('inside Express, whose routers cut the path, Location and Link have the original URL, also behind express.json()', async () => {
		const api = createServer({ article: new Articles(articleModel(), OPTIONS) }, { logger: new Log() })
		const app = express().use(express.json()).use('/shop/api', api.handler)
		const server = createHttpServer(app)
		await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
		try {
			const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/shop/api/article`
			const headers = { 'Content-Type': 'application/json' }
			const made = await fetch(`${url}/`, { method: 'POST', headers, body: '{"title":"New"}' })
			assert.is(made.status, 201)
			assert.is(made.headers.get('location'), '/shop/api/article/6')
			const other = await fetch(`${url}/make/one`, { method: 'POST', headers, body: '{"title":"Other"}' })
			assert.is(other.headers.get('location'), '/shop/api/article/7')
			const page = await fetch(`${url}?limit=1&offset=2`)
			assert.match(
				page.headers.get('link') ?? '',
				/^<\/shop\/api\/article\?limit=1&cursor=[\w-]+>; rel="next"$/,
			)
		} finally {
			server.closeAllConnections()
			await new Promise((done) => server.close(done))
		}
	})
})
