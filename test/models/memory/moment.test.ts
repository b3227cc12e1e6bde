/** Dates, times and timestamps of `MemoryModel`: which texts are valid, and in which form they are stored. */
import * as assert from 'uvu/assert'
import { timeOf, timestampOf, wireTimestamp } from '../../../lib/models/memory/stored.ts'
import { dateFrom } from '../../../lib/validate/format.ts'
import { describe } from '../../helpers/describe.ts'

type Row = readonly [text: string, kept: string | undefined]

function none(...texts: readonly string[]): Row[] {
	return texts.map((text) => [text, undefined])
}

const DATES: readonly Row[] = [
	['2026-11-20', '2026-11-20'],
	['2024-02-29', '2024-02-29'],
	['0001-01-01', '0001-01-01'],
	['9999-12-31', '9999-12-31'],
	...none('2025-02-29', '2026-02-30', '2026-13-01', '2026-00-10', '2026-01-00', '2026-01-32', '0000-01-01'),
	...none('2026-1-1', '26-01-01', '+12026-01-01', '2026-11-20T00:00:00Z', '', 'today', '2026-11-20\n'),
]

const TIMES: readonly Row[] = [
	['13:45:00', '13:45:00'],
	['00:00:00', '00:00:00'],
	['23:59:59.5', '23:59:59.5'],
	['23:59:59.500000', '23:59:59.5'],
	['23:59:59.000', '23:59:59'],
	['23:59:59.123456789', '23:59:59.123456'],
	...none('24:00:00', '23:60:00', '23:59:60', '1:00:00', '13:45', '13:45:00Z', '', '13:45:00.'),
]

const TIMESTAMPS: readonly Row[] = [
	['2026-11-20T13:45:00Z', '2026-11-20T13:45:00.000000Z'],
	['2026-11-20t13:45:00.1z', '2026-11-20T13:45:00.100000Z'],
	['2026-11-20 13:45:00.123456789Z', '2026-11-20T13:45:00.123456Z'],
	['2026-11-20T13:45:00+00:00', '2026-11-20T13:45:00.000000Z'],
	['2026-11-20T13:45:00.5+02:30', '2026-11-20T11:15:00.500000Z'],
	['2026-01-01T00:00:00+01:00', '2025-12-31T23:00:00.000000Z'],
	['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999Z'],
	['0050-06-01T00:00:00Z', '0050-06-01T00:00:00.000000Z'],
	...none(
		'2026-11-20T13:45:00',
		'2026-11-20T13:45Z',
		'2026-11-20',
		'2026-02-30T00:00:00Z',
		'2026-11-20T24:00:00Z',
	),
	...none(
		'2026-11-20T13:45:60Z',
		'0001-01-01T00:00:00+01:00',
		'9999-12-31T23:59:59-01:00',
		'now',
		'',
		'2026-11-20T13:45:00+24:00',
	),
]

describe('moment', (test) => {
	const tables = [
		['dateFrom', dateFrom, DATES],
		['timeOf', timeOf, TIMES],
		['timestampOf', timestampOf, TIMESTAMPS],
	] as const
	for (const [name, kept, table] of tables) {
		for (const [text, expected] of table) {
			test(`${name} of ${JSON.stringify(text)} is ${expected}`, () => assert.is(kept(text), expected))
		}
	}

	test('a timestamp is truncated to milliseconds for the wire', () => {
		assert.is(wireTimestamp('2026-11-20T13:45:00.123999Z'), '2026-11-20T13:45:00.123Z')
	})
})
