/** Every change of the clocks of every zone, against a scan of each day. */
import * as assert from 'uvu/assert'
import { localTime, TimeZone } from '../../../lib/models/totals/time-zone.ts'
import { describe } from '../../helpers/describe.ts'
import { trials } from '../../helpers/trials.ts'

const HOUR = 3_600_000
/** The first and the last year, and the step: two changes within it would be missed, and there are none so near. */
const SCANS: readonly (readonly [first: number, last: number, step: number])[] = [
	[1_800, 1_899, 24 * HOUR],
	[1_900, 2_139, 12 * HOUR],
	[2_400, 2_499, 24 * HOUR],
]

function scanned(timeZone: string): number {
	const format = new Intl.DateTimeFormat('en-US', { timeZone, weekday: 'narrow', timeZoneName: 'longOffset' })
	const zone = new TimeZone(timeZone)
	let changes = 0
	for (const [first, last, step] of SCANS) {
		const [from, to] = [Date.UTC(first, 0), Date.UTC(last + 1, 0)]
		const spans = zone.spans(from, to - 1)
		let [before, place] = ['', 0]
		for (let time = from; time < to; time += step) {
			const text = format.format(time).split('GMT')[1] || '+00:00'
			while ((spans[place + 1]?.from ?? Number.POSITIVE_INFINITY) <= time) place++
			const isOther = text !== before
			if (isOther || (spans[place]?.from ?? 0) > time - step)
				assert.is(offset(localTime(time, spans) - time), text, `${timeZone} ${new Date(time).toISOString()}`)
			if (isOther) changes++
			before = text
		}
	}
	return changes
}

/** Such as `+05:30`. */
function offset(ahead: number): string {
	const text = new Date(Math.abs(ahead)).toISOString().slice(11, 19)
	return (ahead < 0 ? '-' : '+') + text.replace(/(:\d\d):00$/, '$1')
}

/** Zones with rules of their own. All others take turns: each in 24, and all with `VERBENA_TRIALS=24`, in minutes. */
const ODD: ReadonlySet<string> = new Set([
	...['Africa/Casablanca', 'Asia/Gaza', 'America/Sao_Paulo', 'Australia/Lord_Howe', 'Europe/Dublin'],
])

describe('time zones, day by day', (test) => {
	test('spans have each change of the zones', () => {
		const share = Math.max(1, Math.round(24 / trials(1)))
		const names = Intl.supportedValuesOf('timeZone').filter((name, at) => at % share === 0 || ODD.has(name))
		const changes = names.reduce((sum, name) => sum + scanned(name), 0)
		assert.ok(changes > 1_000, `${changes} changes`)
	})
})
