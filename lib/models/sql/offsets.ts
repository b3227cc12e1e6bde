/** UTC offsets of a time zone as SQL, for totals of databases without time zones, or whose tables of them may be empty. */
import type { Milliseconds } from '../../base/time.ts'
import { FOLD_TO_YEAR, FOLDED_YEAR, type Span } from '../totals/time-zone.ts'
import type { KeyColumn, TotalsParts } from './dialect.ts'

/** How a database writes times in UTC. */
export interface OffsetWords {
	/** The condition that a time is before a moment such as `2026-03-29T01:00:00`. */
	isBefore(time: string, moment: string): string
	/** SQL that moves a time in `FOLDED_YEAR` or later to the equivalent year. */
	folded(time: string): string
	/** SQL in which an expression is evaluated once. @default the expression itself */
	once?(value: string, write: (name: string) => string): string
}

/** The keys whose zone is another one than UTC. */
export function zonedKeys({ keys, query }: TotalsParts): readonly KeyColumn[] {
	if (query.timeZone === 'UTC') return []
	return keys.filter(({ column, part }) => part !== undefined && column.type === 'timestamp')
}

/** A time that the database has written in UTC, to the second; 0 for none. */
export function timeOf(text: unknown): Milliseconds {
	const time = typeof text === 'string' ? Date.parse(`${text.slice(0, 19).replace(' ', 'T')}Z`) : 0
	return Number.isNaN(time) ? 0 : time
}

/** SQL for the offset of a time in seconds. `spans` cover all times, of which `to` is the last. */
export function offsetOf(time: string, spans: readonly Span[], to: Milliseconds, words: OffsetWords): string {
	const search = (one: string, among: readonly Span[]) =>
		offsetTree(among, (moment) => words.isBefore(one, moment))
	if (new Date(to).getUTCFullYear() + 1 < FOLDED_YEAR) return search(time, spans)
	const isBefore = words.isBefore(time, `${FOLDED_YEAR}-01-01T00:00:00`)
	if (words.once !== undefined)
		return words.once(`case when ${isBefore} then ${time} else ${words.folded(time)} end`, (like) =>
			search(like, spans),
		)
	const at = spans.findLastIndex(({ from }) => from <= Date.UTC(FOLD_TO_YEAR, 0))
	return `case when ${isBefore} then ${search(time, spans)} else ${search(words.folded(time), spans.slice(at))} end`
}

/** A compromise: few levels, because SQL parsers have a small stack, and few comparisons on each level. */
const BRANCHES = 4

/** A search by quarters: for a thousand spans, six levels and about twelve comparisons. */
function offsetTree(spans: readonly Span[], isBefore: (moment: string) => string): string {
	const [first] = spans
	if (first === undefined || spans.length === 1) return String(first?.ahead ?? 0)
	const size = Math.ceil(spans.length / BRANCHES)
	let sql = 'case'
	let from = 0
	for (; from + size < spans.length; from += size) {
		const moment = new Date(spans[from + size]?.from ?? 0).toISOString().slice(0, 19)
		sql += ` when ${isBefore(moment)} then ${offsetTree(spans.slice(from, from + size), isBefore)}`
	}
	return `${sql} else ${offsetTree(spans.slice(from), isBefore)} end`
}
