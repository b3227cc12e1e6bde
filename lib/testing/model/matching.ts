/** The model contract: three-valued logic, text operators and exact conditions. See also `conditions.ts`. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import type { Condition } from '../../models/model.ts'
import { type ModelTest, not, parsed, tests } from './fixture.ts'

const T: Condition = { op: 'and', terms: [] }
const F: Condition = { op: 'or', terms: [] }
/** Unknown: `note` is null in all records of these cases. */
const U: Condition = { op: 'eq', field: 'note', value: 'x' }

/** Conditions, and whether they find a record. */
const LOGIC: readonly (readonly [name: string, condition: Condition, finds: boolean])[] = [
	['and of nothing', T, true],
	['or of nothing', F, false],
	['in nothing', { op: 'in', field: 'title', values: [] }, false],
	['not in nothing', not({ op: 'in', field: 'title', values: [] }), true],
	['a null in nothing', { op: 'in', field: 'note', values: [] }, false],
	['not a null in nothing', not({ op: 'in', field: 'note', values: [] }), true],
	['unknown', U, false],
	['not unknown', not(U), false],
	['not not unknown', not(not(U)), false],
	['unknown ne', { op: 'ne', field: 'note', value: 'x' }, false],
	['not unknown ne', not({ op: 'ne', field: 'note', value: 'x' }), false],
	['unknown in', { op: 'in', field: 'note', values: ['x', 'y'] }, false],
	['not unknown in', not({ op: 'in', field: 'note', values: ['x', 'y'] }), false],
	['unknown contains', { op: 'contains', field: 'note', value: '' }, false],
	['not unknown contains', not({ op: 'contains', field: 'note', value: 'x' }), false],
	['not unknown contains nothing', not({ op: 'contains', field: 'note', value: '' }), false],
	['not unknown startsWith nothing', not({ op: 'startsWith', field: 'note', value: '' }), false],
	['not unknown endsWith nothing', not({ op: 'endsWith', field: 'note', value: '' }), false],
	['unknown gt', not({ op: 'gt', field: 'order', value: 0 }), false],
	['true or unknown', { op: 'or', terms: [U, T] }, true],
	['false or unknown', { op: 'or', terms: [F, U] }, false],
	['not (false or unknown)', not({ op: 'or', terms: [F, U] }), false],
	['true and unknown', { op: 'and', terms: [T, U] }, false],
	['not (true and unknown)', not({ op: 'and', terms: [U, T] }), false],
	['not (false and unknown)', not({ op: 'and', terms: [U, F] }), true],
	['not (true or unknown)', not({ op: 'or', terms: [T, U] }), false],
	['is null', { op: 'null', field: 'note', value: true }, true],
	['is not null', { op: 'null', field: 'note', value: false }, false],
	['not is not null', not({ op: 'null', field: 'note', value: false }), true],
	['a title is not null', { op: 'null', field: 'title', value: false }, true],
]

const MATCHED = [
	...['100%', '100x', 'a_b', 'axb', 'a\\b', "a'b", 'a"b', 'a*b', '[ab]', 'a%b', 'a\\%b', '%', '_', '\\', ''],
]
/** Texts to search for in `MATCHED`. */
const PARTS = ['%', '_', '\\', "'", '"', '*', '[', 'a', '0%', 'a_', '_b', '\\b', '\\%', '%b', 'b', 'x']

/** Texts that a collation may consider equal, by the title of their record. */
const ALIKE = { lower: 'ann', upper: 'ANN', spaced: 'ann ', accented: 'änn' }

export const MATCHING_TESTS: readonly ModelTest[] = [
	...(['contains', 'startsWith', 'endsWith'] as const).map(matching),
	...tests({
		async 'conditions that ignore case take every character literally, too'(fixture) {
			const all = ['Thyme', 'THYME', 'thyme']
			const texts = [...all, 'Thyme tea', 'iced thyme', 'thyme_', 'thyme%', 'th!me', 'th\\me']
			await fixture.addAll([...texts.map((title) => ({ title, note: title })), { title: 'no note' }])
			const whole = (value: string): Condition => ({ op: 'eq', field: 'note', value, ignoreCase: true })
			const part = (op: 'contains' | 'startsWith' | 'endsWith', value: string): Condition => ({
				...{ op, field: 'note', value, ignoreCase: true },
			})
			for (const value of all) {
				await fixture.finds(whole(value), all, value)
				await fixture.finds(part('startsWith', value), [...all, 'Thyme tea', 'thyme_', 'thyme%'], value)
				await fixture.finds(part('endsWith', value), [...all, 'iced thyme'], value)
				await fixture.finds(part('contains', value), texts.slice(0, 7), value)
			}
			await fixture.finds(whole('THYME_'), ['thyme_'])
			await fixture.finds(whole('THYM_'), [])
			await fixture.finds(whole('%'), [])
			await fixture.finds(part('contains', 'E%'), ['thyme%'])
			await fixture.finds(part('contains', 'TH\\M'), ['th\\me'])
			await fixture.finds(part('contains', 'TH!M'), ['th!me'])
			await fixture.finds(part('contains', ''), texts)
			await fixture.finds(not(whole('thyme')), texts.slice(3))
			await fixture.finds(not(part('contains', 'thyme')), texts.slice(7))
		},
		async 'logic is three-valued: neither a condition nor its opposite finds the unknown'(fixture) {
			const id = await fixture.add({ title: 'one' })
			for (const [name, where, finds] of LOGIC) {
				await fixture.finds(where, finds ? ['one'] : [], name)
				const read = await fixture.model.read(id, fixture.select(['title']), where)
				strictEqual(read !== undefined, finds, name)
			}
		},
		async 'an exact condition finds identical texts only'(fixture) {
			await fixture.addAll([
				...Object.entries(ALIKE).map(([title, note]) => ({ title, note })),
				{ title: 'null' },
			])
			for (const [title, note] of Object.entries(ALIKE)) {
				await fixture.finds(exactly(note), [title], note)
				await fixture.finds({ op: 'in', field: 'note', values: [note, 'x'], exact: true }, [title], note)
			}
			await fixture.finds(exactly('Ann'), [])
			const both: Condition = { op: 'in', field: 'note', values: ['ann', 'ANN'], exact: true }
			await fixture.finds(both, ['lower', 'upper'])
			await fixture.finds({ op: 'in', field: 'note', values: [], exact: true }, [])
			await fixture.finds(not(exactly('ann')), ['upper', 'spaced', 'accented'])
			await fixture.finds({ op: 'eq', field: 'order', value: 7, exact: true }, [])
		},
		async 'a record outside an exact condition is neither read, changed nor deleted'(fixture) {
			const id = await fixture.add({ note: 'ANN', order: 7 })
			const { model } = fixture
			const selection = fixture.select(['note', 'version'], 'version')
			const outside: readonly Condition[] = [
				exactly('ann'),
				{ op: 'in', field: 'note', values: ['ann', 'Ann'], exact: true },
				{ op: 'and', terms: [exactly('ann'), { op: 'eq', field: 'order', value: 7, exact: true }] },
			]
			for (const where of outside) {
				strictEqual(await model.read(id, selection, where), undefined)
				for (const version of [undefined, '1']) {
					strictEqual(await fixture.update(id, { order: 8 }, selection, { where, version }), 'missing')
					strictEqual(await fixture.delete(id, selection, { where, version }), 'missing')
				}
			}
			const where: Condition = {
				op: 'and',
				terms: [exactly('ANN'), { op: 'in', field: 'order', values: [7], exact: true }],
			}
			const updated = await fixture.update(id, { status: 'own' }, selection, { where, version: '1' })
			deepStrictEqual(parsed(updated), { note: 'ANN', version: 2 })
			const deleted = await fixture.delete(id, selection, { where, version: '2' })
			deepStrictEqual(parsed(deleted), { note: 'ANN', version: 2 })
		},
	}),
]

function exactly(value: string): Condition {
	return { op: 'eq', field: 'note', value, exact: true }
}

function matching(op: 'contains' | 'startsWith' | 'endsWith'): ModelTest {
	const fits = (text: string, part: string) => text[op === 'contains' ? 'includes' : op](part)
	return {
		name: `${op} takes every character literally`,
		async run(fixture) {
			await fixture.addAll([...MATCHED.map((title) => ({ title, note: title })), { title: 'no note' }])
			for (const value of PARTS) {
				const expected = MATCHED.filter((title) => fits(title, value))
				await fixture.finds({ op, field: 'note', value }, expected, value)
				const rest = MATCHED.filter((title) => !fits(title, value))
				await fixture.finds(not({ op, field: 'note', value }), rest, `not ${value}`)
			}
			await fixture.finds({ op, field: 'note', value: '' }, MATCHED, 'the empty text')
		},
	}
}
