/** The option `dialect`: requests as other servers' data providers send them. test/examples has the providers themselves. */
import * as assert from 'uvu/assert'
import { CrudHandler, type CrudOptions, MemoryModel } from '../../lib/index.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

type Dialect = 'simple-rest' | 'json-server'

function models() {
	const author = new MemoryModel('author', {
		fields: { id: 'integer', name: 'text' },
		key: 'id',
		rows: [{ name: 'Ada' }, { name: 'Bo' }],
	})
	const article = new MemoryModel('article', {
		fields: {
			id: 'integer',
			title: { type: 'text', maxLength: 20 },
			views: { type: 'integer', nullable: true },
			limit: { type: 'integer', default: 7 },
			secret: { type: 'text', nullable: true },
			author: { type: 'integer', nullable: true },
			version: { type: 'integer', default: 1 },
		},
		key: 'id',
		references: [{ field: 'author', model: author }],
		rows: Array.from({ length: 40 }, (_, at) => ({
			...{ title: at % 3 === 0 ? `Tea ${at}` : `Herb ${at}`, author: 1 + (at % 2) },
			...{ views: at === 9 ? null : at, limit: at === 3 ? 8 : 7 },
		})),
	})
	const comment = new MemoryModel('comment', {
		fields: { id: 'integer', text: 'text', article: 'integer', writer: 'integer' },
		key: 'id',
		references: [{ field: 'article', model: article }],
		rows: Array.from({ length: 30 }, (_, at) => ({
			text: `c${at}`,
			article: 1 + (at % 2),
			writer: 1 + (at % 3),
		})),
	})
	return { author, article, comment }
}

function served(dialect?: Dialect, more: Partial<CrudOptions> = {}) {
	const { author, article, comment } = models()
	const given = dialect === undefined ? {} : { dialect }
	const authors = new CrudHandler(author, { visible: 'all', ...given })
	const comments = new CrudHandler(comment, {
		visible: 'all',
		relations: { by: { to: authors, by: 'writer' } },
		...given,
	})
	const articles = new CrudHandler(article, {
		visible: ['id', 'title', 'views', 'limit', 'author', 'version'],
		updatable: ['title', 'views', 'author'],
		...{ searchable: ['title'], allow: ['list', 'read', 'create', 'update', 'remove'], version: 'version' },
		relations: { writer: { to: authors, by: 'author' }, comments: { to: comments, limit: 3 } },
		...given,
		...more,
	})
	return asking({ articles, authors, comments }, { openapi: true })
}

/** A query, its parameters encoded. */
function query(parameters: Readonly<Record<string, unknown>>): string {
	const pairs = Object.entries(parameters).flatMap(([name, given]) =>
		(Array.isArray(given) ? given : [given]).map((value): [string, string] => [name, String(value)]),
	)
	return String(new URLSearchParams(pairs))
}

const sent = (body: unknown) => ({
	body: JSON.stringify(body),
	headers: { 'content-type': 'application/json' },
})

/** The same list in a dialect, and in this library's own words. */
const SAME: readonly (readonly [dialect: Dialect, given: Record<string, unknown>, own: string])[] = [
	['simple-rest', { sort: '["title","DESC"]', range: '[5,9]' }, 'sort=-title&offset=5&limit=5'],
	['simple-rest', { sort: '["writer.name","asc"]', range: '[0,0]' }, 'sort=writer.name&limit=1'],
	[
		'simple-rest',
		{ range: '[0,9]', filter: '{"q":"tea","views_gte":"12","author":1}' },
		'search=tea&views[gte]=12&author=1&limit=10',
	],
	['simple-rest', { filter: '{"id":["3",4]}' }, 'id=3&id=4&limit=100'],
	// Both conditions must hold.
	['simple-rest', { filter: '{"views":[5,6]}', views: 6 }, 'views=6&limit=100'],
	[
		'simple-rest',
		{
			filter: '{"writer":{"name_like":"","name":["Ada","Bo"]}}',
			'writer.name': ['Ada', 'Eve'],
		},
		'writer.name=Ada&limit=100',
	],
	[
		'simple-rest',
		{ filter: '{"comments.text":{"startsWith":"c1"},"comments.id":{"lt":3}}' },
		'filter={"comments.text":{"startsWith":"c1"},"comments.id":{"lt":3}}&limit=100',
	],
	['simple-rest', { filter: '{"views":null}' }, 'views[null]=true&limit=100'],
	['simple-rest', { filter: '{"id":[]}' }, 'filter={"id":{"in":[]}}&limit=100'],
	['simple-rest', { filter: '{"limit":8}' }, 'filter={"limit":8}&limit=100'],
	[
		'simple-rest',
		{ filter: '{"or":[{"views":{"lt":2}},{"title":"Tea 6"}]}' },
		'filter={"or":[{"views":{"lt":2}},{"title":"Tea 6"}]}&limit=100',
	],
	[
		'simple-rest',
		{ filter: '{"writer":{"name":"Ada"},"views_lt":5}' },
		'writer.name=Ada&views[lt]=5&limit=100',
	],
	[
		'simple-rest',
		{ filter: '{"writer.name_like":"AD"}', range: '[0,2]' },
		'writer.name[icontains]=ad&limit=3',
	],
	[
		'simple-rest',
		{ filter: '{"writer":{"name_like":"AD"}}', range: '[0,2]' },
		'writer.name[icontains]=ad&limit=3',
	],
	[
		'simple-rest',
		{ filter: '{"writer":{"name_like":"AD","name":{"startsWith":"A"}},"views_lt":5}' },
		'writer.name[icontains]=ad&writer.name[startsWith]=A&views[lt]=5&limit=100',
	],
	[
		'simple-rest',
		{ sort: '-views', limit: 2, 'title[startsWith]': 'Tea' },
		'sort=-views&limit=2&title[startsWith]=Tea',
	],
	['json-server', { _sort: 'title', _order: 'DESC', _start: 5, _end: 10 }, 'sort=-title&offset=5&limit=5'],
	[
		'json-server',
		{ _sort: 'author,views', _order: 'asc,desc', _start: 0, _end: 9 },
		'sort=author,-views&limit=9',
	],
	['json-server', { _sort: 'author,-views', _limit: 4 }, 'sort=author,-views&limit=4'],
	['json-server', { _page: 3, _limit: 4 }, 'offset=8&limit=4'],
	['json-server', { _page: 2 }, 'offset=10&limit=10'],
	['json-server', { _start: 38 }, 'offset=38&limit=100'],
	['json-server', { _start: 30, _limit: 3 }, 'offset=30&limit=3'],
	['json-server', { id: [3, 4, 99] }, 'id=3&id=4&limit=100'],
	[
		'json-server',
		{ q: 'TEA', views_gte: 5, views_lte: 30, views_ne: 12, limit_ne: 8 },
		'search=tea&views[between]=5,30&views[ne]=12&filter={"limit":{"ne":8}}&limit=100',
	],
	[
		'json-server',
		{ title_like: 'ERB 1', 'writer.name': 'Ada' },
		'title[icontains]=erb 1&writer.name=Ada&limit=100',
	],
	['json-server', { title_like: '', q: '' }, 'limit=100'],
	['json-server', {}, 'limit=100'],
]

describe('dialects: lists', (test) => {
	const own = served()
	const dialects = { 'simple-rest': served('simple-rest'), 'json-server': served('json-server') }
	for (const [dialect, given, native] of SAME)
		test(`${dialect} ${JSON.stringify(given)} is ${native}`, async () => {
			const answer = await dialects[dialect].ask(`GET /articles?${query(given)}`)
			const url = encodeURI(native).replaceAll('%25', '%')
			const { data } = (await own.ask(`GET /articles?${url}`)).json() as { data: unknown[] }
			assert.is(answer.status, 200)
			assert.ok(data.length > 0 || native.includes('[]'))
			assert.equal(answer.json(), data)
		})

	test('an integer that JSON.parse() has rounded is refused, as in our own words: it may be the id of another record', async () => {
		const asked = await dialects['simple-rest'].said(
			`/articles?${query({ filter: '{"id":9007199254740993}' })}`,
		)
		assert.match(asked, /^400 /)
	})

	test('a page says where it is and how many there are', async () => {
		const { ask } = dialects['simple-rest']
		const headersOf = async (ranged: string) => {
			const { headers } = await ask(`GET /articles?${ranged}`)
			return [headers['content-range'], headers['x-total-count'], headers.link]
		}
		assert.equal(await headersOf(query({ range: '[5,9]' })), ['items 5-9/40', '40', undefined])
		assert.equal(await headersOf(query({ range: '[35,59]' })), ['items 35-39/40', '40', undefined])
		assert.equal(await headersOf(query({ range: '[40,49]' })), ['items */40', '40', undefined])
		assert.equal(await headersOf(query({ range: '[0,-1]' })), ['items */40', '40', undefined])
		// What isn't a page isn't counted, and a page in our own words can be continued.
		assert.equal(await headersOf(query({ filter: '{"id":[1]}' })), [undefined, undefined, undefined])
		const [range, total, link] = await headersOf('limit=5&count=exact')
		assert.equal([range, total], ['items 0-4/40', '40'])
		assert.match(String(link), /cursor=/)
		const { headers } = await dialects['json-server'].ask('GET /articles?_page=2&_limit=5')
		assert.equal(
			[headers['content-range'], headers['x-total-count'], headers.link],
			[undefined, '40', undefined],
		)
	})

	test('a page has at most maxLimit records, as Content-Range says', async () => {
		const { ask } = served('simple-rest', { limit: 10, maxLimit: 10 })
		const { headers, json } = await ask(`GET /articles?${query({ range: '[0,999]' })}`)
		assert.equal([headers['content-range'], (json() as unknown[]).length], ['items 0-9/40', 10])
	})

	const included = { comments: ['c0', 'c2', 'c4'], writer: 'Ada' }
	const embeds: readonly (readonly [Dialect, string, string])[] = [
		[
			'simple-rest',
			query({ filter: '{"id":1}', embed: '["comments","writer"]' }),
			query({ embed: '["comments","writer"]' }),
		],
		[
			'json-server',
			query({ id: 1, _embed: 'comments', _expand: 'writer' }),
			query({ _embed: ['comments', 'writer'] }),
		],
		['json-server', 'id=1&include=comments,writer', 'include=comments,writer'],
	]
	for (const [dialect, list, read] of embeds)
		test(`${dialect} ?${decodeURIComponent(list)} embeds arrays and records`, async () => {
			type Embedded = { comments: { text: string }[]; writer: { name: string } }
			const { ask } = dialects[dialect]
			const shown = ({ comments, writer }: Embedded) => ({
				comments: comments.map(({ text }) => text),
				writer: writer.name,
			})
			const [first] = (await ask(`GET /articles?${list}`)).json() as Embedded[]
			assert.equal(first && shown(first), included)
			assert.equal(shown((await ask(`GET /articles/1?${read}`)).json() as Embedded), included)
		})

	test('lists within related records are arrays too', async () => {
		const { ask } = dialects['json-server']
		const [first] = (await ask('GET /articles?id=1&_embed=comments.by')).json() as [
			{ comments: { by: unknown }[] },
		]
		assert.equal(
			first.comments.map(({ by }) => by),
			[{ id: 1, name: 'Ada' }, null, { id: 2, name: 'Bo' }],
		)
	})

	test('a record with a list in it keeps the digits of its numbers, and their spelling', async () => {
		const tank = new MemoryModel('tank', {
			...{ fields: { id: 'bigint', litres: 'decimal', note: 'text' }, key: 'id' },
			rows: [{ id: 9007199254740993n, litres: '1.10', note: 'a "b\\' }],
		})
		const tap = new MemoryModel('tap', {
			fields: { id: 'integer', tank: 'bigint', serial: 'bigint' },
			...{ key: 'id', references: [{ field: 'tank', model: tank }] },
			rows: [{ tank: 9007199254740993n, serial: 9223372036854775807n }],
		})
		const options = { visible: 'all', dialect: 'json-server' } as const
		const taps = new CrudHandler(tap, options)
		const own = new CrudHandler(tap, { ...options, relations: { of: { to: () => tanks, by: 'tank' } } })
		const tanks: CrudHandler = new CrudHandler(tank, { ...options, relations: { taps: { to: taps } } })
		const { ask } = asking({ tanks, taps: own })
		const text = async (path: string) => (await ask(path)).text()
		const tapText = '{"id":1,"tank":9007199254740993,"serial":9223372036854775807'
		const tankText = `{"id":9007199254740993,"litres":"1.10","note":"a \\"b\\\\","taps":[${tapText}}]}`
		assert.is(await text('/tanks?_embed=taps'), `[${tankText}]`)
		assert.is(await text('/tanks/9007199254740993?_embed=taps'), tankText)
		assert.is(await text('/taps?_embed=of.taps'), `[${tapText},"of":${tankText}}]`)
	})

	const wrong: readonly (readonly [Dialect, Record<string, unknown>, string])[] = [
		['simple-rest', { sort: '["title","UP"]' }, 'sort'],
		['simple-rest', { sort: '[1]' }, 'sort'],
		['simple-rest', { sort: '["secret","ASC"]' }, 'sort'],
		['simple-rest', { range: '[0]' }, 'range'],
		['simple-rest', { range: '[9,3]' }, 'range'],
		['simple-rest', { range: 'all' }, 'range'],
		['simple-rest', { range: ['[0,1]', '[0,2]'] }, 'range'],
		['simple-rest', { range: '[0,1]', limit: 4 }, 'limit'],
		['simple-rest', { filter: '[1]' }, 'filter'],
		['simple-rest', { filter: '{"secret":"x"}' }, 'secret'],
		['simple-rest', { filter: '{"secret_gte":"x"}' }, 'secret[gte]'],
		['simple-rest', { filter: '{"views":"x"}' }, 'views'],
		['simple-rest', { filter: '{"views":[{}]}' }, 'filter.views.0'],
		['simple-rest', { embed: '["secret"]' }, 'include'],
		['json-server', { _sort: 'title', _order: 'up' }, '_order'],
		['json-server', { _start: 'x' }, '_start'],
		['json-server', { _start: 5, _end: 3 }, '_end'],
		['json-server', { _page: -1 }, '_page'],
		['json-server', { views_like: 1 }, 'views[icontains]'],
		['json-server', { secret: 1 }, 'secret'],
		['json-server', { id: Array.from({ length: 101 }, (_, at) => at) }, 'id'],
		['json-server', { q: Array.from({ length: 21 }, (_, at) => `w${at}`) }, 'search'],
	]
	for (const [dialect, given, place] of wrong)
		test(`${dialect} refuses ${JSON.stringify(given).slice(0, 60)}`, async () => {
			const { status, json } = await dialects[dialect].ask(`GET /articles?${query(given)}`)
			const { errors } = json() as { errors: object }
			assert.equal([status, Object.keys(errors)], [400, [place]])
		})

	test('a filter can not set a prototype', async () => {
		const url = `GET /articles?${query({ filter: '{"__proto__":{"id":1}}' })}`
		assert.is((await dialects['simple-rest'].ask(url)).status, 400)
	})

	test('an export takes filters and orders in words of the dialect, and has no page', async () => {
		const { ask } = served('simple-rest', { allow: ['list', 'export'], updatable: [] })
		const headers = { accept: 'text/csv' }
		const asked = query({ filter: '{"q":"tea","views_gte":"12"}', sort: '["id","DESC"]' })
		const { status, text } = await ask(`GET /articles?${asked}&fields=id`, { headers })
		assert.equal(
			[status, text()],
			[200, `id\r\n${[40, 37, 34, 31, 28, 25, 22, 19, 16, 13].join('\r\n')}\r\n`],
		)
		const ranged = await ask(`GET /articles?${query({ range: '[0,4]' })}`, { headers })
		assert.is(ranged.status, 400)
	})

	test('a search where no field is searched says so', async () => {
		const { ask } = served('json-server', { searchable: [] })
		const { status, json } = await ask('GET /articles?q=tea')
		assert.equal(
			[status, (json() as { message: string }).message],
			[400, 'q is not a parameter: no field is searched'],
		)
	})
})

describe('dialects: writes', (test) => {
	for (const dialect of ['simple-rest', 'json-server'] as const) {
		test(`${dialect}: PUT and PATCH change the fields that they are given`, async () => {
			const { ask } = served(dialect)
			const put = await ask('PUT /articles/3', sent({ views: 70 }))
			assert.equal([put.status, (put.json() as { title: string; views: number }).views], [200, 70])
			const patch = await ask('PATCH /articles/3', sent({ title: 'New' }))
			assert.equal(patch.json(), { ...(put.json() as object), title: 'New', version: 3 })
		})

		test(`${dialect}: PUT takes a record as it was read, and its version keeps later changes`, async () => {
			const { ask } = served(dialect)
			const embed = dialect === 'simple-rest' ? 'embed="comments"' : '_embed=comments'
			const record = (await ask(`GET /articles/1?${embed}`)).json() as object
			const whole = await ask('PUT /articles/1', sent({ ...record, title: 'One' }))
			assert.equal([whole.status, (whole.json() as { title: string }).title], [200, 'One'])
			assert.is((await ask('PUT /articles/1', sent({ ...record, title: 'Two' }))).status, 412)
			assert.is(((await ask('GET /articles/1')).json() as { title: string }).title, 'One')
			assert.is((await ask('PUT /articles/1', sent({ ...record, id: 2 }))).status, 422)
			assert.is((await ask('PUT /articles/1', sent({ version: 'x' }))).status, 422)
		})

		test(`${dialect}: creates and removes answer the record`, async () => {
			const { ask } = served(dialect)
			const made = await ask('POST /articles', sent({ title: 'Made' }))
			assert.equal([made.status, (made.json() as { id: number }).id], [201, 41])
			const gone = await ask('DELETE /articles/41', { headers: { 'content-type': 'text/plain' } })
			assert.equal([gone.status, gone.json()], [200, made.json()])
			assert.is((await ask('GET /articles/41')).status, 404)
		})
	}

	test('errors have a message, and one for each field', async () => {
		const { ask } = served('simple-rest')
		const invalid = await ask('POST /articles', sent({ title: 'x'.repeat(21), views: 'x' }))
		const { message, errors, error, code } = invalid.json() as Record<string, unknown>
		assert.equal([invalid.status, code, error], [422, 'invalid', message])
		assert.equal(Object.keys(errors as object), ['title', 'views'])
		const missing = (await ask('GET /articles/99')).json()
		assert.equal(missing, { error: 'Not Found', code: 'not_found', message: 'Not Found' })
		assert.is(((await ask('PUT /articles')).json() as { message: string }).message, 'Method Not Allowed')
		const problem = await ask('GET /articles/99', { headers: { accept: 'application/problem+json' } })
		assert.equal(Object.keys(problem.json() as object), ['type', 'title', 'status', 'detail', 'code'])
	})
})

describe('dialects: options', (test) => {
	const { article } = models()
	const refused: readonly (readonly [string, object, RegExp])[] = [
		['a key that is hidden', { visible: ['title'] }, /dialect: .* know a record by its field id/],
		['a key of another name', { columns: { code: 'id' } }, /name it so by columns: \{ id: '…' \}/],
		['replace', { allow: ['replace'], updatable: ['title'] }, /allow has replace, .* allow update instead/],
		['an unknown one', { dialect: 'rest' }, /dialect must be 'simple-rest' or 'json-server'/],
	]
	for (const [name, options, message] of refused)
		test(`refuses ${name}`, () => {
			const all = { visible: 'all', dialect: 'simple-rest', ...options } as CrudOptions
			assert.throws(() => new CrudHandler(article, all), message)
		})

	test('the description has the answers as they are', async () => {
		const { ask } = served('simple-rest')
		type Described = {
			paths: Record<string, Record<string, { responses: Record<string, { headers?: object }> }>>
		}
		const { paths } = (await ask('GET /openapi.json')).json() as Described
		assert.equal(
			Object.keys(paths['/articles/{id}'] ?? {}).filter((name) => name !== 'parameters'),
			['get', 'patch', 'post', 'put', 'delete'],
		)
		assert.ok(Object.hasOwn(paths['/articles']?.get?.responses[200]?.headers ?? {}, 'Content-Range'))
	})
})
