import * as assert from 'uvu/assert'
import { secondsOf } from '../../lib/client/retry-after.ts'
import { describe } from '../helpers/describe.ts'

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
