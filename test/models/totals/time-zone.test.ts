import * as assert from 'uvu/assert'
import { foldedYear, localTime, partText, TimeZone, TimeZones } from '../../../lib/models/totals/time-zone.ts'
import { describe } from '../../helpers/describe.ts'

/** What the clocks of a zone show, by `Intl` itself. */
function shownIn(timeZone: string): (time: number) => number {
	const format = new Intl.DateTimeFormat('en-US', {
		...{ timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
		...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
	})
	return (time) => {
		const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] =
			format.format(time).match(/\d+/g)?.map(Number) ?? []
		return Date.UTC(year, month - 1, day, hour, minute, second)
	}
}

/** What a function returns, and how often it formats a time meanwhile. */
function formatsOf<T>(run: () => T): [result: T, formats: number] {
	const { DateTimeFormat } = Intl
	let formats = 0
	const counting = (...given: ConstructorParameters<typeof DateTimeFormat>) => {
		const made = new DateTimeFormat(...given)
		const { format } = made
		const counted: typeof format = (time) => {
			formats++
			return format(time)
		}
		return Object.defineProperty(made, 'format', { value: counted })
	}
	Intl.DateTimeFormat = new Proxy(DateTimeFormat, { construct: (_, given) => counting(...given) })
	try {
		return [run(), formats]
	} finally {
		Intl.DateTimeFormat = DateTimeFormat
	}
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
			const shown = shownIn(name)
			for (const { from: change } of spans.slice(1))
				for (const time of [change - 3_600_000, change - 1_000, change, change + 3_600_000])
					assert.is(localTime(time, spans), shown(time), `${name} ${new Date(time).toISOString()}`)
			for (let time = from; time < to; time += 37 * 3_600_000)
				assert.is(localTime(time, spans), shown(time), `${name} ${new Date(time).toISOString()}`)
		}
	})

	test('times far ahead are as those of a year like theirs', () => {
		const [from, to] = [Date.UTC(2026, 0), Date.UTC(9998, 0)]
		const spans = new TimeZone('Europe/Berlin').spans(from, to)
		const shown = shownIn('Europe/Berlin')
		assert.ok(spans.length < 1_100, 'and there are not more spans for them')
		for (const time of [
			Date.UTC(2026, 6),
			Date.UTC(2499, 6),
			Date.UTC(2500, 6),
			Date.UTC(2501, 0),
			Date.UTC(9997, 6),
		])
			assert.is(localTime(time, spans), shown(time), new Date(time).toISOString())
		assert.equal([2499, 2500, 2899, 2900, 9999].map(foldedYear), [2499, 2100, 2499, 2100, 2399])
	})

	test('a zone without changes is one span', () => {
		const spans = new TimeZones().spans('Asia/Kathmandu', Date.UTC(2020, 0), Date.UTC(2026, 0))
		assert.equal(spans, [{ from: Number.NEGATIVE_INFINITY, ahead: 20_700 }])
	})

	test('the offsets of a zone are computed once, however it is spelled, with few calls of Intl for centuries', () => {
		const zones = new TimeZones()
		const ask = (name: string, from = 1_800, to = 2_600) =>
			formatsOf(() => zones.spans(name, Date.UTC(from, 0), Date.UTC(to, 0)))
		const [spans, formats] = ask('Europe/Berlin')
		assert.ok(spans.length > 1_000)
		assert.ok(formats < 25_000, `${formats} for ${spans.length} spans`)
		assert.equal(ask('europe/BERLIN'), [spans, 0])
		assert.is(ask('Europe/Berlin', 1_900, 2_000)[1], 0)
		assert.ok(ask('Asia/Calcutta')[1] > 0)
		assert.is(ask('Asia/Kolkata')[1], 0)
	})

	test('an unknown zone is a RangeError; all zones are remembered for some years, but not more and more', () => {
		const ask = (zones: TimeZones, name: string, year: number) =>
			formatsOf(() => zones.spans(name, Date.UTC(year, 0), Date.UTC(year + 4, 0)))[1]
		const zones = new TimeZones()
		assert.throws(
			() => zones.spans('Europe/Nowhere', 0, 0),
			(error: unknown) => error instanceof RangeError,
		)
		for (const name of Intl.supportedValuesOf('timeZone')) ask(zones, name, 2_020)
		assert.is(ask(zones, 'Africa/Abidjan', 2_020), 0)

		// Seven years, and fourteen changes.
		const few = new TimeZones(50)
		for (const name of ['Europe/Berlin', 'Europe/Rome', 'Europe/Berlin', 'Europe/Paris'])
			ask(few, name, 2_020)
		assert.is(ask(few, 'Europe/Berlin', 2_020), 0)
		assert.is.not(ask(few, 'Europe/Rome', 2_020), 0, 'the least recently used is forgotten')
		ask(few, 'Europe/Berlin', 2_030)
		ask(few, 'Europe/Berlin', 2_040)
		assert.is.not(ask(few, 'Europe/Berlin', 2_040), 0, 'a zone with too many years is, too')
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
