/** Text of forms and query strings, and what it stands for. */
import * as assert from 'uvu/assert'
import { fromText } from '../../lib/validate/text.ts'
import type { Kind } from '../../lib/validate/validator.ts'
import { describe } from '../helpers/describe.ts'

describe('text', (test) => {
	const table: [Kind | undefined, string, unknown][] = [
		['integer', '12', 12],
		['integer', '-3', -3],
		['integer', '0', 0],
		['integer', '-0', 0],
		['integer', '9007199254740993', 9007199254740992],
		['number', '1.5', 1.5],
		['number', '-0.25', -0.25],
		['number', '-0', 0],
		['number', '1e3', 1000],
		['number', '1e+21', 1e21],
		['number', '1E-7', 1e-7],
		['number', '1e400', Number.POSITIVE_INFINITY],
		['boolean', 'true', true],
		['boolean', '1', true],
		['boolean', 'on', true],
		['boolean', 'false', false],
		['boolean', '0', false],
		['array', 'a', ['a']],
		['string', '12', '12'],
		['object', '{}', '{}'],
		[undefined, '12', '12'],
	]
	for (const [kind, text, value] of table) {
		test(`${text} as ${kind} is ${JSON.stringify(value)}`, () => assert.equal(fromText(kind, text), value))
	}
	const refused: [Kind, string[]][] = [
		['integer', ['', ' 1', '1 ', '+1', '1.0', '1e3', '0x10', '007', '1_000', '1,000', '١', 'NaN', '1\n']],
		['number', ['', ' 1', '.5', '5.', '+1', '00.5', '0x1', '1e', 'Infinity', 'NaN', '1n', '1,5', '--1']],
		['boolean', ['', 'TRUE', 'yes', 'off', 'no', '2', ' true', 'null']],
	]
	for (const [kind, texts] of refused) {
		for (const text of texts) {
			test(`${JSON.stringify(text)} is no ${kind}, and stays text`, () =>
				assert.is(fromText(kind, text), text))
		}
	}
})
