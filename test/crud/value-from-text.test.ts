import * as assert from 'uvu/assert'
import { idReader, valueFromText } from '../../lib/crud/value-from-text.ts'
import { RawJson } from '../../lib/index.ts'
import type { Field, FieldType } from '../../lib/models/model.ts'
import type { Detail } from '../../lib/wire/codes.ts'
import { describe } from '../helpers/describe.ts'

function field(type: FieldType, more: Partial<Field> = {}): Field {
	return { name: 'x', type, nullable: false, hasDefault: false, generated: false, ...more }
}

function read(of: Field, text: string): unknown {
	const problems: Detail[] = []
	const value = valueFromText(of, text, problems)
	assert.is(value === undefined, problems.length === 1)
	if (value instanceof RawJson) return { json: value.text }
	return problems.length === 0 ? value : `${problems[0]?.code}: ${problems[0]?.message}`
}

const WHOLE = 'integer: must be a whole number, within 9007199254740991 of zero'
const BIG =
	'bigint: must be a whole number of at most 64 bits, and beyond 9007199254740991 a string of digits'

describe('crud/value-from-text', (test) => {
	const rows: [Field, string, unknown][] = [
		[field('boolean'), 'true', true],
		[field('boolean'), 'false', false],
		[field('boolean'), 'TRUE', true],
		[field('boolean'), 'on', true],
		[field('boolean'), '0', false],
		[field('boolean'), 'yes', 'boolean: must be true or false'],
		[field('integer'), '5', 5],
		[field('integer'), '-5', -5],
		[field('integer'), '-0', 0],
		[field('integer'), '9007199254740991', 9007199254740991],
		[field('integer'), '9007199254740992', WHOLE],
		[field('integer'), '05', WHOLE],
		[field('integer'), '+5', WHOLE],
		[field('integer'), '5.0', WHOLE],
		[field('integer'), '0x5', WHOLE],
		[field('integer'), ' 5', WHOLE],
		[field('integer'), '', WHOLE],
		[field('integer', { max: 127 }), '128', 'max: must be at most 127'],
		[field('integer', { min: 0 }), '-1', 'min: must be at least 0'],
		[field('bigint'), '9223372036854775807', 9223372036854775807n],
		[field('bigint'), '-9223372036854775808', -9223372036854775808n],
		[field('bigint'), '7', 7],
		[field('bigint'), '9223372036854775808', BIG],
		[field('bigint'), '9'.repeat(100_000), BIG],
		[field('bigint', { min: 0, max: 2n ** 64n - 1n }), '18446744073709551615', 18446744073709551615n],
		[field('bigint', { max: 2n ** 60n }), '1152921504606846977', 'max: must be at most 1152921504606846976'],
		[field('float'), '1.5e3', 1500],
		[field('float'), '-Infinity', Number.NEGATIVE_INFINITY],
		[field('float'), 'NaN', Number.NaN],
		[field('float'), '1e999', 'float: must be a number, or "NaN", "Infinity" or "-Infinity"'],
		[field('float'), '.5', 'float: must be a number, or "NaN", "Infinity" or "-Infinity"'],
		[field('decimal'), '12.50', '12.50'],
		[field('decimal'), '-0.1', '-0.1'],
		[field('decimal'), '1e5', 'decimal: must be a decimal number, best as a string such as "12.50"'],
		[field('text'), 'any, thing', 'any, thing'],
		[field('text'), 'a\0b', 'text: must not hold the character U+0000'],
		[field('text'), '\ud800', 'text: must be well-formed Unicode'],
		[field('text'), '😀', '😀'],
		[field('text', { choices: ['a', 'b'] }), 'c', 'in: must be one of a, b'],
		[field('text', { maxLength: 1 }), 'longer', 'longer'],
		[field('uuid'), '6F9619FF-8B86-D011-B42D-00C04FC964FF', '6f9619ff-8b86-d011-b42d-00c04fc964ff'],
		[field('uuid'), '6f9619ff8b86d011b42d00c04fc964ff', 'uuid: must be a UUID'],
		[field('date'), '2026-02-30', 'date: must be a date such as 2026-11-20'],
		[field('time'), '13:45:00', '13:45:00'],
		[field('timestamp'), '2026-11-20T13:45:00+01:00', '2026-11-20T12:45:00Z'],
		[field('timestamp'), 'now', 'timestamp: must be a date and time with zone such as 2026-11-20T10:00:00Z'],
		[field('other'), '10.0.0.1', '10.0.0.1'],
		[field('json'), '{"a": 1}', { json: '{"a":1}' }],
		[field('json'), '{', 'json: must be JSON'],
		[field('json'), `${'['.repeat(64)}1${']'.repeat(64)}`, { json: `${'['.repeat(64)}1${']'.repeat(64)}` }],
		[
			field('json'),
			`${'['.repeat(3_000)}${']'.repeat(3_000)}`,
			'json: must be JSON: The JSON is nested too deeply: there may be 64 levels',
		],
		[
			field('json'),
			'[{"__proto__":{"admin":true}}]',
			'json: must be JSON: The JSON has a key __proto__, which is reserved: leave it out',
		],
		[
			field('json'),
			'{"constructor":{"prototype":{"admin":true}}}',
			'json: must be JSON: The JSON has a key constructor.prototype, which is reserved: leave it out',
		],
		[field('json'), '{"n":1e400}', 'max: must not hold numbers beyond 1.7976931348623157e+308'],
		[field('bytes'), 'AQI=', Buffer.from([1, 2])],
		[field('bytes'), 'AQI', 'bytes: must be base64'],
	]
	for (const [of, text, expected] of rows) {
		test(`${of.type} reads ${JSON.stringify(text.slice(0, 40))}`, () =>
			assert.equal(read(of, text), expected))
	}

	test('a message lists at most twenty choices', () => {
		const choices = Array.from({ length: 25 }, (_, at) => `c${at}`)
		assert.match(String(read(field('text', { choices }), 'x')), /c18, c19 and 5 more$/)
	})
})

describe('crud/value-from-text: ids', (test) => {
	const integer = idReader(field('integer'))
	const small = idReader(field('integer', { min: -2147483648, max: 2147483647 }))
	const big = idReader(field('bigint'))
	const text = idReader(field('text', { maxLength: 5 }))
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
		[
			'uuid',
			idReader(field('uuid')),
			'6F9619FF-8B86-D011-B42D-00C04FC964FF',
			'6f9619ff-8b86-d011-b42d-00c04fc964ff',
		],
		['uuid', idReader(field('uuid')), '6f9619ff8b86d011b42d00c04fc964ff', undefined],
		['uuid', idReader(field('uuid')), '{6f9619ff-8b86-d011-b42d-00c04fc964ff}', undefined],
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
		['choice', idReader(field('text', { choices: ['de', 'en'] })), 'de', 'de'],
		['choice', idReader(field('text', { choices: ['de', 'en'] })), 'fr', undefined],
	]
	for (const [name, read, given, expected] of rows) {
		test(`${JSON.stringify(given)} as ${name} is ${expected}`, () => assert.is(read(given), expected))
	}
})

describe('crud/value-from-text: dates and times', (test) => {
	const timestamps: [string, string | undefined][] = [
		['2026-11-20T13:45:00Z', '2026-11-20T13:45:00Z'],
		['2026-11-20t13:45:00z', '2026-11-20T13:45:00Z'],
		['2026-11-20T13:45:00.123456789Z', '2026-11-20T13:45:00.123456789Z'],
		['2026-11-20T13:45:00.5+01:00', '2026-11-20T12:45:00.5Z'],
		['2026-01-01T00:30:00+01:00', '2025-12-31T23:30:00Z'],
		['2024-02-28T23:30:00-01:00', '2024-02-29T00:30:00Z'],
		['2026-11-20T13:45:00-00:00', '2026-11-20T13:45:00Z'],
		['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
		['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
		['0001-01-01T00:00:00+01:00', undefined],
		['9999-12-31T23:59:59-01:00', undefined],
		['0000-01-01T00:00:00Z', undefined],
		['2026-02-30T00:00:00Z', undefined],
		['2026-11-20T24:00:00Z', undefined],
		['2026-11-20T23:59:60Z', undefined],
		['2026-11-20T13:45:00', undefined],
		['2026-11-20T13:45Z', undefined],
		['2026-11-20 13:45:00Z', undefined],
		['2026-11-20T13:45:00.1234567890Z', undefined],
		['2026-11-20T13:45:00.Z', undefined],
		['2026-11-20T13:45:00+1:00', undefined],
		['2026-11-20T13:45:00+24:00', undefined],
		['2026-11-20', undefined],
		['', undefined],
	]
	for (const [text, expected] of timestamps) {
		test(`the timestamp ${text} is ${expected}`, () =>
			assert.is(valueFromText(field('timestamp'), text, []), expected))
	}

	const dates: [string, boolean][] = [
		['2026-11-20', true],
		['2024-02-29', true],
		['2023-02-29', false],
		['0000-01-01', false],
		['2026-1-1', false],
		['2026-11-20T00:00:00Z', false],
	]
	for (const [text, isOne] of dates) {
		test(`${text} is ${isOne ? 'a' : 'no'} date`, () =>
			assert.is(valueFromText(field('date'), text, []), isOne ? text : undefined))
	}

	const times: [string, boolean][] = [
		['00:00:00', true],
		['23:59:59.123456', true],
		['24:00:00', false],
		['13:45', false],
		['13:45:00Z', false],
	]
	for (const [text, isOne] of times) {
		test(`${text} is ${isOne ? 'a' : 'no'} time`, () =>
			assert.is(valueFromText(field('time'), text, []), isOne ? text : undefined))
	}
})
