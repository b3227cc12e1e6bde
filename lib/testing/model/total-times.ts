/** The model contract: totals by parts of times, in time zones. */
import type { TimePart } from '../../models/model.ts'
import { type Feature, needsOf } from './fields.ts'
import { type ModelTest, testsFor } from './fixture.ts'
import { count, gives, key, max, min } from './totals.ts'

/** Moments around changes of the clocks, and what the clocks show. */
const CLOCKS: readonly (readonly [zone: string, hours: Readonly<Record<string, string>>])[] = [
	[
		'Europe/Berlin',
		{
			'2026-03-29T00:59:59.999Z': '2026-03-29T01',
			'2026-03-29T01:00:00Z': '2026-03-29T03',
			'2026-10-24T22:00:00Z': '2026-10-25T00',
			'2026-10-25T00:30:00Z': '2026-10-25T02',
			'2026-10-25T01:30:00Z': '2026-10-25T02',
			'2026-10-25T02:00:00Z': '2026-10-25T03',
			'1975-07-01T12:00:00Z': '1975-07-01T13',
			'2612-07-01T12:00:00Z': '2612-07-01T14',
		},
	],
	[
		'America/St_Johns',
		{
			'2026-03-08T05:29:59Z': '2026-03-08T01',
			'2026-03-08T05:30:00Z': '2026-03-08T03',
			'2026-11-01T04:00:00Z': '2026-11-01T01',
			'2026-11-01T04:45:00Z': '2026-11-01T01',
			'2026-11-01T05:30:00Z': '2026-11-01T02',
			'2027-01-01T03:29:59Z': '2026-12-31T23',
		},
	],
	[
		'Asia/Kathmandu',
		{
			'1985-12-31T18:29:59Z': '1985-12-31T23',
			'1985-12-31T18:30:00Z': '1986-01-01T00',
			'2026-11-20T18:14:59Z': '2026-11-20T23',
			'2026-11-20T18:15:00Z': '2026-11-21T00',
		},
	],
]

function zoneTest([timeZone, hours]: (typeof CLOCKS)[number]): ModelTest {
	const needs: Feature[] = needsOf('at')
	return {
		name: `parts of times are as clocks in ${timeZone} show them`,
		needs,
		async run(fixture) {
			const moments = Object.entries(hours)
			await fixture.addAll(moments.map(([at]) => ({ at, title: at })))
			const by = [key('title'), key('at', 'hour')]
			const expected = moments.map(([title, at]) => ({ title, at }))
			expected.sort((a, b) => (a.title < b.title ? -1 : 1))
			await gives(fixture, { by, timeZone }, expected)
			const days = [...new Set(Object.values(hours).map((hour) => hour.slice(0, 10)))].sort()
			await gives(
				fixture,
				{ by: [key('at', 'day')], timeZone },
				days.map((at) => ({ at })),
			)
		},
	}
}

export const TOTAL_TIME_TESTS: readonly ModelTest[] = [
	...testsFor(['timestamp', 'date'], {
		async 'parts of times are texts'(fixture) {
			await fixture.addAll([
				{ at: '2026-11-20T13:45:00.123Z', day: '2026-11-20' },
				{ at: '2027-01-03T23:59:59.999Z', day: '2027-01-03' },
				{ at: '2024-12-30T00:00:00Z', day: '2024-12-30' },
				{},
			])
			const parts: readonly (readonly [TimePart, readonly string[]])[] = [
				['year', ['2024', '2026', '2027']],
				['quarter', ['2024-Q4', '2026-Q4', '2027-Q1']],
				['month', ['2024-12', '2026-11', '2027-01']],
				['week', ['2025-W01', '2026-W47', '2026-W53']],
				['day', ['2024-12-30', '2026-11-20', '2027-01-03']],
			]
			for (const [part, texts] of parts) {
				const expected = (name: string) => [...texts, null].map((text) => ({ [name]: text, count: 1 }))
				await gives(fixture, { by: [key('at', part)], totals: [count] }, expected('at'))
				await gives(fixture, { by: [key('day', part)], totals: [count] }, expected('day'))
				// A date has no time zone.
				await gives(
					fixture,
					{ by: [key('day', part)], totals: [count], timeZone: 'America/Los_Angeles' },
					expected('day'),
				)
			}
			const hours = ['2024-12-30T00', '2026-11-20T13', '2027-01-03T23', null].map((at) => ({ at }))
			await gives(fixture, { by: [key('at', 'hour')] }, hours)
		},
		async 'min and max of a timestamp are written as the field'(fixture) {
			await fixture.addAll(['2026-11-20T13:45:00.123Z', '1969-12-31T23:59:59.999Z'].map((at) => ({ at })))
			await gives(fixture, { totals: [min('at'), max('at')] }, [
				{ min: { at: '1969-12-31T23:59:59.999Z' }, max: { at: '2026-11-20T13:45:00.123Z' } },
			])
		},
	}),
	...CLOCKS.map(zoneTest),
]
