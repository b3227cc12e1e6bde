/** The model contract: following the cursor from page to page returns each record once, in order. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import type { Condition, Value, Values } from '../../models/model.ts'
import { type Feature, needsOf } from './fields.ts'
import { type ListOptions, type ModelFixture, type ModelTest, recordsOf, tests, testsFor } from './fixture.ts'

/** Values assigned to 13 records in turn, so that some are equal; two more records have null. */
const PAGED: readonly (readonly [field: string, values: readonly Value[], needs?: Feature])[] = [
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

export const PAGE_TESTS: readonly ModelTest[] = [
	...PAGED.map(pagedBy),
	...testsFor(['timestamp', 'microseconds'], {
		async 'pages by timestamps that differ in microseconds only miss nothing'(fixture) {
			await fixture.addAll(SAME_MILLISECOND.map((at) => ({ title: at, at })))
			for (const order of [['at'], ['-at']]) await assertPages(fixture, order, [1, 2, 3])
			const sorted = SAME_MILLISECOND.toSorted()
			deepStrictEqual(await fixture.column({ order: ['at'] }), sorted)
			deepStrictEqual(await fixture.column({ order: ['-at'] }), sorted.toReversed())
		},
	}),
	...tests({
		async 'a page larger than maxBytes is refused: bytes of UTF-8, without the next record'(fixture) {
			// Each character is 3 bytes in UTF-8 and one unit in UTF-16.
			const large = '\u20ac'.repeat(2_000)
			await fixture.addAll(['a', 'b', large, large, 'e'].map((note) => ({ note })))
			const query = (limit: number, maxBytes: number, offset = 0, total = false) =>
				fixture.query({ fields: ['note'], order: ['id'], limit, offset, maxBytes, total })
			const [maxBytes, both] = [7_000, 13_000]
			const first = await query(2, maxBytes)
			deepStrictEqual(recordsOf(first), [{ note: 'a' }, { note: 'b' }])
			ok(first.next !== undefined, 'a record follows')
			const behind = await fixture.query({
				...{ fields: ['note'], order: ['id'], limit: 1, maxBytes },
				after: fixture.after(first, ['id']),
			})
			deepStrictEqual(recordsOf(behind), [{ note: large }])
			strictEqual(recordsOf(await query(2, both, 2)).length, 2)
			strictEqual(recordsOf(await query(3, both, 2)).length, 3)
			for (const total of [false, true]) {
				await fixture.refuses(() => query(3, maxBytes, 1, total), 'too_large', [])
				await fixture.refuses(() => query(2, maxBytes, 2, total), 'too_large', [])
				await fixture.refuses(() => query(100, maxBytes, 0, total), 'too_large', [])
				await fixture.refuses(() => query(1, 5_000, 2, total), 'too_large', [])
			}
			strictEqual(recordsOf(await fixture.query({ limit: 5 })).length, 5)
		},
		async 'the cursor of a page counts towards maxBytes, where a record follows'(fixture) {
			const large = 'x'.repeat(6_000)
			await fixture.addAll(['a', 'b', large, `${large}y`].map((note) => ({ note })))
			const whole = await fixture.query({ fields: ['id'], order: ['note'], limit: 1, offset: 2 })
			const sorted = String(fixture.after(whole, ['note'])?.[0])
			ok(sorted.length > 200 && large.startsWith(sorted), 'the text, or the beginning that is sorted by')
			const { length } = whole.next ?? ''
			const query = (options: ListOptions) =>
				fixture.query({ fields: ['id'], order: ['note'], maxBytes: length - 1, ...options })
			for (const total of [false, true]) {
				for (const order of [['note'], ['title', 'note', '-id']])
					await fixture.refuses(() => query({ order, limit: 1, offset: 2, total }), 'too_large', [])
				await fixture.refuses(() => query({ limit: 3, total }), 'too_large', [])
				// Records and cursor would each fit alone, but not together.
				const both = { fields: ['note'], limit: 1, offset: 2, maxBytes: large.length + length, total }
				await fixture.refuses(() => query(both), 'too_large', [])
				const first = await query({ limit: 2, total })
				deepStrictEqual(recordsOf(first).length, 2)
				ok(first.next !== undefined, 'a record follows')
				const last = await query({ limit: 1, offset: 3, total })
				deepStrictEqual([recordsOf(last).length, last.next], [1, undefined])
			}
			const fits = await query({ limit: 1, offset: 2, maxBytes: length + 1_000 })
			deepStrictEqual(fits.next, whole.next)
		},
		async 'pages by the key alone visit every record once, up and down'(fixture) {
			await fixture.addAll(Array.from({ length: 8 }, () => ({})))
			for (const order of [['id'], ['-id']]) await assertPages(fixture, order, [1, 3, 8])
		},
		async 'pages by several terms of mixed directions, with nulls, visit every record once'(fixture) {
			await fixture.addAll(mixed())
			const orders = [
				['note', '-order'],
				['-note', 'order'],
				['-order', 'note', '-id'],
				['order', '-note', 'title', 'id'],
			]
			for (const order of orders) await assertPages(fixture, order, [1, 2, 5])
		},
		async 'pages of a condition have only its records, and its total'(fixture) {
			await fixture.addAll(mixed())
			const where: Condition = {
				op: 'or',
				terms: [
					{ op: 'eq', field: 'note', value: 'a' },
					{ op: 'null', field: 'order', value: true },
				],
			}
			const expected = await fixture.column({ where, order: ['-order'] }, 'id')
			ok(expected.length > 3)
			strictEqual(await fixture.model.count(where), expected.length)
			const ids = await readPages(fixture, { order: ['-order'], limit: 2, where }, expected.length)
			deepStrictEqual(ids, expected)
		},
		async 'the total with a cursor counts the records before it too'(fixture) {
			await fixture.addAll(Array.from({ length: 5 }, (_, order) => ({ order })))
			strictEqual((await readPages(fixture, { order: ['order'], limit: 2 }, 5)).length, 5)
		},
		async 'a page begins at the right record when that of its cursor was deleted'(fixture) {
			const ids = await fixture.addAll([...'abcd'].map((title) => ({ title })))
			const first = await fixture.query({ order: ['title'], limit: 2 })
			await fixture.delete(ids[1] ?? '')
			const after = fixture.after(first, ['title'])
			deepStrictEqual(await fixture.column({ order: ['title'], after }), ['c', 'd'])
		},
		async 'a cursor at the last record leads to an empty page'(fixture) {
			await fixture.addAll([{ order: 1 }, { order: 2 }])
			const after = fixture.after(await fixture.query({ order: ['-order'], limit: 1 }), ['-order'])
			const [first] = await fixture.column({ order: ['order'] }, 'id')
			await fixture.delete(String(first))
			const { json, next, total } = await fixture.query({ order: ['-order'], after, total: true })
			deepStrictEqual([JSON.parse(json), next, total], [[], undefined, 1])
		},
	}),
]

function pagedBy([field, values, needs]: (typeof PAGED)[number]): ModelTest {
	return {
		name: `pages by ${field}${needs === undefined ? '' : ` with ${needs}`} visit every record once, up and down`,
		needs: needsOf(field, ...(needs === undefined ? [] : [needs])),
		async run(fixture) {
			const nullable = fixture.fields.find(({ name }) => name === field)?.nullable === true
			const records = Array.from({ length: 13 }, (_, index) => ({
				[field]: values[index % values.length] ?? null,
			}))
			await fixture.addAll([...(nullable ? [{ [field]: null }] : []), ...records, ...(nullable ? [{}] : [])])
			for (const order of [[field], [`-${field}`], [field, '-id'], [`-${field}`, 'id']]) {
				await assertPages(fixture, order, [1, 4])
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
export async function assertPages(
	fixture: ModelFixture,
	order: readonly string[],
	limits: readonly number[],
): Promise<void> {
	const expected = await fixture.column({ order, limit: 1_000 }, 'id')
	strictEqual(new Set(expected).size, await fixture.model.count(undefined), 'the list has every record once')
	for (const limit of limits)
		deepStrictEqual(await readPages(fixture, { order, limit }), expected, `${order.join()} by ${limit}`)
}

async function readPages(fixture: ModelFixture, options: ListOptions, total?: number): Promise<unknown[]> {
	const ids: unknown[] = []
	let after: readonly Value[] | undefined
	for (let page = 0; page < 100; page++) {
		const listed = await fixture.query({ ...options, fields: ['id'], after, total: total !== undefined })
		strictEqual(listed.total, total)
		const found = recordsOf(listed).map((record) => record.id)
		ids.push(...found)
		after = fixture.after(listed, options.order ?? [])
		if (after === undefined) return ids
		strictEqual(found.length, options.limit, 'a page that others follow is full')
	}
	ok(false, 'the pages have no end')
}
