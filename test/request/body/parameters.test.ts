import * as assert from 'uvu/assert'
import { parseParameters } from '../../../lib/request/body/parameters.ts'
import { describe } from '../../helpers/describe.ts'
import { milliseconds } from './refusal.ts'

function parse(text: string): [string, string][] | undefined {
	const found = parseParameters(text, 1, (raw) => `<${raw}>`)
	return found && [...found]
}

describe('decode/parameters', (test) => {
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
