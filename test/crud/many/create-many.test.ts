/** `createMany`: lists in the body of POST, on all stores. */
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	type CrudOptions,
	type CrudValues,
	MemoryCache,
	type Model,
} from '../../../lib/index.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { openStore, type Store, storesHere } from '../over/stores.ts'

const OPTIONS: CrudOptions = {
	visible: ['id', 'title', 'stock', 'code', 'owner'],
	creatable: ['title', 'stock', 'code', 'owner', 'pin'],
	rules: { stock: ['integer', { min: 0 }] },
	allow: ['list', 'create', 'createMany'],
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

for (const name of await storesHere()) {
	describe(`createMany over ${name}`, (test) => {
		let store: Store
		let model: Model
		test.before(async () => {
			store = await openStore(name, 'create_many')
		})
		test.before.each(async () => {
			model = await store.emptied()
		})
		test.after(() => store.close())

		const posting = (handler: CrudHandler) => {
			const { ask } = asking({ api: handler })
			return async (body: unknown, headers: Record<string, string> = {}, query = '') => {
				const reply = await ask(`POST /api${query}`, { body, headers })
				const { data, ...problem } = reply.json() as Problem & { data?: Record<string, unknown>[] }
				const places = (problem.details ?? []).map(({ field, code }) => `${field} ${code}`)
				return { ...reply, data, problem, places }
			}
		}
		const count = () => model.count(undefined)

		test('a list is created in the order given, and a record as before', async () => {
			const post = posting(new CrudHandler(model, OPTIONS))
			const titles = ['c', 'a', 'b']
			const { status, data, headers } = await post(titles.map((title, stock) => ({ title, stock })))
			assert.is(status, 201)
			assert.equal(
				data?.map(({ title, stock, owner, code }) => [title, stock, owner, code]),
				titles.map((title, stock) => [title, stock, 'alice', null]),
			)
			assert.is(headers.location, undefined)
			assert.is(new Set(data?.map(({ id }) => id)).size, 3)
			const one = await post({ title: 'one' })
			assert.is(one.status, 201)
			assert.match(String(one.headers.location), /^\/api\/\d+$/)
			assert.equal((await post([])).data, [])
			const some = await post([{ title: 'x' }], {}, '?fields=title')
			assert.equal(some.data, [{ title: 'x' }])
		})

		test('all problems are reported with their positions, and nothing is stored', async () => {
			const post = posting(new CrudHandler(model, OPTIONS))
			const { status, problem, places } = await post([
				{ title: 'fine' },
				{ stock: -1 },
				'text',
				{ title: 'x', secret: 's', nothing: 1 },
				{ title: 'y', stock: 'many' },
			])
			assert.equal([status, problem.code], [422, 'invalid'])
			assert.equal(places, [
				'1.title required',
				'1.stock min',
				'2 object',
				'3.secret unknown',
				'3.nothing unknown',
				'4.stock integer',
			])
			assert.match(problem.error, /^1\.title is required; 1\.stock /)
			assert.is(await count(), 0)
		})

		test('a conflict names the record, but no hidden field', async () => {
			await model.create(
				{ title: 'x', code: 'taken', pin: 'taken' },
				{ fields: [], names: [], version: undefined },
			)
			const post = posting(new CrudHandler(model, OPTIONS))
			const conflict = await post([{ title: 'a' }, { title: 'b', code: 'taken' }])
			assert.equal([conflict.status, conflict.places], [409, ['1.code unique']])
			assert.is(conflict.problem.error, '1.code is taken by another record')
			const twice = await post([{ title: 'a', code: 'c' }, { title: 'b' }, { title: 'c', code: 'c' }])
			assert.equal([twice.status, twice.places], [409, ['2.code unique']])
			const closed = posting(new CrudHandler(model, { ...OPTIONS, creatable: ['title'] }))
			class Pinned extends CrudHandler {
				override create(values: CrudValues) {
					return super.create({ ...values, pin: 'taken' })
				}
			}
			const pinned = posting(new Pinned(model, { ...OPTIONS, creatable: ['title'] }))
			const hidden = await pinned([{ title: 'a' }])
			assert.equal([hidden.status, hidden.places], [409, ['0 conflict']])
			assert.is(hidden.problem.error, '0: Conflicts with existing records')
			assert.is((await closed([{ title: 'a' }])).status, 201)
			assert.is(await count(), 2)
		})

		test('it is off by default, has a bound, and may be allowed alone', async () => {
			const off = posting(new CrudHandler(model, { ...OPTIONS, allow: ['create'] }))
			assert.equal((await off([{ title: 'a' }])).status, 422)
			const small = posting(new CrudHandler(model, { ...OPTIONS, maxBatch: 2 }))
			const large = await small([{ title: 'a' }, { title: 'b' }, { title: 'c' }])
			assert.equal([large.status, large.places], [422, [' max']])
			assert.is(large.problem.error, 'The body must have at most 2 records')
			const alone = posting(new CrudHandler(model, { ...OPTIONS, allow: ['createMany'] }))
			assert.match((await alone({ title: 'a' })).problem.error, 'must be a list of records')
			assert.is((await alone([{ title: 'a' }])).status, 201)
			assert.is(await count(), 1)
		})

		test('access has a rule of its own, else that of create', async () => {
			class Guarded extends CrudHandler {
				override authenticator = authenticator
				override access = { create: 'user' }
			}
			const only = (allow: CrudOptions['allow']) =>
				posting(new Guarded(model, { ...OPTIONS, allow: allow ?? [] }))
			for (const allow of [['createMany'], ['create', 'createMany']] as const) {
				assert.is((await only(allow)([{ title: 'a' }])).status, 401)
				assert.is((await only(allow)([{ title: 'a' }], { user: 'ada' })).status, 201)
			}
			class Own extends CrudHandler {
				override authenticator = authenticator
				override access: Record<string, string> = { createMany: 'user' }
			}
			const own = posting(new Own(model, OPTIONS))
			assert.is((await own({ title: 'a' })).status, 201)
			assert.is((await own([{ title: 'a' }])).status, 401)
			assert.is((await own([{ title: 'a' }], { user: 'ada' })).status, 201)
		})

		test('a scope is set on each record, and none leaves it', async () => {
			class Mine extends CrudHandler {
				override authenticator = authenticator
				override scope() {
					return { owner: this.user?.id }
				}
			}
			const post = posting(new Mine(model, OPTIONS))
			const mine = await post([{ title: 'a' }, { title: 'b', owner: 'eve' }], { user: 'ada' })
			assert.equal(
				mine.data?.map(({ owner }) => owner),
				['ada', 'ada'],
			)
			class Open extends CrudHandler {
				override scope() {
					return { or: [{ owner: 'ada' }, { stock: { gte: 5 } }] }
				}
			}
			const open = posting(new Open(model, OPTIONS))
			const left = await open([
				{ title: 'a', owner: 'ada' },
				{ title: 'b', owner: 'eve', stock: 1 },
			])
			assert.equal([left.status, left.places], [403, ['1 forbidden']])
			assert.is((await open([{ title: 'b', owner: 'eve', stock: 5 }])).status, 201)
			class Either extends CrudHandler {
				override scope() {
					return { owner: ['ada', 'bob'] }
				}
			}
			const either = await posting(new Either(model, OPTIONS))([
				{ title: 'a', owner: 'bob' },
				{ title: 'b', owner: 'eve' },
			])
			assert.equal([either.status, either.places], [403, ['1 forbidden']])
			assert.is(await count(), 3)
		})

		test('an overridden create is called for each, in one transaction', async () => {
			class Own extends CrudHandler {
				override async create(values: CrudValues) {
					if (values.title === 'refused') return this.error('Not this one', 409)
					if (values.title === 'broken') throw new TypeError('a mistake')
					const record = await super.create({ ...values, stock: 7 })
					return record
				}
			}
			const post = posting(new Own(model, OPTIONS))
			const { data } = await post([{ title: 'a' }, { title: 'b', stock: 1 }])
			assert.equal(
				data?.map(({ stock }) => stock),
				[7, 7],
			)
			assert.is((await post([{ title: 'c' }, { title: 'refused' }])).status, 409)
			assert.is((await post([{ title: 'c' }, { title: 'broken' }])).status, 500)
			assert.is(await count(), 2)
		})

		test('an override of createMany has the checked values', async () => {
			class Own extends CrudHandler {
				override async createMany(values: readonly CrudValues[]) {
					const made = await super.createMany(values.map((one) => ({ ...one, stock: values.length })))
					return made.map((record) => record.with({ title: (record.value() as { title: string }).title }))
				}
			}
			const post = posting(new Own(model, OPTIONS))
			assert.equal((await post([{ title: 'a' }, { title: 'b' }])).data, [{ title: 'a' }, { title: 'b' }])
			assert.is(await model.count({ op: 'eq', field: 'stock', value: 2 }), 2)
			assert.equal((await post([{ title: 'a' }, {}])).places, ['1.title required'])
		})

		test('what an override of createMany calls a model for is refused as by createMany', async () => {
			class Own extends CrudHandler {
				override async createMany(values: readonly CrudValues[]) {
					for (const one of values) await model.create(one as Parameters<Model['create']>[0], ID)
					return []
				}
			}
			const post = posting(new Own(model, OPTIONS))
			const { status, places } = await post([
				{ title: 'a', code: 'x' },
				{ title: 'b', code: 'x' },
			])
			assert.equal([status, places], [409, ['code unique']])
		})

		test('versions begin as for one record, and stripObject is applied to each', async () => {
			class Stripped extends CrudHandler {
				override stripObject({ title }: Record<string, unknown>) {
					return { shown: title }
				}
			}
			const { data } = await posting(new Stripped(model, { ...OPTIONS, version: 'version' }))([
				{ title: 'a' },
				{ title: 'b' },
			])
			assert.equal(data, [{ shown: 'a' }, { shown: 'b' }])
			assert.is(await model.count({ op: 'gt', field: 'version', value: 1_000_000 }), 2)
		})

		test('a repeated request with the same Idempotency-Key creates nothing more', async () => {
			class Once extends CrudHandler {
				override idempotencyKeys = 'anyone' as const
			}
			const { said } = asking({ api: new Once(model, OPTIONS) }, { cache: new MemoryCache({ max: 100 }) })
			const more = { body: [{ title: 'a' }, { title: 'b' }], headers: { 'idempotency-key': '"k1"' } }
			const first = await said('POST /api', more)
			assert.match(first, /^201/)
			assert.is(await said('POST /api', more), first)
			assert.is(await count(), 2)
		})

		test('a model without createMany creates one after the other', async () => {
			const bare = new Proxy(model, {
				get: (target, key) => {
					if (key === 'createMany') return undefined
					const value: unknown = Reflect.get(target, key)
					return typeof value === 'function' ? value.bind(target) : value
				},
			})
			const post = posting(new CrudHandler(bare, OPTIONS))
			assert.is((await post([{ title: 'a' }, { title: 'b' }])).status, 201)
			const conflict = await post([
				{ title: 'c', code: 'c' },
				{ title: 'd', code: 'c' },
			])
			assert.is(conflict.status, 409)
		})
	})
}
