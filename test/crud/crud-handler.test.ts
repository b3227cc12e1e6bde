import * as assert from 'uvu/assert'
import { CrudHandler, CrudPage, type CrudQuery, MemoryModel, RawJson, reply } from '../../lib/index.ts'
import { asking, messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { articleModel, articles, dataOf, EVERYTHING, idsOf, OPTIONS, refusalOf } from './articles.ts'

describe('crud/crud-handler: methods', (test) => {
	const allows: [readonly (typeof EVERYTHING)[number][], string, string][] = [
		[['list', 'read'], 'GET, HEAD, QUERY, OPTIONS', 'GET, HEAD, OPTIONS'],
		[['list', 'create'], 'GET, HEAD, POST, QUERY, OPTIONS', ''],
		[['update'], '', 'POST, PATCH, OPTIONS'],
		[['replace', 'remove'], '', 'PUT, DELETE, OPTIONS'],
		[EVERYTHING, 'GET, HEAD, POST, QUERY, OPTIONS', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
	]
	for (const [allow, collection, record] of allows) {
		test(`allow ${allow} answers ${collection || 'nothing'} on / and ${record || 'nothing'} on /<id>`, async () => {
			const asked = articles(new CrudHandler(articleModel(), { ...OPTIONS, allow }))
			for (const [path, expected] of [
				['/article', collection],
				['/article/1', record],
			] as const) {
				const options = await asked.ask(`OPTIONS ${path}`)
				assert.is(options.status, expected === '' ? 404 : 204)
				assert.is(options.headers.allow ?? '', expected)
				for (const method of ['GET', 'HEAD', 'QUERY', 'POST', 'PUT', 'PATCH', 'DELETE']) {
					const { status, headers } = await asked.ask(`${method} ${path}`, {
						body:
							method === 'GET' || method === 'HEAD'
								? undefined
								: method === 'QUERY'
									? {}
									: { title: `${method} ${path.length}` },
					})
					const isAllowed = expected.split(', ').includes(method)
					assert.is(status < 400, isAllowed, `${method} ${path}: ${status}`)
					if (!isAllowed && expected !== '') assert.is(`${status} ${headers.allow}`, `405 ${expected}`)
				}
			}
		})
	}

	test('allow is list and read by default', async () => {
		const asked = articles(new CrudHandler(articleModel(), { visible: ['id'] }))
		assert.is((await asked.ask('POST /article', { body: {} })).status, 405)
		assert.is((await asked.ask('/article/1')).status, 200)
	})

	test('a path with more segments is 404', async () => {
		assert.is((await articles().ask('/article/1/2')).status, 404)
		assert.is((await articles().ask('DELETE /article/1/2')).status, 404)
	})

	test('access names the operations', async () => {
		class Guarded extends CrudHandler {
			override access = { create: 'user', '*': 'anyone' }
		}
		const authenticator = { authenticate: () => null }
		const asked = articles(new Guarded(articleModel(), OPTIONS), { authenticator })
		assert.is((await asked.ask('POST /article', { body: { title: 'N' } })).status, 401)
		assert.is((await asked.ask('QUERY /article')).status, 200)
		assert.is((await asked.ask('PATCH /article/1', { body: {} })).status, 200)
	})

	test('access declared for an operation that is not allowed is refused', () => {
		class Guarded extends CrudHandler {
			override access = { remove: 'anyone' }
		}
		const handler = new Guarded(articleModel(), { ...OPTIONS, allow: ['read'] })
		assert.match(
			messageOf(() => articles(handler)),
			/Guarded.access\["remove"\] names no route/,
		)
	})

	test('it can be mounted next to a handler at a shorter path', async () => {
		const asked = asking({
			blog: new CrudHandler(articleModel(), OPTIONS),
			'blog/article': new CrudHandler(articleModel(), OPTIONS),
		})
		assert.is((await asked.ask('/blog/article/1')).status, 200)
		assert.is(
			(await asked.ask('POST /blog/article', { body: { title: 'N' } })).headers.location,
			'/blog/article/6',
		)
	})

	test('wrap = false sends the bare value, and meta in headers only', async () => {
		class Bare extends CrudHandler {
			override wrap = false
		}
		const asked = articles(new Bare(articleModel(), OPTIONS))
		const page = await asked.ask('/article?limit=1&fields=id&count=exact')
		assert.is(page.text(), '[{"id":1}]')
		assert.match(
			String(page.headers.link),
			/^<\/article\?limit=1&fields=id&count=exact&cursor=[\w-]+>; rel="next"$/,
		)
		assert.is(page.headers['x-total-count'], '5')
		assert.is((await asked.ask('/article/1?fields=id')).text(), '{"id":1}')
	})

	test('an id may contain anything that a segment can', async () => {
		const names = ["a'b", '"; --', 'a/b', 'ünï', '%', '..x', '😀', 'null', '__proto__', 'constructor']
		const model = new MemoryModel('t', {
			key: 'name',
			fields: { name: 'text' },
			rows: names.map((name) => ({ name })),
		})
		const asked = asking({ t: new CrudHandler(model, { visible: 'all' }) })
		for (const name of names) assert.equal(await dataOf(asked, `/t/${encodeURIComponent(name)}`), { name })
	})
})

describe('crud/crud-handler: names', (test) => {
	const model = () =>
		new MemoryModel('t', {
			key: 'the_id',
			fields: { the_id: 'integer', created_at: 'integer', _v2: { type: 'text', nullable: true } },
			rows: [{ created_at: 5 }, { created_at: 4 }],
		})

	test("columns: 'camelCase' renames fields in requests and responses", async () => {
		const handler = new CrudHandler(model(), {
			columns: 'camelCase',
			visible: ['createdAt', 'theId'],
			updatable: ['createdAt'],
			allow: EVERYTHING,
		})
		const asked = asking({ t: handler })
		assert.is(
			await asked.said('/t?sort=createdAt&createdAt[gt]=1&fields=theId'),
			'200 {"success":true,"data":[{"theId":2},{"theId":1}],"meta":{"limit":25,"offset":0,"next":null}}',
		)
		assert.is(
			await asked.said('PATCH /t/1', { body: { createdAt: 9 } }),
			'200 {"success":true,"data":{"createdAt":9,"theId":1}}',
		)
		assert.is(
			await refusalOf(asked, 'PATCH /t/1', { body: { created_at: 9 } }),
			'422 created_at is not a field that can be written',
		)
		assert.is(
			await refusalOf(asked, 'PATCH /t/1', { body: { theId: 9 } }),
			'422 theId must be the id in the URL',
		)
		assert.match(await refusalOf(asked, '/t?created_at=9'), /^400 created_at is not a parameter/)
	})

	test('columns may rename only some fields', async () => {
		const handler = new CrudHandler(model(), { columns: { id: 'the_id' }, visible: 'all' })
		assert.is(
			await asking({ t: handler }).said('/t/1'),
			'200 {"success":true,"data":{"id":1,"created_at":5,"_v2":null}}',
		)
	})
})

describe('crud/crud-handler: subclasses', (test) => {
	test('super returns JSON text that can be parsed', async () => {
		class Watching extends CrudHandler {
			override async list(query: CrudQuery) {
				const page = await super.list({ ...query, limit: 1 })
				assert.instance(page, CrudPage)
				assert.is(page.text.startsWith('[{"id":1,'), true)
				return page.with((page.value() as { id: number }[]).map(({ id }) => ({ id, seen: true })))
			}

			override async read(id: string) {
				const record = await super.read(id)
				assert.instance(record, RawJson)
				return { ...(record.value() as object), by: this.request.method }
			}

			override async create(values: Record<string, unknown>) {
				const record = await super.create({ ...values, owner: 'ann' })
				return { ...(record.value() as object), made: true }
			}

			override update(id: string, values: Record<string, unknown>) {
				return super.update(id, { ...values, published: new Date(0) })
			}

			override async remove(id: string) {
				return super.update(id, { state: 'draft' })
			}
		}
		const asked = articles(new Watching(articleModel(), OPTIONS))
		assert.match(
			await asked.said('/article'),
			/"data":\[{"id":1,"seen":true}\],"meta":{"limit":1,"offset":0,"next":"/,
		)
		assert.match(await asked.said('/article/1'), /"published":"2026-11-01T10:00:00.000Z","by":"GET"}/)
		const made = await asked.ask('POST /article', { body: { title: 'N' } })
		assert.is(made.status, 201)
		assert.is(made.headers.location, '/article/6')
		assert.match(made.text(), /"made":true/)
		assert.match(await asked.said('PATCH /article/1', { body: {} }), /"published":"1970-01-01T00:00:00.000Z"/)
		assert.match(await asked.said('DELETE /article/4'), /"id":4.*"state":"draft"/)
		assert.is((await asked.ask('/article/4')).status, 200)
		assert.is((await asked.ask('/article/99')).status, 404)
		assert.is((await asked.ask('/article/x')).status, 404)
	})

	test('an override that changes the list keeps the meta of the page', async () => {
		class Counted extends CrudHandler {
			override async list(query: CrudQuery) {
				const page = await super.list(query)
				return page.value() as unknown[]
			}
		}
		const reply = await articles(new Counted(articleModel(), OPTIONS)).ask('/article?limit=2')
		assert.match(reply.text(), /"meta":{"limit":2,"offset":0,"next":"/)
		assert.match(String(reply.headers.link), /rel="next"/)
	})

	test('an override may return nothing, an error, or a reply of its own', async () => {
		class Odd extends CrudHandler {
			override read(id: string) {
				if (id === '1') return undefined
				return id === '2' ? this.error('Not this one', 403) : reply({ own: true }, { status: 203 })
			}

			override remove() {}

			override async create() {
				return reply('later', { status: 202 })
			}
		}
		const asked = articles(new Odd(articleModel(), OPTIONS))
		assert.is((await asked.ask('/article/1')).status, 404)
		assert.is(await refusalOf(asked, '/article/2'), '403 Not this one')
		assert.is(await asked.said('/article/3'), '203 {"success":true,"data":{"own":true}}')
		assert.is(await asked.said('DELETE /article/1'), '200 {"success":true,"data":null}')
		assert.is(
			await asked.said('POST /article', { body: { title: 'N' } }),
			'202 {"success":true,"data":"later"}',
		)
	})

	test('names and types of values passed by an override are checked', async () => {
		for (const [extra, message] of [
			[{ ownr: 'x' }, 'Wrong.create() was given ownr, which is not a field: did you mean owner?'],
			[{ owner: undefined }, 'owner, given to Wrong.create(), is undefined: give a value, or null'],
			[
				{ rating: 'x' },
				'rating, given to Wrong.create(), is of type float, which this value (string) is not',
			],
		] as const) {
			class Wrong extends CrudHandler {
				override create(values: Record<string, unknown>) {
					return super.create({ ...values, ...extra })
				}
			}
			const asked = articles(new Wrong(articleModel(), OPTIONS))
			assert.is((await asked.ask('POST /article', { body: { title: 'N' } })).status, 500)
			assert.is(asked.logged(), message)
		}
	})

	test('stripObject receives an object on every path', async () => {
		class Stripping extends CrudHandler {
			override stripObject(record: Record<string, unknown>) {
				return { id: record.id, titled: record.title }
			}
		}
		const asked = articles(new Stripping(articleModel(), { ...OPTIONS, version: 'revision' }))
		const one = { id: 1, titled: 'Title 1' }
		const list = await asked.ask('/article?limit=1')
		assert.match(list.text(), /"data":\[{"id":1,"titled":"Title 1"}\],"meta":{"limit":1/)
		assert.equal(await dataOf(asked, 'QUERY /article', { body: { limit: 1 } }), [one])
		assert.equal(await dataOf(asked, '/article/1'), one)
		assert.is((await asked.ask('/article/1')).headers.etag, '"1"')
		assert.equal(await dataOf(asked, 'POST /article', { body: { title: 'N' } }), { id: 6, titled: 'N' })
		for (const method of ['POST', 'PATCH', 'PUT'])
			assert.equal(await dataOf(asked, `${method} /article/1`, { body: { title: 'Title 1' } }), one)
		assert.equal(await dataOf(asked, 'DELETE /article/1'), one)
	})

	test('stripObject also receives what an override returns with reply()', async () => {
		class Replying extends CrudHandler {
			override async read(id: string) {
				return reply(await super.read(id), { status: 203 })
			}
			override stripObject(record: Record<string, unknown>) {
				return { id: record.id }
			}
		}
		const answer = await articles(new Replying(articleModel(), OPTIONS)).ask('/article/1')
		assert.equal([answer.status, answer.text()], [203, '{"success":true,"data":{"id":1}}'])
	})

	test('the Link of a QUERY can be followed with the same body, even one with an offset', async () => {
		const asked = articles(new CrudHandler(articleModel(), OPTIONS))
		const body = { limit: 1, offset: 1, fields: 'id' }
		const first = await asked.ask('QUERY /article', { body })
		const [, url = ''] = /<(.*)>/.exec(String(first.headers.link)) ?? []
		const second = await asked.ask(`QUERY ${url}`, { body })
		assert.equal((second.json() as { data: unknown }).data, [{ id: 3 }])
	})

	test('the same on a handler with relations, whose URL is looked at before the body is read', async () => {
		const handler: CrudHandler = new CrudHandler(articleModel(), {
			...OPTIONS,
			relations: { same: { to: () => handler, by: 'id', many: true, limit: 500 } },
		})
		const asked = articles(handler)
		const body = { limit: 1, sort: '-id', id: { gt: 0 } }
		const first = await asked.ask('QUERY /article?include=same', { body })
		assert.is(first.status, 200, first.text())
		const [, url = ''] = /<(.*)>/.exec(String(first.headers.link)) ?? []
		const second = await asked.ask(`QUERY ${url}`, { body })
		assert.equal(
			(second.json() as { data: { id: number }[] }).data.map(({ id }) => id),
			[4],
		)
		// What the URL alone says is wrong is still refused before the body is read.
		assert.match(await asked.said('QUERY /article?include=other', { body: 'no JSON' }), /^400 .*include/)
		assert.match(await asked.said(`QUERY ${url.replace('cursor=', 'cursor=x')}`, { body }), /^400 .*cursor/)
	})

	test('a promise returned by stripObject is an error', async () => {
		class Late extends CrudHandler {
			override async stripObject(record: Record<string, unknown>) {
				return record
			}
		}
		const asked = articles(new Late(articleModel(), OPTIONS))
		assert.is((await asked.ask('/article/1')).status, 500)
		assert.is(asked.logged(), 'Late.stripObject() must return a value, not a promise')
	})

	test('the default stripObject removes the hidden fields of a whole record', async () => {
		class Reporting extends CrudHandler {
			get_report() {
				return this.stripObject({ secret: 'MARKER', title: 'T', nosuch: 1, id: 5 })
			}
		}
		assert.is(
			await articles(new Reporting(articleModel(), OPTIONS)).said('/article/report'),
			'200 {"success":true,"data":{"id":5,"title":"T"}}',
		)
	})

	test('further methods are routes, and take precedence over an id of that name', async () => {
		class More extends CrudHandler {
			override customRoutes = { 'GET newest/%d': 'newest', 'GET first': 'read_first', 'GET by/%d': 'read' }

			async get_count() {
				return { count: await this.model.count(undefined) }
			}

			newest(count: number) {
				return this.list({ ...this.newestFirst(), limit: count })
			}

			read_first() {
				return this.read('1')
			}

			private newestFirst(): CrudQuery {
				const selection = { fields: ['id'], names: ['id'], version: undefined }
				const order = [{ field: 'id', descending: true }]
				return {
					selection,
					order,
					where: undefined,
					limit: 1,
					offset: 0,
					after: undefined,
					total: false,
					stamp: '',
				}
			}
		}
		const asked = articles(new More(articleModel(), OPTIONS))
		assert.equal(await dataOf(asked, '/article/count'), { count: 5 })
		assert.is((await asked.ask('DELETE /article/count')).status, 405)
		assert.equal(await dataOf(asked, '/article/newest/2'), [{ id: 5 }, { id: 4 }])
		assert.equal(await dataOf(asked, '/article/first'), await dataOf(asked, '/article/1'))
		assert.equal(await dataOf(asked, '/article/by/2'), await dataOf(asked, '/article/2'))
		assert.is((await asked.ask('/article/by/99')).status, 404)
		for (const method of ['PATCH', 'PUT', 'DELETE', 'POST']) {
			const refused = await asked.ask(`${method} /article/first`, { body: { title: 'N' } })
			assert.equal([refused.status, refused.headers.allow], [405, 'GET, HEAD, OPTIONS'], method)
		}
	})

	test('a custom route cannot reach an operation that is not allowed', () => {
		class Sly extends CrudHandler {
			override customRoutes = { 'GET kill/%s': 'remove' }
		}
		const handler = new Sly(articleModel(), { visible: 'all' })
		assert.is(
			messageOf(() => articles(handler)),
			'Sly.customRoutes["GET kill/%s"] leads to remove, which isn\'t in allow',
		)
	})

	test('a method on the same route as an operation is refused', () => {
		class Both extends CrudHandler {
			get__default() {}
		}
		const handler = new Both(articleModel(), OPTIONS)
		assert.match(
			messageOf(() => articles(handler)),
			/^Both\.get__default would serve the same requests as list: override list\(\)/,
		)
	})

	test('an operation defined as a field is refused', () => {
		class Held extends CrudHandler {
			override scope = () => ({ owner: 'ann' })
		}
		const handler = new Held(articleModel(), OPTIONS)
		assert.match(
			messageOf(() => articles(handler)),
			/^Held\.scope is a field, whose `this` would be the shared handler/,
		)
	})

	test('a factory creates a handler for every request', async () => {
		const model = articleModel()
		class Named extends CrudHandler {
			readonly #name = 'private'
			get_name() {
				return this.#name
			}
		}
		const asked = asking({ article: () => new Named(model, { ...OPTIONS, version: 'revision' }) })
		assert.equal(await dataOf(asked, '/article/name'), 'private')
		assert.equal(await dataOf(asked, 'PATCH /article/1?fields=title', { body: { title: 'N' } }), {
			title: 'N',
		})
		assert.equal(await idsOf(asked, '/article?limit=2'), [1, 2])
	})

	test('one instance can be mounted at several paths', async () => {
		const handler = new CrudHandler(articleModel(), OPTIONS)
		const asked = asking({ a: handler, 'b/c': handler })
		assert.is((await asked.ask('POST /b/c', { body: { title: 'N' } })).headers.location, '/b/c/6')
		assert.is((await asked.ask('/a/6')).status, 200)
	})

	test('operations can be called on an unmounted handler', async () => {
		const handler = new CrudHandler(articleModel(), OPTIONS)
		assert.is((await handler.read('1')).id, '1')
		assert.is((await handler.list()).meta.limit, 25)
	})
})

describe('crud/crud-handler: over a socket', (test) => {
	test('HEAD, OPTIONS, conditions, links and Location are as with inject()', async () => {
		const handler = new CrudHandler(articleModel(), { ...OPTIONS, version: 'revision' })
		await listening({ article: handler }, {}, async ({ url }) => {
			const head = await fetch(`${url}/article/1`, { method: 'HEAD' })
			const get = await fetch(`${url}/article/1`)
			assert.is(head.headers.get('etag'), '"1"')
			assert.is(head.headers.get('content-length'), get.headers.get('content-length'))
			const known = await fetch(`${url}/article/1`, { headers: { 'If-None-Match': '"1"' } })
			assert.is(known.status, 304)
			assert.is(await known.text(), '')
			const options = await fetch(`${url}/article`, { method: 'OPTIONS' })
			assert.is(options.headers.get('allow'), 'GET, HEAD, POST, QUERY, OPTIONS')
			const page = await fetch(`${url}/article?limit=2`)
			const [, next = ''] = /^<(\/[^>]+)>/.exec(page.headers.get('link') ?? '') ?? []
			const { data } = (await (await fetch(`${url}${next}`)).json()) as { data: { id: number }[] }
			assert.equal(
				data.map(({ id }) => id),
				[3, 4],
			)
			const put = await fetch(`${url}/article/1`, {
				method: 'PUT',
				headers: { 'Content-Type': 'application/json', 'If-Match': '"1"' },
				body: '{"title":"Put"}',
			})
			assert.is(put.headers.get('etag'), '"2"')
			const made = await fetch(`${url}/article/?fields=id`, {
				...{ method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"title":"Made"}' },
			})
			assert.equal([made.status, made.headers.get('location')], [201, '/article/6'])
		})
	})
})
