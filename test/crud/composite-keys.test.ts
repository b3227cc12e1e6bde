/** Keys of several fields, and of none, as clients see them: ids in URLs, Location, cursors, bodies and scopes. */
import * as assert from 'uvu/assert'
import { CrudHandler, type CrudOptions, type CrudValues, MemoryModel, RestError } from '../../lib/index.ts'
import { asking, messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

const OPTIONS: CrudOptions = {
	visible: 'all',
	updatable: ['note'],
	allow: ['list', 'read', 'create', 'update', 'replace', 'remove'],
}

function tagModel(): MemoryModel {
	return new MemoryModel('article_tag', {
		fields: {
			article: 'integer',
			tag: { type: 'text', maxLength: 20 },
			note: { type: 'text', nullable: true },
			v: { type: 'integer', default: 1 },
		},
		key: ['article', 'tag'],
		rows: [
			{ article: 7, tag: 'herb', note: 'seven herb' },
			{ article: 7, tag: 'tree', note: 'seven tree' },
			{ article: 8, tag: 'herb', note: 'eight herb' },
			{ article: 8, tag: 'a,b', note: 'a comma' },
			{ article: 8, tag: '', note: 'empty' },
		],
	})
}

const tags = (options: Partial<CrudOptions> = {}) =>
	asking({ tags: new CrudHandler(tagModel(), { ...OPTIONS, version: 'v', ...options }) })

/** A response's parsed JSON. */
const pageOf = (reply: { text(): string }): Page => JSON.parse(reply.text())

interface Page {
	readonly data: { article: number; tag: string; line: string }[]
	readonly meta: { next: string | null; total?: number }
}

/** What of its key is fixed by the user. */
class Mine extends CrudHandler {
	override scope() {
		return this.request.headers.article === undefined ? {} : { article: Number(this.request.headers.article) }
	}
}

const mine = () => asking({ tags: new Mine(tagModel(), OPTIONS) })

describe('crud: a key of several fields', (test) => {
	const urls: [url: string, expected: RegExp][] = [
		['/tags/7,herb', /^200 .*seven herb/],
		['/tags/7,herb/', /^200 .*seven herb/],
		['/tags/7,herb?fields=note', /^200 .*"data":\{"note":"seven herb"\}/],
		['/tags/%37,h%65rb', /^200 .*seven herb/],
		['/tags/8,a%2Cb', /^200 .*a comma/],
		['/tags/8,', /^200 .*empty/],
		['/tags/8,a,b', /^404 /],
		['/tags/7%2Cherb', /^404 /],
		['/tags/7', /^404 /],
		['/tags/7,herb,', /^404 /],
		['/tags/,herb', /^404 /],
		['/tags/07,herb', /^404 /],
		['/tags/herb,7', /^404 /],
		['/tags/7,HERB', /^404 /],
		['/tags/9,herb', /^404 /],
		['/tags/7,herb%00', /^400 /],
		[`/tags/7,${'x'.repeat(21)}`, /^404 /],
	]
	for (const [url, expected] of urls) {
		test(`GET ${url.slice(0, 40)} is ${expected.source.slice(1, 4)}`, async () => {
			assert.match(await tags().said(url), expected)
		})
	}

	test('a new record has its Location, by which it is read, changed and deleted alone', async () => {
		const { ask, said } = tags()
		for (const [tag, segment] of [
			['a/b', 'a%2Fb'],
			['x,y', 'x%2Cy'],
			['%2C', '%252C'],
			['..', '..'],
			['ž', '%C5%BE'],
		] as const) {
			const made = await ask('POST /tags', { body: { article: 7, tag, note: 'new' } })
			assert.equal([made.status, made.headers.location], [201, `/tags/7,${segment}`])
			const url = String(made.headers.location)
			assert.match(await said(url), /^200 .*"note":"new"/)
			const { etag = '' } = made.headers
			const changed = await ask(`PATCH ${url}`, { body: { note: 'changed' }, headers: { 'If-Match': etag } })
			assert.is(changed.status, 200)
			assert.is((await ask(`DELETE ${url}`, { headers: { 'If-Match': String(etag) } })).status, 412)
			assert.is((await ask(`DELETE ${url}`)).status, 200)
			assert.match(await said(url), /^404 /)
		}
		const rest = await ask('GET /tags?fields=note&count=exact')
		assert.is(pageOf(rest).meta.total, 5)
		assert.not.ok(rest.text().includes('changed'))
	})

	test('a body may repeat the key of its URL, and no other', async () => {
		const { said } = tags()
		assert.match(await said('PUT /tags/8,herb', { body: { article: 8, tag: 'herb', note: 'put' } }), /^200 /)
		const other = await said('PATCH /tags/8,herb', { body: { article: 7, note: 'x' } })
		assert.match(other, /^422 .*"field":"article".*must be the id in the URL/)
		assert.match(await said('PATCH /tags/8,herb', { body: { tag: 'tree' } }), /^422 .*"field":"tag"/)
	})

	test('each part of the key is required of a new record, and If-None-Match: * is of the whole key', async () => {
		const { said } = tags()
		assert.match(await said('POST /tags', { body: { article: 1 } }), /^422 .*"field":"tag".*is required/)
		assert.match(await said('POST /tags', { body: { tag: 'x' } }), /^422 .*"field":"article".*is required/)
		assert.match(await said('POST /tags', { body: { article: 7, tag: 'herb' } }), /^409 /)
		const headers = { 'If-None-Match': '*' }
		assert.match(await said('POST /tags', { body: { article: 7, tag: 'herb' }, headers }), /^412 /)
		assert.match(await said('POST /tags', { body: { article: 9, tag: 'herb' }, headers }), /^201 /)
	})

	test('pages end in the whole key, whatever part of it the list is sorted by', async () => {
		for (const sort of ['', 'tag', '-tag', '-article', '-article,tag', 'note', 'tag,article']) {
			const { ask } = tags()
			const seen: string[] = []
			let url: string | undefined = `/tags?limit=2${sort === '' ? '' : `&sort=${sort}`}`
			while (url !== undefined) {
				const page = await ask(`GET ${url}`)
				assert.is(page.status, 200)
				for (const { article, tag } of pageOf(page).data) seen.push(`${article},${tag}`)
				url = /<([^>]*)>/.exec(String(page.headers.link ?? ''))?.[1]
			}
			assert.is(new Set(seen).size, 5, sort)
			const all = await ask(`GET /tags${sort === '' ? '' : `?sort=${sort}`}`)
			assert.equal(
				seen,
				pageOf(all).data.map(({ article, tag }) => `${article},${tag}`),
			)
		}
	})

	test('where a part of the key is hidden, a cursor has no values of it', async () => {
		const { ask } = tags({ visible: ['tag', 'note'] })
		const first = await ask('GET /tags?limit=2')
		const cursor = Buffer.from(String(pageOf(first).meta.next), 'base64url').toString()
		assert.match(cursor, /^\["[^"]*",\{"offset":2\}\]$/)
		const second = await ask(`GET /tags?limit=9&cursor=${pageOf(first).meta.next}`)
		assert.is(pageOf(first).data.length + pageOf(second).data.length, 5)
	})

	test('lists name all parts of the key that are missing or wrong', async () => {
		const { said } = tags({ allow: ['updateMany'] })
		const body = [{ note: 'n' }, { article: [], note: 'n' }]
		assert.match(
			await said('PATCH /tags', { body }),
			/^422 .*"0.article is required; 0.tag is required; 1.article must be a valid id; and 1 more"/,
		)
	})

	test('lists name records by the part of the key that the scope leaves', async () => {
		const options: CrudOptions = { ...OPTIONS, allow: ['updateMany', 'removeMany'] }
		const seen: unknown[] = []
		class Noting extends Mine {
			override async updateMany(records: readonly CrudValues[]) {
				seen.push(...records)
				return super.updateMany(records)
			}
		}
		for (const visible of ['all', ['tag', 'note']] as const)
			for (const Handler of [Mine, Noting]) {
				const { said } = asking({ tags: new Handler(tagModel(), { ...options, visible }) })
				const headers = { article: '7' }
				const body = [{ tag: 'tree', note: 'new' }]
				assert.match(await said('PATCH /tags', { headers, body }), /^200 .*"tag":"tree","note":"new"/)
				assert.match(await said('PATCH /tags', { headers, body: [{ tag: 'b' }] }), /^404 .*"field":"0"/)
				const foreign = [{ article: 8, tag: 'herb', note: 'mine?' }]
				const status = visible === 'all' ? /^404 / : /^422 .*"field":"0.article","code":"unknown"/
				assert.match(await said('PATCH /tags', { headers, body: foreign }), status)
				const ids = visible === 'all' ? '"7,herb","7,tree"' : '"herb","tree"'
				assert.is(
					await said('DELETE /tags?note[null]=false', { headers }),
					`200 {"success":true,"data":[${ids}]}`,
				)
			}
		assert.equal(seen[0], { article: '7', tag: 'tree', note: 'new' })
		const { said } = asking({ tags: new Mine(tagModel(), { ...options, visible: ['tag', 'note'] }) })
		assert.match(await said('PATCH /tags', { body: [{ tag: 'tree' }] }), /^403 /)
		assert.match(await said('DELETE /tags?tag=tree'), /^403 /)
		assert.match(
			messageOf(() => new CrudHandler(tagModel(), { ...options, visible: ['tag'] })),
			'CrudHandler of article_tag: allow has updateMany, but visible lacks article, of the key',
		)
	})

	test('a deleted record is restored by its own route, and by a custom one', async () => {
		const model = new MemoryModel('seat', {
			key: ['room', 'seat'],
			fields: { room: 'text', seat: 'text', gone: { type: 'timestamp', nullable: true } },
			rows: [
				{ room: 'a,b', seat: 'restore' },
				{ room: 'a', seat: 'x' },
			],
		})
		class Seats extends CrudHandler {
			override customRoutes = { 'POST back/%s': 'restore' }
		}
		const options: CrudOptions = { visible: 'all', allow: ['list', 'remove', 'restore'], softDelete: 'gone' }
		const asked = asking({ seat: new Seats(model, options) })
		for (const id of ['a%2Cb,restore', 'a,x'])
			for (const route of [`${id}/restore`, `${id}/restore/`, `back/${id}`]) {
				assert.is((await asked.ask(`DELETE /seat/${id}`)).status, 200)
				assert.is((await asked.ask(`POST /seat/${route}`)).status, 200, route)
			}
	})

	test('a custom route has the id where its pattern has it', async () => {
		class Routed extends CrudHandler {
			override customRoutes = { 'GET %s/full/text': 'read' }
		}
		const { said } = asking({ tags: new Routed(tagModel(), OPTIONS) })
		assert.match(await said('/tags/8,a%2Cb/full/text'), /^200 .*a comma/)
	})

	test('methods of the program take an id as it is in the URL, or its values', async () => {
		class Own extends CrudHandler {
			async get_one() {
				return this.read('8,a%2Cb')
			}
			// Params are decoded.
			async get_of(article: string, tag: string) {
				return this.read([article, tag])
			}
		}
		const { said } = asking({ tags: new Own(tagModel(), OPTIONS) })
		for (const url of ['/tags/one', '/tags/of/8/a%2Cb']) assert.match(await said(url), /^200 .*a comma/)
		assert.match(await said('/tags/of/8/a%252Cb'), /^404 /)
	})
})

describe('crud: a scope that fixes a part of the key', (test) => {
	const headers = { article: '8' }
	test('leaves it out of URLs', async () => {
		const { said, ask } = mine()
		assert.match(await said('/tags/herb', { headers }), /^200 .*eight herb/)
		assert.match(await said('/tags/a%2Cb', { headers }), /^200 .*a comma/)
		assert.match(await said('/tags/tree', { headers }), /^404 /)
		assert.match(await said('/tags/8,herb', { headers }), /^200 .*eight herb/)
		assert.match(await said('/tags/7,herb', { headers }), /^404 /)
		assert.match(await said('/tags/herb'), /^404 /)
		assert.match(await said('/tags/7,herb'), /^200 .*seven herb/)
		const made = await ask('POST /tags', { body: { tag: 'new,one' }, headers })
		assert.equal([made.status, made.headers.location], [201, '/tags/new%2Cone'])
		assert.match(made.text(), /"article":8,/)
		assert.match(await said('PATCH /tags/new%2Cone', { body: { note: 'n' }, headers }), /^200 .*"note":"n"/)
		assert.match(await said('DELETE /tags/new%2Cone', { headers }), /^200 /)
		assert.match(await said('/tags/8,new%2Cone'), /^404 /)
	})

	test('a conflict does not name what it fixes', async () => {
		const { ask } = asking({ tags: new Mine(tagModel(), { ...OPTIONS, visible: ['tag', 'note'] }) })
		const { status, json } = await ask('POST /tags', { body: { tag: 'herb' }, headers })
		const details = [{ field: 'tag', code: 'unique', message: 'is taken by another record' }]
		const error = 'tag is taken by another record'
		assert.equal([status, json()], [409, { success: false, error, code: 'conflict', details }])
	})

	test('its whole key stays in the URL if the rest can be no segment', async () => {
		for (const tag of ['.', '..', '']) {
			const { ask, said } = asking({ tags: new Mine(tagModel(), OPTIONS) })
			const made = await ask('POST /tags', { body: { tag, note: 'dots' }, headers: { article: '9' } })
			assert.equal([made.status, made.headers.location], [201, `/tags/9,${tag}`])
			assert.match(await said(`/tags/9,${tag}`, { headers: { article: '9' } }), /^200 .*"note":"dots"/)
		}
	})

	test('Location is complete where read has another scope', async () => {
		class Creating extends CrudHandler {
			override scope(operation: string) {
				if (operation === 'create') return { article: 8 }
				if (this.request.headers.blind !== undefined) throw new RestError('forbidden')
				return {}
			}
		}
		const { ask, said } = asking({ tags: new Creating(tagModel(), OPTIONS) })
		for (const blind of [{}, { blind: '1' }]) {
			const tag = `new${Object.keys(blind)}`
			const made = await ask('POST /tags', { body: { tag }, headers: blind })
			assert.equal([made.status, made.headers.location], [201, `/tags/8,${tag}`])
			assert.match(await said(`/tags/8,${tag}`), /^200 /)
		}
	})

	test('an override gets a whole id in canonical form', async () => {
		const ids: string[] = []
		class Watching extends Mine {
			override async read(id: string) {
				ids.push(id)
				return super.read(id)
			}
		}
		const { said } = asking({ tags: new Watching(tagModel(), OPTIONS) })
		await said('/tags/8,%61%2cb', { headers })
		await said('/tags/%61%2Cb', { headers })
		assert.equal(ids, ['8,a%2Cb', '%61%2Cb'])
	})

	test('its whole key stays in the URL if the scope fixes all of it', async () => {
		class One extends CrudHandler {
			override scope() {
				return { article: 8, tag: 'herb' }
			}
		}
		const { said } = asking({ tags: new One(tagModel(), OPTIONS) })
		assert.match(await said('/tags/8,herb'), /^200 .*eight herb/)
		assert.match(await said('/tags/7,herb'), /^404 /)
	})
})

describe('crud: records without a key', (test) => {
	const log = () =>
		new MemoryModel('log', {
			fields: { line: 'text', level: 'integer' },
			key: [],
			rows: Array.from({ length: 7 }, (_, at) => ({ line: `line ${at}`, level: at % 2 })),
		})

	test('are listed in their order, or by what is sorted by, by offset', async () => {
		const { ask } = asking({ log: new CrudHandler(log(), { visible: 'all' }) })
		for (const [query, expected] of [
			['limit=3', '0123456'],
			['limit=3&sort=-level', '1350246'],
			['limit=3&level=0&count=exact', '0246'],
		] as const) {
			let [seen, url]: [string, string | undefined] = ['', `/log?${query}`]
			while (url !== undefined) {
				const page = await ask(`GET ${url}`)
				seen += pageOf(page)
					.data.map(({ line }) => line.at(-1))
					.join('')
				url = /<([^>]*)>/.exec(String(page.headers.link ?? ''))?.[1]
			}
			assert.is(seen, expected, query)
		}
	})

	test('have no other operation', async () => {
		const { said } = asking({ log: new CrudHandler(log(), { visible: 'all' }) })
		assert.match(await said('/log/1'), /^404 /)
		assert.match(
			messageOf(() => new CrudHandler(log(), { visible: 'all', allow: ['list', 'read'] })),
			"CrudHandler of log: allow: log has no key, so its records can only be listed, and read can't be allowed: open it with { key: […] }",
		)
	})
})
