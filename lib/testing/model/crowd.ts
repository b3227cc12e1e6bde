/** The model contract: many at once, and much at once. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { same } from '../same.ts'
import { type ModelScene, type ModelStage, NO_GUARD, parsed, recordsOf } from './stage.ts'

export const CROWD_SCENES: readonly ModelScene[] = [
	{
		name: '1,000 simultaneous reads and writes are each answered rightly',
		async play(stage) {
			const ids = await Promise.all(
				Array.from({ length: 50 }, (_, order) => stage.add({ title: `t${order}`, order })),
			)
			const answers = await Promise.all(Array.from({ length: 1_000 }, (_, index) => act(stage, ids, index)))
			deepStrictEqual(
				answers.filter((answer) => answer !== undefined),
				[],
			)
			strictEqual(await stage.model.count({ op: 'eq', field: 'status', value: 'new' }), 100)
			strictEqual(await stage.model.count(undefined), 150)
		},
	},
	{
		name: 'reads at once of the same id, of others, of none and of other fields have their own answers',
		async play(stage) {
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
	},
	{
		name: 'a read after a write that was awaited sees it, however many reads are under way',
		async play(stage) {
			const id = await stage.add({ order: 0 })
			const selection = stage.select(['order'])
			const background: Promise<unknown>[] = []
			for (let order = 1; order <= 100; order++) {
				for (let reads = 0; reads < 5; reads++) background.push(stage.model.read(id, selection, undefined))
				await stage.model.update(id, { order }, selection, NO_GUARD)
				const [found, listed] = await Promise.all([stage.value(id, 'order'), stage.column({}, 'order')])
				deepStrictEqual([found, listed], [order, [order]])
			}
			await Promise.all(background)
			await stage.model.delete(id, selection, NO_GUARD)
			strictEqual(await stage.model.read(id, selection, undefined), undefined)
		},
	},
	{
		name: 'records that were just created are read, each by who created it',
		async play(stage) {
			await Promise.all(
				Array.from({ length: 100 }, async (_, order) => {
					const id = await stage.add({ order })
					strictEqual(await stage.value(id, 'order'), order)
				}),
			)
		},
	},
	{
		name: '100 records of 20 kB each are one complete list',
		async play(stage) {
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
	},
]

/** One of four things, by its index; answers what was wrong, or `undefined`. */
async function act(stage: ModelStage, ids: readonly string[], index: number): Promise<unknown> {
	const at = (index * 7) % ids.length
	const id = ids[at] ?? ''
	switch (index % 10) {
		case 0: {
			const created = await stage.model.create({ title: `n${index}`, status: 'new' }, stage.select(['title']))
			const { title } = await stage.read(created.id, ['title'])
			return title === `n${index}` ? undefined : [index, created, title]
		}
		case 1: {
			const updated = parsed(
				await stage.model.update(id, { note: 'seen' }, stage.select(['title', 'note']), NO_GUARD),
			)
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
