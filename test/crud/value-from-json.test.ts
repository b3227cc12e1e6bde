import * as assert from 'uvu/assert'
import { operandFromJson, valueFromJson } from '../../lib/crud/value-from-json.ts'
import { RawJson } from '../../lib/index.ts'
import type { Field, FieldType } from '../../lib/models/model.ts'
import type { Detail } from '../../lib/wire/codes.ts'
import { describe } from '../helpers/describe.ts'

function field(type: FieldType, more: Partial<Field> = {}): Field {
	return { name: 'x', type, nullable: false, hasDefault: false, generated: false, ...more }
}

function read(of: Field, given: unknown, as = valueFromJson): unknown {
	const problems: Detail[] = []
	const value = as(of, given, problems)
	assert.is(value === undefined, problems.length === 1)
	if (value instanceof RawJson) return { json: value.text }
	return problems.length === 0 ? value : problems[0]?.code
}

describe('crud/value-from-json', (test) => {
	const rows: [Field, unknown, unknown][] = [
		[field('boolean'), true, true],
		[field('boolean'), 'true', 'boolean'],
		[field('boolean'), 1, 'boolean'],
		[field('integer'), 5, 5],
		[field('integer'), -0, 0],
		[field('integer'), '5', 'integer'],
		[field('integer'), 1.5, 'integer'],
		[field('integer'), 2 ** 53, 'integer'],
		[field('integer', { max: 127 }), 128, 'max'],
		[field('bigint'), 5, 5],
		[field('bigint'), '9223372036854775807', 9223372036854775807n],
		[field('bigint'), 2 ** 60, 'bigint'],
		[field('bigint'), true, 'bigint'],
		[field('float'), 1.5, 1.5],
		[field('float'), 'NaN', Number.NaN],
		[field('float'), '-Infinity', Number.NEGATIVE_INFINITY],
		[field('float'), '1.5', 'float'],
		[field('float'), Number.POSITIVE_INFINITY, 'float'],
		[field('float'), [1], 'float'],
		[field('float'), { toString: 1 }, 'float'],
		[field('decimal'), '12.50', '12.50'],
		[field('decimal'), 12.5, '12.5'],
		[field('decimal'), 1e21, 'decimal'],
		[field('decimal'), 123456789.012345, '123456789.012345'],
		[field('decimal'), 0.000012345678901234, '0.000012345678901234'],
		[field('decimal'), Number.MAX_SAFE_INTEGER, '9007199254740991'],
		[field('decimal'), JSON.parse('9007199254740993'), 'decimal'],
		[field('decimal'), JSON.parse('12345678901234567890.12'), 'decimal'],
		[field('decimal'), JSON.parse('-1234567890.1234567891'), 'decimal'],
		[field('decimal'), 0.1 + 0.2, 'decimal'],
		[field('text'), 'x', 'x'],
		[field('text'), 5, 'text'],
		[field('text'), ['x'], 'text'],
		[field('text'), { toString: 'x' }, 'text'],
		[field('text'), 'a\0', 'text'],
		[field('text', { maxLength: 2 }), 'abc', 'max'],
		[field('text', { maxLength: 2 }), '😀😀', '😀😀'],
		[field('text', { maxLength: 2 }), '😀😀a', 'max'],
		[field('uuid'), '6F9619FF-8B86-D011-B42D-00C04FC964FF', '6f9619ff-8b86-d011-b42d-00c04fc964ff'],
		[field('timestamp'), '2026-11-20T13:45:00.5+01:00', '2026-11-20T12:45:00.5Z'],
		[field('timestamp'), 5, 'timestamp'],
		[field('decimal', { digits: [4, 2] }), '1234.56', '1234.56'],
		[field('decimal', { digits: [4, 2] }), '-0.10', '-0.10'],
		[field('decimal', { digits: [4, 2] }), '1.5000', '1.5000'],
		[field('decimal', { digits: [4, 2] }), 1000, '1000'],
		[field('decimal', { digits: [4, 2] }), '12345', 'max'],
		[field('decimal', { digits: [4, 2] }), '1.005', 'max'],
		[field('decimal', { digits: [4, 2] }), 1.005, 'max'],
		[field('decimal', { digits: [0, 2] }), '0.25', '0.25'],
		[field('decimal', { digits: [0, 2] }), '1.25', 'max'],
		[field('decimal', { digits: [5, -2] }), '-12300.0', '-12300.0'],
		[field('decimal', { digits: [5, -2] }), '0', '0'],
		[field('decimal', { digits: [5, -2] }), '12340', 'max'],
		[field('decimal', { digits: [5, -2] }), '50', 'max'],
		[field('decimal', { digits: [5, -2] }), '100.5', 'max'],
		[field('decimal', { digits: [0, 4] }), '0.0099', '0.0099'],
		[field('decimal', { digits: [3, 2], besides: /^NaN$/ }), 'NaN', 'NaN'],
		[field('date', { besides: /^0000-00-00$/ }), '0000-00-00', '0000-00-00'],
		[field('date', { besides: /^0000-00-00$/ }), '0000-00-01', 'date'],
		[field('json'), { a: [1, null, 'é'] }, { json: '{"a":[1,null,"é"]}' }],
		[field('json'), 'text', { json: '"text"' }],
		[field('json'), null, { json: 'null' }],
		[field('json'), { a: [null, 'null', { b: JSON.parse('-1e400') }] }, 'max'],
		[field('json'), { a: 'x\0' }, 'text'],
		[field('json'), { 'x\0': 1 }, 'text'],
		[field('json'), ['\ud800'], 'text'],
		[field('json'), ['\\u0000'], { json: '["\\\\u0000"]' }],
		[field('json'), ['\\\0'], 'text'],
		[field('bytes'), 'AQI=', Buffer.from([1, 2])],
		[field('bytes'), [1, 2], 'bytes'],
		[field('bytes'), 'AQI', 'bytes'],
		[field('bytes'), 'A=I=', 'bytes'],
		[field('bytes'), 'A===', 'bytes'],
		[field('bytes'), '====', 'bytes'],
		[field('bytes'), 'AQ-_', 'bytes'],
	]
	for (const [of, given, expected] of rows) {
		test(`${of.type} accepts ${JSON.stringify(given)}`, () => assert.equal(read(of, given), expected))
	}

	const texts: [Field, string][] = [
		[field('integer'), 'must be a whole number, not a text'],
		[field('integer', { min: 0, max: 255 }), 'must be a whole number, not a text'],
	]
	for (const [of, message] of texts) {
		test(`a text ${message}`, () => {
			const problems: Detail[] = []
			valueFromJson(of, '5', problems)
			assert.is(problems[0]?.message, message)
		})
	}

	test('bytes of many megabytes are accepted', () => {
		const text = `${'A'.repeat(32_000_000)}AQ==`
		const read = valueFromJson(field('bytes'), text, [])
		assert.is(read instanceof Uint8Array && read.length, 24_000_001)
		assert.is(valueFromJson(field('bytes'), `${text}!`, []), undefined)
	})

	const operands: [Field, unknown, unknown][] = [
		[field('integer'), '5', 5],
		[field('integer'), 5, 5],
		[field('float'), '1.5', 1.5],
		[field('boolean'), 'true', true],
		[field('text'), 5, 'text'],
		[field('text', { maxLength: 1 }), 'longer', 'longer'],
		[field('decimal', { digits: [1, 0] }), '12.5', '12.5'],
		[field('integer'), {}, 'integer'],
	]
	for (const [of, given, expected] of operands) {
		test(`${of.type} is compared with ${JSON.stringify(given)}`, () =>
			assert.equal(read(of, given, operandFromJson), expected))
	}
})
