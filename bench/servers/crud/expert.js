/**
 * What an expert would write on Fastify: the database writes the JSON, which is put into the envelope as text, and reads of
 * single records are batched by DataLoader.
 */
import DataLoader from 'dataloader'
import fastify from 'fastify'
import { CHANGED, CREATED, CREATED_MANY, PARAMS, QUERY } from './schemas.js'

export async function start({ database, url, tables }) {
	const { openTexts } = await import(`./expert-${database}.js`)
	const app = fastify({ keepAliveTimeout: 5_000 })
	for (const [name, table] of Object.entries(tables)) serve(app, `/api/${name}`, openTexts({ url, table }))
	await app.listen({ port: 0, host: '127.0.0.1' })
	return app.server.address().port
}

function serve(app, path, texts) {
	const read = texts.read ?? loading(texts.readAll)
	app.get(path, { schema: { querystring: QUERY } }, async (request, reply) => {
		const { limit, offset, cursor } = request.query
		const after = cursor && JSON.parse(Buffer.from(cursor, 'base64url').toString())
		const { data, next } = await texts.list(limit, offset, after)
		const shown = next === undefined ? 'null' : `"${Buffer.from(next).toString('base64url')}"`
		return send(reply, `${data},"meta":{"limit":${limit},"offset":${offset},"next":${shown}}`)
	})
	app.get(`${path}/:id`, { schema: { params: PARAMS } }, async (request, reply) => {
		return sendOne(reply, await read(request.params.id))
	})
	app.post(path, { schema: { body: CREATED } }, async (request, reply) => {
		const { id, text } = await texts.create(request.body)
		return send(reply.code(201).header('Location', `${path}/${id}`), text)
	})
	if (texts.createMany) {
		app.post(`${path}-many`, { schema: { body: CREATED_MANY } }, async (request, reply) => {
			return send(reply.code(201), await texts.createMany(request.body))
		})
	}
	app.patch(`${path}/:id`, { schema: { params: PARAMS, body: CHANGED } }, async (request, reply) => {
		return sendOne(reply, await texts.update(request.params.id, request.body))
	})
}

/** One query for all reads in a turn of the event loop. DataLoader's default would not wait for requests read later in it. */
function loading(readAll) {
	const options = { cache: false, maxBatchSize: 100, batchScheduleFn: setImmediate }
	const loader = new DataLoader(readAll, options)
	return (id) => loader.load(id)
}

function sendOne(reply, text) {
	if (text !== undefined) return send(reply, text)
	const error = { success: false, error: 'Not Found', code: 'not_found' }
	return reply.code(404).headers({ Vary: 'Accept', 'X-Content-Type-Options': 'nosniff' }).send(error)
}

function send(reply, text) {
	return reply
		.headers({ 'Content-Type': 'application/json; charset=utf-8', 'X-Content-Type-Options': 'nosniff' })
		.send(`{"success":true,"data":${text}}`)
}
