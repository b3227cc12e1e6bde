/** The index of templates: a segment finds every template that matches it, once, and no other. */
import * as assert from 'uvu/assert'
import { parseRoute } from '../../../lib/routing/custom/pattern.ts'
import { TemplateIndex } from '../../../lib/routing/custom/templates.ts'
import { describe } from '../../helpers/describe.ts'

function indexOf(texts: readonly string[]): TemplateIndex<string> {
	const index = new TemplateIndex<string>()
	for (const text of texts) {
		const part = parseRoute(`GET ${text}`).pattern[0]
		if (typeof part === 'object') index.entry(part).value = text
	}
	return index
}

function matching(index: TemplateIndex<string>, segment: string): string[] {
	const found: string[] = []
	for (let entry = index.matching(segment); entry !== undefined; entry = entry.next)
		found.push(entry.value ?? '')
	return found.sort()
}

const TEMPLATES = [
	...['a-%s', 'a-%d', 'ab-%s', '%s-a', '%d-a', '%s-ba', '%s-%s', '%s-%d', '%d-%s', '%s-x-%s', '%s-xx-%s'],
	...['a%s-%s', '%s-%sz', '%s-%s-%s', '%s.%s.%d', 'a%sa', 'aa%saa', '%saa%s'],
]

describe('TemplateIndex', (test) => {
	const index = indexOf(TEMPLATES)
	const table: [string, string[]][] = [
		['', []],
		['-', []],
		['a', []],
		['a-', []],
		['a-b', ['%s-%s', 'a-%s']],
		['a-1', ['%s-%d', '%s-%s', 'a-%d', 'a-%s']],
		['ab-1', ['%s-%d', '%s-%s', 'a%s-%s', 'ab-%s']],
		['1-a', ['%d-%s', '%d-a', '%s-%s', '%s-a']],
		['-a', []],
		['q-ba', ['%s-%s', '%s-ba']],
		['p-x-q', ['%s-%s', '%s-%s-%s', '%s-x-%s']],
		['p-xx-q', ['%s-%s', '%s-%s-%s', '%s-xx-%s']],
		['p-x-x-z', ['%s-%s', '%s-%s-%s', '%s-%sz', '%s-x-%s']],
		['p-qz', ['%s-%s', '%s-%sz']],
		['p-z', ['%s-%s']],
		['p.q.3', ['%s.%s.%d']],
		['p.q.r', []],
		['aaa', ['a%sa']],
		['aaaa', ['%saa%s', 'a%sa']],
		['aaaaa', ['%saa%s', 'a%sa', 'aa%saa']],
		['-------', ['%s-%s', '%s-%s-%s']],
	]
	for (const [segment, expected] of table) {
		test(`'${segment}' → ${expected.join(' ')}`, () => assert.equal(matching(index, segment), expected))
	}

	test('an index without templates matches nothing', () => assert.equal(matching(indexOf([]), 'a-b'), []))

	test('a template has one entry', () => {
		const part = parseRoute('GET x%s-%d').pattern[0]
		const other = parseRoute('GET x%d-%d').pattern[0]
		if (typeof part !== 'object' || typeof other !== 'object') throw new TypeError('not templates')
		const empty = new TemplateIndex<string>()
		assert.is(empty.entry(part), empty.entry(part))
		assert.is.not(empty.entry(part), empty.entry(other))
	})
})
