import * as assert from 'uvu/assert'
import {
	type Dictionary,
	type Item,
	parseDictionary,
	parseItem,
	parseList,
} from '../../lib/wire/structured-fields.ts'
import { bareItemText, dictionaryText, itemText, listText } from '../../lib/wire/structured-text.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

const PARSERS = {
	item: (text: string) => itemText(parseItem(text)),
	list: (text: string) => listText(parseList(text)),
	dictionary: (text: string) => dictionaryText(parseDictionary(text)),
}
type Kind = keyof typeof PARSERS

/** Read and written again; as `refused` where it is no such field. */
function again(kind: Kind, text: string): string {
	try {
		return PARSERS[kind](text)
	} catch (error) {
		if (error instanceof SyntaxError) return 'refused'
		throw error
	}
}

describe('structured fields: items', (test) => {
	const table: [string, string][] = [
		['1', '1'],
		['  1  ', '1'],
		['-0', '0'],
		['007', '7'],
		['999999999999999', '999999999999999'],
		['-999999999999999', '-999999999999999'],
		['1000000000000000', 'refused'],
		['1.5', '1.5'],
		['1.0', '1.0'],
		['1.50', '1.5'],
		['-1.125', '-1.125'],
		['999999999999.999', '999999999999.999'],
		['1000000000000.1', 'refused'],
		['1.', 'refused'],
		['1.0000', 'refused'],
		['.5', 'refused'],
		['-', 'refused'],
		['--1', 'refused'],
		['- 1', 'refused'],
		['+1', 'refused'],
		['1e3', 'refused'],
		['0x1', 'refused'],
		['""', '""'],
		['"a b"', '"a b"'],
		['"a\\"b\\\\c"', '"a\\"b\\\\c"'],
		['"a\\b"', 'refused'],
		['"a', 'refused'],
		['"a\\"', 'refused'],
		['"a\\', 'refused'],
		["'a'", 'refused'],
		['"é"', 'refused'],
		['"a\tb"', 'refused'],
		['"a\x7f"', 'refused'],
		['"a" b', 'refused'],
		['a', 'a'],
		['A/b:c', 'A/b:c'],
		['*a', '*a'],
		['a(b', 'refused'],
		['é', 'refused'],
		['::', '::'],
		[':AAE=:', ':AAE=:'],
		[':AAE:', 'refused'],
		[':AAF=:', 'refused'],
		[':AA E=:', 'refused'],
		[':AAE=', 'refused'],
		['?1', '?1'],
		['?0', '?0'],
		['?2', 'refused'],
		['?', 'refused'],
		['?1 1', 'refused'],
		['@1659578233', '@1659578233'],
		['@-1', '@-1'],
		['@1.5', 'refused'],
		['@', 'refused'],
		['%"a"', '%"a"'],
		['%"f%c3%bc %25 %22"', '%"f%c3%bc %25 %22"'],
		['%"%C3%BC"', 'refused'],
		['%"%c3"', 'refused'],
		['%"%"', 'refused'],
		['%"%0g"', 'refused'],
		['%"ü"', 'refused'],
		['%"a', 'refused'],
		['%a', 'refused'],
		['1;a;b=2;c="x"', '1;a;b=2;c="x"'],
		['1; a;  b=2', '1;a;b=2'],
		['1;a=?1', '1;a'],
		['1;a=1;b=2;a=3', '1;a=3;b=2'],
		['1 ;a', 'refused'],
		['1;a =1', 'refused'],
		['1;a= 1', 'refused'],
		['1;A', 'refused'],
		['1;', 'refused'],
		['1;1', 'refused'],
		['1;a=(b)', 'refused'],
		['\t1', 'refused'],
		['1\t', 'refused'],
		['', 'refused'],
		['   ', 'refused'],
		['1, 2', 'refused'],
		['(a)', 'refused'],
	]
	for (const [text, expected] of table) {
		test(`${JSON.stringify(text)} → ${expected}`, () => assert.is(again('item', text), expected))
	}
})

describe('structured fields: lists and dictionaries', (test) => {
	const table: [Kind, string, string][] = [
		['list', '', ''],
		['list', 'a', 'a'],
		['list', 'a,b , \t c', 'a, b, c'],
		['list', 'a, a', 'a, a'],
		['list', 'a,', 'refused'],
		['list', 'a,,b', 'refused'],
		['list', ',a', 'refused'],
		['list', 'a b', 'refused'],
		['list', 'a\t,b', 'a, b'],
		['list', '(a   b  );c, ()', '(a b);c, ()'],
		['list', '( a)', '(a)'],
		['list', '(a;b c);d=1', '(a;b c);d=1'],
		['list', '(a\tb)', 'refused'],
		['list', '(a,b)', 'refused'],
		['list', '("a""b")', 'refused'],
		['list', '(a', 'refused'],
		['list', '(a ', 'refused'],
		['list', '((a))', 'refused'],
		['list', 'a)', 'refused'],
		['dictionary', '', ''],
		['dictionary', 'a=1, b;c, d=(e f);g=?0', 'a=1, b;c, d=(e f);g=?0'],
		['dictionary', 'a=?1, b=?0', 'a, b=?0'],
		['dictionary', 'a=1,b=2,a=3', 'a=3, b=2'],
		['dictionary', 'a=1;x, a', 'a'],
		['dictionary', 'a=1;x;y, *b_-.*1=2', 'a=1;x;y, *b_-.*1=2'],
		['dictionary', 'a =1', 'refused'],
		['dictionary', 'a= 1', 'refused'],
		['dictionary', 'a=', 'refused'],
		['dictionary', 'a=1,', 'refused'],
		['dictionary', 'A=1', 'refused'],
		['dictionary', '1=1', 'refused'],
		['dictionary', '-a=1', 'refused'],
		['dictionary', 'a=1 b=2', 'refused'],
		['dictionary', 'a=1;b=2;', 'refused'],
		['dictionary', '=1', 'refused'],
		['dictionary', '"a"=1', 'refused'],
	]
	for (const [kind, text, expected] of table) {
		test(`${kind} ${JSON.stringify(text)} → ${expected}`, () => assert.is(again(kind, text), expected))
	}

	test('names of Object.prototype are ordinary keys', () => {
		const parsed: Dictionary = parseDictionary('constructor=1, to_string=2')
		assert.equal([...parsed.keys()], ['constructor', 'to_string'])
		assert.is(parsed.get('toString'), undefined)
	})

	test('an error has the position and the reason, and none of the text', () => {
		assert.is(
			messageOf(() => parseDictionary('a=1, b=secret(')),
			'a comma was expected at character 14',
		)
		assert.is(
			messageOf(() => parseItem('"secret')),
			'printable ASCII and a closing quote was expected at character 8',
		)
	})
})

describe('structured fields: unserializable values', (test) => {
	for (const item of [
		{ type: 'string', value: 'é' },
		{ type: 'string', value: 'a\n' },
		{ type: 'token', value: '1' },
		{ type: 'token', value: 'a b' },
		{ type: 'integer', value: 1e15 },
		{ type: 'integer', value: 0.5 },
		{ type: 'decimal', value: 1e12 },
		{ type: 'decimal', value: Number.NaN },
		{ type: 'date', value: Number.POSITIVE_INFINITY },
	] as const) {
		test(`${item.type} ${JSON.stringify(item.value)}`, () => {
			assert.throws(
				() => bareItemText(item),
				(error: Error) => error instanceof RangeError,
			)
		})
	}

	for (const key of ['', 'A', '1', 'a b', 'a=', 'é', '-a']) {
		test(`the name ${JSON.stringify(key)}`, () => {
			const item: Item = { value: { type: 'integer', value: 1 }, parameters: new Map() }
			const refused = (error: Error): boolean => error instanceof RangeError
			assert.throws(() => dictionaryText(new Map([[key, item]])), refused)
			assert.throws(() => itemText({ ...item, parameters: new Map([[key, item.value]]) }), refused)
		})
	}

	for (const [value, text] of [
		[0.0005, '0.0'],
		[0.0015, '0.002'],
		[-0.0025, '-0.002'],
		[1.2345, '1.234'],
		[2, '2.0'],
	] as const) {
		test(`${value} is rounded half to even: ${text}`, () => {
			assert.is(bareItemText({ type: 'decimal', value }), text)
		})
	}
})
