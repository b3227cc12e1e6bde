/** The model contract: comparisons and lists in conditions, through `list`, `count` and `read`. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import type { Comparison, Condition, Value, Values } from '../../models/model.ts'
import { type Feature, needsOf } from './fields.ts'
import { type ModelTest, not, parsed, tests, testsFor } from './fixture.ts'
import { HOSTILE } from './values.ts'

type Operand = Exclude<Value, null>

type Three = readonly [Operand, Operand, Operand]

const SECOND = '2026-11-20T13:45:00'

/** Three values of a field in ascending order: the records are `a`, `b`, `c`, and `n` with null. */
const COMPARED: readonly (readonly [field: string, values: Three, needs?: Feature])[] = [
	['note', ['a', 'b', 'ba']],
	['order', [-10, 9, 10]],
	['big', [2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n]],
	['ratio', [-0.5, 0.1, 0.1 + 0.2]],
	['price', ['-1.0000', '9.5000', '10.0000']],
	['day', ['1969-12-31', '2026-09-30', '2026-10-01']],
	['clock', ['00:00:00', '09:59:59', '10:00:00']],
	['at', ['1969-12-31T23:59:59.999Z', `${SECOND}.122Z`, `${SECOND}.123Z`]],
	['at', [`${SECOND}.123001Z`, `${SECOND}.123002Z`, `${SECOND}.123999Z`], 'microseconds'],
]

/** The records that each comparison with the second value finds. */
const BY_SECOND: Readonly<Record<Comparison, string>> = {
	eq: 'b',
	ne: 'ac',
	gt: 'c',
	gte: 'bc',
	lt: 'a',
	lte: 'ab',
}

export const CONDITION_TESTS: readonly ModelTest[] = [
	...COMPARED.map(comparing),
	...testsFor(['boolean', 'uuid'], {
		async 'booleans and uuids are compared by value'(fixture) {
			const [low, high] = ['0189c7c2-7b1e-7c3e-9b1a-2f6d5f1c0a3b', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11']
			await fixture.addAll([
				{ title: 'a', done: true, token: low },
				{ title: 'b', done: false, token: high },
				{ title: 'n' },
			])
			await fixture.finds({ op: 'eq', field: 'done', value: true }, ['a'])
			await fixture.finds({ op: 'eq', field: 'done', value: false }, ['b'])
			await fixture.finds({ op: 'ne', field: 'done', value: true }, ['b'])
			await fixture.finds({ op: 'in', field: 'done', values: [true, false] }, ['a', 'b'])
			await fixture.finds({ op: 'eq', field: 'token', value: low }, ['a'])
			await fixture.finds({ op: 'in', field: 'token', values: [high, low] }, ['a', 'b'])
			await fixture.finds({ op: 'ne', field: 'token', value: low }, ['b'])
		},
	}),
	...tests({
		async 'conditions nest'(fixture) {
			await fixture.addAll(
				[...'abcd'].map((title, order) => ({ title, order, note: title < 'c' ? 'x' : null })),
			)
			const is = (value: string): Condition => ({ op: 'eq', field: 'title', value })
			const either: Condition = {
				op: 'or',
				terms: [is('a'), is('c'), { op: 'and', terms: [is('d'), { op: 'or', terms: [] }] }],
			}
			await fixture.finds(either, ['a', 'c'])
			await fixture.finds(not(either), ['b', 'd'])
			const late: Condition = { op: 'gt', field: 'order', value: 0 }
			await fixture.finds({ op: 'and', terms: [either, late] }, ['c'])
			const others: Condition = { op: 'or', terms: [not(either), { op: 'and', terms: [either, not(late)] }] }
			await fixture.finds(others, ['a', 'b', 'd'])
			let deep: Condition = is('b')
			for (let depth = 0; depth < 20; depth++) deep = { op: depth % 2 === 0 ? 'and' : 'or', terms: [deep] }
			await fixture.finds(deep, ['b'])
		},
		async 'in and or take hundreds of terms'(fixture) {
			await fixture.addAll([5, 250, 1_000].map((order) => ({ title: `t${order}`, order })))
			const values = Array.from({ length: 500 }, (_, index) => index)
			await fixture.finds({ op: 'in', field: 'order', values }, ['t250', 't5'])
			const terms = values.slice(0, 100).map((value): Condition => ({ op: 'eq', field: 'order', value }))
			await fixture.finds({ op: 'or', terms }, ['t5'])
			await fixture.finds({ op: 'in', field: 'order', values: [5, 5, 5] }, ['t5'])
		},
		async 'in takes tens of thousands of values'(fixture) {
			await fixture.addAll([
				{ title: 't5', order: 5 },
				{ title: 'T6', order: 100_000 },
				{ title: "it's \\", order: null },
			])
			const values = Array.from({ length: 70_000 }, (_, index) => index)
			await fixture.finds({ op: 'in', field: 'order', values }, ['t5'])
			await fixture.finds(not({ op: 'in', field: 'order', values }), ['T6'])
			const titles = [...values.slice(0, 40_000).map((value) => `t${value}`), "it's \\"]
			const exact: Condition = { op: 'in', field: 'title', values: titles, exact: true }
			await fixture.finds(exact, ["it's \\", 't5'])
			await fixture.finds(not(exact), ['T6'])
			await fixture.finds({ op: 'in', field: 'title', values: titles.slice(1_000) }, ["it's \\"])
			await fixture.finds({ ...exact, values: titles.slice(0, 1_100) }, ['t5'])
		},
		async 'a text in a condition is never interpreted'(fixture) {
			const texts = HOSTILE.filter((text) => text !== 'NULL')
			await fixture.addAll(texts.map((title) => ({ title })))
			for (const title of texts) {
				const is: Condition = { op: 'eq', field: 'title', value: title }
				const isIn: Condition = { op: 'in', field: 'title', values: [title] }
				for (const where of [is, isIn]) deepStrictEqual(await fixture.column({ where }), [title])
			}
			strictEqual(await fixture.model.count(undefined), texts.length)
		},
		async 'a record outside the condition is not read, whatever is read at the same time'(fixture) {
			const [own = '', other = ''] = await fixture.addAll([
				{ title: 'own', order: 1 },
				{ title: 'other', order: 2 },
			])
			const selection = fixture.select(['title'])
			const scope = (value: number): Condition => ({ op: 'eq', field: 'order', value })
			for (let round = 0; round < 20; round++) {
				const answers = await Promise.all(
					[own, other, own, other, own].map((id, index) =>
						fixture.model.read(id, selection, index < 2 ? scope(1) : index < 4 ? scope(2) : undefined),
					),
				)
				const titles = answers.map((found) => found && parsed(found).title)
				deepStrictEqual(titles, ['own', undefined, undefined, 'other', 'own'])
			}
		},
	}),
]

function comparing([field, values, needs]: (typeof COMPARED)[number]): ModelTest {
	return {
		name: `${field} is compared by every operator${needs === undefined ? '' : ', to the microsecond'}`,
		needs: needsOf(field, ...(needs === undefined ? [] : [needs])),
		async run(fixture) {
			const records = values.map((value, index): Values => ({ title: 'abc'.charAt(index), [field]: value }))
			await fixture.addAll([...records, { title: 'n' }])
			const [first, second, third] = values
			for (const [op, titles] of Object.entries(BY_SECOND)) {
				// The keys of the table are the operators.
				await fixture.finds({ op: op as Comparison, field, value: second }, [...titles], op)
			}
			await fixture.finds(not({ op: 'gt', field, value: second }), ['a', 'b'], 'not gt')
			await fixture.finds({ op: 'in', field, values: [first, third] }, ['a', 'c'], 'in')
			await fixture.finds(not({ op: 'in', field, values: [first, third] }), ['b'], 'not in')
			await fixture.finds({ op: 'null', field, value: true }, ['n'], 'null')
			await fixture.finds({ op: 'null', field, value: false }, ['a', 'b', 'c'], 'not null')
		},
	}
}
