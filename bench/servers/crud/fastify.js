/**
 * The reference: CRUD by hand on Fastify and the database's driver, as their documentation recommends, with schemas for
 * requests and responses.
 */
import fastify from 'fastify'
import { pageOf } from './page.js'
import { CHANGED, CREATED, CREATED_MANY, LIST, MANY, ONE, PARAMS, QUERY } from './schemas.js'

export async function start({ database, url, tables }) {
	const { openStore } = await import(`./hand-${database}.js`)
	const app = fastify({ keepAliveTimeout: 5_000 })
	for (const [name, table] of Object.entries(tables)) serve(app, `/api/${name}`, openStore({ url, table }))
	app.setNotFoundHandler((_request, reply) => notFound(reply))
	await app.listen({ port: 0, host: '127.0.0.1' })
	return app.server.address().port
}

function serve(app, path, store) {
	app.get(path, { schema: { querystring: QUERY, response: MANY } }, async (request, reply) => {
		return send(reply, await pageOf(store, request.query))
	})
	app.get(`${path}/:id`, { schema: { params: PARAMS, response: ONE } }, async (request, reply) => {
		const data = await store.read(request.params.id)
		return data === undefined ? notFound(reply) : send(reply, { success: true, data })
	})
	app.post(path, { schema: { body: CREATED, response: ONE } }, async (request, reply) => {
		const data = await store.create(request.body)
		reply.code(201).header('Location', `${path}/${data.id}`)
		return send(reply, { success: true, data })
	})
	if (store.createMany) {
		app.post(`${path}-many`, { schema: { body: CREATED_MANY, response: LIST } }, async (request, reply) => {
			const data = await store.createMany(request.body)
			return send(reply.code(201), { success: true, data })
		})
	}
	const changing = { schema: { params: PARAMS, body: CHANGED, response: ONE } }
	app.patch(`${path}/:id`, changing, async (request, reply) => {
		const data = await store.update(request.params.id, request.body)
		return data === undefined ? notFound(reply) : send(reply, { success: true, data })
	})
}

function send(reply, value) {
	return reply.header('X-Content-Type-Options', 'nosniff').send(value)
}

function notFound(reply) {
	const error = { success: false, error: 'Not Found', code: 'not_found' }
	return send(reply.code(404).header('Vary', 'Accept'), error)
}
