/**
 * The app on Fastify as its documentation recommends: without logger, with schemas for bodies and responses. The keep-alive
 * timeout is Node's default, so that the headers are equal.
 */
import fastify from 'fastify'

export async function start({ list, routes }) {
	const app = fastify({ keepAliveTimeout: 5_000 })
	app.get('/api/user/:id', { schema: answers(USER) }, (request, reply) => {
		return send(reply, { success: true, data: { id: request.params.id, name: 'Ada' } })
	})
	app.get('/api/list', { schema: answers(LIST) }, (_request, reply) => {
		return send(reply, { success: true, data: list })
	})
	app.post('/api/article', { schema: { body: ARTICLE, ...answers(ARTICLE) } }, (request, reply) => {
		return send(reply, { success: true, data: request.body })
	})
	for (const { number, segments } of routes) {
		const path = `/api/${segments.map((segment) => segment ?? ':value').join('/')}`
		app.get(path, (request, reply) => {
			return send(reply, { success: true, data: { route: number, value: request.params.value } })
		})
	}
	app.setNotFoundHandler((_request, reply) => {
		return send(reply.code(404).header('Vary', 'Accept'), {
			success: false,
			error: 'Not Found',
			code: 'not_found',
		})
	})
	await app.listen({ port: 0, host: '127.0.0.1' })
	return app.server.address().port
}

function send(reply, value) {
	return reply.header('X-Content-Type-Options', 'nosniff').send(value)
}

/** Schema of the response with this `data`. */
function answers(data) {
	return { response: { 200: { type: 'object', properties: { success: { type: 'boolean' }, data } } } }
}

const USER = { type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' } } }

const LIST = {
	type: 'array',
	items: {
		type: 'object',
		properties: {
			id: { type: 'integer' },
			name: { type: 'string' },
			email: { type: 'string' },
			age: { type: 'integer' },
			active: { type: 'boolean' },
			created: { type: 'string' },
		},
	},
}

const ARTICLE = {
	type: 'object',
	additionalProperties: false,
	required: ['title', 'email', 'age', 'tags'],
	properties: {
		title: { type: 'string', minLength: 1, maxLength: 200 },
		email: { type: 'string', format: 'email', maxLength: 254 },
		age: { type: 'integer', minimum: 0, maximum: 150 },
		tags: { type: 'array', maxItems: 20, items: { type: 'string', minLength: 1, maxLength: 30 } },
		text: { type: 'string', maxLength: 10_000 },
		items: {
			type: 'array',
			maxItems: 200,
			items: {
				type: 'object',
				additionalProperties: false,
				required: ['sku', 'count'],
				properties: {
					sku: { type: 'string', minLength: 1, maxLength: 20 },
					count: { type: 'integer', minimum: 0, maximum: 1_000 },
				},
			},
		},
	},
}
