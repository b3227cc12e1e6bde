/**
 * The example app that the cases of `http-cases.json` are written for (its key `app` describes it).
 *
 *     node --import tsx test/acceptance/app.ts --port 0
 */
import { parseArgs } from 'node:util'
import { createServer, RestError, RestHandler } from '../../lib/index.ts'

interface Article {
	id: number
	title: string
	body: string
	owner: string
	created: string
	secret: string
}

class Articles {
	readonly #rows = new Map<number, Article>()
	#last = 0

	constructor() {
		for (let id = 1; id <= 60; id++) this.add({ title: `Article ${id}`, body: `Body ${id}` })
	}

	add({ title, body }: { title: string; body: string }): Article {
		this.#last++
		const id = this.#last
		const created = '2026-11-20T00:00:00.000Z'
		const row = { id, title, body, owner: 'alice', created, secret: `ROWSECRET${id}` }
		this.#rows.set(id, row)
		return row
	}

	get(id: string): Article | undefined {
		return /^[1-9]\d{0,8}$/.test(id) ? this.#rows.get(Number(id)) : undefined
	}

	delete(row: Article): void {
		this.#rows.delete(row.id)
	}

	page(offset: number, limit: number): Article[] {
		return [...this.#rows.values()].slice(offset, offset + limit)
	}
}

function visible({ id, title, body, owner, created }: Article): Omit<Article, 'secret'> {
	return { id, title, body, owner, created }
}

export class AcceptanceApp extends RestHandler {
	override customRoutes = { 'ALL ping': 'ping', 'GET|POST custom/%s/x/%d': 'custom' }
	get_secretfield = 'SECRETFIELD'

	private readonly articles = new Articles()

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

	get_article(id?: string) {
		if (id !== undefined) return visible(this.articleOf(id))
		const { limit, offset } = this.getParams(
			{ limit: ['integer', { min: 0, default: 20 }], offset: ['integer', { min: 0, default: 0 }] },
			this.query,
		)
		return this.articles.page(offset, Math.min(limit, 50)).map(visible)
	}

	post_article(id?: string) {
		if (id !== undefined) return this.change(id)
		const { title, body } = this.getParams({
			title: ['required', 'string'],
			body: ['string', { default: '' }],
		})
		const row = this.articles.add({ title, body })
		this.status(201)
		this.header('Location', `/blog/api/article/${row.id}`)
		return visible(row)
	}

	put_article(id: string) {
		return this.change(id)
	}

	patch_article(id: string) {
		return this.change(id)
	}

	delete_article(id: string) {
		const row = this.articleOf(id)
		this.articles.delete(row)
		return visible(row)
	}

	private change(id: string) {
		const row = this.articleOf(id)
		return visible(Object.assign(row, this.getParams({ title: ['string'], body: ['string'] })))
	}

	private articleOf(id: string): Article {
		const row = this.articles.get(id)
		if (row === undefined) throw new RestError('not_found', 'No such article')
		return row
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

	/** Closed to everybody until there are signatures to let somebody in. */
	private async vault() {
		await this.requireAuth({ authenticate: () => null })
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

if (process.argv[1] === import.meta.filename) {
	const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } })
	const logger = { info() {}, warn() {}, error() {} }
	const server = createServer({ 'blog/api': new AcceptanceApp() }, { logger })
	const { port } = await server.listen(Number(values.port))
	console.log(`listening ${port}`)
	process.on('SIGTERM', () => void server.close())
}
