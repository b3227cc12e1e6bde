import * as assert from 'uvu/assert'
import { metaOf, secondsOf } from '../../lib/client/answer.ts'
import { growth } from '../helpers/cost.ts'
import { describe } from '../helpers/describe.ts'

describe('client: meta', (test) => {
	const table: [string, unknown, Record<string, string>, object][] = [
		[
			'of a page',
			{ limit: 2, offset: 4, next: 'Ng', total: 7 },
			{},
			{ limit: 2, offset: 4, next: 'Ng', total: 7 },
		],
		['of the last page', { limit: 2, offset: 0, next: null }, {}, { limit: 2, offset: 0, next: null }],
		['of one’s own', { took: 5, tags: ['a'] }, {}, { took: 5, tags: ['a'] }],
		['that no page has', { limit: '2', offset: null, next: 5, total: '7', took: '1' }, {}, { took: '1' }],
		['that is none', 'much', {}, {}],
		['that is missing', undefined, {}, {}],
		['wins over headers', { took: 5 }, { 'X-Total-Count': '7' }, { took: 5 }],
		['of a header', undefined, { 'X-Total-Count': '7' }, { total: 7 }],
		['of a header that is no number', undefined, { 'X-Total-Count': 'many' }, {}],
		['of an empty header', undefined, { 'X-Total-Count': '' }, {}],
		['of a link', undefined, { Link: '</a?limit=2&cursor=x%2By>; rel="next"' }, { limit: 2, next: 'x+y' }],
		['of a bare rel', undefined, { Link: '</a?cursor=x>; rel=next' }, { next: 'x' }],
		['of a link to the first page', undefined, { Link: '</a?cursor=x>; rel="first"' }, {}],
		['of a link of a longer name', undefined, { Link: '</a?cursor=x>; rel="next-archive"' }, {}],
		['of a link without a cursor', undefined, { Link: '</a?page=2>; rel="next"' }, {}],
		[
			'of the second link',
			undefined,
			{ Link: '</a?cursor=0>; rel="prev", </a?cursor=x>; rel="next"' },
			{ next: 'x' },
		],
	]
	for (const [what, meta, headers, expected] of table)
		test(what, () => assert.equal(metaOf(meta, new Headers(headers)), expected))

	test('a header with an unclosed string is parsed in linear time', async () => {
		const read = (length: number) => {
			const headers = new Headers({ Link: '<'.repeat(length) })
			return () => metaOf(undefined, headers)
		}
		const { ratio } = await growth(read(8_000), read(64_000), 3)
		// Quadratic time would be 64 times as long.
		assert.ok(ratio < 24, `${ratio}`)
	})

	test('leaves values unchanged', () => {
		const sent = { limit: 'a' }
		metaOf(sent, new Headers())
		assert.equal(sent, { limit: 'a' })
	})
})

const NOW = Date.UTC(2026, 10, 22, 5, 0, 0)

describe('client: Retry-After', (test) => {
	const table: [string | null, number | undefined][] = [
		[null, undefined],
		['', undefined],
		['0', 0],
		['1', 1],
		[' 120 ', 120],
		['007', 7],
		['86400', 86_400],
		['99999999999999999999', 1e20],
		['9'.repeat(400), Number.POSITIVE_INFINITY],
		['-1', undefined],
		['-5', undefined],
		['+5', undefined],
		['1.5', undefined],
		['1e3', undefined],
		['0x10', undefined],
		['5, 5', undefined],
		['5s', undefined],
		['soon', undefined],
		['May', undefined],
		['Infinity', undefined],
		['NaN', undefined],
		['٣', undefined],
		['2026-11-22T05:00:10Z', undefined],
		// The three forms of RFC 9110 §5.6.7, all in UTC.
		['Sun, 22 Nov 2026 05:00:10 GMT', 10],
		['Sunday, 22-Nov-26 05:00:10 GMT', 10],
		['Sun Nov 22 05:00:10 2026', 10],
		['Sun, 22 Nov 2026 04:59:00 GMT', 0],
		['Fri, 31 Dec 9999 23:59:59 GMT', 251_606_977_199],
		['Sun, 99 Nov 2026 05:00:10 GMT', undefined],
	]
	for (const [header, seconds] of table) {
		const shown = header !== null && header.length > 100 ? `${header.length} digits` : JSON.stringify(header)
		test(`${shown} is ${seconds} s`, () => assert.is(secondsOf(header, NOW), seconds))
	}
})
