import * as assert from 'uvu/assert'
import { foldedYear, localTime, partText, TimeZone, TimeZones } from '../../../lib/models/totals/time-zone.ts'
import { describe } from '../../helpers/describe.ts'

/** What the clocks show, by `Intl` itself. */
function shown(timeZone: string, time: number): number {
	const format = new Intl.DateTimeFormat('en-US', {
		...{ timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
		...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
	})
	const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] =
		format.format(time).match(/\d+/g)?.map(Number) ?? []
	return Date.UTC(year, month - 1, day, hour, minute, second)
}

describe('models/totals/time-zone', (test) => {
	test('spans show what the clocks show, hour by hour around each change', () => {
		for (const name of [
			'Europe/Berlin',
			'America/St_Johns',
			'Asia/Kathmandu',
			'Africa/Casablanca',
			'Australia/Lord_Howe',
		]) {
			const [from, to] = [Date.UTC(1979, 0), Date.UTC(2031, 0)]
			const spans = new TimeZone(name).spans(from, to)
			for (const { from: change } of spans.slice(1))
				for (const time of [change - 3_600_000, change - 1_000, change, change + 3_600_000])
					assert.is(localTime(time, spans), shown(name, time), `${name} ${new Date(time).toISOString()}`)
			for (let time = from; time < to; time += 37 * 3_600_000)
				assert.is(localTime(time, spans), shown(name, time), `${name} ${new Date(time).toISOString()}`)
		}
	})

	test('times far ahead are as those of a year like theirs', () => {
		const [from, to] = [Date.UTC(2026, 0), Date.UTC(9998, 0)]
		const spans = new TimeZone('Europe/Berlin').spans(from, to)
		assert.ok(spans.length < 1_100, 'and there are not more spans for them')
		for (const time of [
			Date.UTC(2026, 6),
			Date.UTC(2499, 6),
			Date.UTC(2500, 6),
			Date.UTC(2501, 0),
			Date.UTC(9997, 6),
		])
			assert.is(localTime(time, spans), shown('Europe/Berlin', time), new Date(time).toISOString())
		assert.equal([2499, 2500, 2899, 2900, 9999].map(foldedYear), [2499, 2100, 2499, 2100, 2399])
	})

	test('a zone without changes is one span', () => {
		const spans = new TimeZones().of('Asia/Kathmandu').spans(Date.UTC(2020, 0), Date.UTC(2026, 0))
		assert.equal(spans, [{ from: Number.NEGATIVE_INFINITY, ahead: 20_700 }])
	})

	test('an unknown zone is a RangeError, and only a few zones are remembered', () => {
		const zones = new TimeZones()
		assert.throws(() => zones.of('Europe/Nowhere'), RangeError)
		const first = zones.of('Europe/Berlin')
		assert.is(zones.of('Europe/Berlin'), first)
		const others = Intl.supportedValuesOf('timeZone').filter((name) => name.startsWith('Asia/'))
		for (const name of others.slice(0, 10)) zones.of(name)
		assert.is.not(zones.of('Europe/Berlin'), first)
	})

	test('weeks are those of ISO 8601', () => {
		const weeks: Readonly<Record<string, string>> = {
			'2026-01-01': '2026-W01',
			'2027-01-01': '2026-W53',
			'2027-01-03': '2026-W53',
			'2027-01-04': '2027-W01',
			'2024-12-29': '2024-W52',
			'2024-12-30': '2025-W01',
			'2000-01-02': '1999-W52',
			'0001-01-01': '0001-W01',
			'9999-12-31': '9999-W52',
		}
		for (const [day, week] of Object.entries(weeks)) assert.is(partText('week', Date.parse(day)), week, day)
	})
})
