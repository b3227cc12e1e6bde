import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { scanJson } from '../../../lib/request/body/json-scan.ts'
import { describe } from '../../helpers/describe.ts'
import { trials } from '../../helpers/trials.ts'
import { milliseconds } from './refusal.ts'

function parses(text: string): boolean {
	try {
		JSON.parse(text)
		return true
	} catch {
		return false
	}
}

/** Small pieces that often make JSON and often just miss it. */
const piece = fc.constantFrom(
	...[
		'{',
		'}',
		'[',
		']',
		',',
		':',
		'"',
		'\\',
		'"a"',
		'"a":',
		'1',
		'0',
		'-',
		'.',
		'e',
		'E',
		'+',
		'0.5',
		'-1e+9',
	],
	...[
		'true',
		'false',
		'null',
		'nul',
		' ',
		'\n',
		'\t',
		'\r',
		'\u00a0',
		'\ufeff',
		'\u2028',
		'\0',
		'\u001f',
		'\\u00e9',
	],
	...[
		'"\\ud800"',
		'"\\u00g0"',
		'"\\n"',
		'"\\x"',
		'é',
		'🌱',
		"'",
		'NaN',
		'Infinity',
		'/**/',
		'[]',
		'{}',
		'"a":1',
	],
)

const mutated = fc
	.tuple(fc.json({ maxDepth: 4 }), fc.array(fc.tuple(fc.nat(), fc.nat(3), piece), { maxLength: 3 }))
	.map(([json, edits]) => {
		let text = json
		for (const [place, cut, insert] of edits) {
			const at = place % (text.length + 1)
			text = text.slice(0, at) + insert + text.slice(at + cut)
		}
		return text
	})

describe('body/json-scan', (test) => {
	for (const [name, texts] of [
		['mutated JSON', mutated],
		['random pieces', fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))],
	] as const) {
		test(`it finds a fault in ${name} exactly when JSON.parse does`, () => {
			fc.assert(
				fc.property(texts, (text) => assert.is(scanJson(text) === undefined, parses(text), text)),
				{ numRuns: trials(1_500) },
			)
		})
	}

	test('a text cut off before its error is only reported as incomplete', () => {
		fc.assert(
			fc.property(mutated, (text) => {
				const fault = scanJson(text)
				if (fault === undefined) return
				const before = scanJson(text.slice(0, fault.offset))
				assert.ok(before === undefined || before.offset === fault.offset, text)
			}),
			{ numRuns: trials(1_500) },
		)
	})

	const faults: [string, number, string][] = [
		['', 0, 'a value'],
		['  ', 2, 'a value'],
		['{"a":}', 5, 'a value'],
		['[1,]', 3, 'a value'],
		['[', 1, 'a value or ]'],
		['[,', 1, 'a value or ]'],
		['{', 1, 'a key in double quotes or }'],
		["{'a':1}", 1, 'a key in double quotes or }'],
		['{"a":1,}', 7, 'a key in double quotes'],
		['{"a" 1}', 5, ': after the key'],
		['{"a":1 "b":2}', 7, ', or }'],
		['{"a":1]', 6, ', or }'],
		['[1 2]', 3, ', or ]'],
		['[01]', 2, ', or ]'],
		['1 2', 2, 'nothing after the value'],
		['{}}', 2, 'nothing after the value'],
		['-', 1, 'a digit'],
		['1.', 2, 'a digit'],
		['1.x', 2, 'a digit'],
		['1e+', 3, 'a digit'],
		['tru', 0, 'a value'],
		['"abc', 4, 'the closing " of a string'],
		['{"abc', 5, 'the closing " of a string'],
		['"a\nb"', 2, 'a control character to be escaped, as in \\n'],
		['"a\\q"', 3, 'one of " \\ / b f n r t or u and four hexadecimal digits after the backslash'],
		['"a\\u12g4"', 3, 'one of " \\ / b f n r t or u and four hexadecimal digits after the backslash'],
		['"a\\', 3, 'one of " \\ / b f n r t or u and four hexadecimal digits after the backslash'],
	]
	for (const [text, offset, expected] of faults) {
		test(`${JSON.stringify(text)} has its error at ${offset}`, () => {
			assert.equal(scanJson(text), { offset, expected })
		})
	}

	for (const [name, text] of [
		['opening brackets', '['.repeat(1_000_000)],
		['nested objects', '{"a":'.repeat(200_000)],
		['white space', ' '.repeat(1_000_000)],
		['digits', '1'.repeat(1_000_000).concat('x')],
		['escapes', `"${'\\u0041'.repeat(160_000)}`],
		['an open string', `"${'a'.repeat(1_000_000)}`],
	] as const) {
		test(`a megabyte of ${name} is scanned in linear time, without recursion`, () => {
			assert.ok(milliseconds(() => scanJson(text)) < 1_000)
			assert.ok(scanJson(text) !== undefined)
		})
	}
})
