import * as assert from 'uvu/assert'
import { encodeQuery, selectionText } from '../../lib/client/list-query.ts'
import type { ListQuery } from '../../lib/client/query-types.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

type Anything = Record<string, unknown>

/** The query in readable form. */
function urlOf(query: ListQuery<Anything>): string {
	const { method, url, body } = encodeQuery('/a', query)
	assert.is(method, 'GET')
	assert.is(body, undefined)
	return decodeURIComponent(url)
}

describe('client: a query as a URL', (test) => {
	const settings: [ListQuery<Anything>, string][] = [
		[{}, '/a'],
		[{ limit: 10, offset: 20 }, '/a?limit=10&offset=20'],
		[{ limit: 0, count: true }, '/a?limit=0&count=exact'],
		[{ count: false, cursor: null, search: undefined }, '/a'],
		[{ cursor: 'Ng' }, '/a?cursor=Ng'],
		[{ sort: '-created' }, '/a?sort=-created'],
		[{ sort: ['-created', 'title'] }, '/a?sort=-created,title'],
		[{ fields: ['id', 'title'] }, '/a?fields=id,title'],
		[{ search: 'tea' }, '/a?search=tea'],
		[{ count: 1_000 }, '/a?count=1000'],
		[{ include: [], sort: [] }, '/a'],
		[{ include: ['author', 'comments.author'] }, '/a?include=author,comments.author'],
		[
			{ fields: ['title', 'author.name'], sort: '-author.name' },
			'/a?sort=-author.name&fields=title,author.name',
		],
		[{ include: { author: true } }, '/a?include={"author":true}'],
		[
			{
				include: {
					comments: {
						...{
							limit: 3,
							sort: '-id',
							fields: ['text'],
							count: true,
							filter: { at: new Date(0), spam: null },
						},
						include: { author: { include: ['articles'], count: false } },
					},
				},
			},
			'/a?include={"comments":{"limit":3,"sort":"-id","fields":["text"],"filter":{"at":{"eq":"1970-01-01T00:00:00.000Z"},"spam":null},"count":"exact","include":{"author":{"include":["articles"]}}}}',
		],
	]
	const conditions: [ListQuery<Anything>, string][] = [
		[{ where: { title: 'x' } }, '/a?title=x'],
		[{ where: { title: '' } }, '/a?title='],
		[{ where: { title: 'a,b' } }, '/a?title=a,b'],
		[{ where: { draft: true, age: 3 } }, '/a?draft=true&age=3'],
		[{ where: { id: 9_007_199_254_740_993n } }, '/a?id=9007199254740993'],
		[{ where: { rate: Number.NaN } }, '/a?rate=NaN'],
		[{ where: { at: new Date(0) } }, '/a?at=1970-01-01T00:00:00.000Z'],
		[{ where: { age: { gte: 3, lt: 9 } } }, '/a?age[gte]=3&age[lt]=9'],
		[{ where: { age: { eq: 3 } } }, '/a?age=3'],
		[{ where: { title: { contains: '50%_\\' } } }, '/a?title[contains]=50%_\\'],
		[{ where: { email: null } }, '/a?email[null]=true'],
		[{ where: { email: { eq: null } } }, '/a?email[null]=true'],
		[{ where: { email: { ne: null } } }, '/a?email[null]=false'],
		[{ where: { email: { null: false } } }, '/a?email[null]=false'],
		[{ where: { email: 'null' } }, '/a?email=null'],
		[{ where: { tag: ['a', 'b'] } }, '/a?tag=a&tag=b'],
		[{ where: { tag: ['a,b', ' c', ''] } }, '/a?tag=a,b&tag= c&tag='],
		[{ where: { tag: { in: ['a', 'b'] } } }, '/a?tag=a&tag=b'],
		[{ where: { tag: { in: ['a', 'b'], ne: 'a' } } }, '/a?tag=a&tag=b&tag[ne]=a'],
		[{ where: { tag: { nin: ['a', 'b'] } } }, '/a?tag[nin]=a,b'],
		[{ where: { age: { between: [3, 9] } } }, '/a?age[between]=3,9'],
		[{ where: {} }, '/a'],
		[
			{ where: { 'author.name': 'Ada', 'comments.text': { contains: 'x' }, 'author.email': null } },
			'/a?author.name=Ada&comments.text[contains]=x&author.email[null]=true',
		],
	]
	const filters: [ListQuery<Anything>, string][] = [
		[{ where: { tag: [] } }, '/a?filter={"tag":{"in":[]}}'],
		[{ where: { tag: ['a', null] } }, '/a?filter={"or":[{"tag":{"in":["a"]}},{"tag":null}]}'],
		[{ where: { tag: { in: ['a', 'b'], eq: 'a' } } }, '/a?tag[in]=a,b&tag=a'],
		[{ where: { tag: { nin: ['a,b', 'c'] } } }, '/a?filter={"tag":{"nin":["a,b","c"]}}'],
		[{ where: { tag: { nin: [''] } } }, '/a?filter={"tag":{"nin":[""]}}'],
		[{ where: { tag: { nin: [' a'] } } }, '/a?filter={"tag":{"nin":[" a"]}}'],
		[{ where: { name: { between: ['a,b', 'c'] } } }, '/a?filter={"name":{"between":["a,b","c"]}}'],
		[{ where: { limit: 5, sort: 'x' } }, '/a?filter={"limit":{"eq":5},"sort":{"eq":"x"}}'],
		[{ limit: 2, where: { limit: null } }, '/a?limit=2&filter={"limit":null}'],
		[{ where: { 'a[b]': 1 } }, '/a?filter={"a[b]":{"eq":1}}'],
		[{ where: { title: '\ud800' } }, '/a?filter={"title":{"eq":"\\ud800"}}'],
		[{ where: { title: 'x', limit: 5 } }, '/a?filter={"limit":{"eq":5}}&title=x'],
		[{ filter: { title: 'x' } }, '/a?filter={"title":{"eq":"x"}}'],
		[
			{ filter: { or: [{ tag: 'a' }, { not: { age: { lt: 3 } } }] } },
			'/a?filter={"or":[{"tag":{"eq":"a"}},{"not":{"age":{"lt":3}}}]}',
		],
		[
			{ filter: { and: [{ at: new Date(0) }, { id: [1n, 2n ** 53n] }] } },
			'/a?filter={"and":[{"at":{"eq":"1970-01-01T00:00:00.000Z"}},{"id":{"in":[1,"9007199254740992"]}}]}',
		],
		[{ filter: { limit: 5 }, where: { title: 'x' } }, '/a?filter={"limit":{"eq":5}}&title=x'],
		[{ filter: { a: 5 }, where: { limit: 6 } }, '/a?filter={"a":{"eq":5},"limit":{"eq":6}}'],
		[
			{ filter: { limit: 5 }, where: { limit: 6 } },
			'/a?filter={"and":[{"limit":{"eq":5}},{"limit":{"eq":6}}]}',
		],
		[
			{ filter: { a: ['x', null], b: ['y', null] } },
			'/a?filter={"and":[{"or":[{"a":{"in":["x"]}},{"a":null}]},{"or":[{"b":{"in":["y"]}},{"b":null}]}]}',
		],
	]
	const related: [ListQuery<Anything>, string][] = [
		[{ filter: { author: null } }, '/a?filter={"author":null}'],
		[{ filter: { author: { name: 'Ada' } } }, '/a?filter={"author":{"name":{"eq":"Ada"}}}'],
		[
			{ filter: { author: { email: ['x', null], 'editor.id': { in: [1n] } } } },
			'/a?filter={"author":{"or":[{"email":{"in":["x"]}},{"email":null}],"editor.id":{"in":[1]}}}',
		],
		[
			{ filter: { comments: { none: { spam: true }, some: {}, count: { gte: 3 } } } },
			'/a?filter={"comments":{"none":{"spam":{"eq":true}},"some":{},"count":{"gte":3}}}',
		],
		[
			{
				filter: {
					not: { comments: { every: { or: [{ at: new Date(0) }, { author: { id: 1 } }] }, count: 3 } },
				},
			},
			'/a?filter={"not":{"comments":{"every":{"or":[{"at":{"eq":"1970-01-01T00:00:00.000Z"}},{"author":{"id":{"eq":1}}}]},"count":{"eq":3}}}}',
		],
	]
	for (const [query, url] of [...settings, ...conditions, ...filters, ...related]) {
		test(url, () => {
			const { url: encoded } = encodeQuery('/a', query)
			assert.is(decodeURIComponent(encoded.replaceAll('+', ' ')), url)
			assert.not.match(encoded, /[^!-~]/)
		})
	}

	test('a record has the parameters of its contents only', () => {
		assert.is(selectionText({}), '')
		assert.is(selectionText({ fields: ['a', 'b.c'] }), '?fields=a%2Cb.c')
		const text = selectionText({ fields: ['a'], include: { b: { limit: 1 } } })
		assert.is(decodeURIComponent(text), '?fields=a&include={"b":{"limit":1}}')
	})

	test('special characters are encoded', () => {
		const { url } = encodeQuery('/a', { where: { 'a&b=c': 'd&e=f#g+h%20é' } })
		assert.is(url, '/a?a%26b%3Dc=d%26e%3Df%23g%2Bh%2520%C3%A9')
		assert.is(urlOf({ search: '50% off' }), '/a?search=50%+off')
	})

	test('a field named like an Object.prototype property is a field', () => {
		const where = JSON.parse('{"__proto__":"x","constructor":"y"}') as object
		assert.is(urlOf({ where }), '/a?__proto__=x&constructor=y')
	})
})

describe('client: a query too large for a URL', (test) => {
	const ids = Array.from({ length: 500 }, (_, at) => at)

	test('is sent as the JSON body of a QUERY, with all conditions', () => {
		const query = {
			limit: 5,
			sort: ['-id', 'title'],
			fields: ['id'],
			count: true,
			search: 'tea',
			cursor: 'Ng',
		}
		const where = { id: ids as readonly number[], draft: false, title: 'x', email: null }
		assert.equal(encodeQuery('/a', { ...query, where, filter: { not: { age: 3 } } }), {
			method: 'QUERY',
			url: '/a',
			body: {
				limit: 5,
				cursor: 'Ng',
				sort: '-id,title',
				fields: 'id',
				search: 'tea',
				count: 'exact',
				filter: {
					not: { age: { eq: 3 } },
					...{ id: { in: ids }, draft: { eq: false }, title: { eq: 'x' }, email: null },
				},
			},
		})
	})

	test('has fields named like a group of filters next to its filter', () => {
		const where = { and: 'x', not: { gte: 3 }, or: null, title: 'y' }
		assert.is(urlOf({ where }), '/a?and=x&not[gte]=3&or[null]=true&title=y')
		assert.equal(encodeQuery('/a', { where: { ...where, id: ids } }), {
			method: 'QUERY',
			url: '/a',
			body: {
				filter: { title: { eq: 'y' }, id: { in: ids } },
				...{ and: { eq: 'x' }, not: { gte: 3 }, or: { null: true } },
			},
		})
	})

	test('is also a QUERY where a URL cannot express a condition on such a field', () => {
		assert.equal(encodeQuery('/a', { limit: 2, where: { or: { nin: ['a,b', 'c'] }, title: 'x' } }), {
			method: 'QUERY',
			url: '/a',
			body: { limit: 2, filter: { title: { eq: 'x' } }, or: { nin: ['a,b', 'c'] } },
		})
	})

	test('a URL of 2,000 characters is sent as GET, one of 2,001 as QUERY', () => {
		const search = 'x'.repeat(2_000 - '/a?search='.length)
		assert.is(encodeQuery('/a', { search }).method, 'GET')
		assert.equal(encodeQuery('/a', { search: `${search}x` }), {
			...{ method: 'QUERY', url: '/a', body: { search: `${search}x` } },
		})
	})
})

describe('client: conditions that cannot be sent are refused, not omitted', (test) => {
	const refused: [object, string][] = [
		[
			{ title: undefined },
			'title must be compared with a text, number, boolean or date, not undefined; leave it out instead',
		],
		[
			{ age: { gte: undefined } },
			'age.gte must be compared with a text, number, boolean or date, not undefined; leave it out instead',
		],
		[
			{ age: { gte: null } },
			'age.gte must be compared with a text, number, boolean or date, not null; leave it out instead',
		],
		[
			{ tag: ['a', undefined] },
			'tag must be compared with a text, number, boolean or date, not undefined; leave it out instead',
		],
		[
			{ tag: { nin: ['a', null] } },
			'tag.nin must be compared with a text, number, boolean or date, not null; leave it out instead',
		],
		[
			{ tag: { eq: { deep: 1 } } },
			'tag.eq must be compared with a text, number, boolean or date, not [object Object]; leave it out instead',
		],
		[
			{ author: { name: undefined, id: 1 } },
			'author.name must be compared with a text, number, boolean or date, not undefined; leave it out instead',
		],
		[{ or: ['a', null] }, 'or is named like a filter group: ask for null separately'],
		[{ tag: {} }, 'tag has no operator'],
		[{ at: new Date(Number.NaN) }, 'Invalid time value'],
	]
	for (const [where, message] of refused) {
		test(message, () =>
			assert.is(
				messageOf(() => encodeQuery('/a', { where })),
				message,
			),
		)
	}

	const groups: [object, RegExp][] = [
		[{ or: { a: 1 } }, /^or must hold filters; write a condition on a field with this name in where$/],
		[{ or: 'a' }, /^or must hold filters/],
		[{ and: [null] }, /^and must hold filters/],
		[{ not: undefined }, /^not must hold filters/],
		[{ not: 'a' }, /^not must hold filters/],
		[{ or: undefined }, /^or must hold filters/],
		[{ or: [{ and: 5 }] }, /^and must hold filters/],
		[{ author: { some: undefined } }, /^some must be compared with .* not undefined; leave it out instead$/],
		[{ author: { name: {} } }, /^name has no operator$/],
		[{ or: [{ a: undefined }] }, /^a must be compared with a text, .* not undefined; leave it out instead$/],
	]
	for (const [filter, message] of groups) {
		test(JSON.stringify(filter), () =>
			assert.match(
				messageOf(() => encodeQuery('/a', { filter })),
				message,
			),
		)
	}
})
