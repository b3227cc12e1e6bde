import { constants } from 'node:buffer'
import fc from 'fast-check'
import * as assert from 'uvu/assert'
import {
	decodeUtf8,
	isJsonBodyType,
	parseMediaType,
	parseParameters,
	requireUtf8,
} from '../../../lib/request/body/content-type.ts'
import { CODE_POINT } from '../../helpers/any-text.ts'
import { describe } from '../../helpers/describe.ts'
import { milliseconds, refusalText, valueOrRefusal } from './refusal.ts'

const MALFORMED =
	'415 Content-Type is malformed: it must be type/subtype and parameters; name=value, each once'

describe('body/content-type', (test) => {
	const media: [string, string, Record<string, string>][] = [
		['application/json', 'application/json', {}],
		['Application/JSON', 'application/json', {}],
		['application/json;', 'application/json', {}],
		['application/json; charset=utf-8', 'application/json', { charset: 'utf-8' }],
		['text/html;Charset="UTF-8"', 'text/html', { charset: 'UTF-8' }],
		['multipart/form-data; boundary="a b;=\\"c\\\\"', 'multipart/form-data', { boundary: 'a b;="c\\' }],
		['application/vnd.api+json ; a=1;b=2', 'application/vnd.api+json', { a: '1', b: '2' }],
		['a/b;c="\\d"', 'a/b', { c: 'd' }],
	]
	for (const [header, type, parameters] of media) {
		test(`${header} is ${type}`, () => {
			const found = parseMediaType(header)
			assert.is(found.type, type)
			assert.equal(Object.fromEntries(found.parameters), parameters)
		})
	}

	for (const header of [
		...[
			'',
			'json',
			'/json',
			'text/',
			'text /plain',
			'text/plain, text/html',
			'text/plain charset=utf-8',
			' text/plain',
		],
		...[
			'text/plain;charset',
			'text/plain;charset=',
			'text/plain;boundary=',
			'multipart/form-data;charset=',
			'text/plain;charset=utf-8;charset=utf-8',
			'text/plain;charset="utf-8',
			'téxt/plain',
		],
	]) {
		test(`${JSON.stringify(header)} is malformed`, () =>
			assert.is(
				refusalText(() => parseMediaType(header)),
				MALFORMED,
			))
	}

	test('the message names the given header', () => {
		assert.match(
			refusalText(() => parseMediaType('x', 'Content-Type of part 3')),
			'415 Content-Type of part 3 is',
		)
	})

	test('any text is parsed or refused', () => {
		fc.assert(
			fc.property(fc.string({ unit: CODE_POINT }), (text) => void valueOrRefusal(() => parseMediaType(text))),
		)
		fc.assert(
			fc.property(fc.string(), (text) => void valueOrRefusal(() => parseMediaType(`a/b;c="${text}"`))),
		)
	})

	const json: [string, boolean][] = [
		['application/json', true],
		['application/vnd.api+json', true],
		['application/merge-patch+json', true],
		['application/+json', false],
		['application/json+xml', false],
		['application/jsonp', false],
		['application/x-json', false],
		['text/json', false],
		['text/x+json', false],
	]
	for (const [type, expected] of json) {
		test(`${type} is ${expected ? '' : 'not '}JSON`, () => assert.is(isJsonBodyType(type), expected))
	}

	for (const header of [
		'a/b',
		'a/b;charset=utf-8',
		'a/b;charset=UTF-8',
		'a/b;charset="utf8"',
		'a/b;charset=US-ASCII',
	]) {
		test(`the charset of ${header} is accepted`, () =>
			assert.is(requireUtf8(parseMediaType(header)), undefined))
	}
	for (const header of [
		'a/b;charset=iso-8859-1',
		'a/b;charset=utf-16',
		'a/b;charset=""',
		'a/b;charset=utf--8',
	]) {
		test(`the charset of ${header} is refused`, () => {
			const expected = '415 Content-Type has a charset that is not supported: it must be utf-8, or left out'
			assert.is(
				refusalText(() => requireUtf8(parseMediaType(header))),
				expected,
			)
		})
	}
})

function parse(text: string): [string, string][] | undefined {
	const found = parseParameters(text, 1, (raw) => `<${raw}>`)
	return found && [...found]
}

describe('body/content-type: parameters', (test) => {
	const table: [string, [string, string][] | undefined][] = [
		['x', []],
		['x;', []],
		['x ; ;\t;', []],
		['x;a=1', [['a', '1']]],
		[
			'x \t; \tA=1 \t; b="2;\\" é" ',
			[
				['a', '1'],
				['b', '<2;\\" é>'],
			],
		],
		['x;a=""', [['a', '<>']]],
		["x;filename*=utf-8''a%20b", [['filename*', "utf-8''a%20b"]]],
		['x;a', undefined],
		['x;a=', undefined],
		['x;=1', undefined],
		['x;a =1', undefined],
		['x;a= 1', undefined],
		['x;a=1 b=2', undefined],
		['x;a="1"2', undefined],
		['x;a="1', undefined],
		['x;a="1\\"', undefined],
		['x;a="\n"', undefined],
		['x;a="\\\n"', undefined],
		['x;a="\0"', undefined],
		['x;a=é', undefined],
		['x;a=1;A=2', undefined],
		['x,a=1', undefined],
		['x ', undefined],
	]
	for (const [text, expected] of table) {
		test(`${JSON.stringify(text)} is ${expected ? 'read' : 'malformed'}`, () =>
			assert.equal(parse(text), expected))
	}

	const hostile: [string, string][] = [
		['spaces', `x;${' '.repeat(100_000)}!`],
		['spaces before a wrong parameter', `x;${' '.repeat(100_000)}a${' '.repeat(100_000)}b`],
		['semicolons', `x${'; '.repeat(50_000)}=`],
		['an open quote', `x;a="${'b'.repeat(100_000)}`],
		['backslashes', `x;a="${'\\'.repeat(100_001)}"`],
		['a token without value', `x;${'a'.repeat(100_000)}`],
	]
	for (const [name, text] of hostile) {
		test(`100 kB of ${name} takes linear time`, () => assert.ok(milliseconds(() => parse(text)) < 500))
	}
})

const LONG = 'a'.repeat(2_000)

describe('body/content-type: UTF-8', (test) => {
	for (const text of [
		'',
		'plain',
		'é ü 漢字 🌱',
		'\uFFFD was sent',
		'\uFEFFmark',
		'a\0b',
		LONG,
		`${LONG}é`,
	]) {
		test(`${JSON.stringify(text).slice(-40)} is decoded unchanged`, () => {
			assert.is(decodeUtf8(Buffer.from(text), 'The body'), text)
		})
	}

	const wrong: [string, Buffer, number][] = [
		['a lone continuation byte', Buffer.from([0x61, 0x80]), 1],
		['a wrong byte far behind', Buffer.concat([Buffer.from(LONG), Buffer.from([0xff])]), 2_000],
		['a cut sequence', Buffer.from([0x61, 0x62, 0xe2, 0x82]), 2],
		['an overlong slash', Buffer.from([0xc0, 0xaf]), 0],
		['a surrogate', Buffer.from([0x61, 0xed, 0xa0, 0x80]), 1],
		[
			'Latin-1 after a real U+FFFD and é',
			Buffer.concat([Buffer.from('é\uFFFDx\uFFFD'), Buffer.from([0xe9])]),
			9,
		],
	]
	for (const [name, bytes, offset] of wrong) {
		test(`${name} is refused with its position`, () => {
			assert.is(
				refusalText(() => decodeUtf8(bytes, 'The body')),
				`400 The body is not UTF-8 at byte ${offset}`,
			)
		})
	}

	test('bytes longer than the longest string are too large, not an internal error', () => {
		const bytes = { length: constants.MAX_STRING_LENGTH + 1 } as Buffer
		assert.is(
			refusalText(() => decodeUtf8(bytes, 'The body')),
			'413 The body is longer than text can be',
		)
	})

	test('the position of an invalid byte is found in linear time', () => {
		const bytes = Buffer.concat([Buffer.alloc(900_000, '\uFFFD'), Buffer.from([0xff])])
		assert.ok(milliseconds(() => refusalText(() => decodeUtf8(bytes, 'The body'))) < 1_000)
	})
})
