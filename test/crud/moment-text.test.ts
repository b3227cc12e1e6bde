import * as assert from 'uvu/assert'
import { dateFrom, timeFrom, timestampFrom } from '../../lib/crud/moment-text.ts'
import { describe } from '../helpers/describe.ts'

describe('crud/moment-text', (test) => {
	const timestamps: [string, string | undefined][] = [
		['2026-11-20T13:45:00Z', '2026-11-20T13:45:00Z'],
		['2026-11-20t13:45:00z', '2026-11-20T13:45:00Z'],
		['2026-11-20T13:45:00.123456789Z', '2026-11-20T13:45:00.123456789Z'],
		['2026-11-20T13:45:00.5+01:00', '2026-11-20T12:45:00.5Z'],
		['2026-01-01T00:30:00+01:00', '2025-12-31T23:30:00Z'],
		['2024-02-28T23:30:00-01:00', '2024-02-29T00:30:00Z'],
		['2026-11-20T13:45:00-00:00', '2026-11-20T13:45:00Z'],
		['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
		['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
		['0001-01-01T00:00:00+01:00', undefined],
		['9999-12-31T23:59:59-01:00', undefined],
		['0000-01-01T00:00:00Z', undefined],
		['2026-02-30T00:00:00Z', undefined],
		['2026-11-20T24:00:00Z', undefined],
		['2026-11-20T23:59:60Z', undefined],
		['2026-11-20T13:45:00', undefined],
		['2026-11-20T13:45Z', undefined],
		['2026-11-20 13:45:00Z', undefined],
		['2026-11-20T13:45:00.1234567890Z', undefined],
		['2026-11-20T13:45:00.Z', undefined],
		['2026-11-20T13:45:00+1:00', undefined],
		['2026-11-20T13:45:00+24:00', undefined],
		['2026-11-20', undefined],
		['', undefined],
	]
	for (const [text, expected] of timestamps) {
		test(`the timestamp ${text} is ${expected}`, () => assert.is(timestampFrom(text), expected))
	}

	const dates: [string, boolean][] = [
		['2026-11-20', true],
		['2024-02-29', true],
		['2023-02-29', false],
		['0000-01-01', false],
		['2026-1-1', false],
		['2026-11-20T00:00:00Z', false],
	]
	for (const [text, isOne] of dates) {
		test(`${text} is ${isOne ? 'a' : 'no'} date`, () => assert.is(dateFrom(text), isOne ? text : undefined))
	}

	const times: [string, boolean][] = [
		['00:00:00', true],
		['23:59:59.123456', true],
		['24:00:00', false],
		['13:45', false],
		['13:45:00Z', false],
	]
	for (const [text, isOne] of times) {
		test(`${text} is ${isOne ? 'a' : 'no'} time`, () => assert.is(timeFrom(text), isOne ? text : undefined))
	}
})
