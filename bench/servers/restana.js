/** The app on restana; body-parser is used only on the route that has a body. */
import bodyParser from 'body-parser'
import restana from 'restana'
import { checkArticle } from './check.js'

export async function start({ list, routes }) {
	const app = restana({
		defaultRoute(_req, res) {
			res.setHeader('Vary', 'Accept')
			send(res, { success: false, error: 'Not Found', code: 'not_found' }, 404)
		},
	})
	app.get('/api/user/:id', (req, res) => {
		send(res, { success: true, data: { id: req.params.id, name: 'Ada' } })
	})
	app.get('/api/list', (_req, res) => {
		send(res, { success: true, data: list })
	})
	app.post('/api/article', bodyParser.json(), (req, res) => {
		const data = checkArticle(req.body)
		if (data === undefined) send(res, { success: false, error: 'Unprocessable Content' }, 422)
		else send(res, { success: true, data })
	})
	for (const { number, segments } of routes) {
		app.get(`/api/${segments.map((segment) => segment ?? ':value').join('/')}`, (req, res) => {
			send(res, { success: true, data: { route: number, value: req.params.value } })
		})
	}
	const server = await app.start(0, '127.0.0.1')
	return server.address().port
}

function send(res, value, status = 200) {
	res.setHeader('X-Content-Type-Options', 'nosniff')
	res.send(value, status)
}
