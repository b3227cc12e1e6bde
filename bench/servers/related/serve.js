/** The routes of servers that read records as objects: Fastify serializes them by code generated from the schema. */
import fastify from 'fastify'
import { cursorOf } from '../crud/page.js'
import { MANY, ONE, PARAMS, QUERY } from './schemas.js'

/** `store` reads articles with `author` and the newest `comments`: `list(limit, offset)` and `read(id)`. */
export async function serve(store) {
	const app = fastify({ keepAliveTimeout: 5_000 })
	app.get('/api/article', { schema: { querystring: QUERY, response: MANY } }, async (request, reply) => {
		const { limit, offset } = request.query
		const rows = await store.list(limit + 1, offset)
		const more = rows.length > limit
		if (more) rows.pop()
		const next = more ? cursorOf(rows[limit - 1]) : null
		return send(reply, { success: true, data: rows, meta: { limit, offset, next } })
	})
	app.get('/api/article/:id', { schema: { params: PARAMS, response: ONE } }, async (request, reply) => {
		return send(reply, { success: true, data: await store.read(request.params.id) })
	})
	await app.listen({ port: 0, host: '127.0.0.1' })
	return app.server.address().port
}

function send(reply, value) {
	return reply.header('X-Content-Type-Options', 'nosniff').send(value)
}
