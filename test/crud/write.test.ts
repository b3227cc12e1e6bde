import * as assert from 'uvu/assert'
import * as z from 'zod'
import { CrudHandler, type CrudOptions, MemoryModel } from '../../lib/index.ts'
import { asking, messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { articleModel, articles, dataOf, OPTIONS, refusalOf } from './articles.ts'

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }

/** The details of a 422, as `field: code`. */
async function problemsOf(
	asked: ReturnType<typeof articles>,
	request: string,
	body: unknown,
): Promise<string[]> {
	const reply = await asked.ask(request, { body })
	assert.is(reply.status, 422, reply.text())
	const { details } = reply.json() as { details: { field: string; code: string }[] }
	return details.map(({ field, code }) => `${field}: ${code}`)
}

/** A handler, and a reader of its model's hidden values. */
function watched(options: Partial<CrudOptions> = {}) {
	const model = articleModel()
	const selection = { fields: ['secret', 'owner', 'revision'], names: ['s', 'o', 'r'], version: undefined }
	const hidden = async (id: string) =>
		JSON.parse((await model.read(id, selection, undefined))?.json ?? 'null')
	return { asked: articles(new CrudHandler(model, { ...OPTIONS, ...options })), hidden }
}

describe('crud/write: create', (test) => {
	test('a new record is answered with 201, its id, and where it is', async () => {
		const { asked } = watched()
		const reply = await asked.ask('POST /article', { body: { title: 'New', rating: 1.5 } })
		assert.is(reply.status, 201)
		assert.is(reply.headers.location, '/article/6')
		assert.is(
			reply.text(),
			'{"success":true,"data":{"id":6,"title":"New","body":null,"state":"draft","rating":1.5,"published":null}}',
		)
		assert.equal(await dataOf(asked, '/article/6'), (reply.json() as { data: unknown }).data)
	})

	test('a file is refused, unless an override may store it', async () => {
		const form = () => {
			const lines = ['--b', 'Content-Disposition: form-data; name="title"', '', 'New', '--b']
			const file = ['Content-Disposition: form-data; name="body"; filename="a.txt"', '', 'text', '--b--', '']
			return {
				body: [...lines, ...file].join('\r\n'),
				headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
			}
		}
		const refusal = '"error":"body is a file, which a record has no place for: send bytes as base64 text"'
		for (const request of ['POST /article', 'PATCH /article/1', 'PUT /article/1'])
			assert.match(await watched().asked.said(request, form()), refusal)
		class Storing extends CrudHandler {
			override create(values: Record<string, unknown>) {
				return super.create({ ...values, body: Object.keys(this.files).join() })
			}
		}
		const storing = articles(new Storing(articleModel(), OPTIONS))
		assert.match(await storing.said('POST /article', form()), '"title":"New","body":"body"')
	})

	test('fields= selects the fields of the answer', async () => {
		const { asked } = watched()
		assert.is(
			await asked.said('POST /article/?fields=id', { body: { title: 'New' } }),
			'201 {"success":true,"data":{"id":6}}',
		)
	})

	test('a hidden field can be written, and is in no response', async () => {
		const { asked, hidden } = watched()
		await dataOf(asked, 'POST /article', { body: { title: 'New', secret: 'MARKER6' } })
		assert.equal(await hidden('6'), { s: 'MARKER6', o: 'nobody', r: 1 })
	})

	test('visible fields that cannot be written are ignored', async () => {
		const { asked } = watched({ creatable: ['title'] })
		const body = { id: 99, title: 'New', body: 'ignored', state: 5, rating: 'x' }
		assert.match(
			await asked.said('POST /article', { body }),
			/"id":6,"title":"New","body":null,"state":"draft"/,
		)
	})

	test('unknown and hidden unwritable fields are refused with the same message', async () => {
		const { asked } = watched()
		const reply = await asked.ask('POST /article', { body: { title: 'New', owner: 'me', nosuch: 1 } })
		const { details } = reply.json() as { details: { field: string; code: string; message: string }[] }
		const message = 'is not a field that can be written'
		assert.equal(details, [
			{ field: 'owner', code: 'unknown', message },
			{ field: 'nosuch', code: 'unknown', message },
		])
	})

	test('all problems are reported at once, without the values', async () => {
		const { asked } = watched()
		const body = {
			title: 'MARKER'.repeat(5),
			body: 'a\0',
			state: 'MARKER',
			rating: 'MARKER',
			published: 'MARKER',
		}
		assert.equal(await problemsOf(asked, 'POST /article', body), [
			'title: max',
			'body: text',
			'state: in',
			'rating: float',
			'published: timestamp',
		])
		assert.equal(await problemsOf(asked, 'POST /article', {}), ['title: required'])
		assert.equal(await problemsOf(asked, 'POST /article', { title: null, state: null }), [
			'title: required',
			'state: required',
		])
	})

	test('at most a hundred wrong names are reported, each shortened', async () => {
		const { asked } = watched()
		const body = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`${'n'.repeat(100)}${at}`, 1]))
		const reply = await asked.ask('POST /article', { body })
		assert.is(reply.status, 422)
		assert.ok(reply.text().length < 25_000)
	})

	test('a body that is not an object, or is malformed, is refused', async () => {
		const { asked } = watched()
		for (const body of ['"x"', '1', '[]', 'null']) {
			const headers = { 'Content-Type': 'application/json' }
			assert.is(
				await refusalOf(asked, 'POST /article', { body, headers }),
				'422 The body must be an object with named fields',
			)
		}
		const headers = { 'Content-Type': 'application/json' }
		assert.match(await refusalOf(asked, 'POST /article', { body: '{', headers }), /^400 /)
		assert.match(
			await refusalOf(asked, 'POST /article', { body: 'x', headers: { 'Content-Type': 'text/x' } }),
			/^415 /,
		)
	})

	test('a form is converted by the types of its fields; an empty value is null', async () => {
		const { asked } = watched()
		const body = 'title=Form&rating=2.5&published=&body='
		assert.match(
			await asked.said('POST /article', { body, headers: FORM }),
			/"title":"Form","body":"","state":"draft","rating":2.5,"published":null/,
		)
		assert.is(
			await refusalOf(asked, 'POST /article', { body: 'title=F&rating=x', headers: FORM }),
			'422 rating must be a number, or "NaN", "Infinity" or "-Infinity"',
		)
	})

	test('JSON that is sent as a form is refused without repeating it', async () => {
		const { asked } = watched()
		for (const body of ['{"title":"A"}', '[{"title":"A"}]', ' {"title":"a=b&c"}\n']) {
			assert.is(
				await asked.said('POST /article', { body, headers: FORM }),
				'422 {"success":false,"error":"The body is sent as a form: send Content-Type: application/json for JSON","code":"invalid"}',
			)
		}
		assert.is(
			await refusalOf(asked, 'POST /article', { body: '{a=1', headers: FORM }),
			'422 {a is not a field that can be written; title is required',
		)
	})

	test('a key is required only where the store does not generate it', async () => {
		const fields = { code: 'text', name: { type: 'text', nullable: true } } as const
		const model = new MemoryModel('country', { key: 'code', fields })
		const handler = new CrudHandler(model, {
			visible: 'all',
			updatable: ['name'],
			allow: ['read', 'create', 'update'],
		})
		const asked = asking({ article: handler })
		assert.is(await refusalOf(asked, 'POST /article', { body: { name: 'x' } }), '422 code is required')
		const reply = await asked.ask('POST /article', { body: { code: 'a/ü' } })
		assert.is(reply.headers.location, '/article/a%2F%C3%BC')
		assert.is((await asked.ask(`${reply.headers.location}`)).status, 200)
		assert.is((await asked.ask(`PATCH ${reply.headers.location}`, { body: { name: 'y' } })).status, 200)
		assert.is(
			await refusalOf(asked, `PATCH ${reply.headers.location}`, { body: { code: 'b' } }),
			'422 code must be the id in the URL',
		)
		for (const code of ['', '.', '..', 'a\nb'])
			assert.match(
				await refusalOf(asked, 'POST /article', { body: { code } }),
				'422 code must be a valid id: not',
			)
	})
})

describe('crud/write: update and replace', (test) => {
	test('PATCH and POST change only the given fields', async () => {
		for (const method of ['PATCH', 'POST']) {
			const { asked, hidden } = watched()
			assert.is(
				await asked.said(`${method} /article/1`, { body: { title: 'Changed' } }),
				'200 {"success":true,"data":{"id":1,"title":"Changed","body":"Body of 1","state":"draft","rating":0.5,"published":"2026-11-01T10:00:00.000Z"}}',
			)
			assert.equal(await hidden('1'), { s: 'MARKER1', o: 'ann', r: 1 })
		}
	})

	test('PUT sets missing fields to their default, else null, else 422; hidden ones keep their value', async () => {
		const { asked, hidden } = watched()
		assert.is(
			await asked.said('PUT /article/3', { body: { title: 'Put' } }),
			'200 {"success":true,"data":{"id":3,"title":"Put","body":null,"state":"draft","rating":null,"published":null}}',
		)
		assert.equal(await hidden('3'), { s: 'MARKER3', o: 'ann', r: 1 })
		assert.equal(await problemsOf(asked, 'PUT /article/3', { body: 'x' }), ['title: required'])
		await dataOf(asked, 'PUT /article/3', { body: { title: 'Put', secret: null } })
		assert.equal(await hidden('3'), { s: null, o: 'ann', r: 1 })
	})

	test('a record can be sent back as it was read', async () => {
		const { asked } = watched()
		for (const id of [1, 3, 5]) {
			const record = await dataOf(asked, `/article/${id}`)
			assert.equal(await dataOf(asked, `PUT /article/${id}`, { body: record }), record)
			assert.equal(await dataOf(asked, `PATCH /article/${id}`, { body: record }), record)
		}
	})

	test('an empty update returns the record', async () => {
		const { asked } = watched()
		assert.equal(await dataOf(asked, 'PATCH /article/1', { body: {} }), await dataOf(asked, '/article/1'))
		assert.equal(await dataOf(asked, 'PATCH /article/1'), await dataOf(asked, '/article/1'))
		assert.is((await asked.ask('PATCH /article/99', { body: {} })).status, 404)
	})

	test("an id in the body that differs from the URL's is refused, the same one is accepted", async () => {
		const { asked } = watched()
		assert.is((await asked.ask('PATCH /article/1', { body: { id: 1, title: 'A' } })).status, 200)
		assert.is((await asked.ask('PATCH /article/1', { body: { id: '1', title: 'B' } })).status, 200)
		for (const id of [2, '01', null, {}, [1], { toString: 1 }])
			assert.is(
				await refusalOf(asked, 'PATCH /article/1', { body: { id } }),
				'422 id must be the id in the URL',
			)
	})

	test('null is refused for a not-null column', async () => {
		const { asked } = watched()
		assert.is(
			await refusalOf(asked, 'PATCH /article/1', { body: { title: null } }),
			'422 title must not be null',
		)
		assert.match(await asked.said('PATCH /article/1', { body: { body: null } }), /"body":null/)
	})

	test('a refused write changes nothing', async () => {
		const { asked, hidden } = watched()
		const before = await dataOf(asked, '/article')
		for (const body of [
			{ title: 'X', owner: 'me' },
			{ title: 'X', revision: 9 },
			{ secret: 'X', id: 7 },
		]) {
			for (const request of ['POST /article', 'PUT /article/1', 'PATCH /article/1'])
				assert.ok((await asked.ask(request, { body })).status === 422 || !('id' in body))
		}
		assert.equal(((await dataOf(asked, '/article')) as unknown[]).slice(1, 5), (before as unknown[]).slice(1))
		assert.equal(await hidden('1'), { s: 'MARKER1', o: 'ann', r: 1 })
	})

	test('DELETE returns the deleted record', async () => {
		const { asked } = watched()
		const record = await dataOf(asked, '/article/2')
		assert.equal(await dataOf(asked, 'DELETE /article/2'), record)
		assert.is((await asked.ask('DELETE /article/2')).status, 404)
		assert.is((await asked.ask('/article/2')).status, 404)
	})

	test('an id that names no record is 404 in every verb', async () => {
		const { asked } = watched()
		for (const id of ['99', '01', 'x', '1.0', '-1', '9223372036854775808', "1'", '%201', '1%00x'])
			for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
				const { status } = await asked.ask(`${method} /article/${id}`, {
					body: method === 'GET' ? undefined : { title: 'T' },
				})
				assert.is(status, id.includes('%00') ? 400 : 404, `${method} ${id}`)
			}
	})
})

describe('crud/write: rules', (test) => {
	const rules = {
		title: ['required', 'string', { min: 3 }],
		body: ['required', 'string'],
		rating: z.number().max(10).nullish(),
	} as const

	test("are checked in addition to the columns' own constraints", async () => {
		const { asked } = watched({ rules })
		assert.equal(await problemsOf(asked, 'POST /article', { title: 'ab', rating: 11 }), [
			'title: min',
			'body: required',
			'rating: schema',
		])
		assert.equal(await problemsOf(asked, 'POST /article', { title: 'x'.repeat(21), body: 'b' }), [
			'title: max',
		])
		assert.is(
			(await asked.ask('POST /article', { body: { title: 'abc', body: 'b', rating: null } })).status,
			201,
		)
	})

	test('a partial update validates only the given fields, and required there means not null', async () => {
		const { asked } = watched({ rules })
		assert.is((await asked.ask('PATCH /article/1', { body: { rating: 3 } })).status, 200)
		assert.equal(await problemsOf(asked, 'PATCH /article/1', { body: null, title: 'a' }), [
			'title: min',
			'body: required',
		])
		assert.equal(await problemsOf(asked, 'PUT /article/1', { title: 'abc' }), ['body: required'])
	})

	test('null is valid for a nullable column unless a rule says required', async () => {
		const { asked } = watched({ rules: { body: ['string', { min: 3 }] } })
		assert.is((await asked.ask('PATCH /article/1', { body: { body: null } })).status, 200)
		assert.equal(await problemsOf(asked, 'PATCH /article/1', { body: 'ab' }), ['body: min'])
	})

	test('defaults and transformations of rules are stored', async () => {
		const { asked } = watched({
			rules: { body: ['string', { default: 'by rule' }], title: z.string().transform((text) => text.trim()) },
		})
		assert.match(
			await asked.said('POST /article', { body: { title: '  T  ' } }),
			/"title":"T","body":"by rule"/,
		)
	})

	test('a schema may return a promise, and is called once', async () => {
		let calls = 0
		const validate = async (value: unknown) => {
			calls++
			return value === 'taken' ? { issues: [{ message: 'is taken' }] } : { value }
		}
		const title = { '~standard': { version: 1, vendor: 'own', validate } } as const
		const { asked } = watched({ rules: { title } })
		assert.equal(await problemsOf(asked, 'POST /article', { title: 'taken', state: 'x' }), [
			'title: schema',
			'state: in',
		])
		assert.is(calls, 1)
		assert.is((await asked.ask('POST /article', { body: { title: 'free' } })).status, 201)
	})

	test("the server's validator checks list parameters", async () => {
		const validator = {
			validateList: (value: unknown) =>
				value === 'bad'
					? { ok: false as const, problems: [{ field: '', code: 'mine', message: 'is bad' }] }
					: { ok: true as const, value },
		}
		const handler = new CrudHandler(articleModel(), { ...OPTIONS, rules: { title: ['string'] } })
		const asked = articles(handler, { validator })
		assert.equal(await problemsOf(asked, 'POST /article', { title: 'bad' }), ['title: mine'])
	})

	const refused: [object, RegExp][] = [
		[{ titel: ['string'] }, /rules: there is no column titel: did you mean title\?/],
		[{ title: ['strin'] }, /rules: title/],
		[{ title: 5 }, /rules: title: expected/],
	]
	for (const [wrong, message] of refused) {
		test(`${JSON.stringify(wrong)} is refused at mount`, () => {
			const handler = new CrudHandler(articleModel(), {
				...OPTIONS,
				rules: wrong as NonNullable<CrudOptions['rules']>,
			})
			assert.match(
				messageOf(() => articles(handler)),
				message,
			)
		})
	}
})

describe('crud/write: rules for numbers that may be texts', (test) => {
	const TABLE = { 'Content-Type': 'text/csv' }
	const lines = new MemoryModel('line', {
		key: 'id',
		fields: {
			...{
				id: 'integer',
				price: { type: 'decimal', nullable: true },
				cents: { type: 'bigint', nullable: true },
			},
			...{ pieces: { type: 'integer', nullable: true }, rate: { type: 'float', nullable: true } },
			paid: { type: 'boolean', nullable: true },
		},
	})
	const { said } = asking({
		line: new CrudHandler(lines, {
			...{
				visible: 'all',
				updatable: ['price', 'cents', 'pieces', 'rate', 'paid'],
				allow: ['create', 'import'],
			},
			rules: {
				price: ['number', { min: 0.1, max: 100 }],
				cents: [{ min: -5, max: 10 }],
				pieces: [{ min: 2 }],
				rate: [{ max: 5 }],
				paid: [(value: unknown) => typeof value === 'boolean' || 'must be answered'],
			},
		}),
	})
	const refused: [name: string, value: unknown, message: string][] = [
		...['-3', '0.09999999999999999999', -3, '-0.1'].map((value): [string, unknown, string] => [
			'price',
			value,
			'must be at least 0.1',
		]),
		...['100.00000000000000000000000001', '999', 101].map((value): [string, unknown, string] => [
			'price',
			value,
			'must be at most 100',
		]),
		...['-6', -6, '-9223372036854775808'].map((value): [string, unknown, string] => [
			'cents',
			value,
			'must be at least -5',
		]),
		['cents', '9223372036854775807', 'must be at most 10'],
		['pieces', 1, 'must be at least 2'],
		['rate', 5.5, 'must be at most 5'],
	]
	for (const [name, value, message] of refused) {
		test(`${name} ${JSON.stringify(value)} ${message}, in JSON, in a form, and in a table`, async () => {
			const error = `"error":"${name} ${message}"`
			assert.match(await said('POST /line', { body: { [name]: value } }), error)
			assert.match(await said('POST /line', { body: `${name}=${value}`, headers: FORM }), error)
			const imported = await said('POST /line/import', { body: `${name}\n${value}`, headers: TABLE })
			assert.match(imported, `${name} ${message}`)
		})
	}

	test('beside number, a function gets a number', async () => {
		const price = { type: 'decimal', nullable: true } as const
		const model = new MemoryModel('price', { key: 'id', fields: { id: 'integer', price } })
		const asked = asking({
			price: new CrudHandler(model, {
				...{ visible: 'all', updatable: ['price'], allow: ['create'] },
				rules: { price: ['number', (value: unknown) => value !== 0 || 'is 0'] },
			}),
		})
		assert.match(await asked.said('POST /price', { body: 'price=0', headers: FORM }), '"error":"price: is 0"')
		assert.match(await asked.said('POST /price', { body: { price: 'abc' } }), 'price must be a number')
		assert.match(await asked.said('POST /price', { body: { price: 12.5 } }), '"price":"12.5"')
	})

	test('an empty input is null, or absent where there is a default or no null', async () => {
		const own = { type: 'integer', default: 7 } as const
		const model = new MemoryModel('stars', {
			key: 'id',
			fields: { id: 'integer', own, ruled: 'decimal', both: { ...own, nullable: true } },
		})
		const asked = asking({
			stars: new CrudHandler(model, {
				...{ visible: 'all', updatable: ['own', 'ruled', 'both'], allow: ['create'] },
				rules: { own: ['integer'], ruled: ['number', { default: 5 }], both: [{ min: 1 }] },
			}),
		})
		const body = 'own=&ruled=&both='
		assert.match(await asked.said('POST /stars', { body, headers: FORM }), '"own":7,"ruled":"5","both":null')
	})

	test('others are stored as they are sent', async () => {
		const body = { price: '100.000', cents: '-5', pieces: 2, rate: 5, paid: true }
		const data = '"price":"100.000","cents":-5,"pieces":2,"rate":5,"paid":true}'
		assert.match(await said('POST /line', { body }), data)
		for (const paid of ['on', '1', 'true', 'TRUE']) {
			const form = new URLSearchParams({ ...body, paid } as never).toString()
			assert.match(await said('POST /line', { body: form, headers: FORM }), data)
		}
		assert.match(await said('POST /line', { body: { price: 0.1 } }), '"price":"0.1"')
		const empty = 'price=&cents=&pieces=&rate=&paid='
		const nulls = '"price":null,"cents":null,"pieces":null,"rate":null,"paid":null'
		assert.match(await said('POST /line', { body: empty, headers: FORM }), nulls)
	})
})

describe('crud/write: conflicts', (test) => {
	test('a unique field is named if it is writable', async () => {
		const { asked } = watched()
		const reply = await asked.ask('POST /article', { body: { title: 'Title 1' } })
		assert.is(reply.status, 409)
		assert.is(
			reply.text(),
			'{"success":false,"error":"title is taken by another record","code":"conflict","details":[{"field":"title","code":"unique","message":"is taken by another record"}]}',
		)
		assert.is((await asked.ask('PATCH /article/2', { body: { title: 'Title 1' } })).status, 409)
	})

	test('a unique field is not named if it is not writable', async () => {
		class Stamped extends CrudHandler {
			override create(values: Record<string, unknown>) {
				return super.create({ ...values, secret: 'MARKER1' })
			}
		}
		const asked = articles(new Stamped(articleModel(), { ...OPTIONS, creatable: ['title'] }))
		assert.is(
			await asked.said('POST /article', { body: { title: 'New' } }),
			'409 {"success":false,"error":"Conflicts with existing records","code":"conflict"}',
		)
	})

	test('foreign keys are enforced, in both directions', async () => {
		const authors = new MemoryModel('author', { key: 'id', fields: { id: 'integer' }, rows: [{}, {}] })
		const posts = new MemoryModel('post', {
			key: 'id',
			fields: { id: 'integer', author: 'integer' },
			references: [{ field: 'author', model: authors }],
			rows: [{ author: 1 }],
		})
		const options: CrudOptions = {
			visible: 'all',
			updatable: ['author'],
			allow: ['create', 'update', 'remove'],
		}
		const asked = asking({
			author: new CrudHandler(authors, { visible: 'all', allow: ['remove'] }),
			post: new CrudHandler(posts, options),
		})
		assert.is(
			await refusalOf(asked, 'POST /post', { body: { author: 9 } }),
			'409 author refers to a record that does not exist',
		)
		assert.is(await refusalOf(asked, 'DELETE /author/1'), '409 Other records refer to this one')
		assert.is((await asked.ask('DELETE /author/2')).status, 200)
	})

	test('a broken reference that the caller cannot write is a conflict that does not name it', async () => {
		const posts = new MemoryModel('post', {
			key: 'id',
			fields: { id: 'integer', title: 'text', author: { type: 'integer', nullable: true } },
			references: [{ field: 'author', model: articleModel() }],
		})
		class Authored extends CrudHandler {
			override create(values: Record<string, unknown>) {
				return super.create({ ...values, author: 900 })
			}
		}
		const handler = new Authored(posts, { visible: ['title'], updatable: ['title'], allow: ['create'] })
		assert.is(
			await asking({ post: handler }).said('POST /post', { body: { title: 'N' } }),
			'409 {"success":false,"error":"Conflicts with existing records","code":"conflict"}',
		)
	})
})
