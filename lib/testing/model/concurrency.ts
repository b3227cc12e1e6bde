/** The model contract: concurrency, large lists, and transactions. */
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import type { Model } from '../../models/model.ts'
import { same } from '../case.ts'
import { type ModelScene, ModelStage, parsed, recordsOf, scenes } from './stage.ts'

export const CROWD_SCENES: readonly ModelScene[] = scenes({
	async 'each of 1,000 simultaneous reads and writes gets the right result'(stage) {
		const ids = await Promise.all(
			Array.from({ length: 50 }, (_, order) => stage.add({ title: `t${order}`, order })),
		)
		const answers = await Promise.all(
			Array.from({ length: 1_000 }, (_, index) => callByIndex(stage, ids, index)),
		)
		deepStrictEqual(
			answers.filter((answer) => answer !== undefined),
			[],
		)
		strictEqual(await stage.model.count({ op: 'eq', field: 'status', value: 'new' }), 100)
		strictEqual(await stage.model.count(undefined), 150)
	},
	async 'simultaneous reads of the same id, other ids, missing ids and other fields get their own results'(
		stage,
	) {
		const [first = '', second = ''] = await stage.addAll([{ title: 'a', note: 'x' }, { title: 'b' }])
		const [titles, notes] = [stage.select(['title']), stage.select(['note'])]
		const missing = String(Number(second) + 1)
		const asked = [
			[first, titles, { title: 'a' }],
			[first, titles, { title: 'a' }],
			[missing, titles, undefined],
			[second, titles, { title: 'b' }],
			[first, notes, { note: 'x' }],
			[second, notes, { note: null }],
			[missing, notes, undefined],
		] as const
		for (let round = 0; round < 10; round++) {
			const found = await Promise.all(
				asked.map(([id, selection]) => stage.model.read(id, selection, undefined)),
			)
			deepStrictEqual(
				found.map((each) => each && parsed(each)),
				asked.map(([, , expected]) => expected),
			)
		}
	},
	async 'a read after an awaited write sees it, however many reads are in progress'(stage) {
		const id = await stage.add({ order: 0 })
		const selection = stage.select(['order'])
		const background: Promise<unknown>[] = []
		for (let order = 1; order <= 100; order++) {
			for (let reads = 0; reads < 5; reads++) background.push(stage.model.read(id, selection, undefined))
			await stage.update(id, { order }, selection)
			const [found, listed] = await Promise.all([stage.value(id, 'order'), stage.column({}, 'order')])
			deepStrictEqual([found, listed], [order, [order]])
		}
		await Promise.all(background)
		await stage.delete(id, selection)
		strictEqual(await stage.model.read(id, selection, undefined), undefined)
	},
	async 'a record can be read as soon as it is created, also among many'(stage) {
		await Promise.all(
			Array.from({ length: 100 }, async (_, order) => {
				const id = await stage.add({ order })
				strictEqual(await stage.value(id, 'order'), order)
			}),
		)
	},
	async '100 records of 20 kB each are one complete list'(stage) {
		const titles = Array.from({ length: 100 }, (_, index) =>
			`${index} "\\é,\n`.padEnd(20_000, 'abc "\\\n},{'),
		)
		for (let from = 0; from < 100; from += 10) {
			await Promise.all(
				titles.slice(from, from + 10).map((title, at) => stage.add({ title, order: from + at })),
			)
		}
		const listed = await stage.ask({
			fields: ['order', 'title'],
			order: ['order'],
			limit: 100,
			total: true,
		})
		ok(listed.json.length > 2_000_000)
		same(
			recordsOf(listed),
			titles.map((title, order) => ({ order, title })),
		)
		deepStrictEqual([listed.next, listed.total], [undefined, 100])
		const page = await stage.ask({ fields: ['order', 'title'], order: ['order'], limit: 99 })
		strictEqual(recordsOf(page).length, 99)
		ok(page.next !== undefined)
	},
})

/** Makes one of four calls, by the index; returns a wrong result, or `undefined`. */
async function callByIndex(stage: ModelStage, ids: readonly string[], index: number): Promise<unknown> {
	const at = (index * 7) % ids.length
	const id = ids[at] ?? ''
	switch (index % 10) {
		case 0: {
			const created = await stage.model.create({ title: `n${index}`, status: 'new' }, stage.select(['title']))
			const { title } = await stage.read(created.id, ['title'])
			return title === `n${index}` ? undefined : [index, created, title]
		}
		case 1: {
			const updated = parsed(await stage.update(id, { note: 'seen' }, stage.select(['title', 'note'])))
			return updated.title === `t${at}` && updated.note === 'seen' ? undefined : [index, updated]
		}
		case 2: {
			const where = { op: 'eq', field: 'order', value: at } as const
			const found = await stage.column({ where })
			return found.length === 1 && found[0] === `t${at}` ? undefined : [index, found]
		}
		default: {
			const { title } = await stage.read(id, ['title'])
			return title === `t${at}` ? undefined : [index, title]
		}
	}
}

export const TRANSACTION_SCENES: readonly ModelScene[] = scenes({
	async 'a transaction returns the result of its work, and its changes stay'(stage) {
		const [changed = '', deleted = ''] = await stage.addAll([{ title: 'a' }, { title: 'b' }])
		const id = await stage.model.transaction(async (model) => {
			const within = new ModelStage(model, [])
			const created = await within.add({ title: 'c' })
			await within.update(changed, { title: 'changed' })
			await within.delete(deleted)
			return created
		})
		strictEqual(await stage.value(id, 'title'), 'c')
		deepStrictEqual(await stage.column(), ['changed', 'c'])
	},
	async 'a transaction whose work fails rejects with its error, and changes nothing'(stage) {
		const [changed = '', deleted = ''] = await stage.addAll([{ title: 'a' }, { title: 'b' }])
		const failure = new Error('no')
		const work = async (model: Model): Promise<void> => {
			const within = new ModelStage(model, [])
			await within.add({ title: 'c' })
			await within.update(changed, { title: 'changed' })
			await within.delete(deleted)
			throw failure
		}
		await rejects(stage.model.transaction(work), (error: unknown) => error === failure)
		deepStrictEqual(await stage.column(), ['a', 'b'])
		deepStrictEqual(await stage.read(changed, ['title']), { title: 'a' })
		await stage.add({ title: 'd' })
		deepStrictEqual(await stage.column(), ['a', 'b', 'd'])
	},
	async 'a transaction that a constraint stops changes nothing, and rejects with that error'(stage) {
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
	async 'a transaction reads what it has written, by every method'(stage) {
		const old = await stage.add({ title: 'old', note: 'x' })
		await stage.model.transaction(async (model) => {
			const within = new ModelStage(model, [])
			const id = await within.add({ title: 'new', note: 'x' })
			await within.update(old, { title: 'changed' })
			deepStrictEqual(await within.read(id, ['title']), { title: 'new' })
			deepStrictEqual(await within.read(old, ['title']), { title: 'changed' })
			deepStrictEqual(await within.column(), ['changed', 'new'])
			strictEqual(await model.count({ op: 'eq', field: 'note', value: 'x' }), 2)
			strictEqual((await within.ask({ limit: 1, total: true })).total, 2)
			deepStrictEqual(parsed(await within.delete(id, within.select(['title']))), { title: 'new' })
			strictEqual(await model.count(undefined), 1)
			strictEqual(await model.read(id, within.select(['id']), undefined), undefined)
		})
		deepStrictEqual(await stage.column(), ['changed'])
	},
	async 'writes of a failed transaction are never seen by others'(stage) {
		const id = await stage.add({ title: 'before' })
		// Not awaited within the transaction: a store may block them until its end.
		const seen: Promise<unknown>[] = []
		const work = async (model: Model): Promise<void> => {
			const within = new ModelStage(model, [])
			await within.add({ title: 'new' })
			await within.update(id, { title: 'changed' })
			seen.push(stage.model.count(undefined), stage.value(id, 'title'), stage.column())
			await within.list()
			throw new Error('no')
		}
		await rejects(stage.model.transaction(work), /^Error: no$/)
		deepStrictEqual(await Promise.all(seen), [1, 'before', ['before']])
	},
	async 'writes of a transaction become visible to others together'(stage) {
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
	async 'simultaneous calls within a transaction get the right results'(stage) {
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
	async 'many simultaneous transactions all take effect'(stage) {
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
})
