/** `updateMany`: lists in the body of PATCH, on all stores. */
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	type CrudOptions,
	type CrudRecord,
	type CrudValues,
	MemoryModel,
	type Model,
	RawJson,
	reply,
} from '../../../lib/index.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { openStore, type Store, storesHere } from '../over/stores.ts'

const OPTIONS: CrudOptions = {
	visible: ['id', 'title', 'stock', 'code', 'owner', 'version'],
	updatable: ['title', 'stock', 'code', 'owner', 'pin'],
	rules: { stock: ['integer', { min: 0 }] },
	allow: ['list', 'update', 'updateMany'],
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

for (const name of await storesHere()) {
	describe(`updateMany over ${name}`, (test) => {
		let store: Store
		let model: Model
		let ids: number[]
		test.before(async () => {
			store = await openStore(name, 'update_many')
		})
		test.before.each(async () => {
			model = await store.emptied()
			ids = []
			for (const [title, owner] of [
				['a', 'ada'],
				['b', 'ada'],
				['c', 'bob'],
			] as const)
				ids.push(Number((await model.create({ title, owner, code: `code ${title}` }, ID)).id))
		})
		test.after(() => store.close())

		const patching = (handler: CrudHandler) => {
			const { ask } = asking({ api: handler })
			return async (body: unknown, headers: Record<string, string> = {}, query = '') => {
				const reply = await ask(`PATCH /api${query}`, { body, headers })
				const { data, ...problem } = reply.json() as Problem & { data?: Record<string, unknown>[] }
				const places = (problem.details ?? []).map(({ field, code }) => `${field} ${code}`)
				return { ...reply, data, problem, places }
			}
		}
		const titles = async () => {
			const { json } = await model.list({
				...{ selection: { fields: ['title'], names: ['title'], version: undefined }, where: undefined },
				...{
					order: [{ field: 'id', descending: false }],
					limit: 9,
					offset: 0,
					after: undefined,
					total: false,
				},
			})
			return (JSON.parse(json) as { title: string }[]).map(({ title }) => title).join()
		}

		test('an answer with more bytes than a page may have is refused, and nothing is changed', async () => {
			for (const id of ids)
				await model.update(String(id), { title: 'x'.repeat(90) }, ID, {
					where: undefined,
					version: undefined,
				})
			const patch = patching(new CrudHandler(model, { ...OPTIONS, maxPageBytes: 400 }))
			const body = ids.map((id) => ({ id, stock: 7 }))
			const { status, problem } = await patch(body)
			assert.equal([status, problem.code], [400, 'too_large'])
			assert.is(await model.count({ op: 'eq', field: 'stock', value: 7 }), 0)
			assert.is((await patch(body, {}, '?fields=id')).status, 200)
		})

		test('what an overridden update returns is counted, whatever it is made of', async () => {
			const made: ((record: CrudRecord) => unknown)[] = [
				(record) => record,
				(record) => reply(record),
				(record) => record.value(),
				(record) => new RawJson(record.text),
			]
			for (const make of made) {
				class Own extends CrudHandler {
					override async update<Answer>(id: string, values: CrudValues) {
						return make(await super.update(id, values)) as Answer
					}
				}
				const patch = patching(new Own(model, { ...OPTIONS, maxPageBytes: 399 }))
				const titled = (length: number) => ids.map((id) => ({ id, title: 'é'.repeat(length) }))
				const patchTitles = (length: number) => patch(titled(length), {}, '?fields=title')
				// [{"title":"éé…"},{"title":"éé…"},{"title":"éé…"}]
				assert.is((await patchTitles(59)).status, 200)
				const { status, problem } = await patchTitles(60)
				assert.equal([status, problem.code], [400, 'too_large'])
				assert.match(await titles(), /^(?:é{59},){2}é{59}$/)
			}
		})

		test('each record is changed, and answered in the order given', async () => {
			const patch = patching(new CrudHandler(model, OPTIONS))
			const { status, data } = await patch([
				{ id: ids[2], title: 'C' },
				{ id: ids[0], title: 'A', stock: 3, version: 1 },
			])
			assert.is(status, 200)
			assert.equal(
				data?.map(({ id, title, stock, version }) => [id, title, stock, version]),
				[
					[ids[2], 'C', null, 2],
					[ids[0], 'A', 3, 2],
				],
			)
			assert.is(await titles(), 'A,b,C')
			assert.equal((await patch([])).data, [])
			assert.equal((await patch([{ id: ids[1], title: 'B' }], {}, '?fields=title')).data, [{ title: 'B' }])
		})

		test('one that is missing, stale or refused fails all, with its place', async () => {
			const patch = patching(new CrudHandler(model, OPTIONS))
			const fine = { id: ids[0], title: 'A' }
			for (const [other, expected, place] of [
				[{ id: 987_654, title: 'x' }, 404, '1 not_found'],
				[{ id: ids[1], title: 'B', version: 7 }, 412, '1 precondition_failed'],
				[{ id: ids[1], title: 'B', version: 'x' }, 422, '1.version integer'],
				[{ id: ids[1], title: null }, 422, '1.title required'],
				[{ id: ids[1], stock: -1 }, 422, '1.stock min'],
				[{ id: ids[1], secret: 's' }, 422, '1.secret unknown'],
				[{ title: 'x' }, 422, '1.id required'],
				[{ id: 'x', title: 'x' }, 404, '1 not_found'],
				['text', 422, '1 object'],
				[{ id: ids[1], code: 'code a' }, 409, '1.code unique'],
			] as const) {
				const { status, places } = await patch([fine, other])
				assert.equal([status, places], [expected, [place]])
			}
			assert.is((await patch([fine], { 'if-match': '"1"' })).status, 412)
			assert.is((await patch([fine], { 'if-none-match': '*' })).status, 412)
			assert.is(await titles(), 'a,b,c')
		})

		test('an id that is no value is refused, with its place', async () => {
			const patch = patching(new CrudHandler(model, OPTIONS))
			for (const id of [{ toString: 1, valueOf: 1 }, {}, [1], [{ toString: 1 }]]) {
				const { status, places } = await patch([
					{ id: ids[0], title: 'x' },
					{ id, title: 'y' },
				])
				assert.equal([status, places], [422, ['1.id id']], JSON.stringify(id))
			}
			assert.is(await titles(), 'a,b,c')
		})

		test('a scope holds for each record', async () => {
			class Mine extends CrudHandler {
				override authenticator = authenticator
				override access = { '*': 'user' }
				override scope() {
					return { owner: this.user?.id }
				}
			}
			const patch = patching(new Mine(model, OPTIONS))
			assert.is((await patch([{ id: ids[0], title: 'A' }])).status, 401)
			const other = await patch(
				[
					{ id: ids[0], title: 'A' },
					{ id: ids[2], title: 'C' },
				],
				{ user: 'ada' },
			)
			assert.equal([other.status, other.places], [404, ['1 not_found']])
			assert.is(await titles(), 'a,b,c')
			class Open extends CrudHandler {
				override scope() {
					return { or: [{ owner: 'ada' }, { stock: { gte: 5 } }] }
				}
			}
			const left = await patching(new Open(model, OPTIONS))([
				{ id: ids[0], title: 'A' },
				{ id: ids[1], owner: 'eve' },
			])
			assert.equal([left.status, left.places], [403, ['1 forbidden']])
			assert.is(await titles(), 'a,b,c')
		})

		test('access has a rule of its own, else that of update; it is off by default, and has a bound', async () => {
			class Guarded extends CrudHandler {
				override authenticator = authenticator
				override access: Record<string, string> = { update: 'user' }
			}
			class Own extends Guarded {
				override access = { update: 'user', updateMany: 'anyone' }
			}
			const body = [{ id: ids[0], title: 'A' }]
			assert.is((await patching(new Guarded(model, OPTIONS))(body)).status, 401)
			assert.is((await patching(new Guarded(model, { ...OPTIONS, allow: ['updateMany'] }))(body)).status, 401)
			assert.is((await patching(new Own(model, OPTIONS))(body)).status, 200)
			assert.is(
				(await patching(new CrudHandler(model, { ...OPTIONS, allow: ['list', 'update'] }))(body)).status,
				405,
			)
			const small = await patching(new CrudHandler(model, { ...OPTIONS, maxBatch: 1 }))([...body, ...body])
			assert.equal([small.status, small.places], [422, [' max']])
		})

		test('an overridden update is called for each, in one transaction', async () => {
			class Own extends CrudHandler {
				override async update(id: string, values: CrudValues) {
					if (values.title === 'refused') return this.error('Not this one', 409)
					return super.update(id, { ...values, stock: 7 })
				}
			}
			const patch = patching(new Own(model, OPTIONS))
			const { data } = await patch([
				{ id: ids[1], title: 'B', version: 1 },
				{ id: ids[0], title: 'A' },
			])
			assert.equal(
				data?.map(({ title, stock }) => [title, stock]),
				[
					['B', 7],
					['A', 7],
				],
			)
			const refused = await patch([
				{ id: ids[0], title: 'x' },
				{ id: ids[1], title: 'refused' },
			])
			assert.is(refused.status, 409)
			const stale = await patch([
				{ id: ids[0], title: 'x' },
				{ id: ids[1], title: 'y', version: 1 },
			])
			assert.equal([stale.status, stale.places], [412, ['1 precondition_failed']])
			assert.is(await titles(), 'A,B,c')
		})

		test('a method changes several, with values of a program', async () => {
			class Own extends CrudHandler {
				async post_all() {
					const records = ids.map((id, at) => ({
						id,
						title: `t${at}`,
						...(at === 0 ? { version: '1' } : {}),
					}))
					return (await this.updateMany(records)).map((record) => record.id)
				}
			}
			const { said } = asking({ api: new Own(model, OPTIONS) })
			assert.match(await said('POST /api/all'), /^200/)
			assert.match(await said('POST /api/all'), /^412/)
			assert.is(await titles(), 't0,t1,t2')
		})

		test("a method's version is compared, be it hidden or of another type", async () => {
			const { visible: _visible, ...options } = OPTIONS
			class Own extends CrudHandler {
				async post_all() {
					const versions =
						this.getParams({ kind: ['required'] }).kind === 'bigint' ? [1n, 1n, 1n] : [2, '2', 1]
					const records = ids.map((id, at) => ({ id, title: `t${at}`, version: versions[at] }))
					return (await this.updateMany(records)).length
				}
			}
			const { ask } = asking({ api: new Own(model, { ...options, visible: ['id', 'title'] }) })
			const status = async (kind: string) => (await ask('POST /api/all', { body: { kind } })).status
			assert.is(await status('bigint'), 200)
			assert.is(await status('bigint'), 412)
			assert.is(await status('mixed'), 412)
			assert.is(await titles(), 't0,t1,t2')
		})
	})
}

describe('updateMany with a key of many digits', (test) => {
	test('refuses a number that JSON rounds, which could name another record, and takes a text', async () => {
		const first = 9_007_199_254_740_992n
		const model = new MemoryModel('slot', {
			key: 'id',
			fields: { id: 'bigint', note: 'text', version: 'bigint' },
			rows: [first, first + 1n].map((id) => ({ id, note: 'old', version: first + 1n })),
		})
		const options = { visible: 'all', updatable: ['note'], version: 'version' } as const
		const { ask } = asking({ api: new CrudHandler(model, { ...options, allow: ['list', 'updateMany'] }) })
		const headers = { 'Content-Type': 'application/json' }
		const patched = (body: string) => ask('PATCH /api', { headers, body })
		for (const [body, place] of [
			['[{"id":9007199254740993,"note":"new"}]', '0.id id'],
			['[{"id":"9007199254740993","version":9007199254740993,"note":"new"}]', '0.version integer'],
		] as const) {
			const reply = await patched(body)
			const { details } = reply.json() as Problem
			const places = details.map(({ field, code }) => `${field} ${code}`)
			assert.equal([reply.status, places], [422, [place]])
		}
		const both = '[{"id":"9007199254740993","version":"9007199254740993","note":"new"}]'
		assert.is((await patched(both)).status, 200)
		const notes = (await ask('/api?fields=note')).json() as { data: unknown }
		assert.equal(notes.data, [{ note: 'old' }, { note: 'new' }])
	})
})

describe('updateMany with a key of several fields', (test) => {
	test('refuses a value that no URL can have, with its place', async () => {
		const fields = { hall: 'text', seat: 'integer', note: 'text' } as const
		const model = new MemoryModel('seat', { key: ['hall', 'seat'], fields })
		const options: CrudOptions = { visible: 'all', updatable: ['note'], allow: ['updateMany'] }
		const { ask } = asking({ api: new CrudHandler(model, options) })
		for (const hall of ['\ud800', { toString: 1 }, ['a']]) {
			const reply = await ask('PATCH /api', { body: [{ hall, seat: 1, note: 'x' }] })
			const { details } = reply.json() as Problem
			const places = details.map(({ field, code }) => `${field} ${code}`)
			assert.equal([reply.status, places], [422, ['0.hall id']])
		}
	})
})

describe('updateMany of an overridden update', (test) => {
	test('keeps the digits of what that returns as JSON', async () => {
		const id = 9_007_199_254_740_993n
		const fields = { id: 'bigint', stock: 'integer' } as const
		const made: ((record: CrudRecord) => unknown)[] = [
			(record) => record,
			(record) => new RawJson(record.text),
			(record) => reply(new RawJson(record.text)),
		]
		for (const make of made) {
			const model = new MemoryModel('big', { key: 'id', fields, rows: [{ id, stock: 1 }] })
			class Own extends CrudHandler {
				override async update<Answer>(id: string, values: CrudValues) {
					return make(await super.update(id, values)) as Answer
				}
			}
			const options: CrudOptions = { visible: 'all', updatable: ['stock'], allow: ['updateMany'] }
			const { said } = asking({ api: new Own(model, options) })
			assert.is(
				await said('PATCH /api', { body: [{ id: String(id), stock: 3 }] }),
				'200 {"success":true,"data":[{"id":9007199254740993,"stock":3}]}',
			)
		}
	})
})
