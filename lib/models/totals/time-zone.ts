/**
 * Time zones by `Intl`, as spans of time with one offset from UTC: for stores that know no zones, or not always. And the
 * texts of parts of a time.
 */
import type { Milliseconds, Seconds } from '../../base/time.ts'
import type { TimePart } from '../model.ts'

/** From a moment on, until the next span begins, clocks are this far ahead of UTC. */
export interface Span {
	/** `-Infinity` for the first one. */
	readonly from: Milliseconds
	readonly ahead: Seconds
}

/** Before this year, clocks are taken to show what they showed in it. */
const FIRST_YEAR = 1_800
/**
 * From this year on, a year is taken to be like the one that is a multiple of 400 years earlier, from 2100 on: by then
 * all zones follow rules that repeat with the calendar.
 */
export const FOLDED_YEAR = 2_500
const CYCLE_YEARS = 400
/** The first of the years that later ones are like. */
export const FOLD_TO_YEAR = FOLDED_YEAR - CYCLE_YEARS

/** Shorter than any period between two changes of the clocks. */
const STEP: Milliseconds = 5 * 86_400_000
const SECOND: Milliseconds = 1_000

/** Maximum number of zones that are remembered: clients name them. */
const MAX_ZONES = 8

/** The zones of one model. */
export class TimeZones {
	/** Least recently used first. */
	readonly #zones = new Map<string, TimeZone>()

	/** @throws RangeError for a name that `Intl` doesn't know */
	of(name: string): TimeZone {
		const zone = this.#zones.get(name) ?? new TimeZone(name)
		this.#zones.delete(name)
		this.#zones.set(name, zone)
		const [oldest] = this.#zones.size > MAX_ZONES ? this.#zones.keys() : []
		if (oldest !== undefined) this.#zones.delete(oldest)
		return zone
	}
}

export class TimeZone {
	readonly #format: Intl.DateTimeFormat
	/** The changes within each year that was asked for. */
	readonly #years = new Map<number, readonly Span[]>()

	constructor(timeZone: string) {
		this.#format = new Intl.DateTimeFormat('en-US', {
			...{ timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
			...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
		})
	}

	/**
	 * The spans in which the times from one to another are, and a year around them. If there are times from `FOLDED_YEAR` on,
	 * those of the years that they are like are among them.
	 */
	spans(from: Milliseconds, to: Milliseconds): readonly Span[] {
		const years = [from, to].map((time) => new Date(time).getUTCFullYear())
		const isFolded = (years[1] ?? 0) + 1 >= FOLDED_YEAR
		const earliest = isFolded ? Math.min(years[0] ?? 0, FOLD_TO_YEAR) : (years[0] ?? 0)
		const first = Math.min(Math.max(earliest - 1, FIRST_YEAR), FOLDED_YEAR - 1)
		const last = Math.max(first, Math.min((years[1] ?? 0) + 1, FOLDED_YEAR - 1))
		const spans: Span[] = [{ from: Number.NEGATIVE_INFINITY, ahead: this.#ahead(Date.UTC(first, 0)) }]
		for (let year = first; year <= last; year++) spans.push(...this.#changes(year))
		return spans
	}

	#changes(year: number): readonly Span[] {
		const known = this.#years.get(year)
		if (known !== undefined) return known
		const changes: Span[] = []
		const end = Date.UTC(year + 1, 0)
		let before = Date.UTC(year, 0)
		while (before < end) {
			const after = Math.min(before + STEP, end)
			const ahead = this.#ahead(after)
			if (ahead !== this.#ahead(before)) changes.push({ from: this.#changeIn(before, after), ahead })
			before = after
		}
		this.#years.set(year, changes)
		return changes
	}

	/** The first second with another offset. */
	#changeIn(before: Milliseconds, after: Milliseconds): Milliseconds {
		const ahead = this.#ahead(before)
		let [low, high] = [before / SECOND, after / SECOND]
		while (high - low > 1) {
			const middle = Math.floor((low + high) / 2)
			if (this.#ahead(middle * SECOND) === ahead) low = middle
			else high = middle
		}
		return high * SECOND
	}

	/** At a whole second. */
	#ahead(time: Milliseconds): Seconds {
		const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] =
			this.#format.format(time).match(/\d+/g)?.map(Number) ?? []
		return (Date.UTC(year, month - 1, day, hour, minute, second) - time) / SECOND
	}
}

/** The year in which the clocks change as in this one. */
export function foldedYear(year: number): number {
	return year < FOLDED_YEAR ? year : ((year - FOLD_TO_YEAR) % CYCLE_YEARS) + FOLD_TO_YEAR
}

/** A time as the clocks of a zone show it, as if it were in UTC. */
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

/** @param time as the clocks show it */
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
	const week = Math.floor((thursday.getTime() - yearStart(thursday)) / (7 * day)) + 1
	return `${String(thursday.getUTCFullYear()).padStart(4, '0')}-W${String(week).padStart(2, '0')}`
}

function yearStart(date: Date): Milliseconds {
	return new Date(date).setUTCMonth(0, 1)
}
