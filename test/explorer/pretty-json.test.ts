/** Pretty JSON: formatted from its text, so that nothing is lost. */
import * as assert from 'uvu/assert'
import { prettyJson, tokensOf } from '../../lib/explorer/pretty-json.ts'
import { cost } from '../helpers/cost.ts'
import { describe } from '../helpers/describe.ts'

describe('explorer: pretty JSON', (test) => {
	const table: [string, string][] = [
		['{"a":1,"b":[true,null]}', '{\n  "a": 1,\n  "b": [\n    true,\n    null\n  ]\n}'],
		['{ "a" : { } , "b" : [ ] }', '{\n  "a": {},\n  "b": []\n}'],
		['[{"a":"x"},{}]', '[\n  {\n    "a": "x"\n  },\n  {}\n]'],
		['"text"', '"text"'],
		['null', 'null'],
		['', ''],
		['{"id":9007199254740993,"x":1.10e+5}', '{\n  "id": 9007199254740993,\n  "x": 1.10e+5\n}'],
		['"a \\" , { [ \\\\"', '"a \\" , { [ \\\\"'],
		['{"a":"cut o', '{\n  "a": "cut o'],
		['[1,2', '[\n  1,\n  2'],
		['none: <b>', 'none: <b>'],
		[']]}', '\n]\n]\n}'],
	]
	for (const [json, expected] of table) {
		test(`${JSON.stringify(json)} is formatted`, () => assert.is(prettyJson(json), expected))
	}

	test('names and texts are distinguished, whatever they contain', () => {
		const kinds = [...tokensOf('{"a":"b","c":["d",{"e":-1}],"f":false}')].filter(
			({ kind }) => kind !== 'other',
		)
		assert.equal(
			kinds.map(({ kind, text }) => `${kind} ${text}`),
			['key "a"', 'text "b"', 'key "c"', 'text "d"', 'key "e"', 'number -1', 'key "f"', 'word false'],
		)
	})

	test("formatting matches JSON.stringify's", () => {
		const value = { a: [1, { b: 'c', d: [[]] }], e: { f: null, g: '{"x":[1]}' }, h: -0.5 }
		assert.is(prettyJson(JSON.stringify(value)), JSON.stringify(value, undefined, 2))
	})

	test('a text grows by at most a million characters, and loses nothing', () => {
		for (const json of [
			'['.repeat(500_000) + ']'.repeat(500_000),
			`${'['.repeat(60)}${'1,'.repeat(300_000)}1${']'.repeat(60)}`,
		]) {
			const pretty = prettyJson(json)
			assert.ok(pretty.length <= json.length + 1_000_000)
			assert.is(pretty.replaceAll(/\s/g, ''), json)
		}
	})

	test('a hundred thousand levels, and a megabyte of text, are formatted quickly', () => {
		const time = cost(() => {
			assert.ok(prettyJson('['.repeat(100_000)).length <= 1_100_000)
			assert.is(prettyJson(`"${'\\'.repeat(1_000_000)}`).length, 1_000_001)
			assert.is(prettyJson(' '.repeat(1_000_000)), '')
			assert.is(prettyJson('[ '.repeat(50_000)).length > 0, true)
		})
		assert.ok(time < 2_000, `${time} ms`)
	})
})
