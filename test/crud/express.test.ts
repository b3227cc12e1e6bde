/** A `CrudHandler` inside Express, whose routers cut the path: URLs of answers are those that the client sees. */
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import * as assert from 'uvu/assert'
import { CrudHandler, createServer } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { Log } from '../helpers/listening.ts'
import { articleModel, OPTIONS } from './articles.ts'

describe('crud inside Express', (test) => {
	test('Location and Link are of the original URL, also behind express.json()', async () => {
		class Articles extends CrudHandler {
			override customRoutes = { 'POST make/%s': 'create' }
		}
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
