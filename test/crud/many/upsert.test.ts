/** `upsert`: records and lists in the body of PUT, on all stores. */
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	type CrudOptions,
	type CrudValues,
	MemoryCache,
	MemoryModel,
	type Model,
	transaction,
} from '../../../lib/index.ts'
import { asking, messageOf } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { openStore, type Store, storesHere, THINGS } from '../over/stores.ts'

const OPTIONS: CrudOptions = {
	visible: ['id', 'title', 'stock', 'code', 'owner', 'version', 'at'],
	creatable: ['title', 'stock', 'code', 'owner', 'status'],
	updatable: ['title', 'stock', 'owner', 'note'],
	rules: { stock: ['integer', { min: 0 }] },
	allow: ['list', 'create', 'update', 'upsert'],
	upsertOn: ['code'],
	version: 'version',
}

const ID = { fields: ['id'], names: ['id'], version: undefined }

const authenticator = {
	authenticate: ({ headers }: { headers: Record<string, unknown> }) =>
		headers.user === undefined ? null : { id: String(headers.user) },
}

interface Problem {
	readonly error: string
	readonly code: string
	readonly details: readonly { readonly field: string; readonly code: string }[]
}

type Row = Record<string, unknown>

const rows = (data: unknown) => data as readonly Row[]
const row = (data: unknown) => data as Row

for (const name of await storesHere()) {
	describe(`upsert over ${name}`, (test) => {
		let store: Store
		let model: Model
		test.before(async () => {
			store = await openStore(name, 'upsert')
		})
		test.before.each(async () => {
			model = await store.emptied()
		})
		test.after(() => store.close())

		const putting = (handler: CrudHandler) => {
			const { ask } = asking({ api: handler })
			return async (body: unknown, headers: Record<string, string> = {}, query = '?on=code') => {
				const reply = await ask(`PUT /api${query}`, { body, headers })
				const { data, ...problem } = reply.json() as Problem & { data?: unknown }
				const places = (problem.details ?? []).map(({ field, code }) => `${field} ${code}`)
				return { ...reply, data, problem, places }
			}
		}
		const make = (values: CrudValues) => model.create(values as Parameters<Model['create']>[0], ID)
		const stored = async () => {
			const names = ['code', 'title', 'stock', 'owner', 'status', 'version']
			const { json } = await model.list({
				...{ selection: { fields: names, names, version: undefined }, where: undefined },
				order: [{ field: 'code', descending: false }],
				...{ limit: 99, offset: 0, after: undefined, total: false },
			})
			return JSON.parse(json) as Row[]
		}
		const texts = async () => (await stored()).map(({ code, title }) => `${code} ${title}`).join()

		test('an answer with more bytes than a page may have is refused, and nothing is changed', async () => {
			const codes = ['a', 'b', 'c']
			for (const code of codes) await make({ code, title: 'x'.repeat(90) })
			const put = putting(new CrudHandler(model, { ...OPTIONS, maxPageBytes: 400 }))
			const body = codes.map((code) => ({ code, title: `y${'x'.repeat(89)}`, stock: 7 }))
			const { status, problem } = await put(body)
			assert.equal([status, problem.code], [400, 'too_large'])
			assert.is(await model.count({ op: 'eq', field: 'stock', value: 7 }), 0)
			// It isn't a page.
			const alone = putting(new CrudHandler(model, { ...OPTIONS, maxPageBytes: 100 }))
			assert.is((await alone({ code: 'a', title: `z${'x'.repeat(89)}` })).status, 200)
		})

		test('a file is refused, as for other writes', async () => {
			const file = 'Content-Disposition: form-data; name="note"; filename="a.txt"'
			const body = `--b\r\nContent-Disposition: form-data; name="code"\r\n\r\na\r\n--b\r\n${file}\r\n\r\nx\r\n--b--\r\n`
			const headers = { 'Content-Type': 'multipart/form-data; boundary=b' }
			const { status, places } = await putting(new CrudHandler(model, OPTIONS))(body, headers)
			assert.equal([status, places], [422, ['note file']])
		})

		test('a record is created, then changed', async () => {
			const put = putting(new CrudHandler(model, OPTIONS))
			const first = await put({ code: 'a', title: 'one', stock: 3 })
			assert.is(first.status, 200)
			assert.equal([first.headers.etag, first.headers.location], [undefined, undefined])
			const { id, version } = row(first.data)
			assert.ok(Number(version) > 1)
			const second = await put({ code: 'a', title: 'two' })
			assert.is(second.status, 200)
			assert.equal(second.data, { ...row(first.data), title: 'two', version: Number(version) + 1 })
			assert.is(row(second.data).id, id)
			assert.equal((await put({ code: 'a', title: 'three' }, {}, '?on=code&fields=title')).data, {
				title: 'three',
			})
			assert.is(await texts(), 'a three')
		})

		test('a list is created and changed in the order given', async () => {
			await make({ code: 'b', title: 'old', stock: 7, version: 5 })
			const put = putting(new CrudHandler(model, OPTIONS))
			const { status, data } = await put([
				{ code: 'c', title: 'C' },
				{ code: 'b', title: 'B' },
				{ code: 'a', title: 'A' },
				{ code: 'c', title: 'CC' },
			])
			assert.is(status, 200)
			assert.equal(
				rows(data).map(({ code, title, stock }) => [code, title, stock]),
				[
					['c', 'C', null],
					['b', 'B', 7],
					['a', 'A', null],
					['c', 'CC', null],
				],
			)
			assert.is(rows(data)[1]?.version, 6)
			assert.equal((await put([])).data, [])
			assert.is(await texts(), 'a A,b B,c CC')
		})

		test('all problems are reported with their positions, and nothing is stored', async () => {
			const put = putting(new CrudHandler(model, OPTIONS))
			const { status, places } = await put([
				{ code: 'a', title: 'fine' },
				{ title: 'without' },
				{ code: null, title: 'null' },
				{ code: 'b', stock: -1, secret: 's' },
				'text',
			])
			assert.is(status, 422)
			assert.equal(places.sort(), [
				'1.code required',
				'2.code required',
				'3.secret unknown',
				'3.stock min',
				'3.title required',
				'4 object',
			])
			const one = await put({ title: 'without' })
			assert.equal([one.status, one.places], [422, ['code required']])
			assert.equal(await stored(), [])
		})

		test('only fields that new and existing records may have are written', async () => {
			await make({ code: 'a', title: 'old', status: 'draft' })
			const put = putting(new CrudHandler(model, OPTIONS))
			// Creatable or updatable alone, and hidden.
			for (const field of ['status', 'note'])
				assert.equal((await put({ code: 'a', title: 'x', [field]: 'y' })).places, [`${field} unknown`])
			class Limited extends CrudHandler {
				override fields() {
					return { hidden: ['stock'], readOnly: ['title'] }
				}
			}
			const limited = putting(new Limited(model, { ...OPTIONS, creatable: ['title', 'stock', 'code'] }))
			assert.equal((await limited({ code: 'a', stock: 1 })).places, ['stock unknown'])
			const { data } = await limited({ code: 'a', title: 'ignored' })
			assert.equal([row(data).title, Object.hasOwn(row(data), 'stock')], ['old', false])
			class Closed extends CrudHandler {
				override fields() {
					return { readOnly: ['code'] }
				}
			}
			const closed = await putting(new Closed(model, OPTIONS))({ code: 'a', title: 'x' })
			assert.equal(
				[closed.status, closed.problem.error],
				[400, "on can't be used here: this request may not write its fields"],
			)
			assert.is(await texts(), 'a old')
		})

		test('a default of the rules is for new records only', async () => {
			const rules = { stock: ['integer', { default: 5 }] } as NonNullable<CrudOptions['rules']>
			class Own extends CrudHandler {
				override async upsert(records: readonly CrudValues[], on: readonly string[]) {
					const changed = records.map((one) => ({ ...one, title: one.title === 'low' ? 'LOW' : 'x' }))
					return super.upsert(changed, on)
				}
			}
			for (const [at, Handler] of [CrudHandler, Own].entries()) {
				const put = putting(new Handler(model, { ...OPTIONS, rules }))
				const code = `a${at}`
				assert.is(row((await put({ code, title: 'one' })).data).stock, 5)
				await put({ code, title: 'one', stock: 9 })
				assert.is(row((await put({ code, title: 'two' })).data).stock, 9)
				assert.is(row((await put({ code, title: 'low', stock: 5 })).data).stock, 5)
			}
		})

		test('on is required, and one of upsertOn', async () => {
			const put = putting(new CrudHandler(model, OPTIONS))
			for (const query of ['', '?on=title', '?on=code,title', '?on=', '?on=pin']) {
				const { status, problem } = await put({ code: 'a', title: 'x' }, {}, query)
				assert.equal([status, problem.error], [400, 'on must be code'], query)
			}
			for (const query of ['?on=code&on=code', '?on=code&nothing=1', '?on=code&title=x'])
				assert.is((await put({ code: 'a', title: 'x' }, {}, query)).status, 400, query)
			assert.equal(await stored(), [])
		})

		test('it has a bound, and preconditions that a collection has', async () => {
			const put = putting(new CrudHandler(model, { ...OPTIONS, maxBatch: 1 }))
			const one = { code: 'a', title: 'x' }
			const many = await put([one, one])
			assert.equal([many.status, many.places], [422, [' max']])
			assert.is((await put(one, { 'if-match': '"1"' })).status, 412)
			assert.is((await put(one, { 'if-none-match': '*' })).status, 412)
			assert.is((await put(one, { 'if-match': '*' })).status, 200)
		})

		test('a scope is set on new records, and hides the others', async () => {
			await make({ code: 'theirs', title: 'old', owner: 'bob', stock: 3 })
			class Mine extends CrudHandler {
				override authenticator = authenticator
				override access = { '*': 'user' }
				override scope() {
					return { owner: this.user?.id }
				}
			}
			const put = putting(new Mine(model, OPTIONS))
			const mine = await put({ code: 'mine', title: 'a', owner: 'eve' }, { user: 'ada' })
			assert.is(row(mine.data).owner, 'ada')
			assert.is((await put({ code: 'mine', title: 'b' }, { user: 'ada' })).status, 200)
			const other = await put(
				[
					{ code: 'mine', title: 'c' },
					{ code: 'theirs', title: 'stolen' },
				],
				{ user: 'ada' },
			)
			assert.equal([other.status, other.places], [409, ['1.code unique']])
			assert.is(other.problem.error, '1.code is taken by another record')
			assert.is(await texts(), 'mine b,theirs old')
		})

		test('a scope of any condition is checked after the change', async () => {
			await make({ code: 'a', title: 'old', owner: 'ada' })
			await make({ code: 'out', title: 'old', owner: 'eve', stock: 1 })
			class Open extends CrudHandler {
				override scope() {
					return { or: [{ owner: 'ada' }, { stock: { gte: 5 } }] }
				}
			}
			const put = putting(new Open(model, OPTIONS))
			const left = await put([
				{ code: 'b', title: 'fine', owner: 'ada' },
				{ code: 'a', title: 'x', owner: 'eve' },
			])
			assert.equal([left.status, left.places], [403, ['1 forbidden']])
			assert.is((await put({ code: 'new', title: 'x', owner: 'eve', stock: 4 })).status, 403)
			assert.is((await put({ code: 'out', title: 'x', owner: 'ada' })).status, 409)
			assert.is(await texts(), 'a old,out old')
			assert.is((await put({ code: 'a', title: 'x', owner: 'eve', stock: 5 })).status, 200)
		})

		test('a scope differs for create and update: both hold', async () => {
			await make({ code: 'done', title: 'old', stock: 9 })
			class Both extends CrudHandler {
				override scope(operation: string): Row {
					return operation === 'update' ? { stock: [1, 2] } : { owner: 'ada' }
				}
			}
			const put = putting(new Both(model, OPTIONS))
			assert.is((await put({ code: 'done', title: 'x', stock: 1 })).status, 409)
			assert.is((await put({ code: 'new', title: 'x', stock: 3 })).status, 403)
			const { data } = await put({ code: 'new', title: 'x', stock: 2 })
			assert.equal([row(data).owner, row(data).stock], ['ada', 2])
		})

		test('access has a rule of its own, else those of create and update', async () => {
			class Guarded extends CrudHandler {
				override authenticator = authenticator
			}
			class Update extends Guarded {
				override access: Record<string, string> = { update: 'user' }
			}
			class Create extends Guarded {
				override access: Record<string, string> = { create: 'user' }
			}
			class Own extends Guarded {
				override access = { create: 'user', update: 'user', upsert: 'anyone' }
			}
			class Only extends Guarded {
				override access = { create: 'anyone', update: 'anyone', upsert: 'user' }
			}
			const body = { code: 'a', title: 'A' }
			const alone = { ...OPTIONS, allow: ['upsert'] } as const
			for (const options of [OPTIONS, alone]) {
				for (const Handler of [Update, Create, Only]) {
					const put = putting(new Handler(model, options))
					assert.equal((await put(body)).status, 401)
					assert.equal((await put(body, { user: 'ada' })).status, 200)
				}
				assert.is((await putting(new Own(model, options))(body)).status, 200)
			}
			const off = putting(new CrudHandler(model, { ...OPTIONS, allow: ['list', 'create', 'update'] }))
			assert.is((await off(body)).status, 405)
		})

		test('touch and softDelete: a deleted record is in the way, and says so to who may restore it', async () => {
			const at = '2026-01-01T00:00:00.000Z'
			await make({ code: 'gone', title: 'old', at })
			const options = { ...OPTIONS, softDelete: 'at' }
			const put = putting(new CrudHandler(model, options))
			assert.is((await put({ code: 'gone', title: 'x' })).problem.error, 'code is taken by another record')
			const restoring = putting(new CrudHandler(model, { ...options, allow: ['restore', 'upsert'] }))
			const one = await restoring({ code: 'gone', title: 'x' })
			assert.equal([one.status, one.problem.error], [409, 'code is taken by a deleted record'])
			const many = await restoring([
				{ code: 'a', title: 'x' },
				{ code: 'gone', title: 'x' },
			])
			assert.equal([many.status, many.problem.error], [409, '1.code is taken by a deleted record'])
			assert.is(await texts(), 'gone old')
			const touching = putting(new CrudHandler(model, { ...OPTIONS, touch: 'at' }))
			const { data } = await touching({ code: 'gone', title: 'x' })
			assert.ok(String(row(data).at) > at)
		})

		test('an override has the checked values; one of create or update needs it', async () => {
			class Own extends CrudHandler {
				override async upsert(records: readonly CrudValues[], on: readonly string[]) {
					return super.upsert(
						records.map((one) => ({ ...one, stock: on.length })),
						on,
					)
				}
				override update(id: string, values: CrudValues) {
					return super.update(id, values)
				}
			}
			const put = putting(new Own(model, OPTIONS))
			assert.is(row((await put({ code: 'a', title: 'x' })).data).stock, 1)
			assert.is(rows((await put([{ code: 'a', title: 'x' }])).data)[0]?.stock, 1)
			class Around extends CrudHandler {
				override create(values: CrudValues) {
					return super.create(values)
				}
			}
			assert.match(
				messageOf(() => new Around(model, OPTIONS)),
				'upsert would get around create(): override upsert(), too',
			)
		})

		test('a method upserts within a transaction, with values of a program', async () => {
			class Own extends CrudHandler {
				async post_all({ fails = '' } = this.getParams({ fails: ['string', { default: '' }] })) {
					return transaction([this], async ([records]) => {
						const [one] = await records.upsert([{ code: 'a', title: 'A', pin: 'p' }], ['code'])
						await records.upsert([{ code: 'a', title: 'AA' }], ['code'])
						if (fails !== '') throw new TypeError('undone')
						return one?.id
					})
				}
				async post_wrong() {
					return this.upsert([{ code: 'a' }], ['nothing'])
				}
			}
			const { said } = asking({ api: new Own(model, OPTIONS) })
			assert.match(await said('POST /api/all', { body: { fails: 'x' } }), /^500/)
			assert.is(await texts(), '')
			assert.match(await said('POST /api/all', { body: {} }), /^200/)
			assert.is(await texts(), 'a AA')
			assert.match(await said('POST /api/wrong', { body: {} }), /^500/)
		})

		test('a repeated request with the same Idempotency-Key changes nothing more', async () => {
			class Once extends CrudHandler {
				override idempotencyKeys = 'anyone' as const
			}
			const { said } = asking({ api: new Once(model, OPTIONS) }, { cache: new MemoryCache({ max: 100 }) })
			const body = { code: 'a', title: 'A' }
			const more = { body, headers: { 'idempotency-key': '"k1"' } }
			const first = await said('PUT /api?on=code', more)
			assert.match(first, /^200/)
			assert.match(await said('PUT /api?on=code', { body: { ...body, title: 'B' } }), /^200/)
			assert.is(await said('PUT /api?on=code', more), first)
			assert.is(await texts(), 'a B')
		})

		test('requests at the same time make one record', async () => {
			const put = putting(new CrudHandler(model, OPTIONS))
			const all = await Promise.all(
				Array.from({ length: 8 }, (_, at) =>
					put([
						{ code: at % 2 === 0 ? 'a' : 'b', title: `t${at}` },
						{ code: at % 2 === 0 ? 'b' : 'a', title: `t${at}` },
					]),
				),
			)
			const ids = all
				.filter(({ status }) => status === 200)
				.flatMap(({ data }) => rows(data).map(({ id }) => id))
			assert.ok(all.every(({ status }) => status === 200 || status === 503))
			assert.ok(ids.length > 0)
			assert.is(new Set(ids).size, 2)
			assert.is((await stored()).length, 2)
		})
	})
}

describe('an upsert that conflicts with a record that it does not find', (test) => {
	test('is 409 where an index is on an expression', async () => {
		const sqlite = `${THINGS.sqlite}; create unique index TABLE_title on TABLE (lower(title))`
		const store = await openStore('sqlite', 'upsert_lower', 1, { ...THINGS, sqlite })
		const { said } = asking({ api: new CrudHandler(store.model, OPTIONS) })
		assert.match(await said('PUT /api?on=code', { body: { code: 'a', title: 'one' } }), /^200/)
		assert.match(await said('PUT /api?on=code', { body: { code: 'b', title: 'ONE' } }), /^409/)
		assert.match(await said('PUT /api?on=code', { body: { code: 'b', title: 'two' } }), /^200/)
		await store.close()
	})

	test('is 409 where a column rounds, also within a scope', async () => {
		if (!(await storesHere()).includes('mariadb')) return
		const mariadb = THINGS.mariadb.replace('at datetime(3)', 'at datetime unique')
		const store = await openStore('mariadb', 'upsert_rounds', 2, { ...THINGS, mariadb })
		class Own extends CrudHandler {
			override scope() {
				return { owner: 'ada' }
			}
		}
		const options: CrudOptions = {
			...OPTIONS,
			creatable: ['title', 'at'],
			updatable: ['title'],
			upsertOn: ['at'],
			rules: {},
		}
		for (const [Handler, year] of [
			[CrudHandler, 2026],
			[Own, 2027],
		] as const) {
			const { said } = asking({ api: new Handler(store.model, options) })
			const put = (body: object) => said('PUT /api?on=at', { body })
			assert.match(await put({ title: 'one', at: `${year}-01-01T00:00:00.000Z` }), /^200/)
			assert.match(await put({ title: 'two', at: `${year}-01-01T00:00:00.400Z` }), /^409/)
		}
		await store.close()
	})
})

describe('an upsert that conflicts with a deleted record', (test) => {
	test('says so where the scope sets one of the unique fields', async () => {
		class Mine extends CrudHandler {
			override scope() {
				return { owner: 'ada' }
			}
		}
		const model = new MemoryModel('thing', {
			key: 'id',
			fields: { id: 'integer', owner: 'text', code: 'text', gone: { type: 'timestamp', nullable: true } },
			unique: [['owner', 'code']],
		})
		const { ask } = asking({
			thing: new Mine(model, {
				...{ visible: ['id', 'code'], creatable: ['code'], softDelete: 'gone' },
				...{ allow: ['create', 'remove', 'restore', 'upsert'], upsertOn: [['owner', 'code']] },
			}),
		})
		const body = { code: 'a' }
		await ask('POST /thing', { body })
		await ask('DELETE /thing/1')
		for (const request of ['POST /thing', 'PUT /thing?on=owner,code']) {
			const { error } = (await ask(request, { body })).json() as Problem
			assert.is(error, 'code is taken by a deleted record', request)
		}
	})
})

describe('an upsert of records whose key the client gives', (test) => {
	test('creates with the given key, and leaves an existing record its own, with a scope too', async () => {
		class Positive extends CrudHandler {
			override scope() {
				return { n: { gte: 0 } }
			}
		}
		for (const Handler of [CrudHandler, Positive]) {
			const model = new MemoryModel('t', {
				key: 'id',
				unique: [['slug']],
				fields: { id: 'uuid', slug: 'text', n: 'integer' },
			})
			const handler = new Handler(model, {
				visible: 'all',
				creatable: ['id', 'slug', 'n'],
				updatable: ['n'],
				allow: ['upsert'],
				upsertOn: ['slug'],
			})
			const { said } = asking({ t: handler })
			const put = (last: number, n: number) =>
				said('PUT /t?on=slug', {
					body: { id: `aaaaaaaa-0000-4000-8000-00000000000${last}`, slug: 'one', n },
				})
			assert.match(await put(1, 1), /^200 .*8000-000000000001","slug":"one","n":1/)
			assert.match(await put(2, 2), /^200 .*8000-000000000001","slug":"one","n":2/)
		}
	})
})

describe('the option upsertOn', (test) => {
	let store: Store
	test.before(async () => {
		store = await openStore('memory', 'upsert_on')
	})
	const refused = (more: Partial<CrudOptions>) => {
		try {
			new CrudHandler(store.model, { ...OPTIONS, ...more })
			return ''
		} catch (error) {
			return (error as Error).message
		}
	}

	test('is checked against what is unique', () => {
		assert.match(refused({ upsertOn: [] }), "needs upsertOn: unique are ['id'], ['code'], ['pin']")
		assert.match(refused({ upsertOn: ['title'] }), 'upsertOn: title is not unique')
		assert.match(refused({ upsertOn: [['code', 'pin']] }), 'code, pin is not unique')
		assert.match(refused({ upsertOn: ['cod'] }), 'there is no field cod')
		assert.match(refused({ upsertOn: ['pin'] }), 'pin must be creatable')
		assert.match(refused({ upsertOn: [[]] }), 'upsertOn')
		assert.match(refused({ updatable: ['stock'] }), 'could be made without title')
		assert.is(
			refused({
				columns: { slug: 'code' },
				creatable: ['slug', 'title'],
				upsertOn: ['slug'],
				visible: ['id'],
				rules: {},
			}),
			'',
		)
	})

	test('needs a model that can upsert', () => {
		const bare = new Proxy(store.model, {
			get: (target, key) => (key === 'upsert' ? undefined : Reflect.get(target, key)),
		})
		assert.match(
			messageOf(() => new CrudHandler(bare, OPTIONS)),
			'knows no unique fields to upsert on',
		)
	})
})
