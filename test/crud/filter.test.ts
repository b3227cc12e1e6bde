import * as assert from 'uvu/assert'
import { CrudHandler, MemoryModel } from '../../lib/index.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { articles, idsOf, refusalOf } from './articles.ts'

const query = (filter: unknown): string => `/article?filter=${encodeURIComponent(JSON.stringify(filter))}`

describe('crud/filter', (test) => {
	const asked = articles()

	const found: [string, number[]][] = [
		['title=Title 2', [2]],
		['title=Title 2&title=Title 4', [2, 4]],
		['title[eq]=Title 2', [2]],
		['title[ne]=Title 2', [1, 3, 4, 5]],
		['body[ne]=Body of 1', [2, 4, 5]],
		['id[gt]=2&id[lte]=4', [3, 4]],
		['id[gte]=4', [4, 5]],
		['id[lt]=2', [1]],
		['id[in]=1,3,9', [1, 3]],
		['id[nin]=1,3', [2, 4, 5]],
		['body[nin]=Body of 1', [2, 4, 5]],
		['id[between]=2,3', [2, 3]],
		['rating[between]=0.5,1e0', [1, 2]],
		['title[contains]=le 3', [3]],
		['title[contains]=%25', []],
		['title[contains]=_', []],
		['title[startsWith]=Title', [1, 2, 3, 4, 5]],
		['title[endsWith]=5', [5]],
		['body[null]=true', [3]],
		['body[null]=false', [1, 2, 4, 5]],
		['published[gte]=2026-11-03T11:00:00%2B01:00', [3, 4]],
		['published=2026-11-03T10:00:00.000000000Z', [3]],
		['state=public&rating[gt]=2', [5]],
		['search=title 3', [3]],
		['title[ieq]=tITLE 3', [3]],
		['title[icontains]=LE 3', [3]],
		['title[istartsWith]=tITLE', [1, 2, 3, 4, 5]],
		['title[iendsWith]=E 5', [5]],
		['title[contains]=LE 3', []],
		['state[ieq]=PUBLIC&id[lt]=4', [3]],
		['search=Title 3', [3]],
		['search=of Title 4', [4]],
		['search=', [1, 2, 3, 4, 5]],
		['title=', []],
		["title=' OR '1'='1", []],
	]
	for (const [text, ids] of found) {
		test(`?${text} finds ${ids}`, async () =>
			assert.equal(await idsOf(asked, `/article?${text.replaceAll(' ', '+')}`), ids))
	}

	const filters: [unknown, number[]][] = [
		[{}, [1, 2, 3, 4, 5]],
		[{ title: 'Title 2' }, [2]],
		[{ id: 2 }, [2]],
		[{ id: '2' }, [2]],
		[{ id: [1, 2] }, [1, 2]],
		[{ id: [] }, []],
		[{ body: null }, [3]],
		[{ body: { eq: null } }, [3]],
		[{ body: { ne: null } }, [1, 2, 4, 5]],
		[{ body: { null: true } }, [3]],
		[{ id: { gte: 2, lt: 4 } }, [2, 3]],
		[{ id: { between: [2, 3] } }, [2, 3]],
		[{ id: { nin: [1, '2'] } }, [3, 4, 5]],
		[{ state: { contains: 'raf' } }, [1, 2]],
		[{ or: [{ id: 1 }, { title: { endsWith: '5' } }] }, [1, 5]],
		[{ or: [] }, []],
		[{ and: [] }, [1, 2, 3, 4, 5]],
		[{ not: { id: { gt: 2 } } }, [1, 2]],
		[{ not: { body: 'Body of 1' } }, [2, 4, 5]],
		[{ state: 'public', and: [{ id: { gt: 3 } }, { not: { id: 5 } }] }, [4]],
		[{ not: { not: { not: { not: { id: 1 } } } } }, [1]],
	]
	for (const [filter, ids] of filters) {
		test(`${JSON.stringify(filter)} finds ${ids}`, async () => {
			assert.equal(await idsOf(asked, query(filter)), ids)
			assert.equal(await idsOf(asked, 'QUERY /article', { body: { filter } }), ids)
		})
	}

	test('filter, fields and search are combined with AND', async () => {
		assert.equal(await idsOf(asked, `${query({ id: { gt: 1 } })}&state=draft&search=2`), [2])
	})

	const refused: [string, string][] = [
		['id=x', '400 id must be a whole number, within 9007199254740991 of zero'],
		['id[in]=1,x', '400 id[in] must be a whole number, within 9007199254740991 of zero'],
		['id[in]=', '400 id[in] must be a whole number, within 9007199254740991 of zero'],
		['id[between]=1', '400 id[between] needs two values'],
		['id[between]=1,2,3', '400 id[between] needs two values'],
		['body[null]=1', '400 body[null] must be true or false'],
		['state=other', '400 state must be one of draft, public'],
		[
			'id[contains]=1',
			'400 id[contains] is not an operator of this field: use one of eq, ne, in, nin, null, gt, gte, lt, lte, between',
		],
		[
			'id[]=1',
			'400 id[] is not an operator of this field: use one of eq, ne, in, nin, null, gt, gte, lt, lte, between',
		],
		['title=%00', '400 title must not hold the character U+0000'],
		['filter={', '400 filter is malformed JSON'],
		['filter=[]', '400 filter must be an object, such as {"field":value} or {"or":[…]}'],
		['filter=null', '400 filter must be an object, such as {"field":value} or {"or":[…]}'],
		[`id[in]=${'1,'.repeat(100)}1`, '400 id[in] may have at most 100 values'],
		// Before any of them is evaluated.
		[`id[in]=${'x,'.repeat(100)}x`, '400 id[in] may have at most 100 values'],
		[`id[between]=${'x,'.repeat(100)}x`, '400 id[between] needs two values'],
		[`${'id=x&'.repeat(100)}id=x`, '400 id may have at most 100 values'],
	]
	for (const [text, message] of refused) {
		test(`?${text.slice(0, 30)} is refused`, async () =>
			assert.is(await refusalOf(asked, `/article?${text}`), message))
	}

	const refusedFilters: [unknown, string][] = [
		[{ id: 'x' }, '400 filter.id must be a whole number, within 9007199254740991 of zero'],
		[{ id: {} }, '400 filter.id needs an operator, such as {"gte":3}'],
		[{ id: { gt: null } }, '400 filter.id.gt must be a whole number, within 9007199254740991 of zero'],
		[{ id: { in: 1 } }, '400 filter.id.in must be an array of values'],
		[{ id: { in: [[1]] } }, '400 filter.id.in.0 must be a whole number, within 9007199254740991 of zero'],
		[{ id: { in: Array(101).fill('x') } }, '400 filter.id.in may have at most 100 values'],
		[{ id: { between: ['x', 1, 2] } }, '400 filter.id.between needs two values'],
		[{ id: { null: 'true' } }, '400 filter.id.null must be true or false'],
		[{ title: 5 }, '400 filter.title must be a string'],
		[{ title: { contains: 5 } }, '400 filter.title.contains must be a string'],
		[{ title: { contains: 'a\ud800' } }, '400 filter.title.contains must be well-formed Unicode'],
		[{ or: {} }, '400 filter.or must be an array of filters'],
		[{ or: [1] }, '400 filter.or.0 must be an object, such as {"field":value} or {"or":[…]}'],
		[{ not: [] }, '400 filter.not must be an object, such as {"field":value} or {"or":[…]}'],
		[
			{ not: { not: { not: { not: { not: {} } } } } },
			'400 filter.not.not.not.not.not is nested too deeply: at most 5 levels are allowed',
		],
		[
			{ or: Array.from({ length: 101 }, () => ({ id: 1 })) },
			'400 filter.or.100.id is one comparison too many: at most 100 are allowed',
		],
		[
			{ or: Array.from({ length: 101 }, () => ({})) },
			'400 filter.or.100 is one comparison too many: at most 100 are allowed',
		],
	]
	for (const [filter, message] of refusedFilters) {
		test(`${JSON.stringify(filter).slice(0, 40)} is refused`, async () =>
			assert.is(await refusalOf(asked, 'QUERY /article', { body: { filter } }), message))
	}

	test('__proto__ in a filter is not a field', async () => {
		const reply = await asked.ask(`/article?filter=${encodeURIComponent('{"__proto__":{"id":1}}')}`)
		assert.is(reply.status, 400)
	})

	test('types that cannot be ordered or searched can only be compared with null', async () => {
		const fields = {
			id: 'integer',
			data: { type: 'json', nullable: true },
			raw: { type: 'bytes', nullable: true },
			flag: 'boolean',
			address: { type: 'other', nullable: true },
		} as const
		const rows = [
			{ data: { a: 1 }, flag: true, address: '10.0.0.1' },
			{ raw: new Uint8Array([1]), flag: false },
		]
		const model = new MemoryModel('t', { key: 'id', fields, rows })
		const odd = asking({ article: new CrudHandler(model, { visible: 'all' }) })
		assert.equal(await idsOf(odd, '/article?data[null]=true'), [2])
		assert.equal(await idsOf(odd, '/article?raw[null]=false'), [2])
		assert.equal(await idsOf(odd, '/article?flag=true'), [1])
		assert.equal(await idsOf(odd, '/article?address[startsWith]=10.'), [1])
		for (const text of ['flag[gt]=false', 'address=10.0.0.1']) {
			assert.match(await refusalOf(odd, `/article?${text}`), /^400 .*is not an operator of this field/)
		}
		for (const text of ['data=1', 'raw=AQ==', 'data[contains]=a']) {
			assert.match(await refusalOf(odd, `/article?${text}`), /^400 .*can't be compared with a value: use /)
		}
		for (const name of ['data', 'raw', 'address'])
			assert.is(await refusalOf(odd, `/article?sort=${name}`), '400 sort may only name id, flag')
	})
})

describe('crud/filter: QUERY', (test) => {
	const asked = articles()

	test('its body means the same as the query of a URL, with numbers and lists as JSON', async () => {
		const body = {
			limit: 1,
			offset: 1,
			sort: ['-state', 'id'],
			fields: ['id'],
			count: 'exact',
			state: 'public',
		}
		const reply = await asked.ask('QUERY /article', { body })
		assert.match(reply.text(), /^{"success":true,"data":\[{"id":4}\],"meta":{"limit":1,"offset":1,"next":"/)
		assert.is(reply.headers['x-total-count'], '3')
	})

	test('texts are accepted as in a URL', async () => {
		assert.equal(
			await idsOf(asked, 'QUERY /article', { body: { limit: '2', sort: '-id', search: 'Title' } }),
			[5, 4],
		)
	})

	test('a form is parsed as a URL query is', async () => {
		const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
		assert.equal(await idsOf(asked, 'QUERY /article', { body: 'id[gt]=2&limit=2', headers }), [3, 4])
	})

	test("without a body it is a list, and the URL's query applies in addition to the body", async () => {
		assert.equal(await idsOf(asked, 'QUERY /article'), [1, 2, 3, 4, 5])
		assert.equal(await idsOf(asked, 'QUERY /article?limit=1', { body: { limit: 5, id: { gt: 2 } } }), [3])
	})

	test('its Link can be followed with the same body', async () => {
		const body = { limit: 2, filter: { id: { gt: 1 } } }
		const first = await asked.ask('QUERY /article', { body })
		const [, url = ''] = /^<([^>]+)>/.exec(String(first.headers.link)) ?? []
		assert.equal(await idsOf(asked, `QUERY ${url}`, { body }), [4, 5])
	})

	const refused: [unknown, string][] = [
		[{ limit: -1 }, '400 limit must be a whole number from 0 up'],
		[{ limit: null }, '400 limit must be a whole number from 0 up'],
		[{ limit: [1] }, '400 limit must be a whole number from 0 up'],
		[{ cursor: 5 }, '400 cursor must be a string'],
		[{ sort: 5 }, '400 sort must be a comma-separated list of names'],
		[{ fields: [1] }, '400 fields must be a comma-separated list of names'],
		[{ fields: [] }, '400 fields must name at least one field'],
		[{ search: 5 }, '400 search must be a string'],
		[[1], '422 The body must be an object with named fields'],
	]
	for (const [body, message] of refused) {
		test(`${JSON.stringify(body)} is refused`, async () =>
			assert.is(await refusalOf(asked, 'QUERY /article', { body }), message))
	}

	test('an unknown or hidden field of the body is refused', async () => {
		for (const name of ['secret', 'nosuch'])
			assert.match(
				await refusalOf(asked, 'QUERY /article', { body: { [name]: 'MARKER1' } }),
				new RegExp(`^400 ${name} is not a parameter of this list: it takes`),
			)
	})
})
