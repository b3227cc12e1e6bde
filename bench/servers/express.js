/** The app on Express 5, without ETag and X-Powered-By; `express.json()` is used only on the route that has a body. */
import express from 'express'
import { checkArticle } from './check.js'

export function start({ list, routes }) {
	const app = express()
	app.disable('x-powered-by')
	app.set('etag', false)
	app.get('/api/user/:id', (req, res) => {
		send(res, { success: true, data: { id: req.params.id, name: 'Ada' } })
	})
	app.get('/api/list', (_req, res) => {
		send(res, { success: true, data: list })
	})
	app.post('/api/article', express.json(), (req, res) => {
		const data = checkArticle(req.body)
		if (data === undefined) send(res.status(422), { success: false, error: 'Unprocessable Content' })
		else send(res, { success: true, data })
	})
	for (const { number, segments } of routes) {
		app.get(`/api/${segments.map((segment) => segment ?? ':value').join('/')}`, (req, res) => {
			send(res, { success: true, data: { route: number, value: req.params.value } })
		})
	}
	app.use((_req, res) => {
		send(res.status(404).set('Vary', 'Accept'), { success: false, error: 'Not Found', code: 'not_found' })
	})
	return new Promise((done) => {
		const server = app.listen(0, '127.0.0.1', () => done(server.address().port))
	})
}

function send(res, value) {
	res.set('X-Content-Type-Options', 'nosniff').json(value)
}
