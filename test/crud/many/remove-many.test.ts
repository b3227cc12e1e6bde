/** `removeMany`: DELETE with a condition, on all stores. */
import { setTimeout } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { CrudHandler, type CrudOptions, MemoryCache, type Model } from '../../../lib/index.ts'
import { asking, messageOf } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { openStore, type Store, storesHere } from '../over/stores.ts'

const OPTIONS: CrudOptions = {
	visible: ['id', 'title', 'owner', 'parent'],
	searchable: ['title'],
	allow: ['list', 'remove', 'removeMany'],
}

const ID = { fields: ['id'], names: ['id'], version: undefined }

for (const name of await storesHere()) {
	describe(`removeMany over ${name}`, (test) => {
		let store: Store
		let model: Model
		let ids: number[]
		test.before(async () => {
			store = await openStore(name, 'remove_many')
		})
		test.before.each(async () => {
			model = await store.emptied()
			ids = []
			for (const [title, owner] of [
				['a', 'ada'],
				['b', 'ada'],
				['c', 'bob'],
			] as const)
				ids.push(Number((await model.create({ title, owner }, ID)).id))
		})
		test.after(() => store.close())

		const deleting = (handler: CrudHandler) => {
			const { said } = asking({ api: handler })
			return (query: string) => said(`DELETE /api${query}`)
		}
		const count = () => model.count(undefined)

		test('what the condition finds is deleted, and the ids are answered', async () => {
			const del = deleting(new CrudHandler(model, OPTIONS))
			const missing = '987654'
			assert.is(
				await del(`?id[in]=${ids[0]},${ids[2]},${missing}`),
				`200 {"success":true,"data":[${ids[0]},${ids[2]}]}`,
			)
			assert.is(await del('?title=nothing'), '200 {"success":true,"data":[]}')
			assert.is(await del('?owner=ada&search=b'), `200 {"success":true,"data":[${ids[1]}]}`)
			assert.is(await count(), 0)
		})

		test('a repeated request with the same Idempotency-Key deletes nothing more', async () => {
			class Once extends CrudHandler {
				override idempotencyKeys = 'anyone' as const
			}
			const { said } = asking({ api: new Once(model, OPTIONS) }, { cache: new MemoryCache({ max: 100 }) })
			const once = { headers: { 'idempotency-key': '"k1"' } }
			const first = await said('DELETE /api?owner=bob', once)
			assert.is(first, `200 {"success":true,"data":[${ids[2]}]}`)
			await model.create({ title: 'd', owner: 'bob' }, ID)
			assert.is(await said('DELETE /api?owner=bob', once), first)
			assert.match(await said('DELETE /api?owner=ada', once), /^422/)
			assert.is(await count(), 3)
		})

		test('a condition is required, and nothing that would limit a page', async () => {
			const children = new CrudHandler(model, OPTIONS)
			const relations = { children: { to: children, by: 'parent', many: true } }
			const { said } = asking({ api: new CrudHandler(model, { ...OPTIONS, relations }), child: children })
			const del = (query: string) => said(`DELETE /api${query}`)
			for (const query of [
				'',
				'?',
				'?limit=1',
				'?owner=ada&limit=1',
				'?owner=ada&sort=id',
				'?owner=ada&fields=id',
				'?secret=x',
				'?filter={}',
				'?filter={"and":[]}',
				'?filter={"and":[{},{}]}',
				'?filter={"or":[{},{"title":"a"}]}',
				'?filter={"not":{"or":[]}}',
				'?filter={"not":{"not":{}}}',
				'?search=',
				'?id[nin]=',
				'?filter={"id":{"nin":[]}}',
				'?filter={"not":{"id":{"in":[]}}}',
				'?title[contains]=',
				'?filter={"title":{"startsWith":""}}',
				'?filter={"children":{"every":{}}}',
				'?filter={"children":{"count":{"gte":0}}}',
				'?filter={"not":{"children":{"count":{"lt":0}}}}',
				'?filter={"or":[{"title":"a"},{"not":{"children":{"count":{"lt":0}}}}]}',
				'?filter={"children":{"none":{"id":{"in":[]}}}}',
			])
				assert.match(await del(query), /^400 /, query)
			assert.match(await del(''), 'A condition is required, such as id[in]=1,2,3')
			const offered = 'filter, search, id, title, owner, parent, children.…'
			assert.match(await del('?secret=x'), `"secret is not a parameter of a deletion: it takes ${offered}"`)
			assert.match(
				await deleting(new CrudHandler(model, { ...OPTIONS, allow: ['list', 'remove'] }))('?owner=ada'),
				/^405/,
			)
			assert.is(await count(), 3)
		})

		test('a tag in If-Match is that of no collection, so nothing is deleted', async () => {
			const { ask } = asking({ api: new CrudHandler(model, OPTIONS) })
			const status = async (headers: Readonly<Record<string, string>>) =>
				(await ask(`DELETE /api?id[in]=${ids[0]}`, { headers })).status
			assert.is(await status({ 'if-match': '"1"' }), 412)
			assert.is(await status({ 'if-none-match': '*' }), 412)
			assert.is(await count(), 3)
			assert.is(await status({ 'if-match': '*' }), 200)
			assert.is(await count(), 2)
		})

		test('more than maxBatch are refused, and nothing is deleted', async () => {
			const del = deleting(new CrudHandler(model, { ...OPTIONS, maxBatch: 2 }))
			assert.match(await del('?title[gte]=a'), /^409 .*More than 2 records match/)
			assert.is(await count(), 3)
			assert.match(await del('?owner=ada'), /^200/)
			assert.is(await count(), 1)
		})

		test('a record that others refer to undoes all, and is named', async () => {
			await model.create({ title: 'child', parent: ids[1] ?? 0 }, ID)
			const text = await deleting(new CrudHandler(model, OPTIONS))('?owner=ada')
			assert.match(
				text,
				new RegExp(`^409 .*"${ids[1]}: Other records refer to this one".*"field":"${ids[1]}"`),
			)
			assert.is(await count(), 4)
		})

		test('a record that someone changes meanwhile, so that it does not match any more, stays', async () => {
			const del = deleting(new CrudHandler(model, OPTIONS))
			let answer: Promise<string> | undefined
			await model.transaction(async (into) => {
				await into.update(String(ids[1]), { owner: 'bob' }, ID, { where: undefined, version: undefined })
				answer = del('?owner=ada')
				await setTimeout(200) // for the deletion to find the record, and to wait for it
			})
			assert.is(await answer, `200 {"success":true,"data":[${ids[0]}]}`)
			assert.is(await count(), 2)
		})

		test('records outside of the scope stay, unseen', async () => {
			class Mine extends CrudHandler {
				override scope() {
					return { owner: 'bob' }
				}
			}
			assert.is(
				await deleting(new Mine(model, OPTIONS))('?title[gte]=a'),
				`200 {"success":true,"data":[${ids[2]}]}`,
			)
			assert.is(await count(), 2)
		})

		test('ids that this request can’t see are not answered, and so nothing is deleted', async () => {
			class Hiding extends CrudHandler {
				override fields() {
					return { hidden: ['id'] }
				}
			}
			assert.match(await deleting(new Hiding(model, OPTIONS))('?owner=ada'), /^403/)
			assert.is(await count(), 3)
			assert.match(
				messageOf(() => new CrudHandler(model, { ...OPTIONS, visible: ['title', 'owner'] })),
				`CrudHandler of ${model.name}: allow has removeMany, but visible lacks id, of the key`,
			)
		})

		test('access is that of remove, unless it has its own', async () => {
			const authenticator = { authenticate: () => null }
			class Guarded extends CrudHandler {
				override authenticator = authenticator
				override access: Record<string, string> = { remove: 'user' }
			}
			class Own extends Guarded {
				override access = { remove: 'user', removeMany: 'anyone' }
			}
			assert.match(await deleting(new Guarded(model, OPTIONS))('?owner=ada'), /^401/)
			assert.match(
				await deleting(new Guarded(model, { ...OPTIONS, allow: ['removeMany'] }))('?owner=ada'),
				/^401/,
			)
			assert.match(await deleting(new Own(model, OPTIONS))('?owner=ada'), /^200/)
		})

		test('an overridden remove is called for each, in one transaction', async () => {
			const seen: string[] = []
			class Own extends CrudHandler {
				override async remove(id: string) {
					seen.push(id)
					return id === String(ids[1]) ? this.error('Not this one', 409) : super.remove(id)
				}
			}
			assert.match(await deleting(new Own(model, OPTIONS))('?owner=ada'), /^409 .*Not this one/)
			assert.equal(seen, [String(ids[0]), String(ids[1])])
			assert.is(await count(), 3)
		})

		test('a method deletes what matches, but never without a condition', async () => {
			class Own extends CrudHandler {
				async post_ada() {
					return this.removeMany({ op: 'eq', field: 'owner', value: 'ada' })
				}

				async post_all() {
					return this.removeMany(undefined as never)
				}
			}
			const { said } = asking({ api: new Own(model, OPTIONS) })
			assert.is(await said('POST /api/ada'), `200 {"success":true,"data":["${ids[0]}","${ids[1]}"]}`)
			assert.match(await said('POST /api/all'), /^500/)
			assert.is(await count(), 1)
		})
	})
}
