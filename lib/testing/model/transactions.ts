/** The model contract: of a transaction all counts, or nothing. */
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import type { Model } from '../../models/model.ts'
import { type ModelScene, ModelStage, NO_GUARD, parsed } from './stage.ts'

export const TRANSACTION_SCENES: readonly ModelScene[] = [
	{
		name: 'a transaction answers what its work does, and its changes stay',
		async play(stage) {
			const [changed = '', deleted = ''] = await stage.addAll([{ title: 'a' }, { title: 'b' }])
			const id = await stage.model.transaction(async (model) => {
				const within = new ModelStage(model, [])
				const created = await within.add({ title: 'c' })
				await model.update(changed, { title: 'changed' }, within.select(['id']), NO_GUARD)
				await model.delete(deleted, within.select(['id']), NO_GUARD)
				return created
			})
			strictEqual(await stage.value(id, 'title'), 'c')
			deepStrictEqual(await stage.column(), ['changed', 'c'])
		},
	},
	{
		name: 'a transaction whose work fails rejects with its error, and changes nothing',
		async play(stage) {
			const [changed = '', deleted = ''] = await stage.addAll([{ title: 'a' }, { title: 'b' }])
			const failure = new Error('no')
			const work = async (model: Model): Promise<void> => {
				const within = new ModelStage(model, [])
				await within.add({ title: 'c' })
				await model.update(changed, { title: 'changed' }, within.select(['id']), NO_GUARD)
				await model.delete(deleted, within.select(['id']), NO_GUARD)
				throw failure
			}
			await rejects(stage.model.transaction(work), (error: unknown) => error === failure)
			deepStrictEqual(await stage.column(), ['a', 'b'])
			deepStrictEqual(await stage.read(changed, ['title']), { title: 'a' })
			await stage.add({ title: 'd' })
			deepStrictEqual(await stage.column(), ['a', 'b', 'd'])
		},
	},
	{
		name: 'a transaction that a constraint stops changes nothing, and rejects with that error',
		async play(stage) {
			await stage.add({ email: 'taken' })
			const work = async (model: Model): Promise<void> => {
				const within = new ModelStage(model, [])
				await within.add({ email: 'free' })
				await within.add({ email: 'taken' })
			}
			await stage.refuses(() => stage.model.transaction(work), 'unique', ['email'])
			deepStrictEqual(await stage.column({}, 'email'), ['taken'])
			await stage.add({ email: 'free' })
		},
	},
	{
		name: 'a transaction reads what it has written, by every method',
		async play(stage) {
			const old = await stage.add({ title: 'old', note: 'x' })
			await stage.model.transaction(async (model) => {
				const within = new ModelStage(model, [])
				const id = await within.add({ title: 'new', note: 'x' })
				await model.update(old, { title: 'changed' }, within.select(['id']), NO_GUARD)
				deepStrictEqual(await within.read(id, ['title']), { title: 'new' })
				deepStrictEqual(await within.read(old, ['title']), { title: 'changed' })
				deepStrictEqual(await within.column(), ['changed', 'new'])
				strictEqual(await model.count({ op: 'eq', field: 'note', value: 'x' }), 2)
				strictEqual((await within.ask({ limit: 1, total: true })).total, 2)
				deepStrictEqual(parsed(await model.delete(id, within.select(['title']), NO_GUARD)), { title: 'new' })
				strictEqual(await model.count(undefined), 1)
				strictEqual(await model.read(id, within.select(['id']), undefined), undefined)
			})
			deepStrictEqual(await stage.column(), ['changed'])
		},
	},
	{
		name: 'what a transaction that fails has written is never seen by others',
		async play(stage) {
			const id = await stage.add({ title: 'before' })
			// They are not awaited within: a store may let them wait for the end.
			const seen: Promise<unknown>[] = []
			const work = async (model: Model): Promise<void> => {
				const within = new ModelStage(model, [])
				await within.add({ title: 'new' })
				await model.update(id, { title: 'changed' }, within.select(['id']), NO_GUARD)
				seen.push(stage.model.count(undefined), stage.value(id, 'title'), stage.column())
				await within.list()
				throw new Error('no')
			}
			await rejects(stage.model.transaction(work), /^Error: no$/)
			deepStrictEqual(await Promise.all(seen), [1, 'before', ['before']])
		},
	},
	{
		name: 'what a transaction writes is seen by others together, or not yet',
		async play(stage) {
			const seen: Promise<number>[] = []
			await stage.model.transaction(async (model) => {
				const within = new ModelStage(model, [])
				for (let index = 0; index < 3; index++) {
					await within.add()
					seen.push(stage.model.count(undefined))
				}
			})
			for (const count of await Promise.all(seen)) ok(count === 0 || count === 3, `${count} of 3 were seen`)
			strictEqual(await stage.model.count(undefined), 3)
		},
	},
	{
		name: 'what the work of a transaction asks at once is answered rightly',
		async play(stage) {
			const old = await stage.add({ order: 0 })
			const orders = Array.from({ length: 20 }, (_, index) => index + 1)
			const answers = await stage.model.transaction((model) => {
				const within = new ModelStage(model, [])
				return Promise.all(
					orders.map(async (order) => {
						const id = await within.add({ order })
						return Promise.all([within.value(id, 'order'), within.value(old, 'order')])
					}),
				)
			})
			deepStrictEqual(
				answers,
				orders.map((order) => [order, 0]),
			)
			deepStrictEqual(await stage.column({ order: ['order'] }, 'order'), [0, ...orders])
		},
	},
	{
		name: 'many transactions at once all count',
		async play(stage) {
			await Promise.all(
				Array.from({ length: 20 }, (_, order) =>
					stage.model.transaction(async (model) => {
						const within = new ModelStage(model, [])
						await within.add({ order })
						await within.add({ order })
					}),
				),
			)
			const orders = await stage.column({ order: ['order'] }, 'order')
			deepStrictEqual(
				orders,
				Array.from({ length: 40 }, (_, index) => Math.floor(index / 2)),
			)
		},
	},
]
