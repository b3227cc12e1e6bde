/** What a request may include, and its bounds; how names behind relations are refused. */
import * as assert from 'uvu/assert'
import { CrudHandler, MemoryModel } from '../../../lib/index.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'

const people = new MemoryModel('person', {
	key: 'id',
	fields: { id: 'integer', name: 'text' },
	rows: [{ name: 'Ada' }],
})
const articles = new MemoryModel('article', {
	key: 'id',
	fields: { id: 'integer', personId: 'integer' },
	references: [{ field: 'personId', model: people }],
	rows: [{ personId: 1 }],
})

function serve() {
	const persons: CrudHandler = new CrudHandler(people, {
		visible: 'all',
		updatable: ['name'],
		maxLimit: 1_000,
		allow: ['list', 'read', 'create', 'update', 'replace', 'remove'],
		relations: { articles: { to: () => written } },
	})
	const written: CrudHandler = new CrudHandler(articles, {
		visible: 'all',
		maxLimit: 1_000,
		relations: { person: { to: persons } },
		includeDepth: 4,
	})
	return asking({ person: persons, article: written })
}

function including(limit: number): string {
	return encodeURIComponent(JSON.stringify({ articles: { limit } }))
}

describe('crud relations: what include may name', (test) => {
	const nested = encodeURIComponent(
		JSON.stringify({ person: { include: { articles: { limit: 1_000, include: ['person.articles'] } } } }),
	)
	const requests: [request: string, status: number, error: RegExp | undefined][] = [
		[`GET /person?limit=10&include=${including(1_000)}`, 200, undefined],
		[
			`GET /person?limit=11&include=${including(1_000)}`,
			400,
			/up to 11000 records of articles: at most 10000/,
		],
		[`GET /person/1?include=${including(1_000)}`, 200, undefined],
		[`GET /article/1?include=${nested}`, 400, /up to 25000 records of articles: at most 10000/],
		[`GET /article/1/person?include=${including(1_000)}`, 200, undefined],
		['GET /person?include=articles.person', 200, undefined],
		[
			'GET /person?include=articles.person.articles',
			400,
			/too many relations one behind the other: at most 2/,
		],
		['GET /article/1?include=person.articles.person.articles', 200, undefined],
		[
			'GET /article?include=person.name',
			400,
			/names a field, and may only name relations: fields are named in fields/,
		],
		['GET /article?include=person.title', 400, /may only name, below person, articles/],
		['GET /article?fields=person.none', 400, /fields may only name, below person, id, name/],
		['GET /article/1?include=person.articles.person.articles.person', 400, /at most 4 are allowed/],
	]
	for (const [request, status, error] of requests) {
		test(decodeURIComponent(request), async () => {
			const said = await serve().said(request)
			assert.is(said.slice(0, 3), String(status), said)
			if (error !== undefined) assert.match(said, error)
		})
	}

	test('the same request gets the same response each time, and its relations count each time', async () => {
		const server = serve()
		const some = (count: number) => encodeURIComponent(JSON.stringify(filterOf(count)))
		const filterOf = (count: number) => ({ and: Array(count).fill({ articles: { count: { gte: 1 } } }) })
		const said: string[] = []
		for (let turn = 0; turn < 4; turn++) {
			said.push(await server.said('/person?fields=name,articles.id'))
			said.push(await server.said(`/person?fields=name,articles.id&filter=${some(9)}`))
			said.push(await server.said(`/person?fields=name,articles.id&filter=${some(10)}`))
			said.push(await server.said(`/person?include={"articles":{"filter":{"id":${turn}}}}`))
		}
		const first = said.slice(0, 3)
		for (let turn = 1; turn < 4; turn++) assert.equal(said.slice(turn * 4, turn * 4 + 3), first)
		assert.match(first[0] ?? '', '[{"name":"Ada","articles":{"data":[{"id":1}],')
		assert.match(first[1] ?? '', '[{"name":"Ada","articles":{"data":[{"id":1}],')
		assert.match(first[2] ?? '', /^400 .*is one relation too many: at most 10/)
		const found = said.filter((_, at) => at % 4 === 3).map((text) => text.includes('{"id":1,"personId":1}'))
		assert.equal(found, [false, true, false, false])
	})

	for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
		test(`${method} has them, too, before it changes anything`, async () => {
			const url = method === 'POST' ? '/person' : '/person/1'
			const said = await serve().said(`${method} ${url}?include=articles.person.articles`, {
				body: { name: 'Eve' },
			})
			assert.match(said, '400 {"success":false,"error":"include has too many relations')
			assert.is(await people.count({ op: 'eq', field: 'name', value: 'Eve' }), 0)
		})
	}
})

describe('crud relations: what conditions and sorts may name', (test) => {
	const ofList = 'limit, offset, cursor, sort, fields, count, filter, include'
	const requests: [query: string, error: string][] = [
		['person=1', `person is not a parameter of this list: it takes ${ofList}, id, personId, person.…`],
		[
			'person.age=1',
			'person.age is not a parameter of this list: below person, it takes id, name, articles.…',
		],
		[
			'person.articles.x[gt]=1',
			'person.articles.x[gt] is not a parameter of this list: below person.articles, it takes id, personId, person.…',
		],
		[
			'filter={"person.age":1}',
			'filter.person.age is not a field to filter by: below person, use one of id, name, articles',
		],
		[
			'filter={"person":{"age":1}}',
			'filter.person.age is not a field to filter by: use one of id, name, articles',
		],
		['sort=-person.age', 'sort may only name, below person, id, name'],
		['sort=person', 'sort may only name id, personId, person.…'],
		['sort=person.articles.id', 'sort may only name, below person, id, name'],
	]
	for (const [query, error] of requests)
		test(query, async () => {
			const { status, json } = await serve().ask(`/article?${query}`)
			assert.equal([status, (json() as { error: string }).error], [400, error])
		})
})
