/**
 * Time zones as spans of time with one offset from UTC, read from `Intl`: for stores without time zones, or whose tables of
 * them may be empty. Also the texts of parts of a time.
 */
import type { Milliseconds, Seconds } from '../../base/time.ts'
import type { TimePart } from '../model.ts'

/** From a moment on, until the next span begins, clocks are this far ahead of UTC. */
export interface Span {
	/** `-Infinity` for the first one. */
	readonly from: Milliseconds
	readonly ahead: Seconds
}

/** Earlier times are given the offset at the beginning of this year. */
const FIRST_YEAR = 1_800
/**
 * From this year on, a year has the offsets of its equivalent in 2100 to 2499, a multiple of 400 years earlier: the
 * calendar repeats every 400 years, and by 2100 all zones follow fixed rules.
 */
export const FOLDED_YEAR = 2_500
const CYCLE_YEARS = 400
/** The first of the equivalent years. */
export const FOLD_TO_YEAR = FOLDED_YEAR - CYCLE_YEARS

const SECOND: Milliseconds = 1_000
/** Nearly all changes are at a quarter of an hour. */
const QUARTER: Milliseconds = 900_000
const DAY: Milliseconds = 86_400_000
const WEEK = 7 * DAY

/**
 * Offsets are sampled in steps shorter than any period between two changes. From 1910 on, the shortest period is a week: in
 * wars, around Ramadan, and where a state took a change back. `time-zone.long.ts` tests all zones.
 */
function stepIn(year: number): Milliseconds {
	if (year < 1_910) return 180 * DAY
	return (year < FOLD_TO_YEAR ? 6 : 30) * DAY
}

/** Maximum number of cached years and changes, of all zones together: clients choose the zones. */
const MAX_HELD = 20_000

export class TimeZones {
	/** By `Intl`'s canonical name. Least recently used first. */
	readonly #zones = new Map<string, TimeZone>()
	readonly #maxHeld: number
	#held = 0

	constructor(maxHeld = MAX_HELD) {
		this.#maxHeld = maxHeld
	}

	/** @throws RangeError for a name that `Intl` doesn't know */
	spans(name: string, from: Milliseconds, to: Milliseconds): readonly Span[] {
		const { timeZone } = new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions()
		const zone = this.#zones.get(timeZone) ?? new TimeZone(timeZone)
		this.#zones.delete(timeZone)
		this.#zones.set(timeZone, zone)
		this.#held -= zone.held
		const spans = zone.spans(from, to)
		this.#held += zone.held
		for (const [oldest, { held }] of this.#zones) {
			if (this.#held <= this.#maxHeld) break
			this.#zones.delete(oldest)
			this.#held -= held
		}
		return spans
	}
}

/** The offset at the beginning of a year, in UTC, and the changes in it. */
interface Year {
	readonly ahead: Seconds
	readonly changes: readonly Span[]
}

export class TimeZone {
	readonly #name: string
	/** The years read so far. */
	readonly #years = new Map<number, Year>()
	#held = 0

	constructor(timeZone: string) {
		this.#name = timeZone
	}

	/** The number of cached years and changes. */
	get held(): number {
		return this.#held
	}

	/**
	 * The spans that cover the times `from` to `to`, and a year before and after. If there are times from `FOLDED_YEAR` on, the
	 * spans include those of their equivalent years.
	 */
	spans(from: Milliseconds, to: Milliseconds): readonly Span[] {
		const years = [from, to].map((time) => new Date(time).getUTCFullYear())
		const isFolded = (years[1] ?? 0) + 1 >= FOLDED_YEAR
		const earliest = isFolded ? Math.min(years[0] ?? 0, FOLD_TO_YEAR) : (years[0] ?? 0)
		const first = Math.min(Math.max(earliest - 1, FIRST_YEAR), FOLDED_YEAR - 1)
		const last = Math.max(first, Math.min((years[1] ?? 0) + 1, FOLDED_YEAR - 1))
		const spans: Span[] = []
		let clock: Clock | undefined
		for (let year = first; year <= last; year++) {
			let known = this.#years.get(year)
			if (known === undefined) {
				clock ??= new Clock(this.#name)
				known = clock.year(year, this.#years.get(year - 1)?.changes)
				this.#years.set(year, known)
				this.#held += 1 + known.changes.length
			}
			if (year === first) spans.push({ from: Number.NEGATIVE_INFINITY, ahead: known.ahead })
			spans.push(...known.changes)
		}
		return spans
	}
}

/** Reads offsets from `Intl`, each in about a microsecond. Not cached, because its formatter takes some 30 KB. */
class Clock {
	readonly #format: Intl.DateTimeFormat

	constructor(timeZone: string) {
		// `Intl` doesn't write an offset alone, so the shortest other part is added.
		this.#format = new Intl.DateTimeFormat('en-US', {
			...{ timeZone, weekday: 'narrow', timeZoneName: 'longOffset' },
		})
	}

	/** @param last the changes in the year before */
	year(year: number, last: readonly Span[] = []): Year {
		const changes: Span[] = []
		const [step, end] = [stepIn(year), Date.UTC(year + 1, 0)]
		let before = Date.UTC(year, 0)
		const first = this.#ahead(before)
		let ahead = first
		while (before < end) {
			const after = Math.min(before + step, end)
			const then = this.#ahead(after)
			if (then !== ahead) changes.push({ from: this.#changeIn(before, after, ahead, last), ahead: then })
			before = after
			ahead = then
		}
		return { ahead: first, changes }
	}

	/** The first second with another offset than `ahead`: often on the same Sunday as in the year before. */
	#changeIn(before: Milliseconds, after: Milliseconds, ahead: Seconds, last: readonly Span[]): Milliseconds {
		const isChange = (time: Milliseconds) =>
			this.#ahead(time) !== ahead && this.#ahead(time - SECOND) === ahead
		for (const { from } of last)
			for (const guess of [from + 52 * WEEK, from + 53 * WEEK])
				if (before < guess && guess <= after && isChange(guess)) return guess
		const change = this.#search(before, after, QUARTER, ahead)
		return isChange(change) ? change : this.#search(change - QUARTER, change, SECOND, ahead)
	}

	#search(before: Milliseconds, after: Milliseconds, unit: Milliseconds, ahead: Seconds): Milliseconds {
		let [low, high] = [before / unit, after / unit]
		while (high - low > 1) {
			const middle = Math.floor((low + high) / 2)
			if (this.#ahead(middle * unit) === ahead) low = middle
			else high = middle
		}
		return high * unit
	}

	/** At a whole second. */
	#ahead(time: Milliseconds): Seconds {
		// `S, GMT+05:30`; historical offsets may have seconds, and an offset of 0 may be only `GMT`.
		const [, sign, hours = 0, minutes = 0, seconds = 0] =
			/GMT(.)(\d+):(\d+)(?::(\d+))?$/.exec(this.#format.format(time)) ?? []
		const ahead = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)
		return sign === '+' || ahead === 0 ? ahead : -ahead
	}
}

/** The equivalent year: see `FOLDED_YEAR`. */
export function foldedYear(year: number): number {
	return year < FOLDED_YEAR ? year : ((year - FOLD_TO_YEAR) % CYCLE_YEARS) + FOLD_TO_YEAR
}

/** Converts a time to the local time of a zone, written as if it were in UTC. */
export function localTime(time: Milliseconds, spans: readonly Span[]): Milliseconds {
	const date = new Date(time)
	const year = date.getUTCFullYear()
	const like = year < FOLDED_YEAR ? time : date.setUTCFullYear(foldedYear(year))
	let [low, high] = [0, spans.length]
	while (high - low > 1) {
		const middle = (low + high) >>> 1
		if ((spans[middle]?.from ?? 0) <= like) low = middle
		else high = middle
	}
	return time + (spans[low]?.ahead ?? 0) * SECOND
}

/** @param time a local time, as from `localTime` */
export function partText(part: TimePart, time: Milliseconds): string {
	const date = new Date(time)
	const [year, rest = ''] = [date.getUTCFullYear(), date.toISOString().replace(/^[+-]?\d+/, '')]
	const years = String(year).padStart(4, '0')
	if (part === 'year') return years
	if (part === 'quarter') return `${years}-Q${Math.floor(date.getUTCMonth() / 3) + 1}`
	if (part === 'month') return years + rest.slice(0, 3)
	if (part === 'day') return years + rest.slice(0, 6)
	if (part === 'hour') return years + rest.slice(0, 9)
	// The week belongs to the year that its Thursday is in.
	const day = 86_400_000
	const thursday = new Date(time + (4 - (date.getUTCDay() || 7)) * day)
	const week = Math.floor((thursday.getTime() - new Date(thursday).setUTCMonth(0, 1)) / (7 * day)) + 1
	return `${String(thursday.getUTCFullYear()).padStart(4, '0')}-W${String(week).padStart(2, '0')}`
}
