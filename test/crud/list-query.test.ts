import * as assert from 'uvu/assert'
import { CrudHandler, MemoryModel } from '../../lib/index.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { articleModel, articles, dataOf, idsOf, OPTIONS, refusalOf } from './articles.ts'

interface Meta {
	limit: number
	offset: number
	next: string | null
	total?: number
}

describe('crud/list-query: pages', (test) => {
	const asked = articles()
	const metaOf = async (query: string): Promise<Meta> => {
		const reply = await asked.ask(`/article?${query}`)
		return (reply.json() as { meta: Meta }).meta
	}

	test('a list has its page in meta, ordered by the key', async () => {
		const reply = await asked.ask('/article')
		assert.equal((reply.json() as { meta: Meta }).meta, { limit: 25, offset: 0, next: null })
		assert.equal(await idsOf(asked, '/article'), [1, 2, 3, 4, 5])
		assert.is(reply.headers.link, undefined)
	})

	test('a limit above maxLimit is clamped and reported, however large', async () => {
		assert.is((await metaOf('limit=101')).limit, 100)
		assert.is((await metaOf('limit=99999999999999999999999999')).limit, 100)
	})

	test('limit=0 only counts', async () => {
		const reply = await asked.ask('/article?limit=0&state=public')
		assert.is(reply.text(), '{"success":true,"data":[],"meta":{"limit":0,"offset":0,"next":null,"total":3}}')
		assert.is(reply.headers['x-total-count'], '3')
	})

	test('count=exact counts all matches, whatever the page', async () => {
		const reply = await asked.ask('/article?limit=2&offset=2&count=exact&state=public')
		assert.is((reply.json() as { meta: Meta }).meta.total, 3)
		assert.is(reply.headers['x-total-count'], '3')
	})

	test('an offset page has a cursor that leads to the next page', async () => {
		const { next } = await metaOf('limit=2&offset=1')
		assert.equal(await idsOf(asked, `/article?limit=2&cursor=${next}`), [4, 5])
	})

	test('an offset beyond the end gives an empty page', async () => {
		assert.equal(await dataOf(asked, '/article?offset=9007199254740991'), [])
	})

	test('following next visits every record once, in every order', async () => {
		for (const sort of ['', '-id', 'rating', '-rating', 'body', '-body', 'published,-title', 'state,-id']) {
			const seen: number[] = []
			let cursor = ''
			for (let page = 0; page < 4 && cursor !== 'null'; page++) {
				const query = `limit=2${sort === '' ? '' : `&sort=${sort}`}${cursor === '' ? '' : `&cursor=${cursor}`}`
				seen.push(...(await idsOf(asked, `/article?${query}`)))
				cursor = String((await metaOf(query)).next)
			}
			assert.equal(seen, await idsOf(asked, `/article${sort === '' ? '' : `?sort=${sort}`}`), sort)
			assert.is(seen.length, 5)
		}
	})

	test('Link is the URL of the next page, with the path of the request', async () => {
		const reply = await asked.ask('/article?limit=2&offset=1&sort=-id', {
			headers: { Host: 'evil.example' },
		})
		const [, url = ''] = /^<([^>]+)>; rel="next"$/.exec(String(reply.headers.link)) ?? []
		assert.match(url, /^\/article\?limit=2&sort=-id&cursor=[\w-]+$/)
		assert.equal(await idsOf(asked, url), [2, 1])
	})

	test('sort and fields may be repeated instead of comma-separated', async () => {
		const { ask } = asked
		const text = async (query: string) => (await ask(`/article?${query}`)).text()
		assert.is(await text('sort=state&sort=-id'), await text('sort=state,-id'))
		assert.is(await text('fields=id&fields=state,title'), await text('fields=id,state,title'))
		const record = await ask('/article/1?fields=title&fields=id')
		assert.is(record.text(), (await ask('/article/1?fields=id,title')).text())
		assert.is(record.status, 200)
		assert.is(await refusalOf(asked, '/article?sort=id&sort=-id'), '400 sort names a field more than once')
	})

	const refused: [string, string][] = [
		['limit=-1', '400 limit must be a whole number from 0 up'],
		['limit=1.5', '400 limit must be a whole number from 0 up'],
		['limit=abc', '400 limit must be a whole number from 0 up'],
		['limit=', '400 limit must be a whole number from 0 up'],
		['limit=1&limit=2', '400 limit is given more than once'],
		['offset=-1', '400 offset must be a whole number from 0 up'],
		['offset=9007199254740993', '400 offset must be at most 9007199254740991'],
		['offset=0&cursor=x', "400 offset can't be combined with cursor"],
		['count=all', '400 count must be exact, or the number up to which is counted'],
		['cursor=', '400 cursor is malformed: take it from meta.next'],
		['cursor=!', '400 cursor is malformed: take it from meta.next'],
		['cursor=eyJhIjoxfQ', '400 cursor is malformed: take it from meta.next'],
		['cursor=WzEsMl0', '400 cursor belongs to a list with another sort or filter'],
		['sort=id,id', '400 sort names a field more than once'],
		['sort=', '400 sort may only name id, title, body, state, rating, published'],
		['sort=--id', '400 sort may only name id, title, body, state, rating, published'],
		['fields=', '400 fields may only name id, title, body, state, rating, published'],
		['search=%00', '400 search must be well-formed Unicode without U+0000'],
		[`search=${'a+b+c+d+e+'.repeat(5)}`, ''],
		[
			`search=${Array.from({ length: 21 }, (_, at) => `w${at}`).join('+')}`,
			'400 search may have at most 20 words',
		],
	]
	for (const [query, message] of refused) {
		test(`?${query.slice(0, 40)} is ${message === '' ? 'fine' : 'refused'}`, async () => {
			if (message === '') assert.is((await asked.ask(`/article?${query}`)).status, 200)
			else assert.is(await refusalOf(asked, `/article?${query}`), message)
		})
	}

	test('a cursor of another sort or filter is refused, one of an equivalent query is not', async () => {
		const { next } = await metaOf('limit=1&state=public&id[gt]=1')
		for (const query of ['', '&state=draft&id[gt]=1', '&state=public&id[gt]=1&sort=-id', '&state=public']) {
			assert.is(
				await refusalOf(asked, `/article?cursor=${next}${query}`),
				'400 cursor belongs to a list with another sort or filter',
			)
		}
		const filter = encodeURIComponent('{"and":[{"id":{"gt":1}},{"state":["public"]}]}')
		assert.equal(await idsOf(asked, `/article?limit=3&cursor=${next}&filter=${filter}`), [4, 5])
	})

	test('a cursor of the negated or case-insensitive condition is refused', async () => {
		const filtered = (filter: unknown): string => `filter=${encodeURIComponent(JSON.stringify(filter))}`
		const pairs: [unknown, unknown][] = [
			[{ not: { id: { gt: 9 } } }, { id: { gt: 9 } }],
			[{ id: { lt: 9 } }, { not: { id: { lt: 9 } } }],
			[{ title: { contains: 'Title' } }, { title: { icontains: 'Title' } }],
		]
		for (const [first, other] of pairs) {
			const { next } = await metaOf(`limit=1&${filtered(first)}`)
			assert.type(next, 'string')
			assert.is((await asked.ask(`/article?cursor=${next}&${filtered(first)}`)).status, 200)
			assert.is(
				await refusalOf(asked, `/article?cursor=${next}&${filtered(other)}`),
				'400 cursor belongs to a list with another sort or filter',
			)
		}
	})

	test("a cursor's values are validated", async () => {
		const { next } = await metaOf('limit=1')
		const [stamp] = JSON.parse(Buffer.from(String(next), 'base64url').toString()) as [string]
		const forged = [["'; drop table"], [{ a: 1 }], [null], [true], [1.5], [1, 2], []]
		for (const values of forged) {
			const cursor = Buffer.from(JSON.stringify([stamp, ...values])).toString('base64url')
			assert.match(await refusalOf(asked, `/article?cursor=${cursor}`), /^400 cursor (is|belongs)/)
		}
	})
})

describe('crud/list-query: order and fields', (test) => {
	const asked = articles()
	const orders: [string, number[]][] = [
		['sort=-id', [5, 4, 3, 2, 1]],
		['sort=-state', [5, 4, 3, 2, 1]],
		['sort=-state,id', [3, 4, 5, 1, 2]],
		['sort=body', [1, 2, 4, 5, 3]],
		['sort=-body', [5, 4, 2, 1, 3]],
		['sort=published', [1, 2, 3, 4, 5]],
		['sort=-published', [4, 3, 2, 1, 5]],
	]
	for (const [query, ids] of orders) {
		test(`?${query} is in the order ${ids}, with nulls last and ties broken by the key`, async () =>
			assert.equal(await idsOf(asked, `/article?${query}`), ids))
	}

	test('fields are answered in the order of visible, whatever order they are listed in', async () => {
		const [first] = (await dataOf(asked, '/article?fields=title,id&limit=1')) as [object]
		assert.is(JSON.stringify(first), '{"id":1,"title":"Title 1"}')
		assert.is(
			await asked.said('/article/1?fields=title,id,title'),
			'200 {"success":true,"data":{"id":1,"title":"Title 1"}}',
		)
	})

	test('a hidden field is refused with the same message as an unknown one', async () => {
		for (const query of [
			'sort=NAME',
			'fields=NAME',
			'fields=id,NAME',
			'sort=-NAME',
			'NAME=x',
			'NAME[gt]=x',
		]) {
			const replies = await Promise.all(
				['secret', 'nosuch'].map(async (name) => {
					const reply = await asked.ask(`/article?${query.replace('NAME', name)}`)
					return `${reply.status} ${reply.text().replaceAll(name, 'NAME')}`
				}),
			)
			assert.is(replies[0], replies[1])
			assert.match(String(replies[0]), /^400 /)
		}
		for (const name of ['secret', 'nosuch']) {
			const filter = encodeURIComponent(`{"or":[{"${name}":"MARKER1"}]}`)
			assert.is(
				await refusalOf(asked, `/article?filter=${filter}`),
				`400 filter.or.0.${name} is not a field to filter by: use one of id, title, body, state, rating, published`,
			)
		}
		assert.is(
			await refusalOf(asked, '/article/1?fields=secret'),
			'400 fields may only name id, title, body, state, rating, published',
		)
	})

	test('filterable and sortable restrict the fields where they are given', async () => {
		const handler = new CrudHandler(articleModel(), { ...OPTIONS, filterable: ['state'], sortable: [] })
		const narrow = articles(handler)
		assert.is(await refusalOf(narrow, '/article?sort=title'), '400 sort names nothing that can be used here')
		assert.match(await refusalOf(narrow, '/article?title=x'), /^400 title is not a parameter of this list/)
		assert.equal(await idsOf(narrow, '/article?state=draft'), [1, 2])
	})

	test('an unknown parameter is refused, and the known ones are listed; one in ignoreQuery is ignored', async () => {
		const handler = new CrudHandler(articleModel(), {
			...OPTIONS,
			searchable: [],
			ignoreQuery: ['utm_source', '_'],
		})
		const ignoring = articles(handler)
		assert.is((await ignoring.ask('/article?utm_source=x&_=1')).status, 200)
		assert.is((await ignoring.ask('/article/1?utm_source=x')).status, 200)
		assert.is(
			await refusalOf(ignoring, '/article?order=id'),
			'400 order is not a parameter of this list: it takes limit, offset, cursor, sort, fields, count, filter, id, title, body, state, rating, published',
		)
		assert.match(await refusalOf(ignoring, '/article?search=x'), /^400 search is not a parameter/)
		assert.is(
			await refusalOf(ignoring, '/article/1?limit=1'),
			'400 limit is not a parameter of a record: it takes fields',
		)
	})

	test('a long name is shortened in the message', async () => {
		const reply = await asked.ask(`/article?${'n'.repeat(5_000)}=1`)
		assert.is(reply.status, 400)
		assert.ok(reply.text().length < 1_000)
	})

	test('an override that changes the order of its query fails, because other requests share it', async () => {
		class Pinned extends CrudHandler {
			override list(query = this.listQuery()) {
				Object.assign(query.order[0] ?? {}, { descending: true })
				return super.list(query)
			}
		}
		const one = asking({ article: new Pinned(articleModel(), OPTIONS) })
		for (const url of ['/article', '/article?sort=title', '/article?sort=title'])
			assert.is((await one.ask(url)).status, 500)
		assert.match(one.logged(), /read only property/)
	})

	test('a column with the name of a parameter is compared by operator syntax', async () => {
		const fields = { id: 'integer', limit: 'integer' } as const
		const model = new MemoryModel('t', { key: 'id', fields, rows: [{ limit: 7 }, { limit: 8 }] })
		const odd = asking({ article: new CrudHandler(model, { visible: 'all' }) })
		assert.equal(await idsOf(odd, '/article?filter=%7B%22limit%22:8%7D'), [2])
		assert.equal(await idsOf(odd, '/article?limit=1'), [1])
	})
})
