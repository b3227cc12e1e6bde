import * as assert from 'uvu/assert'
import { idReader } from '../../lib/crud/id.ts'
import type { Field, FieldType } from '../../lib/models/model.ts'
import { describe } from '../helpers/describe.ts'

function reader(type: FieldType, more: Partial<Field> = {}): (text: string) => string | undefined {
	return idReader({ name: 'id', type, nullable: false, hasDefault: false, generated: false, ...more })
}

describe('crud/id', (test) => {
	const integer = reader('integer')
	const small = reader('integer', { min: -2147483648, max: 2147483647 })
	const big = reader('bigint')
	const text = reader('text', { maxLength: 5 })
	const rows: [string, (text: string) => string | undefined, string, string | undefined][] = [
		['integer', integer, '5', '5'],
		['integer', integer, '0', '0'],
		['integer', integer, '-5', '-5'],
		['integer', integer, '9007199254740991', '9007199254740991'],
		['integer', integer, '9007199254740992', undefined],
		['integer', integer, '05', undefined],
		['integer', integer, '-0', undefined],
		['integer', integer, '+5', undefined],
		['integer', integer, '5.0', undefined],
		['integer', integer, '5e0', undefined],
		['integer', integer, ' 5', undefined],
		['integer', integer, '5 ', undefined],
		['integer', integer, '5\n', undefined],
		['integer', integer, '٥', undefined],
		['integer', integer, 'NaN', undefined],
		['integer', integer, '', undefined],
		['int4', small, '2147483647', '2147483647'],
		['int4', small, '2147483648', undefined],
		['int4', small, '-2147483649', undefined],
		['bigint', big, '9223372036854775807', '9223372036854775807'],
		['bigint', big, '9223372036854775808', undefined],
		['bigint', big, '-9223372036854775808', '-9223372036854775808'],
		['bigint', big, '99999999999999999999', undefined],
		['uuid', reader('uuid'), '6F9619FF-8B86-D011-B42D-00C04FC964FF', '6f9619ff-8b86-d011-b42d-00c04fc964ff'],
		['uuid', reader('uuid'), '6f9619ff8b86d011b42d00c04fc964ff', undefined],
		['uuid', reader('uuid'), '{6f9619ff-8b86-d011-b42d-00c04fc964ff}', undefined],
		['text', text, 'a/b', 'a/b'],
		['text', text, "'; --", "'; --"],
		['text', text, '😀😀😀😀😀', '😀😀😀😀😀'],
		['text', text, 'longer', undefined],
		['text', text, '', undefined],
		['text', text, '..', undefined],
		['text', text, '...', '...'],
		['text', text, 'a\0', undefined],
		['text', text, 'a\u007f', undefined],
		['text', text, '\udc00', undefined],
		['choice', reader('text', { choices: ['de', 'en'] }), 'de', 'de'],
		['choice', reader('text', { choices: ['de', 'en'] }), 'fr', undefined],
	]
	for (const [name, read, given, expected] of rows) {
		test(`${JSON.stringify(given)} as ${name} is ${expected}`, () => assert.is(read(given), expected))
	}
})
