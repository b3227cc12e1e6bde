/** The trie: which of several matching routes wins, and routes with a common prefix. */
import * as assert from 'uvu/assert'
import { parseRoute } from '../../../lib/routing/custom/pattern.ts'
import { type CompiledPattern, PatternPool, paramsOf, Trie } from '../../../lib/routing/custom/trie.ts'
import { describe } from '../../helpers/describe.ts'

/** The pattern that answers a path, and its params. */
function asked(patterns: readonly string[]): (path: string) => unknown {
	const pool = new PatternPool()
	const trie = new Trie<string>(pool)
	for (const [at, written] of patterns.entries()) {
		const { text, pattern } = parseRoute(`GET ${written}`)
		trie.add(at, pool.compiled(text, pattern), written)
	}
	return (path) => {
		const segments = path.split('/')
		const route = trie.find(segments)
		return route && [route.value, ...paramsOf(route, segments)]
	}
}

describe('Trie', (test) => {
	const table: [readonly string[], string, unknown][] = [
		[[], 'a', undefined],
		[['a/b'], 'a/b', ['a/b']],
		[['a/b'], 'a', undefined],
		[['a/b'], 'a/b/c', undefined],
		[['a/b'], 'a/c', undefined],
		[['a/b', 'a'], 'a', ['a']],
		[['a/b', 'a', 'a/b/c'], 'a/b', ['a/b']],
		[['a/b', 'a', 'a/b/c'], 'a/b/c', ['a/b/c']],
		[['a/%s', 'a/b'], 'a/b', ['a/%s', 'b']],
		[['a/b', 'a/%s'], 'a/b', ['a/b']],
		[['%s/b', 'a/%s'], 'a/b', ['%s/b', 'a']],
		[['a/%s', '%s/b'], 'a/b', ['a/%s', 'b']],
		[['%s', '%d'], '7', ['%s', '7']],
		[['%d', '%s'], '7', ['%d', 7]],
		[['%d', '%s'], 'x', ['%s', 'x']],
		[['%d/x', '%s/y', '%d/y'], '7/y', ['%s/y', '7']],
		[['p-%d', '%s-7', 'p-7'], 'p-7', ['p-%d', 7]],
		[['p-7', 'p-%d', '%s-7'], 'p-7', ['p-7']],
		[['%s-7', 'p-%d', 'p-7'], 'p-7', ['%s-7', 'p']],
		[['%s-7/x', 'p-%d/y', 'p-7/z'], 'p-7/z', ['p-7/z']],
		[['%s-7/x', 'p-%d/y', 'p-7/z'], 'p-7/y', ['p-%d/y', 7]],
		[['a/%s', 'a/%s/x', 'a/%s/y'], 'a/b/y', ['a/%s/y', 'b']],
		[['%s/x/%d/y', '%s/x/%d/z'], 'q/x/5/z', ['%s/x/%d/z', 'q', 5]],
		[['%s/x/%d/y', '%s/x/%d/z'], 'q/x/r/z', undefined],
		[['a/%s-%d/%s.x'], 'a/b-c-5/q.x', ['a/%s-%d/%s.x', 'b-c', 5, 'q']],
		[['a/%s-%d/%s.x'], 'a/b-c-5/q.y', undefined],
		[['%s'], '', undefined],
		[['%s', 'a'], '', undefined],
		[['%s/%s'], '/a', undefined],
		[['%%s'], '%s', ['%%s']],
	]
	for (const [patterns, path, expected] of table) {
		test(`${patterns.join(', ') || 'no route'} on ${path || 'nothing'} → ${JSON.stringify(expected)}`, () => {
			assert.equal(asked(patterns)(path), expected)
		})
	}

	test('a path without segments matches nothing', () => {
		const trie = new Trie<number>(new PatternPool())
		assert.is(trie.find([]), undefined)
		const pool = new PatternPool()
		for (const at of [0, 1]) trie.add(at, pool.compiled(`a${at}`, [`a${at}`]), at)
		assert.is(trie.find([]), undefined)
	})
})

function planned(pool: PatternPool, written: string): CompiledPattern {
	const { text, pattern } = parseRoute(`GET ${written}`)
	return pool.compiled(text, pattern)
}

describe('PatternPool', (test) => {
	test('patterns with the same ending share one rest, at any depth', () => {
		const pool = new PatternPool()
		const rest = pool.rest(planned(pool, 'a/b/c'), 1)
		assert.equal(rest, ['b', 'c'])
		assert.is(pool.rest(planned(pool, 'x/%s/b/c'), 2), rest)
		assert.is.not(pool.rest(planned(pool, 'a/b/d'), 1), rest)
	})

	test('the literal %s and the placeholder are different rests', () => {
		const pool = new PatternPool()
		assert.equal(pool.rest(planned(pool, 'a/%%s'), 1), ['%s'])
		assert.is(typeof pool.rest(planned(pool, 'a/%s'), 1)[0], 'object')
	})

	test('the rest at depth 0 is the pattern, and none is left after the last segment', () => {
		const pool = new PatternPool()
		assert.equal(pool.rest(planned(pool, 'a/b'), 0), ['a', 'b'])
		assert.equal(pool.rest(planned(pool, 'a/b'), 2), [])
	})

	test('segments that split alike share their shape and kinds', () => {
		const pool = new PatternPool()
		const [one, two, three] = ['ab%d/x/%s', 'cd%d/y/%s', 'e%d'].map((written) => planned(pool, written))
		assert.is(one?.firstShape, two?.firstShape)
		assert.is(one?.otherShapes, two?.otherShapes)
		assert.is(one?.firstShape?.kinds, three?.firstShape?.kinds)
		assert.equal([one?.firstShape?.at, one?.otherShapes[0]?.at], [0, 2])
	})

	test('a pattern without placeholders has nothing to split', () => {
		const plan = planned(new PatternPool(), 'a/b')
		assert.is(plan.firstShape, undefined)
		assert.equal(plan.otherShapes, [])
	})
})
