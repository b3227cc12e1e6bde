import * as assert from 'uvu/assert'
import { neededBy, referenceOf, referencesIn } from '../../../lib/validate/schema/references.ts'
import { describe } from '../../helpers/describe.ts'

describe('references', (test) => {
	const names = new Set(['Tag', 'a/b', '50%', 'ä', 'Tag/x~y'])
	const table: [string, ReturnType<typeof referenceOf>][] = [
		['#/$defs/Tag', { name: 'Tag', rest: '' }],
		['#/$defs/Tag/properties/id', { name: 'Tag', rest: '/properties/id' }],
		['#/$defs/a~1b', { name: 'a/b', rest: '' }],
		['#/$defs/a~1b/items', { name: 'a/b', rest: '/items' }],
		['#/$defs/a/b', { name: 'a/b', rest: '' }],
		['#/$defs/50%', { name: '50%', rest: '' }],
		['#/$defs/50%25', { name: '50%', rest: '' }],
		['#/$defs/%C3%A4', { name: 'ä', rest: '' }],
		['#/$defs/Tag~1x~0y', { name: 'Tag/x~y', rest: '' }],
		['#/$defs/None', undefined],
		['#/$defs/', undefined],
		['#/definitions/Tag', undefined],
		['#', undefined],
		['Tag', undefined],
	]
	for (const [ref, expected] of table) {
		test(`${ref} is ${expected?.name ?? 'none'}`, () =>
			assert.equal(
				referenceOf(ref, (name) => names.has(name)),
				expected,
			))
	}

	test('are found wherever they are, but for a property of their name', () => {
		const schema = { items: { $ref: 'a' }, anyOf: [{ $ref: 'b' }], properties: { $ref: { $ref: 'c' } } }
		assert.equal(referencesIn(schema), ['a', 'b', 'c'])
	})

	test('need what they name, and what this names, in circles too', () => {
		const definitions = {
			A: { items: { $ref: '#/$defs/B' } },
			Alone: {},
			B: { items: { $ref: '#/$defs/A/items' } },
		}
		const { A, B } = definitions
		assert.equal(neededBy({ $ref: '#/$defs/B' }, definitions), { A, B })
		assert.equal(neededBy({ $ref: '#/$defs/None' }, definitions), {})
	})
})
