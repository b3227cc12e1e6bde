import * as assert from 'uvu/assert'
import { frozenCopy } from '../../lib/auth/authenticator.ts'
import { isPlain } from '../../lib/base/options.ts'
import { describe } from '../helpers/describe.ts'

describe('frozenCopy', (test) => {
	test('is frozen at every depth, and the original is unchanged', () => {
		const declared = { roles: ['a'], team: { names: [{ first: 'Ada' }] } }
		const copy = frozenCopy(declared)
		assert.equal(copy, declared)
		for (const held of [copy, copy.roles, copy.team, copy.team.names, copy.team.names[0]])
			assert.ok(Object.isFrozen(held))
		declared.roles.push('b')
		declared.team.names.length = 0
		assert.equal(copy, { roles: ['a'], team: { names: [{ first: 'Ada' }] } })
	})

	test('instances of classes are shared, and not frozen', () => {
		const declared = { since: new Date(0), tags: new Set(['a']), rows: Buffer.from('a') }
		const copy = frozenCopy(declared)
		assert.is(copy.since, declared.since)
		assert.is(copy.tags, declared.tags)
		assert.is(copy.rows, declared.rows)
		assert.not(Object.isFrozen(copy.since))
	})

	test('circular references point to the copy', () => {
		const declared: { name: string; self?: unknown } = { name: 'a' }
		declared.self = declared
		const copy = frozenCopy(declared)
		assert.is(copy.self, copy)
		assert.is.not(copy, declared)
	})

	test('a JSON key __proto__ sets no prototype', () => {
		const copy = frozenCopy(JSON.parse('{"__proto__":{"isAdmin":true}}'))
		assert.is(Object.getPrototypeOf(copy), Object.prototype)
		assert.is(copy.isAdmin, undefined)
	})

	class Row {}
	const table: readonly (readonly [string, unknown, boolean])[] = [
		['{}', {}, true],
		['an object without a prototype', Object.create(null), true],
		['a list', [], false],
		['an instance', new Row(), false],
		['null', null, false],
		['text', 'a', false],
	]
	for (const [what, value, expected] of table)
		test(`${what} is ${expected ? '' : 'not '}plain`, () => assert.is(isPlain(value), expected))
})
