/** The app on Hono with @hono/node-server. */
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { checkArticle } from './check.js'

export function start({ list, routes }) {
	const app = new Hono()
	app.get('/api/user/:id', (c) => send(c, { success: true, data: { id: c.req.param('id'), name: 'Ada' } }))
	app.get('/api/list', (c) => send(c, { success: true, data: list }))
	app.post('/api/article', async (c) => {
		const data = checkArticle(await c.req.json())
		if (data === undefined) return send(c, { success: false, error: 'Unprocessable Content' }, 422)
		return send(c, { success: true, data })
	})
	for (const { number, segments } of routes) {
		app.get(`/api/${segments.map((segment) => segment ?? ':value').join('/')}`, (c) =>
			send(c, { success: true, data: { route: number, value: c.req.param('value') } }),
		)
	}
	app.notFound((c) => {
		const text = JSON.stringify({ success: false, error: 'Not Found', code: 'not_found' })
		return c.body(text, 404, { ...HEADERS, Vary: 'Accept' })
	})
	return new Promise((done) => {
		serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => done(port))
	})
}

// Not `c.json`, which sends the type without a charset.
function send(c, value, status = 200) {
	return c.body(JSON.stringify(value), status, HEADERS)
}

const HEADERS = { 'Content-Type': 'application/json; charset=utf-8', 'X-Content-Type-Options': 'nosniff' }
