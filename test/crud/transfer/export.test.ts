/** Exports: what is in them, who gets them, and how they are read page by page. */
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	type CrudOperation,
	type CrudOptions,
	type CrudQuery,
	MemoryModel,
} from '../../../lib/index.ts'
import type { ListQuery } from '../../../lib/models/model.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { articleModel, articles, OPTIONS, refusalOf } from '../articles.ts'

const NDJSON = { accept: 'application/x-ndjson' }
const CSV = { accept: 'text/csv' }
const ALL: CrudOptions = { ...OPTIONS, allow: ['list', 'read', 'export'] }

/** Many records, and the queries that were made. */
class Numbers extends MemoryModel {
	readonly queries: ListQuery[] = []

	constructor(count: number, text = 'x') {
		const rows = Array.from({ length: count }, (_, at) => ({ id: at + 1, rank: at % 7, text }))
		super('number', { key: 'id', fields: { id: 'integer', rank: 'integer', text: 'text' }, rows })
	}

	override async list(query: ListQuery) {
		this.queries.push(query)
		return super.list(query)
	}
}

const numbers = (model: Numbers, options: Partial<CrudOptions> = {}, Class = CrudHandler) =>
	asking({ number: new Class(model, { visible: 'all', allow: ['list', 'export'], ...options }) })

/** The ids in an export of lines of JSON, and its last line. */
function idsIn(text: string): readonly [ids: number[], end: string] {
	const lines = text.trimEnd().split('\n')
	return [lines.slice(0, -1).map((line) => JSON.parse(line).id as number), lines.at(-1) ?? '']
}

describe('crud/transfer: exports', (test) => {
	test('lines of JSON end with their number; Vary and Content-Disposition say what they are', async () => {
		const { ask } = articles(new CrudHandler(articleModel(), ALL))
		const { status, headers, text } = await ask('/article?fields=id,title,body&id[lte]=2', {
			headers: NDJSON,
		})
		assert.is(
			text(),
			'{"id":1,"title":"Title 1","body":"Body of 1"}\n{"id":2,"title":"Title 2","body":"Body of 2"}\n{"done":2}\n',
		)
		assert.is(status, 200)
		assert.is(headers['content-type'], 'application/x-ndjson')
		assert.is(headers['content-disposition'], 'attachment; filename="article.ndjson"')
		assert.is(headers.vary, 'Accept')
	})

	test('CSV has a line of names; null and an empty text differ; formulas get an apostrophe', async () => {
		const fields = { id: 'integer', 'a,b': { type: 'text', nullable: true } } as const
		const texts = [
			'',
			null,
			'=1+1',
			"'=1",
			"it's",
			'-5',
			'a\r\nb',
			'say "x"',
			'; x',
			' y',
			'\t@',
			'é＝',
			'＝1',
		]
		const rows = texts.map((text) => ({ 'a,b': text }))
		const { ask } = asking({
			tätig: new CrudHandler(new MemoryModel('t', { key: 'id', fields, rows }), {
				visible: 'all',
				allow: ['export', 'list'],
			}),
		})
		const { headers, text } = await ask('/t%C3%A4tig?count=exact', { headers: CSV })
		const cells = [`""`, '', "'=1+1", "''=1", "it's", "'-5", '"a\r\nb"', '"say ""x"""', '"; x"', '" y"']
		const more = [`"'\t@"`, 'é＝', "'＝1"]
		assert.is(
			text(),
			['id,"a,b"', ...[...cells, ...more].map((cell, at) => `${at + 1},${cell}`), ''].join('\r\n'),
		)
		assert.is(headers['content-type'], 'text/csv; charset=utf-8; header=present')
		assert.is(
			headers['content-disposition'],
			`attachment; filename="t_tig.csv"; filename*=UTF-8''t%C3%A4tig.csv`,
		)
		assert.is(headers['x-total-count'], String(texts.length))
	})

	test('numbers of number columns stay numbers, with all their digits', async () => {
		const model = new MemoryModel('t', {
			key: 'id',
			fields: {
				id: 'integer',
				big: 'bigint',
				price: 'decimal',
				ratio: 'float',
				done: 'boolean',
				extra: 'json',
			},
			rows: [
				{ big: -9007199254740993n, price: '-12.50', ratio: -Infinity, done: true, extra: -5 },
				{ big: 1n, price: '0.00', ratio: -1e-7, done: false, extra: '=1' },
			],
		})
		const { ask } = asking({ t: new CrudHandler(model, { visible: 'all', allow: ['export'] }) })
		assert.is(
			(await ask('/t', { headers: CSV })).text(),
			'id,big,price,ratio,done,extra\r\n1,-9007199254740993,-12.50,-Infinity,true,-5\r\n2,1,0.00,-1e-7,false,"""=1"""\r\n',
		)
		// Nothing but exports is allowed, so that every request is for one.
		assert.match((await ask('/t?limit=1')).text(), /^\{"id":1,"big":-9007199254740993,.*\}\n\{"done":1\}\n$/)
	})

	for (const [accept, expected] of [
		['text/csv', 'csv'],
		['text/csv, */*;q=0.1', 'csv'],
		['text/csv, */*', 'csv'],
		['application/json, text/csv', 'json'],
		['application/json;q=0.5, text/csv', 'csv'],
		['text/csv;q=0', 'json'],
		['text/csv;q=0.2, application/*', 'json'],
		['text/csv;q=0.5, Application/X-NDJSON', 'ndjson'],
		['application/jsonl', 'ndjson'],
		['*/*', 'json'],
		['text/*', 'json'],
	] as const)
		test(`Accept: ${accept} is answered with ${expected}`, async () => {
			const { ask } = articles(new CrudHandler(articleModel(), ALL))
			const { headers } = await ask('/article', { headers: { accept } })
			const types = { csv: 'text/csv', ndjson: 'application/x-ndjson', json: 'application/json' }
			assert.ok(String(headers['content-type']).startsWith(types[expected]), String(headers['content-type']))
		})

	test('where it is not allowed, a list stays a list', async () => {
		const { ask } = articles(new CrudHandler(articleModel(), { ...OPTIONS, allow: ['list'] }))
		const { headers } = await ask('/article', { headers: CSV })
		assert.is(headers['content-type'], 'application/json; charset=utf-8')
		assert.is(headers.vary, undefined)
	})

	test('all that fit come, in order, each page after the last record of the one before', async () => {
		const model = new Numbers(2_345)
		const { said } = numbers(model)
		const [ids, end] = idsIn((await said('/number?sort=-rank&id[gt]=5', { headers: NDJSON })).slice(4))
		const expected = Array.from({ length: 2_340 }, (_, at) => at + 6)
		expected.sort((a, b) => ((b - 1) % 7) - ((a - 1) % 7) || b - a)
		assert.equal(ids, expected)
		assert.is(end, '{"done":2340}')
		assert.ok(model.queries.length > 3)
		for (const [at, { offset, after, total }] of model.queries.entries())
			assert.equal([offset, after?.length, total], [0, at === 0 ? undefined : 2, false])
	})

	test('a hidden key pages, too, and is not shown', async () => {
		const model = new Numbers(1_000)
		const { said } = numbers(model, { visible: ['rank'] })
		const text = await said('/number?sort=rank', { headers: CSV })
		assert.is(text.trim().split('\r\n').length, 1_001)
		assert.ok(model.queries.every(({ offset }) => offset === 0))
		assert.not.match(text, 'id')
	})

	test('limit is the number of records in all; 0 gives none', async () => {
		const model = new Numbers(1_000)
		const { said } = numbers(model, { maxLimit: 30 })
		const [ids] = idsIn((await said('/number?limit=345', { headers: NDJSON })).slice(4))
		assert.is(ids.length, 345)
		assert.is(await said('/number?limit=0', { headers: NDJSON }), '200 {"done":0}\n')
		assert.is(await said('/number?limit=0', { headers: CSV }), '200 id,rank,text\r\n')
	})

	test('pages grow and shrink with what records take; a larger page than allowed is read in parts', async () => {
		const model = new Numbers(300, 'x'.repeat(2_000))
		const { said } = numbers(model, { maxPageBytes: 50_000, limit: 5 })
		const [ids] = idsIn((await said('/number', { headers: NDJSON })).slice(4))
		assert.is(ids.length, 300)
		assert.is(model.queries[0]?.limit, 100)
		assert.is(model.queries[1]?.limit, 25)
		assert.is(
			await said('/number?fields=id', { headers: NDJSON }).then((text) => text.includes('{"done":300}')),
			true,
		)
		const { said: tooSmall } = numbers(new Numbers(3, 'x'.repeat(2_000)), { maxPageBytes: 1_000 })
		assert.match(await tooSmall('/number', { headers: NDJSON }), /^400 .*"code":"too_large"/)
	})

	for (const [query, expected] of [
		['cursor=x', /cursor is not a parameter of this export: it takes limit, sort/],
		['offset=1', /offset is not a parameter of this export/],
		['secret=1', /secret is not a parameter of this export/],
		['fields=secret', /fields may only name/],
		['limit=-1', /limit/],
	] as const)
		test(`?${query} is refused in words, before anything is sent`, async () => {
			const asked = articles(new CrudHandler(articleModel(), ALL))
			const said = await refusalOf(asked, `/article?${query}`, { headers: CSV })
			assert.match(said, /^400/)
			assert.match(said, expected)
		})

	test('HEAD has the headers alone; a QUERY asks by its body', async () => {
		const { ask } = articles(new CrudHandler(articleModel(), ALL))
		const head = await ask('HEAD /article', { headers: CSV })
		assert.equal([head.status, head.text()], [200, ''])
		assert.match(String(head.headers['content-disposition']), 'article.csv')
		const body = { filter: { id: { gt: 3 } }, fields: ['id'], limit: 1_000 }
		const query = await ask('QUERY /article', { headers: CSV, body })
		assert.is(query.text(), 'id\r\n4\r\n5\r\n')
	})

	test('hidden fields stay hidden, and scope() limits it as the list', async () => {
		const asked: CrudOperation[] = []
		class Own extends CrudHandler {
			override scope(operation: CrudOperation) {
				asked.push(operation)
				return operation === 'list' ? { owner: 'ann' } : {}
			}
			override fields() {
				return { hidden: ['rating'] }
			}
		}
		const { ask } = articles(new Own(articleModel(), ALL))
		const text = (await ask('/article', { headers: CSV })).text()
		assert.equal(
			text.split('\r\n').map((line) => line.split(',')[0]),
			['id', '1', '3', '5', ''],
		)
		assert.ok(text.startsWith('id,title,body,state,published\r\n'))
		assert.equal([...new Set(asked)], ['list'])
	})

	test('list() and stripObject() of a subclass apply, and what needs() fetches is not sent', async () => {
		class Own extends CrudHandler {
			override async list(query?: Partial<CrudQuery>) {
				this.needs('owner')
				const page = await super.list(query)
				const own = page.needed.map(({ owner }) => owner === 'ann')
				return page.with(page.value<object[]>().filter((_, at) => own[at]))
			}
			override stripObject({ id, title }: Record<string, unknown>) {
				return { id, title: String(title).toUpperCase(), more: 1 }
			}
		}
		const { ask } = articles(new Own(articleModel(), ALL))
		assert.is(
			(await ask('/article?fields=id,title,rating', { headers: CSV })).text(),
			'id,title,rating\r\n1,TITLE 1,\r\n3,TITLE 3,\r\n5,TITLE 5,\r\n',
		)
		assert.match(
			(await ask('/article', { headers: NDJSON })).text(),
			/^\{"id":1,"title":"TITLE 1","more":1\}\n/,
		)
	})

	test('a list() that is its own next page is an error, and not an endless export', async () => {
		class Same extends CrudHandler {
			override list() {
				return super.list({ limit: 3 })
			}
		}
		const { ask } = numbers(new Numbers(10), {}, Same)
		const error = await ask('/number', { headers: NDJSON }).then(
			() => 'none',
			({ message }: Error) => message,
		)
		assert.match(error, /list\(\) has returned the same page twice/)
	})

	test('a plain list of an override is all there is; an error that it records is answered', async () => {
		class Own extends CrudHandler {
			override list(): unknown {
				return this.query.limit === '1' ? this.error('Closed', 403) : [{ id: 7 }, { id: 8 }]
			}
		}
		const handler = new Own(articleModel(), ALL)
		const { said } = articles(handler)
		assert.is(await said('/article', { headers: NDJSON }), '200 {"id":7}\n{"id":8}\n{"done":2}\n')
		assert.match(await said('/article?limit=1', { headers: NDJSON }), /^403 .*Closed/)
	})

	test('deleted records are left out, and exported by ?deleted=only', async () => {
		const { said } = articles(
			new CrudHandler(articleModel(), {
				...{ visible: ['id'], allow: ['list', 'remove', 'restore', 'export'], softDelete: 'published' },
			}),
		)
		assert.is(await said('/article', { headers: NDJSON }), '200 {"id":5}\n{"done":1}\n')
		assert.match(await said('/article?deleted=only', { headers: NDJSON }), /\{"id":4\}\n\{"done":4\}\n$/)
	})

	const access: readonly (readonly [
		Record<string, string | string[]>,
		anyone: number,
		ann: number,
		bob: number,
	])[] = [
		[{}, 200, 200, 200],
		[{ list: 'user' }, 401, 200, 200],
		[{ '*': 'user' }, 401, 200, 200],
		[{ export: 'user' }, 401, 200, 200],
		[{ list: 'user', export: ['write'] }, 401, 200, 403],
		[{ list: ['write'], export: 'anyone' }, 401, 200, 403],
	]
	for (const [rules, ...expected] of access)
		for (const allow of [['list', 'export'], ['export']] as const)
			test(`access ${JSON.stringify(rules)} with ${allow} decides who may export`, async () => {
				// Where there is no list, an export's own rule comes first.
				if (allow.length === 1 && rules.list !== undefined && rules.export !== undefined) return
				class Guarded extends CrudHandler {
					override access = rules
				}
				const { ask } = articles(new Guarded(articleModel(), { ...OPTIONS, allow }), {
					authenticator: {
						authenticate: ({ headers: { user } }) => (user === undefined ? null : { id: String(user) }),
					},
					acl: { allows: ({ id }) => id === 'ann' },
				})
				for (const [at, user] of [{}, { user: 'ann' }, { user: 'bob' }].entries())
					for (const method of ['GET', 'HEAD', 'QUERY']) {
						const { status } = await ask(`${method} /article`, { headers: { ...CSV, ...user } })
						assert.is(status, expected[at], `${method} by ${JSON.stringify(user)}`)
					}
			})
})
