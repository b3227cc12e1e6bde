/** CRUD by hand on Express 5 and the database's driver, without ETag and X-Powered-By; checks by hand. */
import express from 'express'
import { articleOf, idOf, queryOf } from './checks.js'
import { pageOf } from './page.js'

export async function start({ database, url, tables }) {
	const { openStore } = await import(`./hand-${database}.js`)
	const app = express()
	app.disable('x-powered-by')
	app.set('etag', false)
	for (const [name, table] of Object.entries(tables)) serve(app, `/api/${name}`, openStore({ url, table }))
	app.use((_req, res) => notFound(res))
	return new Promise((done) => {
		const server = app.listen(0, '127.0.0.1', () => done(server.address().port))
	})
}

function serve(app, path, store) {
	app.get(path, async (req, res) => {
		const query = queryOf(req.query)
		if (query === undefined) return refuse(res, 400, 'Bad Request')
		send(res, await pageOf(store, query))
	})
	app.get(`${path}/:id`, async (req, res) => {
		const id = idOf(req.params.id)
		const data = id === undefined ? undefined : await store.read(id)
		if (data === undefined) notFound(res)
		else send(res, { success: true, data })
	})
	app.post(path, express.json(), async (req, res) => {
		const values = articleOf(req.body, true)
		if (values === undefined) return refuse(res, 422, 'Unprocessable Content')
		const data = await store.create(values)
		send(res.status(201).set('Location', `${path}/${data.id}`), { success: true, data })
	})
	app.patch(`${path}/:id`, express.json(), async (req, res) => {
		const id = idOf(req.params.id)
		const values = articleOf(req.body, false)
		if (values === undefined) return refuse(res, 422, 'Unprocessable Content')
		const data = id === undefined ? undefined : await store.update(id, values)
		if (data === undefined) notFound(res)
		else send(res, { success: true, data })
	})
}

function send(res, value) {
	res.set('X-Content-Type-Options', 'nosniff').json(value)
}

function refuse(res, status, error) {
	send(res.status(status), { success: false, error })
}

function notFound(res) {
	send(res.status(404).set('Vary', 'Accept'), { success: false, error: 'Not Found', code: 'not_found' })
}
