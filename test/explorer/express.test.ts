/** Behind Express: links and forms use the browser's URLs, and other paths stay with the app. */
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import * as assert from 'uvu/assert'
import type { PageData } from '../../lib/explorer/page-data.ts'
import { CrudHandler, createServer, MemoryModel } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { Log } from '../helpers/listening.ts'
import { NAVIGATION } from './page-of.ts'

const model = new MemoryModel('article', {
	key: 'id',
	fields: { id: 'integer', title: 'text' },
	rows: [{ title: 'a' }, { title: 'b' }],
})
const articles = new CrudHandler(model, { visible: 'all' })

describe('explorer: behind Express', (test) => {
	const app = express()
	app.use(
		'/outer',
		createServer({ 'blog/articles': articles }, { explorer: true, logger: new Log() }).handler,
	)
	app.use((_, response) => void response.status(404).send('the app’s own'))
	const server = createHttpServer(app)

	test.after(() => {
		server.closeAllConnections()
		server.close()
	})

	async function ask(path: string, accept = NAVIGATION): Promise<{ status: number; text: string }> {
		if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening')
		const { port } = server.address() as AddressInfo
		const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { Accept: accept } })
		return { status: answer.status, text: await answer.text() }
	}

	test('all URLs are as the browser sees them', async () => {
		const { text } = await ask('/outer/blog/articles?limit=1')
		const [, json = ''] = /id="data">([^<]*)</.exec(text) ?? []
		const data = JSON.parse(json) as PageData
		assert.is(data.url, '/outer/blog/articles?limit=1')
		assert.is(data.recordPath, '/outer/blog/articles/{id}')
		assert.equal(data.roots, ['/outer/blog/articles'])
		assert.match(
			data.answer?.headers.find(([name]) => name === 'Link')?.[1] ?? '',
			'</outer/blog/articles?limit=1&cursor=',
		)
		assert.equal(data.crumbs, [
			{ text: '', url: '/outer' },
			{ text: 'blog' },
			{ text: 'articles', url: '/outer/blog/articles' },
		])
	})

	test('the mount path shows the map, for browsers', async () => {
		for (const path of ['/outer', '/outer/', '/outer/?a=b']) {
			const { status, text } = await ask(path)
			assert.is(status, 200)
			const [, json = ''] = /id="data">([^<]*)</.exec(text) ?? []
			const { map, crumbs } = JSON.parse(json) as PageData
			assert.equal(
				map?.handlers[0]?.routes.map(({ path }) => path),
				['/outer/blog/articles', '/outer/blog/articles/{id}'],
			)
			assert.equal(crumbs, [{ text: '', url: '/outer' }])
		}
		assert.equal(await ask('/outer', 'application/json'), { status: 404, text: 'the app’s own' })
	})

	test('other paths are passed to the app', async () => {
		for (const path of ['/outer/blog', '/', '/outer/elsewhere', '/outer//', '/outer/%zz'])
			assert.equal(await ask(path), { status: 404, text: 'the app’s own' })
	})

	test('when mounted without a path, the root is passed to the app', async () => {
		const whole = express()
		whole.use(createServer({ 'blog/articles': articles }, { explorer: true, logger: new Log() }).handler)
		whole.get('/', (_, response) => void response.send('home'))
		const server = createHttpServer(whole)
		try {
			await once(server.listen(0, '127.0.0.1'), 'listening')
			const { port } = server.address() as AddressInfo
			const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { Accept: NAVIGATION } })
			assert.is(await answer.text(), 'home')
		} finally {
			server.closeAllConnections()
			server.close()
		}
	})
})
