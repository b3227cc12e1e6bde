/**
 * What an expert would write on Fastify: one statement per request, in which the database writes the JSON. It serves only
 * these requests.
 */
import fastify from 'fastify'
import { PARAMS, QUERY } from './schemas.js'

export async function start(app) {
	return serve(app, ({ read }) => read)
}

/** `readerOf` creates the function that reads one record, as JSON text, from the statements. */
export async function serve({ database, url, tables }, readerOf) {
	const { openTexts } = await import(`./expert-${database}.js`)
	const texts = openTexts({ url, tables })
	const read = readerOf(texts)
	const app = fastify({ keepAliveTimeout: 5_000 })
	app.get('/api/article', { schema: { querystring: QUERY } }, async (request, reply) => {
		const { limit, offset } = request.query
		const { data, next } = await listOf(texts, request.query)
		const shown = next === undefined ? 'null' : `"${Buffer.from(next).toString('base64url')}"`
		return send(reply, `${data},"meta":{"limit":${limit},"offset":${offset},"next":${shown}}`)
	})
	app.get('/api/article/:id', { schema: { params: PARAMS } }, async (request, reply) => {
		return send(reply, await read(request.params.id))
	})
	await app.listen({ port: 0, host: '127.0.0.1' })
	return app.server.address().port
}

function listOf(texts, { limit, offset, include, sort, 'comments.writer': writer }) {
	if (include !== undefined) return texts.list(limit, offset)
	if (writer !== undefined) return texts.commentedBy(limit, writer)
	return sort === 'author.name' ? texts.byAuthor(limit, offset) : texts.plain(limit, offset)
}

function send(reply, text) {
	return reply
		.headers({ 'Content-Type': 'application/json; charset=utf-8', 'X-Content-Type-Options': 'nosniff' })
		.send(`{"success":true,"data":${text}}`)
}
