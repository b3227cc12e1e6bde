/** Matching one segment against one template: what matches, and what each placeholder captures. */
import * as assert from 'uvu/assert'
import { parseRoute, type Template } from '../../../lib/routing/custom/pattern.ts'
import {
	appendValues,
	matchesShape,
	matchesTemplate,
	parseNumber,
} from '../../../lib/routing/custom/segment.ts'
import { describe } from '../../helpers/describe.ts'

function templateOf(text: string): Template {
	const part = parseRoute(`GET ${text}`).pattern[0]
	if (typeof part !== 'object') throw new TypeError(`${text} has no placeholder`)
	return part
}

function cut(text: string, segment: string): (string | number)[] | undefined {
	const template = templateOf(text)
	if (!matchesTemplate(template, segment)) return undefined
	const values: (string | number)[] = []
	appendValues(template.shape, segment, values)
	return values
}

describe('parseNumber', (test) => {
	const table: [string, number | undefined][] = [
		['0', 0],
		['7', 7],
		['007', 7],
		['-5', -5],
		['9007199254740991', 9007199254740991],
		['-9007199254740991', -9007199254740991],
		['0000000000000001', 1],
		['9007199254740992', undefined],
		['-9007199254740992', undefined],
		['9999999999999999', undefined],
		['00000000000000001', undefined],
		['', undefined],
		['-', undefined],
		['--1', undefined],
		['+1', undefined],
		['1.5', undefined],
		['1e3', undefined],
		['0x10', undefined],
		[' 1', undefined],
		['١', undefined],
		['1a', undefined],
		['a', undefined],
	]
	for (const [text, number] of table) {
		test(`'${text}' → ${number}`, () => assert.is(parseNumber(text, 0, text.length), number))
	}

	test('minus zero is zero', () => assert.ok(Object.is(parseNumber('-0', 0, 2), 0)))
	test('a part of a text can be parsed', () => assert.is(parseNumber('a12-3b', 1, 3), 12))
	test('the minus must be within the part', () => assert.is(parseNumber('a-3', 2, 3), 3))
})

describe('one placeholder', (test) => {
	const table: [string, string, (string | number)[] | undefined][] = [
		['%s', 'a', ['a']],
		['%s', 'a/b', ['a/b']],
		['%s', '', undefined],
		['%d', '12', [12]],
		['%d', 'x', undefined],
		['page-%d', 'page-7', [7]],
		['page-%d', 'page--7', [-7]],
		['page-%d', 'page-', undefined],
		['page-%d', 'pages-7', undefined],
		['%d-page', '7-page', [7]],
		['%d-page', '7-pages', undefined],
		['v%s!', 'v1!', ['1']],
		['v%s!', 'v!', undefined],
		['v%s!', 'v1?', undefined],
		['ab%sba', 'aba', undefined],
		['ab%sba', 'abba', undefined],
		['ab%dba', 'aba', undefined],
		['ab%sba', 'ab ba', [' ']],
		['%%%d', '%5', [5]],
		['2%d', '255', [55]],
		['%d5', '255', [25]],
	]
	for (const [template, segment, expected] of table) {
		test(`${template} on '${segment}' → ${JSON.stringify(expected)}`, () => {
			assert.equal(cut(template, segment), expected)
		})
	}
})

describe('several placeholders: the first one is greedy', (test) => {
	const table: [string, string, (string | number)[] | undefined][] = [
		['%s-%s', 'a-b', ['a', 'b']],
		['%s-%s', 'a-b-c', ['a-b', 'c']],
		['%s-%s', '---', ['-', '-']],
		['%s-%s', '--', undefined],
		['%s-%s', 'a-', undefined],
		['%s-%s', '-a', undefined],
		['%s.%s', 'a.tar.gz', ['a.tar', 'gz']],
		['%s-%s-%s', 'a-b-c-d', ['a-b', 'c', 'd']],
		['%s-%s-%s', 'a-b', undefined],
		['%sab%sb%s', 'xabababby', ['xab', 'ab', 'y']],
		['<%s|%s>', '<a|b|c>', ['a|b', 'c']],
		['<%s|%s>', '<a|b|c', undefined],
		['%s-%d', 'my-slug-5', ['my-slug', 5]],
		['%s-%d', 'a--5', ['a-', 5]],
		['%s-%d', 'a-5x', undefined],
		['%d-%s', '5-a-b', [5, 'a-b']],
		['%d-%s', '-5-a', [-5, 'a']],
		['%d-%s', 'a-5-b', undefined],
		['%d-%d', '1--2', [1, -2]],
		['%d-%d', '1-2-3', undefined],
		['%dx%d', '1920x1080', [1920, 1080]],
		['%dx%d', '1920x', undefined],
		['%d0%d', '10203', [102, 3]],
		['%d0%d0%s', '100000', [10, 0, '0']],
		['%s0%d', 'a0000000000000000000001', ['a00000000000000000000', 1]],
		['%d9%d', '99999999999999999999', [999999999999999, 9999]],
		['%s-page-number-%d', 'x-page-number--9007199254740991', ['x', -9007199254740991]],
		['%d-%d0%d', '1-000000000000000000000000000000000', [1, 0, 0]],
		['%d-%d0%d', '1-0000000000000000000000000000000000', undefined],
		['%s-%d-%s', 'a-1-2-b', ['a-1', 2, 'b']],
		['%s-%d-%s', 'a-1-b-c', ['a', 1, 'b-c']],
		['v%d.%d.%d', 'v1.20.3', [1, 20, 3]],
		['v%d.%d.%d', 'v1.20', undefined],
		['%d-%s-%d', '1-2-3-4', [1, '2-3', 4]],
	]
	for (const [template, segment, expected] of table) {
		test(`${template} on '${segment}' → ${JSON.stringify(expected)}`, () => {
			assert.equal(cut(template, segment), expected)
		})
	}

	test('a shape requires only the text between the outer literals', () => {
		const { shape } = templateOf('page-%d')
		assert.is(matchesShape(shape, 'pager7'), true)
		assert.is(matchesShape(shape, 'pager'), false)
	})
})
