/** Indexes of a layer's rows: after changes, in transactions, and for finding related records. */
import * as assert from 'uvu/assert'
import { indexedBy } from '../../../lib/models/memory/links.ts'
import { MemoryModel } from '../../../lib/models/memory/memory-model.ts'
import { type Layer, Store } from '../../../lib/models/memory/store.ts'
import type { Condition, Model } from '../../../lib/models/model.ts'
import { describe } from '../../helpers/describe.ts'
import { seedOf } from '../../helpers/seed.ts'
import { stopwatch } from '../../helpers/stalls.ts'

const seed = seedOf('indexes of a memory model')

/** Numbers from 0 to 1, the same for the same seed. */
function randomOf(start: number): () => number {
	let state = start
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
		return state / 2 ** 32
	}
}

const INTEGER = { type: 'integer', nullable: true, hasDefault: false, generated: false } as const

/** Records of an id and a group. */
function groups() {
	const fields = [
		{ ...INTEGER, name: 'id', initial: undefined },
		{ ...INTEGER, name: 'group', initial: undefined },
	]
	const store = new Store('grouped', fields, ['id'], [])
	let asked = 0
	const by = indexedBy(['group'], store)
	const counted = {
		name: by.name,
		keyOf(values: Parameters<typeof by.keyOf>[0]) {
			asked++
			return by.keyOf(values)
		},
	}
	const put = (layer: Layer, id: number, group: number | null) =>
		layer.put(String(id), { id: String(id), values: [id, group] })
	const idsOf = (layer: Layer, group: number) =>
		layer.rowsWith(String(group), counted).map(({ values }) => values[0])
	return { store, put, idsOf, asked: () => asked }
}

const above = (layer: Layer): Layer => layer.above(new Map<Store, Layer>())

describe('indexes of a memory model', (test) => {
	test('an index is made once, and updated by each change', () => {
		const { store, put, idsOf, asked } = groups()
		const { layer } = store
		for (let id = 1; id <= 1_000; id++) put(layer, id, id % 10)
		assert.is(idsOf(layer, 3).length, 100)
		assert.is(asked(), 1_000)
		put(layer, 3, 4)
		put(layer, 2_000, 3)
		put(layer, 23, null)
		layer.put('13', undefined)
		assert.equal(idsOf(layer, 3).slice(0, 3), [33, 43, 53])
		assert.is(idsOf(layer, 3).at(-1), 2_000)
		assert.equal(idsOf(layer, 4).slice(0, 3), [3, 4, 14])
		assert.equal(idsOf(layer, 99), [])
		assert.ok(asked() < 1_010)
	})

	test('a transaction sees its own changes, others do not, and its commit is seen', () => {
		const { store, put, idsOf } = groups()
		const { layer } = store
		for (let id = 1; id <= 6; id++) put(layer, id, id % 2)
		assert.equal(idsOf(layer, 1), [1, 3, 5])
		const outer = above(layer)
		put(outer, 3, 0)
		put(outer, 4, 1)
		const inner = above(outer)
		inner.put('1', undefined)
		put(inner, 7, 1)
		assert.equal(
			[idsOf(inner, 1), idsOf(inner, 0)],
			[
				[4, 5, 7],
				[2, 3, 6],
			],
		)
		assert.equal(
			[idsOf(outer, 1), idsOf(layer, 1)],
			[
				[1, 4, 5],
				[1, 3, 5],
			],
		)
		inner.commit()
		assert.equal(
			[idsOf(outer, 1), idsOf(layer, 1)],
			[
				[4, 5, 7],
				[1, 3, 5],
			],
		)
		outer.commit()
		assert.equal(
			[idsOf(layer, 1), idsOf(layer, 0)],
			[
				[4, 5, 7],
				[2, 3, 6],
			],
		)
	})

	test('an index has the rows that a search of all finds, after random changes in nested transactions', () => {
		const random = randomOf(seed)
		const { store, put, idsOf } = groups()
		const layers = [store.layer]
		for (let step = 0; step < 2_000; step++) {
			const layer = layers.at(-1) ?? store.layer
			const [kind, id] = [random(), Math.floor(random() * 40)]
			if (kind < 0.1 && layers.length < 4) layers.push(above(layer))
			else if (kind < 0.2 && layers.length > 1) {
				if (random() < 0.7) layer.commit()
				layers.pop()
			} else if (kind < 0.4) layer.put(String(id), undefined)
			else put(layer, id, random() < 0.1 ? null : Math.floor(random() * 5))
			for (const each of layers)
				for (let group = 0; group < 5; group++) {
					const all = each.rows().filter(({ values }) => values[1] === group)
					assert.equal(
						idsOf(each, group),
						all.map(({ values }) => values[0]),
					)
				}
		}
	})

	test('records related through others are found without reading all, in less time than a search of all takes', async () => {
		const articles = new MemoryModel('article', {
			fields: { id: 'integer', title: 'text' },
			key: 'id',
			rows: Array.from({ length: 4_000 }, (_, at) => ({ title: `t${at}` })),
		})
		const ties = new MemoryModel('tie', {
			fields: { article: 'integer', tag: 'integer' },
			key: ['article', 'tag'],
			rows: Array.from({ length: 16_000 }, (_, at) => ({
				article: (at >> 2) + 1,
				tag: (at & 3) * 1_000 + (at >> 4),
			})),
		})
		const ids = async (model: Model, where: Condition): Promise<unknown> => {
			const selection = { fields: ['id'], names: ['id'], version: undefined }
			const order = [{ field: 'id', descending: false }]
			const query = { selection, where, order, limit: 10, offset: 0, after: undefined, total: false }
			return JSON.parse((await model.list(query)).json).map((record: { id: unknown }) => record.id)
		}
		const tagged = (tag: number): Condition => ({
			op: 'some',
			link: { model: ties, fields: ['id'], to: ['article'], isMany: true },
			where: { op: 'eq', field: 'tag', value: tag },
		})
		assert.equal(await ids(articles, tagged(7)), [29, 30, 31, 32])
		const took = { all: 0, related: 0 }
		for (let tag = 0; tag < 200; tag++) {
			let time = stopwatch()
			await ids(articles, { op: 'contains', field: 'title', value: `x${tag}` })
			took.all += time()
			time = stopwatch()
			await ids(articles, tagged(tag))
			took.related += time()
		}
		assert.ok(took.related < took.all, JSON.stringify(took))
		await articles.delete(
			'30',
			{ fields: [], names: [], version: undefined },
			{ where: undefined, version: undefined },
		)
		await ties.create({ article: 5, tag: 7 }, { fields: [], names: [], version: undefined })
		assert.equal(await ids(articles, tagged(7)), [5, 29, 31, 32])
	})
})
