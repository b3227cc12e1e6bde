import * as assert from 'uvu/assert'
import {
	CrudHandler,
	type CrudId,
	type CrudQuery,
	createServer,
	MemoryModel,
	transaction,
} from '../../../lib/index.ts'
import { describe } from '../../helpers/describe.ts'
import { Log } from '../../helpers/listening.ts'

const people = new MemoryModel('person', {
	fields: { id: 'integer', name: 'text', hidden: 'boolean' },
	key: 'id',
	rows: [
		{ name: 'Ada', hidden: false },
		{ name: 'Bob', hidden: true },
	],
})
const articles = new MemoryModel('article', {
	fields: { id: 'integer', title: 'text', author_id: { type: 'integer', nullable: true } },
	key: 'id',
	references: [{ field: 'author_id', model: people }],
	rows: [
		{ title: 'A', author_id: 1 },
		{ title: 'B', author_id: 2 },
		{ title: 'C', author_id: null },
		{ title: 'D', author_id: 1 },
	],
})

/** Hides people by overriding methods instead of a scope, so the library doesn't know of it. */
class People extends CrudHandler {
	override async read(id: string) {
		this.needs('hidden')
		const person = await super.read(id)
		this.header('X-Read', 'yes')
		return person.needed.hidden === true ? this.error('No such person', 404) : person
	}
}

/** Shows articles in upper case, and never D. */
class Articles extends CrudHandler {
	override list(query?: CrudQuery) {
		return super.list({
			...query,
			where: { op: 'and', terms: [NOT_D, ...(query?.where ? [query.where] : [])] },
		})
	}

	override stripObject(record: Record<string, unknown>): unknown {
		return { ...record, title: String(record.title).toLowerCase() }
	}
}

const NOT_D = { op: 'ne', field: 'title', value: 'D' } as const

function serve() {
	const shownPeople: CrudHandler = new People(people, {
		visible: ['id', 'name'],
		relations: { articles: { to: () => shownArticles } },
	})
	const shownArticles: CrudHandler = new Articles(articles, {
		visible: ['id', 'title'],
		relations: { author: { to: shownPeople } },
	})
	const all = new CrudHandler(articles, {
		visible: ['id', 'title'],
		relations: { author: { to: shownPeople } },
	})
	const log = new Log()
	const server = createServer(
		{ people: shownPeople, articles: shownArticles, all },
		{ logger: log, logRequests: false },
	)
	return async (url: string) => {
		const reply = await server.inject({ url })
		return { status: reply.status, headers: reply.headers, body: JSON.parse(reply.text()) }
	}
}

describe('crud/relations/overridden', (test) => {
	const ask = serve()

	test('what an overridden read refuses is not included, and has no effect on the reply', async () => {
		const { status, headers, body } = await ask('/all?include=author&fields=id')
		assert.is(status, 200)
		const authors = body.data.map(({ author }: { author: unknown }) => author)
		assert.equal(authors, [{ id: 1, name: 'Ada' }, null, null, { id: 1, name: 'Ada' }])
		assert.is(headers['x-read'], undefined)
	})

	test('an overridden list lists the related records, and stripObject shapes them', async () => {
		const { body } = await ask('/people/1?include={"articles":{"count":"exact"}}')
		assert.equal(body.data.articles, {
			data: [{ id: 1, title: 'a' }],
			meta: { limit: 25, next: null, total: 1 },
		})
	})

	test('in a transaction they see what it has changed, also of records that their keys alone don’t lead to', async () => {
		const tags = new MemoryModel('tag', { fields: { word: 'text' }, key: 'word' })
		const notes = new MemoryModel('note', {
			fields: { id: 'integer', word: 'text' },
			key: 'id',
			references: [{ field: 'word', model: tags }],
		})
		class Tags extends CrudHandler {
			override read(id: CrudId) {
				return super.read(id)
			}
		}
		const ownTags = new Tags(tags, { visible: 'all' })
		class Notes extends CrudHandler {
			get_new() {
				return transaction([this, tags], async ([inNotes, inTags]) => {
					await inTags.create({ word: 'herb' }, { fields: [], names: [], version: undefined })
					await inNotes.create({ word: 'herb' })
					return inNotes.list(this.listQuery())
				})
			}
		}
		const relations = { tag: { to: ownTags } }
		const handler = new Notes(notes, { visible: ['id'], relations })
		const server = createServer({ notes: handler, tags: ownTags }, { logger: new Log(), logRequests: false })
		const { data } = JSON.parse((await server.inject({ url: '/notes/new?include=tag' })).text())
		assert.equal(data, [{ id: 1, tag: { word: 'herb' } }])
	})

	test('below a record, the overridden methods answer too', async () => {
		assert.is((await ask('/all/2/author')).status, 404)
		assert.is((await ask('/people/2/articles')).status, 404)
		const { body } = await ask('/people/1/articles')
		assert.equal(body.data, [{ id: 1, title: 'a' }])
	})

	test('filters and orders can not go through an overridden operation', async () => {
		const requests = [
			[
				'author.name=Bob',
				/author.name is not a parameter of this list: author can only be included: it takes id, title$/,
			],
			[
				'filter={"author":{"name":"Bob"}}',
				/filter.author is not a field to filter by: author can only be included: use one of id, title$/,
			],
			['sort=author.name', /sort may only name id, title$/],
		] as const
		for (const [query, error] of requests) {
			const { status, body } = await ask(`/all?${query}`)
			assert.is(status, 400, query)
			assert.match(body.error, error)
		}
	})
})
