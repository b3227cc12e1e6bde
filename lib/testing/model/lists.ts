/** The model contract: the order of lists, limit and offset, `next`, and totals. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import type { Value } from '../../models/model.ts'
import { atOnce } from '../case.ts'
import { needsOf } from './fields.ts'
import { type ModelTest, recordsOf, tests } from './fixture.ts'

const MOMENTS = ['2026-11-20T13:45:00.1', '2026-11-20T13:45:00.12']

/** Values of a field in ascending order, some of them equal. */
const ASCENDING: readonly (readonly [field: string, values: readonly Value[]])[] = [
	['note', ['a', 'aa', 'ab', 'b', 'b', 'c']],
	['order', [-2_147_483_648, -10, -9, 0, 0, 9, 10, 2_147_483_647]],
	['big', [-(2n ** 63n), -(2n ** 53n) - 1n, -1, 0, 2 ** 53 - 1, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n]],
	['ratio', [-1e300, -1.5, -1e-7, 0, 1e-7, 0.1, 0.5, 9, 10, 1e300]],
	['price', ['-10.0000', '-9.5000', '-0.0001', '0.0000', '9.0000', '9.5000', '10.0000', '100.0000']],
	['done', [false, false, true, true]],
	['day', ['1000-01-01', '1969-12-31', '1970-01-01', '2026-09-30', '2026-10-01', '9999-12-31']],
	['clock', ['00:00:00', '00:00:01', '09:59:59', '10:00:00', '23:59:59']],
	['at', ['1000-01-01T00:00:00', '1969-12-31T23:59:59.999', ...MOMENTS].map((time) => `${time}Z`)],
]

export const LIST_TESTS: readonly ModelTest[] = [
	...ASCENDING.map(([field, values]) => ordered(field, values)),
	...tests({
		async 'an empty table lists as an empty array'(fixture) {
			const { json, next, total } = await fixture.query({ total: true })
			deepStrictEqual([JSON.parse(json), next, total], [[], undefined, 0])
			strictEqual(await fixture.model.count(undefined), 0)
		},
		async 'the order of the key goes up and down'(fixture) {
			await fixture.addAll(['c', 'a', 'b'].map((title) => ({ title })))
			deepStrictEqual(await fixture.column({ order: ['id'] }), ['c', 'a', 'b'])
			deepStrictEqual(await fixture.column({ order: ['-id'] }), ['b', 'a', 'c'])
		},
		async 'equal values are ordered by the next term, whichever direction it has'(fixture) {
			await fixture.addAll([
				{ title: 'b1', note: 'b', order: 1 },
				{ title: 'a1', note: 'a', order: 1 },
				{ title: 'b2', note: 'b', order: 2 },
				{ title: 'a2', note: 'a', order: 2 },
				{ title: 'none', order: 1 },
			])
			for (const [order = '', titles = ''] of [
				['note -order', 'a2 a1 b2 b1 none'],
				['-note order', 'b1 b2 a1 a2 none'],
				['order note id', 'a1 b1 none a2 b2'],
				['-order -note -id', 'b2 a2 b1 a1 none'],
				['order -id', 'none a1 b1 a2 b2'],
			])
				deepStrictEqual((await fixture.column({ order: order.split(' ') })).join(' '), titles, order)
		},
		async 'limit and offset select a range of the order'(fixture) {
			await fixture.addAll([...'abcdefg'].map((title) => ({ title })))
			deepStrictEqual(await fixture.column({ order: ['title'], limit: 3 }), ['a', 'b', 'c'])
			deepStrictEqual(await fixture.column({ order: ['title'], limit: 3, offset: 3 }), ['d', 'e', 'f'])
			deepStrictEqual(await fixture.column({ order: ['title'], limit: 3, offset: 6 }), ['g'])
			deepStrictEqual(await fixture.column({ order: ['title'], limit: 3, offset: 7 }), [])
			deepStrictEqual(await fixture.column({ order: ['title'], limit: 3, offset: 1_000_000 }), [])
			deepStrictEqual(await fixture.column({ order: ['-title'], limit: 1, offset: 1 }), ['f'])
			deepStrictEqual(await fixture.column({ limit: 1_000_000 }), [...'abcdefg'])
		},
		async 'an offset is exact far into the table'(fixture) {
			for (let from = 0; from < 250; from += 50)
				await atOnce(50, (index) => fixture.add({ order: from + index }))
			for (const offset of [99, 100, 101, 149, 240]) {
				const page = await fixture.query({ fields: ['order'], order: ['order'], limit: 5, offset })
				const orders = recordsOf(page).map(({ order }) => order)
				deepStrictEqual(orders, [offset, offset + 1, offset + 2, offset + 3, offset + 4])
				deepStrictEqual(fixture.after(page, ['order'])?.[0], offset + 4)
			}
		},
		async 'next is present exactly when more records follow'(fixture) {
			await fixture.addAll([...'abcd'].map((title) => ({ title, note: title < 'c' ? 'few' : null })))
			const few = { op: 'eq', field: 'note', value: 'few' } as const
			const follows = async (limit: number, offset: number, where?: typeof few): Promise<boolean> =>
				(await fixture.query({ limit, offset, where })).next !== undefined
			deepStrictEqual([await follows(3, 0), await follows(4, 0), await follows(5, 0)], [true, false, false])
			deepStrictEqual([await follows(1, 2), await follows(1, 3), await follows(1, 4)], [true, false, false])
			deepStrictEqual([await follows(1, 0, few), await follows(2, 0, few)], [true, false])
		},
		async 'next has the values of the last record on the page'(fixture) {
			const [, id = ''] = await fixture.addAll([{ note: 'a' }, { note: 'b', order: 7 }, { note: 'c' }])
			const listed = await fixture.query({ order: ['note', 'order'], limit: 2 })
			const [note, order, key] = fixture.after(listed, ['note', 'order']) ?? []
			deepStrictEqual([note, order, Number(key)], ['b', 7, Number(id)])
		},
		async 'the total counts all matching records, whatever the page'(fixture) {
			await fixture.addAll([...'abcde'].map((title) => ({ title, order: title < 'd' ? 1 : null })))
			const where = { op: 'eq', field: 'order', value: 1 } as const
			for (const offset of [0, 2, 5, 100]) {
				strictEqual((await fixture.query({ limit: 2, offset, total: true })).total, 5)
				strictEqual((await fixture.query({ limit: 2, offset, where, total: true })).total, 3)
			}
			strictEqual((await fixture.query({ limit: 2 })).total, undefined)
			strictEqual(await fixture.model.count(undefined), 5)
			strictEqual(await fixture.model.count(where), 3)
		},
	}),
]

/** Values stored in random order are listed in ascending and descending order, nulls last in both. */
function ordered(field: string, values: readonly Value[]): ModelTest {
	return {
		name: `${field} orders up and down, nulls last both ways`,
		needs: needsOf(field),
		async run(fixture) {
			const numbered = values.map((value, index) => ({
				title: String(index).padStart(2, '0'),
				[field]: value,
			}))
			const nulls = [{ title: 'null' }, { title: 'null' }]
			const shuffled = [...numbered, ...nulls].map((_, at, all) => all[(at * 7 + 3) % all.length] ?? {})
			await fixture.addAll(shuffled.length % 7 === 0 ? [...numbered, ...nulls].toReversed() : shuffled)
			const titles = numbered.map(({ title }) => title)
			const up = await fixture.column({ order: [field, 'title', 'id'] })
			deepStrictEqual(up, [...titles, 'null', 'null'])
			const down = await fixture.column({ order: [`-${field}`, '-title', '-id'] })
			deepStrictEqual(down, [...titles.toReversed(), 'null', 'null'])
		},
	}
}
