import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { isJsonType, parseMediaType, requireUtf8 } from '../../../lib/request/body/content-type.ts'
import { describe } from '../../helpers/describe.ts'
import { refusalText, valueOrRefusal } from './refusal.ts'

const MALFORMED =
	'415 Content-Type is malformed: it must be type/subtype and parameters; name=value, each once'

describe('decode/content-type', (test) => {
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

	test('the message names the header that it was told', () => {
		assert.match(
			refusalText(() => parseMediaType('x', 'Content-Type of part 3')),
			'415 Content-Type of part 3 is',
		)
	})

	test('any text is a media type or a refusal', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'binary' }), (text) => void valueOrRefusal(() => parseMediaType(text))),
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
		test(`${type} is ${expected ? '' : 'not '}JSON`, () => assert.is(isJsonType(type), expected))
	}

	for (const header of [
		'a/b',
		'a/b;charset=utf-8',
		'a/b;charset=UTF-8',
		'a/b;charset="utf8"',
		'a/b;charset=US-ASCII',
	]) {
		test(`the charset of ${header} is taken`, () => assert.is(requireUtf8(parseMediaType(header)), undefined))
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
