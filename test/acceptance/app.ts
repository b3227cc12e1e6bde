/**
 * The example app that the cases of `http-cases.json` are written for (its key `app` describes it).
 *
 *     node --import tsx test/acceptance/app.ts --port 0 --store postgres
 */
import { parseArgs } from 'node:util'
import { CrudHandler, createServer, HmacAuthenticator, type Model, RestHandler } from '../../lib/index.ts'
import { watch } from '../openapi/tap.ts'
import { openArticles } from './articles.ts'

/** RFC 9421 B.1.5: public, for tests alone. */
const KEYS = {
	k1: 'uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==',
}

export class AcceptanceApp extends RestHandler {
	override customRoutes = { 'ALL ping': 'ping', 'GET|POST custom/%s/x/%d': 'custom' }
	get_secretfield = 'SECRETFIELD'

	get__default() {
		return { name: 'blog' }
	}

	ping() {
		return 'pong'
	}

	custom(s: string, d: number) {
		return { s, d }
	}

	post_echo(...params: string[]) {
		return this.echo(params)
	}

	put_echo(...params: string[]) {
		return this.echo(params)
	}

	private echo(params: string[]) {
		return { method: this.request.method, params, query: this.query, body: this.body }
	}

	get_vault() {
		return this.vault()
	}

	post_vault() {
		return this.vault()
	}

	delete_vault() {
		return this.vault()
	}

	private async vault() {
		await this.requireAuth(new HmacAuthenticator(this, this.cache, 3600, { keys: KEYS }))
		return { note: 'TOPSECRET-VAULT', method: this.request.method }
	}

	get_boom() {
		throw new Error('SQLITE_ERROR near SECRET_TABLE at /srv/app/db.ts:1')
	}

	async get_boomasync() {
		throw new Error('SQLITE_ERROR near SECRET_TABLE at /srv/app/db.ts:1')
	}

	get_boomnull() {
		throw null
	}

	get_late() {
		setTimeout(() => {
			this.error('late')
			this.header('x', 'y')
		}, 5)
		return 'sent'
	}

	get_cyclic() {
		const value: { self?: unknown } = {}
		value.self = value
		return value
	}

	get_nothing() {}

	helper() {
		return 'helper'
	}

	_hidden() {
		return 'hidden'
	}

	get_() {
		return 'nothing'
	}
}

/** The articles, over any model of the table. */
export function articlesOf(model: Model): CrudHandler {
	return new CrudHandler(model, {
		visible: ['id', 'title', 'body', 'owner', 'created'],
		updatable: ['title', 'body'],
		allow: ['list', 'read', 'create', 'update', 'replace', 'remove'],
		rules: { title: ['required', 'string'] },
		limit: 20,
		maxLimit: 50,
	})
}

if (process.argv[1] === import.meta.filename) {
	const { values } = parseArgs({
		options: { port: { type: 'string', default: '0' }, store: { type: 'string', default: 'memory' } },
	})
	const logger = { info() {}, warn() {}, error() {} }
	const { model, close } = await openArticles(values.store)
	const handlers = { 'blog/api': new AcceptanceApp(), 'blog/api/article': articlesOf(model) }
	const server = createServer(handlers, { logger, openapi: true })
	const watched = await watch(server, { told: (problem) => console.log(`undescribed: ${problem}`) })
	const { port } = await server.listen(Number(values.port))
	console.log(`listening ${port}`)
	process.on('SIGTERM', async () => {
		await server.close()
		console.log(`as described: ${watched.answers().length}`)
		await close()
	})
}
