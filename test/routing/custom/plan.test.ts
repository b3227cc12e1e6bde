/** What the plans of patterns share. */
import * as assert from 'uvu/assert'
import { parseRoute } from '../../../lib/routing/custom/pattern.ts'
import { type Plan, PlanPool } from '../../../lib/routing/custom/plan.ts'
import { describe } from '../../helpers/describe.ts'

function planned(pool: PlanPool, written: string): Plan {
	const { text, pattern } = parseRoute(`GET ${written}`)
	return pool.plan(text, pattern)
}

describe('PlanPool', (test) => {
	test('patterns that end alike have one rest, at whatever depth', () => {
		const pool = new PlanPool()
		const rest = pool.rest(planned(pool, 'a/b/c'), 1)
		assert.equal(rest, ['b', 'c'])
		assert.is(pool.rest(planned(pool, 'x/%s/b/c'), 2), rest)
		assert.is.not(pool.rest(planned(pool, 'a/b/d'), 1), rest)
	})

	test('the text %s and the placeholder are different rests', () => {
		const pool = new PlanPool()
		assert.equal(pool.rest(planned(pool, 'a/%%s'), 1), ['%s'])
		assert.is(typeof pool.rest(planned(pool, 'a/%s'), 1)[0], 'object')
	})

	test('the rest at depth 0 is the pattern, and after the last segment nothing', () => {
		const pool = new PlanPool()
		assert.equal(pool.rest(planned(pool, 'a/b'), 0), ['a', 'b'])
		assert.equal(pool.rest(planned(pool, 'a/b'), 2), [])
	})

	test('segments that are cut alike share their shape, and its kinds', () => {
		const pool = new PlanPool()
		const [one, two, three] = ['ab%d/x/%s', 'cd%d/y/%s', 'e%d'].map((written) => planned(pool, written))
		assert.is(one?.cut, two?.cut)
		assert.is(one?.cuts, two?.cuts)
		assert.is(one?.cut?.kinds, three?.cut?.kinds)
		assert.equal([one?.cut?.at, one?.cuts[0]?.at], [0, 2])
	})

	test('a pattern without placeholders has nothing to cut', () => {
		const plan = planned(new PlanPool(), 'a/b')
		assert.is(plan.cut, undefined)
		assert.equal(plan.cuts, [])
	})
})
