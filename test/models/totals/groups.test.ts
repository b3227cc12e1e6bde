import * as assert from 'uvu/assert'
import type { Comparison, TotalsCondition, TotalsQuery } from '../../../lib/models/model.ts'
import { type Columns, finished, type Group } from '../../../lib/models/totals/groups.ts'
import { describe } from '../../helpers/describe.ts'

const QUERY: TotalsQuery = {
	...{ by: [], where: undefined, order: [], limit: 1_000, timeZone: 'UTC' },
	totals: [{ op: 'count' }, { op: 'max', field: 'n', name: 'n' }],
	having: undefined,
}
const groupOf = (...values: (number | null)[]): Group => ({
	keys: [],
	totals: values.map((value) => ({ json: String(value), value })),
})
const byNumber = (a: unknown, b: unknown) => Number(a) - Number(b)
const COLUMNS: Columns<Group> = {
	...{ keys: [], totals: [byNumber, byNumber] },
	operand: ({ value }) => Number(value),
}
const leaf = (total: number, op: Comparison, value: number): TotalsCondition => ({ total, op, value })

/** The counts of the groups that match. */
function found(having: TotalsCondition, groups: readonly Group[], columns = COLUMNS): number[] {
	const { json } = finished({ ...QUERY, having }, groups, columns)
	return (JSON.parse(json) as { count: number }[]).map(({ count }) => count)
}

describe('models/totals/groups', (test) => {
	test('each comparison is as its operator says, whatever else is compared', () => {
		const groups = [1, 2, 3, 4, 5].map((count) => groupOf(count, null))
		const cases: Readonly<Record<Comparison, readonly number[]>> = {
			eq: [3],
			ne: [1, 2, 4, 5],
			gt: [4, 5],
			gte: [3, 4, 5],
			lt: [1, 2],
			lte: [1, 2, 3],
		}
		const never = [9, 0, 3, 7, 0].map((value) => leaf(1, 'eq', value))
		for (const [op, counts] of Object.entries(cases))
			for (const others of [[], never, [leaf(0, 'gt', 8), leaf(0, 'lt', 0), leaf(0, 'eq', 3.5)]]) {
				const terms = [leaf(0, op as Comparison, 3), ...others] // the keys above
				assert.equal(found({ op: 'or', terms }, groups), counts, `${op} among ${terms.length}`)
			}
	})

	test('a comparison with null is unknown', () => {
		const groups = [groupOf(1, null), groupOf(2, 5)]
		const [five, one] = [leaf(1, 'eq', 5), leaf(0, 'eq', 1)]
		const cases: readonly (readonly [condition: TotalsCondition, counts: readonly number[]])[] = [
			[five, [2]],
			[{ op: 'not', term: five }, []],
			[{ op: 'not', term: { op: 'and', terms: [five, one] } }, [2]],
			[{ op: 'or', terms: [five, one] }, [1, 2]],
			[{ op: 'not', term: { op: 'or', terms: [five, one] } }, []],
			[{ op: 'null', total: 1, value: true }, [1]],
			[{ op: 'null', total: 1, value: false }, [2]],
			[{ op: 'and', terms: [] }, [1, 2]],
			[{ op: 'or', terms: [] }, []],
		]
		for (const [condition, counts] of cases)
			assert.equal(found(condition, groups), counts, JSON.stringify(condition))
	})

	test('a hundred comparisons of each group look its total up once', () => {
		let compared = 0
		const counting = (a: unknown, b: unknown) => {
			compared++
			return byNumber(a, b)
		}
		const groups = Array.from({ length: 1_000 }, (_, at) => groupOf(at, at))
		const terms = Array.from({ length: 100 }, (_, at) => leaf(1, 'lt', -at))
		assert.equal(found({ op: 'or', terms }, groups, { ...COLUMNS, totals: [byNumber, counting] }), [])
		assert.ok(compared < 10_000, `${compared}`)
	})

	test('comparisons that the store has made are taken as they are', () => {
		const groups = [1, 2, 3].map((count) => groupOf(count, count))
		const made: Columns<Group>['made'] = ({ total }) =>
			total === 1 ? ({ totals }) => totals[1]?.value === 2 : undefined
		const terms = [leaf(1, 'gt', 100), leaf(0, 'eq', 3)]
		assert.equal(found({ op: 'or', terms }, groups, { ...COLUMNS, made }), [2, 3])
	})
})
