/** The model contract: following the cursor from page to page returns each record once, in order. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import type { Condition, Value, Values } from '../../models/model.ts'
import { type Feature, needsOf } from './fields.ts'
import { type Asked, type ModelScene, type ModelStage, recordsOf, scenes, scenesFor } from './stage.ts'

/** Values assigned to 13 records in turn, so that some are equal; two more records have null. */
const WALKED: readonly (readonly [field: string, values: readonly Value[], needs?: Feature])[] = [
	['note', ['b', 'a', 'c', "d'", 'e"', 'f\\', 'g%', '']],
	['order', [3, -1, 2_147_483_647, 0, -2_147_483_648]],
	['big', [2n ** 63n - 1n, 2n ** 63n - 2n, 2n ** 53n + 1n, 2n ** 53n, 2 ** 53 - 1, -1, -(2n ** 63n)]],
	['ratio', [0.1, 0.1 + 0.2, 0.3, 1e21, -1e-7, 1 / 3, 1.797_693_134_862_315_7e308]],
	['ratio', [Infinity, 1, -Infinity, 0], 'infinity'],
	['ratio', [Number.NaN, 1, 2], 'nan'],
	['price', ['9.0000', '10.0000', '1234567890123456.7891', '1234567890123456.7892', '-0.0001']],
	['done', [true, false]],
	['day', ['2026-11-20', '1000-01-01', '9999-12-31']],
	['clock', ['13:45:00', '00:00:00', '23:59:59']],
	['at', ['2026-11-20T13:45:00.123Z', '2026-11-20T13:45:00.124Z', '1969-12-31T23:59:59.999Z']],
	['token', ['0189c7c2-7b1e-7c3e-9b1a-2f6d5f1c0a3b', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11']],
	['status', ['draft', 'done', 'x']],
]

const SAME_MILLISECOND = ['001', '999', '500', '002', '000', '501', '998'].map(
	(digits) => `2026-11-20T13:45:00.123${digits}Z`,
)

export const PAGE_SCENES: readonly ModelScene[] = [
	...WALKED.map(walked),
	...scenesFor(['timestamp', 'microseconds'], {
		async 'pages by timestamps that differ in microseconds only miss nothing'(stage) {
			await stage.addAll(SAME_MILLISECOND.map((at) => ({ title: at, at })))
			for (const order of [['at'], ['-at']]) await walksAlike(stage, order, [1, 2, 3])
			const sorted = SAME_MILLISECOND.toSorted()
			deepStrictEqual(await stage.column({ order: ['at'] }), sorted)
			deepStrictEqual(await stage.column({ order: ['-at'] }), sorted.toReversed())
		},
	}),
	...scenes({
		async 'a page larger than maxBytes is refused: bytes of UTF-8, without the next record'(stage) {
			// Each is 3 bytes of UTF-8 and one unit of UTF-16.
			const large = '\u20ac'.repeat(2_000)
			await stage.addAll(['a', 'b', large, large, 'e'].map((note) => ({ note })))
			const ask = (limit: number, maxBytes: number, offset = 0) =>
				stage.ask({ fields: ['note'], order: ['id'], limit, offset, maxBytes })
			const [maxBytes, both] = [7_000, 13_000]
			const first = await ask(2, maxBytes)
			deepStrictEqual(recordsOf(first), [{ note: 'a' }, { note: 'b' }])
			ok(first.next !== undefined, 'a record follows')
			const behind = await stage.ask({
				...{ fields: ['note'], order: ['id'], limit: 1, maxBytes },
				after: stage.after(first, ['id']),
			})
			deepStrictEqual(recordsOf(behind), [{ note: large }])
			strictEqual(recordsOf(await ask(2, both, 2)).length, 2)
			strictEqual(recordsOf(await ask(3, both, 2)).length, 3)
			for (const total of [false, true]) {
				const asked = { fields: ['note'], order: ['id'], maxBytes, total }
				await stage.refuses(() => stage.ask({ ...asked, limit: 3, offset: 1 }), 'too_large', [])
				await stage.refuses(() => stage.ask({ ...asked, limit: 2, offset: 2 }), 'too_large', [])
				await stage.refuses(() => stage.ask({ ...asked, limit: 100 }), 'too_large', [])
				await stage.refuses(
					() => stage.ask({ ...asked, limit: 1, offset: 2, maxBytes: 5_000 }),
					'too_large',
					[],
				)
			}
			strictEqual(recordsOf(await stage.ask({ limit: 5 })).length, 5)
		},
		async 'the cursor of a page counts towards maxBytes, where a record follows'(stage) {
			const large = 'x'.repeat(6_000)
			await stage.addAll(['a', 'b', large, `${large}y`].map((note) => ({ note })))
			const ask = (asked: Asked) => stage.ask({ fields: ['id'], order: ['note'], maxBytes: 5_000, ...asked })
			for (const total of [false, true]) {
				for (const order of [['note'], ['title', 'note', '-id']])
					await stage.refuses(() => ask({ order, limit: 1, offset: 2, total }), 'too_large', [])
				await stage.refuses(() => ask({ limit: 3, total }), 'too_large', [])
				// The records alone would fit, and so would the cursor.
				const both = { fields: ['note'], limit: 1, offset: 2, maxBytes: 10_000, total }
				await stage.refuses(() => ask(both), 'too_large', [])
				const first = await ask({ limit: 2, total })
				deepStrictEqual(recordsOf(first).length, 2)
				ok(first.next !== undefined, 'a record follows')
				const last = await ask({ limit: 1, offset: 3, total })
				deepStrictEqual([recordsOf(last).length, last.next], [1, undefined])
			}
			const fits = await ask({ limit: 1, offset: 2, maxBytes: 7_000 })
			deepStrictEqual(stage.after(fits, ['note'])?.[0], large)
		},
		async 'pages by the key alone visit every record once, up and down'(stage) {
			await stage.addAll(Array.from({ length: 8 }, () => ({})))
			for (const order of [['id'], ['-id']]) await walksAlike(stage, order, [1, 3, 8])
		},
		async 'pages by several terms of mixed directions, with nulls, visit every record once'(stage) {
			await stage.addAll(mixed())
			const orders = [
				['note', '-order'],
				['-note', 'order'],
				['-order', 'note', '-id'],
				['order', '-note', 'title', 'id'],
			]
			for (const order of orders) await walksAlike(stage, order, [1, 2, 5])
		},
		async 'pages of a condition have only its records, and its total'(stage) {
			await stage.addAll(mixed())
			const where: Condition = {
				op: 'or',
				terms: [
					{ op: 'eq', field: 'note', value: 'a' },
					{ op: 'null', field: 'order', value: true },
				],
			}
			const expected = await stage.column({ where, order: ['-order'] }, 'id')
			ok(expected.length > 3)
			strictEqual(await stage.model.count(where), expected.length)
			deepStrictEqual(await walk(stage, ['-order'], 2, where, expected.length), expected)
		},
		async 'the total with a cursor counts the records before it too'(stage) {
			await stage.addAll(Array.from({ length: 5 }, (_, order) => ({ order })))
			deepStrictEqual((await walk(stage, ['order'], 2, undefined, 5)).length, 5)
		},
		async 'a page begins at the right record when that of its cursor was deleted'(stage) {
			const ids = await stage.addAll([...'abcd'].map((title) => ({ title })))
			const first = await stage.ask({ order: ['title'], limit: 2 })
			await stage.delete(ids[1] ?? '')
			const after = stage.after(first, ['title'])
			deepStrictEqual(await stage.column({ order: ['title'], after }), ['c', 'd'])
		},
		async 'a cursor at the last record leads to an empty page'(stage) {
			await stage.addAll([{ order: 1 }, { order: 2 }])
			const after = stage.after(await stage.ask({ order: ['-order'], limit: 1 }), ['-order'])
			const [first] = await stage.column({ order: ['order'] }, 'id')
			await stage.delete(String(first))
			const { json, next, total } = await stage.ask({ order: ['-order'], after, total: true })
			deepStrictEqual([JSON.parse(json), next, total], [[], undefined, 1])
		},
	}),
]

function walked([field, values, needs]: (typeof WALKED)[number]): ModelScene {
	return {
		name: `pages by ${field}${needs === undefined ? '' : ` with ${needs}`} visit every record once, up and down`,
		needs: needsOf(field, ...(needs === undefined ? [] : [needs])),
		async play(stage) {
			const nullable = stage.fields.find(({ name }) => name === field)?.nullable === true
			const records = Array.from({ length: 13 }, (_, index) => ({
				[field]: values[index % values.length] ?? null,
			}))
			await stage.addAll([...(nullable ? [{ [field]: null }] : []), ...records, ...(nullable ? [{}] : [])])
			for (const order of [[field], [`-${field}`], [field, '-id'], [`-${field}`, 'id']]) {
				await walksAlike(stage, order, [1, 4])
			}
		},
	}
}

function mixed(): Values[] {
	const notes = ['a', 'b', null]
	const orders = [1, null, 2, 1]
	return Array.from({ length: 14 }, (_, index) => ({
		title: `t${index % 2}`,
		note: notes[index % notes.length] ?? null,
		order: orders[index % orders.length] ?? null,
	}))
}

/** Asserts that the pages of each size together are the whole list. */
async function walksAlike(
	stage: ModelStage,
	order: readonly string[],
	limits: readonly number[],
): Promise<void> {
	const expected = await stage.column({ order, limit: 1_000 }, 'id')
	strictEqual(new Set(expected).size, await stage.model.count(undefined), 'the list has every record once')
	for (const limit of limits)
		deepStrictEqual(await walk(stage, order, limit), expected, `${order.join()} by ${limit}`)
}

/** The ids of all pages. */
async function walk(
	stage: ModelStage,
	order: readonly string[],
	limit: number,
	where?: Condition,
	total?: number,
): Promise<unknown[]> {
	const ids: unknown[] = []
	let after: readonly Value[] | undefined
	for (let page = 0; page < 100; page++) {
		const listed = await stage.ask({ fields: ['id'], order, limit, where, after, total: total !== undefined })
		strictEqual(listed.total, total)
		const found = recordsOf(listed).map((record) => record.id)
		ids.push(...found)
		after = stage.after(listed, order)
		if (after === undefined) return ids
		strictEqual(found.length, limit, 'a page that others follow is full')
	}
	ok(false, 'the pages have no end')
}
