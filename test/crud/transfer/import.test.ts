/** Imports: how lines of JSON and CSV are read, how mistakes are reported, who may import, and that an import is all or nothing. */
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	type CrudOperation,
	type CrudOptions,
	type CrudValues,
	MemoryModel,
	type RateLimits,
	RestError,
	reply,
} from '../../../lib/index.ts'
import { type Asking, asking, messageOf } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { listening, until } from '../../helpers/listening.ts'
import { articleModel, articles, OPTIONS } from '../articles.ts'

const NDJSON = 'application/x-ndjson'
const CSV = 'text/csv'
const ALL: CrudOptions = { ...OPTIONS, allow: ['list', 'create', 'import', 'export'] }

const handler = (options: Partial<CrudOptions> = {}, model = articleModel()) =>
	new CrudHandler(model, { ...ALL, ...options })

/** Posts to `/article/import`: status and body, without the envelope. */
function importing(own: CrudHandler = handler(), asked: Asking = articles(own)) {
	return async (body: string, type = NDJSON, query = '', headers: Record<string, string> = {}) => {
		const more = { headers: { 'content-type': type, ...headers }, body: Buffer.from(body) }
		const { status, text } = await asked.ask(`POST /article/import${query}`, more)
		const { data, error } = JSON.parse(text()) as { data?: unknown; error?: string }
		return `${status} ${error ?? JSON.stringify(data)}`
	}
}

async function titles(asked: Asking): Promise<string[]> {
	const text = (await asked.ask('/article?fields=title', { headers: { accept: CSV } })).text()
	return text.trim().split('\r\n').slice(1)
}

describe('crud/transfer: imports', (test) => {
	test('lines of JSON are stored in their order, with defaults', async () => {
		const asked = articles(handler())
		const post = importing(undefined, asked)
		assert.is(await post('{"title":"a"}\r\n\n{"title":"b","state":"public"}'), '201 {"records":2}')
		const { text } = await asked.ask('/article?id[gt]=5&fields=id,title,state,body')
		assert.match(
			text(),
			'"data":[{"id":6,"title":"a","body":null,"state":"draft"},{"id":7,"title":"b","body":null,"state":"public"}]',
		)
	})

	test('an empty cell is null, or the default where there is no null; a quoted one is an empty text', async () => {
		const asked = articles(handler())
		const csv =
			'\ufefftitle,body,state,rating,id\r\na,,,,1\r\n"b","",public,-2.5,\r\n"\'=c","x ""y""\r\nz",draft,"",'
		assert.is(await importing(undefined, asked)(csv, CSV), '201 {"records":3}')
		const { text } = await asked.ask('/article?id[gt]=5&fields=title,body,state,rating')
		assert.equal(JSON.parse(text()).data, [
			{ title: 'a', body: null, state: 'draft', rating: null },
			{ title: 'b', body: '', state: 'public', rating: -2.5 },
			{ title: '=c', body: 'x "y"\r\nz', state: 'draft', rating: null },
		])
	})

	test('what an export gives is taken back, its last line, too', async () => {
		for (const type of [NDJSON, CSV]) {
			const from = articles(handler())
			const into = articles(handler({}, new MemoryModel('article', { key: 'id', fields: articleFields() })))
			const given = (await from.ask('/article', { headers: { accept: type } })).text()
			assert.is(await importing(undefined, into)(given, type), '201 {"records":5}')
			assert.is((await into.ask('/article', { headers: { accept: type } })).text(), given)
		}
	})

	test('a last line of another number, or not at the end, is a record', async () => {
		const post = importing()
		assert.match(await post('{"title":"a"}\n{"done":2}'), /^422 2\.done is not a field/)
		assert.match(await post('{"done":0}\n{"title":"a"}'), /^422 1\.done is not a field/)
		assert.is(await post('{"done":0}\n'), '201 {"records":0}')
	})

	test('a last line that could also be a record is refused, and never dropped', async () => {
		const counts = (fields: Record<string, 'integer' | 'boolean' | 'text'>) => {
			const model = new MemoryModel('article', { key: 'id', fields: { id: 'integer', ...fields } })
			const options = { visible: 'all', creatable: Object.keys(fields), allow: ['import'] } as const
			const asked = asking({ article: new CrudHandler(model, options) })
			return importing(undefined, asked)
		}
		const post = counts({ done: 'integer' })
		const refused = (line: number) =>
			`422 ${line} may be a record or the end of an export: delete the line, or write a record with a space, as {"done": 1}`
		assert.is(await post('{"done":0}\n'), refused(1))
		assert.is(await post('{"done":5}\n\n{"done":1}\n'), refused(3))
		assert.match(
			await post('{"done":0}', NDJSON, '?mode=check'),
			/^200 \{"records":0,"problems":\[\{"field":"1","code":"ambiguous"/,
		)
		assert.is(await post('{"done":5}\n{ "done":1}\n'), '201 {"records":2}')
		assert.is(await post('{"done":5}\n{"done":7}\n'), '201 {"records":2}')
		// As records, these lines aren't valid.
		assert.is(await counts({ done: 'boolean' })('{"done":true}\n{"done":1}\n'), '201 {"records":1}')
		const named = counts({ done: 'integer', name: 'text' })
		assert.is(await named('{"done":5,"name":"a"}\n{"done":1}\n'), '201 {"records":1}')
	})

	const wrong: readonly (readonly [what: string, type: string, body: string, expected: RegExp])[] = [
		['malformed JSON', NDJSON, '{"title":"a"}\n{"title":', /^422 2 must be JSON$/],
		['an array', NDJSON, '[]', /^422 1 must be an object with named fields$/],
		['a reserved key', NDJSON, '{"title":"a","__proto__":{}}', /^422 1 must be JSON: .*__proto__/],
		['deep JSON', NDJSON, `{"title":${'['.repeat(70)}${']'.repeat(70)}}`, /^422 1 must be JSON: .*nested/],
		['a wrong value', NDJSON, '\n{"title":"a","rating":"x"}', /^422 2\.rating must be a number/],
		['an unknown field', NDJSON, '{"title":"a","owner":"x"}', /^422 1\.owner is not a field that can be/],
		[
			'too few cells',
			CSV,
			'title,body\na',
			/^422 2 must have as many cells as there are columns, 2, and has 1$/,
		],
		['too many cells', CSV, 'title\n\na,b', /^422 2\.title is required; 3 must have as many cells/],
		['an unknown column', CSV, 'title,owner\na,b', /^422 1\.owner is not a field that can be written$/],
		['a column twice', CSV, 'title,title\na,b', /^422 1\.title is the name of another column, too$/],
		[
			'semicolons',
			CSV,
			'title;body\na;b',
			/^422 1 must have the names of the columns, separated by commas, not semicolons$/,
		],
		['no names', CSV, '', /^422 1 must have the names of the columns/],
		['an open quote', CSV, 'title\n"a\nb\n', /^422 2 has a quote that is not closed$/],
		['text behind a quote', CSV, 'title,body\n"a"b,c', /^422 2 has text behind a closing quote$/],
		['a return behind a quote', CSV, 'title,body\n"a"\r,c', /^422 2 has text behind a closing quote$/],
		[
			'a long line',
			NDJSON,
			`{"title":"a"}\n{"title":"${'x'.repeat(1_100_000)}"}`,
			/^422 2 must have at most \d+ char/,
		],
		['a long row', CSV, `title\na\n"${'x'.repeat(1_100_000)}"`, /^422 3 must have at most \d+ characters$/],
		[
			'a long row of quotes',
			CSV,
			`title\n"${'""'.repeat(1_100_000)}"`,
			/^422 2 must have at most \d+ characters$/,
		],
		[
			'many columns',
			CSV,
			`${','.repeat(100_000)}\n`,
			/^422 1\. is not a field that can be written; .* and 97 more$/,
		],
		['a line in three rows', CSV, 'title,rating\n"a\nb",1\nc,x', /^422 4\.rating must be a number/],
		[
			'a taken value',
			NDJSON,
			'{"title":"a"}\n\n{"title":"Title 3"}',
			/^409 3\.title is taken by another record$/,
		],
		['the same twice', CSV, 'title\na\nb\na\n', /^409 4\.title is taken by another record$/],
	]
	for (const [what, type, body, expected] of wrong)
		test(`${what} is reported with its line, and nothing is stored`, async () => {
			const asked = articles(handler())
			assert.match(await importing(undefined, asked)(body, type), expected)
			assert.is((await titles(asked)).length, 5)
		})

	test('a check reports all problems by line, including those that the database finds, and stores nothing', async () => {
		const asked = articles(handler())
		const post = importing(undefined, asked)
		assert.is(await post('title\na\nb', CSV, '?mode=check'), '200 {"records":2,"problems":[]}')
		assert.match(
			await post('title,rating\na,x\n,1\nb,2\nc', CSV, '?mode=check'),
			/^200 \{"records":4,"problems":\[\{"field":"2\.rating",.*"field":"3\.title",.*"field":"5",.*\}\]\}$/,
		)
		assert.match(
			await post('title\na\nTitle 1', CSV, '?mode=check'),
			/^200 \{"records":2,"problems":\[\{"field":"3\.title","code":"unique",.*\}\]\}$/,
		)
		assert.match(await post('title,x', CSV, '?mode=check'), /^200 .*"field":"1\.x",.*\}\],"more":true\}$/)
		assert.is((await titles(asked)).length, 5)
	})

	test('of many problems, a hundred are reported', async () => {
		const lines = Array.from({ length: 250 }, () => '{}').join('\n')
		const checked = await importing()(lines, NDJSON, '?mode=check')
		assert.is(checked.match(/"field"/g)?.length, 100)
		assert.match(checked, /"more":true\}$/)
		assert.match(await importing()(lines), /^422 1\.title is required; .*; and 97 more$/)
	})

	test('more than maxImport records are refused, and more bytes than the method takes', async () => {
		class Small extends CrudHandler {
			override streaming = { import: { maxBody: 40 } }
		}
		const asked = articles(handler({ maxImport: 2 }))
		const post = importing(undefined, asked)
		assert.is(await post('title\na\nb', CSV), '201 {"records":2}')
		assert.is(await post('title\nc\nd\ne', CSV), '422 The body must have at most 2 records')
		assert.is((await titles(asked)).length, 7)
		await listening({ article: new Small(articleModel(), ALL) }, {}, async ({ url }) => {
			for (const isChunked of [true, false]) {
				const text = `title\n${'a'.repeat(50)}`
				const { status } = await fetch(`${url}/article/import`, {
					method: 'POST',
					headers: { 'content-type': CSV },
					...(isChunked ? { body: Readable.from([Buffer.from(text)]), duplex: 'half' } : { body: text }),
				} as RequestInit)
				assert.is(status, 413)
			}
		})
	})

	test('an import counts for the rate limit of create, unless it has its own', async () => {
		class Limited extends CrudHandler {
			override rateLimits: RateLimits = { create: { limit: 2, windowSeconds: 60 } }
		}
		class Own extends CrudHandler {
			override rateLimits: RateLimits = {
				create: { limit: 1, windowSeconds: 60 },
				import: { limit: 3, windowSeconds: 60 },
			}
		}
		const limited = articles(new Limited(articleModel(), ALL))
		const create = { headers: { 'content-type': 'application/json' }, body: Buffer.from('{"title":"a"}') }
		assert.is((await limited.ask('POST /article', create)).status, 201)
		const post = importing(undefined, limited)
		assert.is(await post('title\nb', CSV), '201 {"records":1}')
		assert.match(await post('title\nc', CSV, '?mode=check'), /^429 /)
		assert.is((await limited.ask('POST /article', create)).status, 429)
		const own = importing(new Own(articleModel(), ALL))
		for (const title of ['a', 'b', 'c']) assert.is(await own(`title\n${title}`, CSV), '201 {"records":1}')
		assert.match(await own('title\nd', CSV), /^429 /)
	})

	for (const [what, type, query, headers, expected] of [
		[
			'another type',
			'application/json',
			'',
			{},
			/^415 An import must be application\/x-ndjson or text\/csv$/,
		],
		['no type', '', '', {}, /^415 An import must be/],
		['another charset', 'text/csv; charset=latin1', '', {}, /^415 .*charset/],
		['a coding', CSV, '', { 'content-encoding': 'gzip' }, /^415 A Content-Encoding is not supported/],
		['another mode', CSV, '?mode=dry', {}, /^400 mode must be check$/],
		['another parameter', CSV, '?limit=1', {}, /^400 limit is not a parameter of an import: it takes mode$/],
		['an Idempotency-Key', CSV, '', { 'idempotency-key': 'a' }, /^400 An Idempotency-Key is only accepted/],
	] as const)
		test(`${what} is refused`, async () => {
			assert.match(await importing()('title\na', type, query, headers), expected)
		})

	test('bytes that are not UTF-8 are refused, and those of a character may come in two pieces', async () => {
		await listening({ article: handler() }, {}, async ({ url }) => {
			const send = async (...chunks: Buffer[]) => {
				const pieces = async function* () {
					for (const chunk of chunks) {
						yield chunk
						await setTimeout(5)
					}
				}
				const init = { method: 'POST', headers: { 'content-type': CSV }, body: pieces(), duplex: 'half' }
				const response = await fetch(`${url}/article/import`, init as unknown as RequestInit)
				return `${response.status} ${await response.text()}`
			}
			const bytes = Buffer.from('title,body\r\n"ü""\r\n",a\r\nb,c')
			for (let at = 1; at < bytes.length; at += 3) {
				const refused = await send(Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff])]), bytes)
				assert.match(refused, /^4(?:00|22) /)
			}
			const whole = await send(...Array.from(bytes, (byte) => Buffer.from([byte])))
			assert.is(whole, '201 {"success":true,"data":{"records":2}}')
			const { data } = (await (await fetch(`${url}/article?id[gt]=5&fields=title,body`)).json()) as {
				data: unknown
			}
			assert.equal(data, [
				{ title: 'ü"\r\n', body: 'a' },
				{ title: 'b', body: 'c' },
			])
		})
	})

	test('rules, scope, fields() and creatable apply as to a single create', async () => {
		const asked: CrudOperation[] = []
		class Own extends CrudHandler {
			override scope(operation: CrudOperation) {
				asked.push(operation)
				return operation === 'create' ? { owner: 'bob' } : {}
			}
			override fields() {
				return { hidden: ['rating'], readOnly: ['state'] }
			}
		}
		const own = new Own(articleModel(), {
			...ALL,
			visible: [...(OPTIONS.visible as string[]), 'owner'],
			rules: { title: ['required', 'string', { min: 3 }] },
		})
		const site = articles(own)
		const post = importing(undefined, site)
		assert.match(await post('title\nab', CSV), /^422 2\.title must have at least 3/)
		assert.match(await post('{"title":"abc","rating":1}'), /^422 1\.rating is not a field/)
		assert.is(await post('{"title":"abc","state":"public","owner":"ann"}'), '201 {"records":1}')
		assert.match((await site.ask('/article?title=abc')).text(), /"state":"draft",.*"owner":"bob"/)
		assert.equal([...new Set(asked)].sort(), ['create', 'list'])
	})

	test('an overridden create() is called for each, createMany() for each batch; a check calls neither', async () => {
		const calls: unknown[] = []
		class One extends CrudHandler {
			override async create(values: CrudValues) {
				calls.push(values.title)
				if (values.title === 'no') throw new RestError('conflict', 'title may not be no')
				const record = await super.create({ ...values, owner: 'me' })
				return reply(record)
			}
		}
		const asked = articles(new One(articleModel(), ALL))
		const post = importing(undefined, asked)
		assert.is(await post('title\na\nb', CSV), '201 {"records":2}')
		assert.is(await post('title\nc\nno', CSV), '409 3: title may not be no')
		assert.equal(calls, ['a', 'b', 'c', 'no'])
		assert.is((await titles(asked)).length, 7)
		assert.is(await post('title\nTitle 1', CSV, '?mode=check'), '200 {"records":1,"problems":[]}')
		assert.is(calls.length, 4)
		class Many extends CrudHandler {
			override createMany(records: readonly CrudValues[]) {
				calls.push(records.length)
				return super.createMany(records)
			}
		}
		const many = articles(new Many(articleModel(), { ...ALL, maxBatch: 2 }))
		assert.is(await importing(undefined, many)('title\na\nb\nc', CSV), '201 {"records":3}')
		assert.equal(calls.slice(4), [2, 1])
		assert.match(await importing(undefined, many)('title\nd\ne\nf\nf', CSV), /^409 5\.title is taken/)
	})

	test('each record is audited', async () => {
		const log = new MemoryModel('log', {
			key: 'id',
			fields: {
				...{ id: 'integer', who: { type: 'text', nullable: true }, at: 'timestamp', operation: 'text' },
				...{
					record: 'text',
					before: { type: 'json', nullable: true },
					after: { type: 'json', nullable: true },
				},
			},
		})
		const model = articleModel()
		const own = new CrudHandler(model, { ...ALL, audit: log })
		const logs = new CrudHandler(log, { visible: 'all', allow: ['list'] })
		const asked = asking({ article: own, log: logs })
		assert.is(await importing(undefined, asked)('title\na\nb', CSV), '201 {"records":2}')
		const { text } = await asked.ask('/log?fields=operation,record')
		assert.match(text(), '[{"operation":"create","record":"6"},{"operation":"create","record":"7"}]')
	})

	test('many records go through a file, which nobody else finds, and are stored in their order', async () => {
		const asked = articles(handler({ maxImport: 20_000 }))
		const before = filesOf()
		const lines = Array.from({ length: 5_000 }, (_, at) => `t${at},${'x'.repeat(1_000)}\r\n`)
		const done = importing(undefined, asked)(`title,body\r\n${lines.join('')}`, CSV)
		assert.is(await done, '201 {"records":5000}')
		assert.equal(filesOf(), before)
		const stored = await titles(asked)
		assert.equal(
			stored.slice(5),
			Array.from({ length: 5_000 }, (_, at) => `t${at}`),
		)
	})

	const access: readonly (readonly [
		Record<string, string | string[]>,
		anyone: number,
		ann: number,
		bob: number,
	])[] = [
		[{}, 201, 201, 201],
		[{ create: 'user' }, 401, 201, 201],
		[{ create: 'user', createMany: ['write'] }, 401, 201, 403],
		[{ create: ['write'], import: 'user' }, 401, 201, 201],
		[{ '*': ['write'], import: 'anyone' }, 201, 201, 201],
		[{ '*': 'user' }, 401, 201, 201],
	]
	for (const [rules, ...expected] of access)
		for (const allow of [['import'], ['import', 'create'], ['import', 'createMany']] as const)
			test(`access ${JSON.stringify(rules)} with ${allow} decides who may import`, async () => {
				class Guarded extends CrudHandler {
					override access = rules
				}
				for (const [at, user] of [{}, { user: 'ann' }, { user: 'bob' }].entries()) {
					const asked = articles(new Guarded(articleModel(), { ...OPTIONS, allow }), {
						authenticator: {
							authenticate: ({ headers: { user } }) => (user === undefined ? null : { id: String(user) }),
						},
						acl: { allows: ({ id }) => id === 'ann' },
					})
					const said = await importing(undefined, asked)('title\na', CSV, '', user as Record<string, string>)
					assert.is(Number(said.slice(0, 3)), expected[at], JSON.stringify(user))
				}
			})

	test('a slow sender holds no transaction, and is given up after bodyTimeoutSeconds', async () => {
		const model = articleModel()
		let transactions = 0
		const { transactionWith } = model
		Object.assign(model, {
			transactionWith: (...params: Parameters<typeof transactionWith>) => {
				transactions++
				return transactionWith.apply(model, params)
			},
		})
		await listening({ article: handler({}, model) }, { bodyTimeoutSeconds: 0.5 }, async ({ url }) => {
			const sending = begun(url)
			const [response] = (await once(sending, 'response')) as [IncomingMessage]
			response.resume()
			assert.is(response.statusCode, 408)
			sending.destroy()
			assert.is(transactions, 0)
			const quick = await fetch(`${url}/article/import`, {
				method: 'POST',
				headers: { 'content-type': CSV },
				body: 'title\na',
			})
			assert.equal([quick.status, transactions], [201, 1])
		})
	})

	test('a sender that leaves in the middle stores nothing, and gives its place back', async () => {
		const model = articleModel()
		await listening({ article: handler({ maxTransfers: 1 }, model) }, {}, async ({ url }) => {
			const sending = begun(url)
			const other = () =>
				fetch(`${url}/article/import?mode=check`, {
					method: 'POST',
					headers: { 'content-type': CSV },
					body: 'title\nx',
				})
			await until(async () => (await other()).status === 503, 'the only place is taken')
			sending.destroy()
			await until(async () => (await other()).status === 200, 'the place is given back')
			assert.is(await model.count(undefined), 5)
		})
	})

	test('what could never work is refused when mounted', () => {
		const refused = (options: Partial<CrudOptions>, model = articleModel()) =>
			messageOf(() => new CrudHandler(model, { ...OPTIONS, ...options }))
		assert.match(
			refused({ allow: ['import'], creatable: ['body'] }),
			'no article could be made without title: make it creatable',
		)
		assert.match(refused({ maxImport: 0 }), 'maxImport')
		assert.match(refused({ maxTransfers: 1_001 }), 'maxTransfers')
		const keyless = new MemoryModel('log', { key: [], fields: { text: 'text' } })
		assert.match(
			messageOf(() => new CrudHandler(keyless, { visible: 'all', allow: ['list', 'export'] })),
			"log has no key, so its records can only be listed, and export can't be allowed",
		)
	})
})

/** Begins an import, and sends no more of it. */
function begun(url: string): ClientRequest {
	const options = { method: 'POST', headers: { 'content-type': CSV }, agent: false }
	const sending = request(`${url}/article/import`, options).on('error', () => {})
	sending.write('title\na\n')
	return sending
}

function filesOf(): string[] {
	return readdirSync(tmpdir()).filter((name) => name.startsWith('verbena-import-'))
}

function articleFields() {
	return {
		id: 'integer',
		title: { type: 'text', maxLength: 20 },
		body: { type: 'text', nullable: true },
		state: { type: 'text', choices: ['draft', 'public'], default: 'draft' },
		rating: { type: 'float', nullable: true },
		published: { type: 'timestamp', nullable: true },
		secret: { type: 'text', nullable: true },
	} as const
}
