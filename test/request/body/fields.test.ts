import * as assert from 'uvu/assert'
import { Fields, reservedName } from '../../../lib/request/body/fields.ts'
import { describe } from '../../helpers/describe.ts'

function fieldsOf(...pairs: [string, string][]): Fields {
	const fields = new Fields()
	for (const [name, value] of pairs) fields.add(name, value)
	return fields
}

describe('decode/fields', (test) => {
	const fields = fieldsOf(['a', '1'], ['b', ''], ['a', '2'], ['c', 'x'], ['a', '3'], ['b', 'y'], ['', 'z'])

	test('of repeated names the last wins', () => {
		assert.equal({ ...fields.last }, { a: '3', b: 'y', c: 'x', '': 'z' })
	})

	for (const [name, values] of [
		['a', ['1', '2', '3']],
		['b', ['', 'y']],
		['c', ['x']],
		['', ['z']],
		['missing', []],
		['toString', []],
	] as const) {
		test(`all('${name}') is every value in order`, () => assert.equal(fields.all(name), values))
	}

	test('the last values have no prototype', () => assert.is(Object.getPrototypeOf(fields.last), null))

	test('what all() answers belongs to the caller', () => {
		fields.all('a').push('4')
		assert.equal(fields.all('a'), ['1', '2', '3'])
	})

	test('names of Object.prototype are names like others', () => {
		const odd = fieldsOf(['constructor', '1'], ['hasOwnProperty', '2'], ['constructor', '3'])
		assert.is(odd.last.hasOwnProperty, '2')
		assert.equal(odd.all('constructor'), ['1', '3'])
	})

	test('the refusal of __proto__ says where it was', () => {
		const { status, message } = reservedName('Part 3')
		assert.is(`${status} ${message}`, '400 Part 3 is named __proto__, which is reserved')
	})
})
