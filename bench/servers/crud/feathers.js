/**
 * CRUD by Feathers on Koa, with its service for knex. Hooks translate our query to Feathers' own, and its results to the
 * envelope.
 */
import { once } from 'node:events'
import { feathers } from '@feathersjs/feathers'
import { KnexService } from '@feathersjs/knex'
import { bodyParser, koa, rest } from '@feathersjs/koa'
import knex from 'knex'
import { articleOf, queryOf } from './checks.js'
import { cursorOf } from './page.js'

export async function start({ database, url, tables }) {
	const Model = await connect(database, url)
	const app = koa(feathers())
	app.use(sendEnveloped)
	app.use(bodyParser())
	app.configure(rest())
	for (const [name, table] of Object.entries(tables)) {
		const path = `api/${name}`
		app.use(path, new KnexService({ Model, name: table, paginate: false, multi: false }))
		app.service(path).hooks(hooksFor(database))
	}
	const server = await app.listen(0, '127.0.0.1')
	if (!server.listening) await once(server, 'listening')
	return server.address().port
}

async function connect(database, url) {
	if (database === 'postgres') return knex({ client: 'pg', connection: url })
	if (database === 'mariadb') {
		const { hostname, port, username, password, pathname } = new URL(url)
		const connection = {
			host: hostname,
			port: Number(port),
			user: username,
			password,
			database: pathname.slice(1),
		}
		return knex({ client: 'mysql2', connection: { ...connection, timezone: 'Z' } })
	}
	const { Database } = await import('./sqlite-driver.js')
	const { default: Client } = await import('knex/lib/dialects/better-sqlite3/index.js')
	// libsql has the same interface as better-sqlite3, so knex's client works with either.
	class Sqlite extends Client {
		_driver() {
			return Database
		}
	}
	return knex({ client: Sqlite, connection: { filename: url }, useNullAsDefault: true })
}

function hooksFor(database) {
	const hooks = {
		before: { find: [translate], create: [check], patch: [check] },
		after: { find: [cut] },
	}
	if (database !== 'postgres') hooks.after = { find: [exact, cut], get: [exact] }
	return hooks
}

/** Translates `limit` and `offset`; reads one record more, to know whether there is a next page. */
function translate(context) {
	const query = queryOf(context.params.query)
	if (query === undefined || query.cursor !== undefined) throw refusal(400)
	const { limit, offset } = query
	context.params.page = { limit, offset }
	context.params.query = { $limit: limit + 1, $skip: offset, $sort: { created: -1, id: -1 } }
}

function cut(context) {
	const { limit, offset } = context.params.page
	const rows = context.result
	const more = rows.length > limit
	if (more) rows.pop()
	context.result = { data: rows, meta: { limit, offset, next: more ? cursorOf(rows[limit - 1]) : null } }
}

function check(context) {
	const values = articleOf(context.data, context.method === 'create')
	if (values === undefined) throw refusal(422)
	context.data = values
}

function exact(context) {
	const rows = Array.isArray(context.result) ? context.result : [context.result]
	for (const row of rows) row.published = row.published === 1
}

function refusal(code) {
	return Object.assign(new Error('refused'), { code })
}

async function sendEnveloped(ctx, next) {
	try {
		await next()
	} catch (error) {
		ctx.status = error.code >= 400 && error.code < 500 ? error.code : 500
		ctx.set('X-Content-Type-Options', 'nosniff')
		ctx.body = { success: false, error: error.message }
		return
	}
	ctx.set('X-Content-Type-Options', 'nosniff')
	if (ctx.method === 'POST') ctx.set('Location', `${ctx.path}/${ctx.body.id}`)
	ctx.remove('X-Powered-By')
	const { body } = ctx
	ctx.body = body.meta === undefined ? { success: true, data: body } : { success: true, ...body }
}
