/**
 * DATETIME and TIMESTAMP: how they are written in RFC 3339 and sent in UTC, whatever the session's time zone. Used
 * by `types.ts`.
 */
import type { Value } from '../model.ts'
import { asText, type ColumnSql, concatOf, type Measures, type Parts } from './column-sql.ts'

export function datetimes(scale: number): Partial<ColumnSql> {
	return {
		json: (ref) => inUtc(ref, scale, 3),
		cursor: (ref) => inUtc(ref, scale, scale),
		exact: asText,
		bind: utcText,
	}
}

/**
 * A TIMESTAMP is shown in the session's time zone: its seconds since 1970 are not. What is sent is in UTC, and
 * is turned into the session's time.
 */
export function instants({ scale, untilSecond }: Measures): Partial<ColumnSql> {
	const utc = (ref: string): string => `timestamp'1970-01-01 00:00:00'+interval unix_timestamp(${ref}) second`
	return {
		json: (ref) => orZero(ref, inUtc(utc(ref), scale, 3)),
		cursor: (ref) => orZero(ref, inUtc(utc(ref), scale, scale)),
		exact: (ref) => asText(utc(ref)),
		placeholderOf: (value) => (isZero(value) ? '?' : undefined),
		placeholder: "convert_tz(cast(? as datetime(6)),'+00:00',@@session.time_zone)",
		bind: (value) => (isZero(value) ? ZERO : instantText(utcText(value), untilSecond)),
	}
}

/** What a TIMESTAMP holds besides instants: it is in no time zone, and has no seconds since 1970. */
const ZERO = '0000-00-00 00:00:00'

function isZero(value: Value): boolean {
	return typeof value === 'string' && value.startsWith('0000-00-00')
}

function orZero(ref: string, parts: Parts): Parts {
	return [{ sql: `if(dayofmonth(${ref}),${concatOf(parts)},'"0000-00-00T00:00:00.000Z"')` }]
}

/** The first second of TIMESTAMP, in UTC. */
const FIRST_INSTANT = '1970-01-01 00:00:01'

/**
 * What no TIMESTAMP can be isn't turned into the session's time by the server, and could so become one that is
 * hours away. Farther out it is refused where it would be stored, and compared rightly.
 */
function instantText(text: string, untilSecond: string): string {
	if (text < FIRST_INSTANT) return '0001-01-01 00:00:00'
	return text < untilSecond ? text : '9999-12-31 23:59:59'
}

/**
 * RFC 3339 with `wanted` digits of a second out of `there`. Cutting and pasting its text costs a third of what
 * `date_format` does.
 */
function inUtc(sql: string, there: number, wanted: number): Parts {
	const text = `insert(${sql},11,1,'T')`
	const point = there === 0 && wanted > 0 ? '.' : ''
	const rest = `${point}${'0'.repeat(Math.max(0, wanted - there))}Z"`
	const cut = there > wanted ? `left(${text},${wanted === 0 ? 19 : 20 + wanted})` : text
	return [{ text: '"' }, { sql: cut }, { text: rest }]
}

/** `2026-11-20T01:02:03.456Z` as the database reads it; it knows six digits of a second. */
function utcText(value: Exclude<Value, null>): string {
	const text = String(value)
	const end = Math.min(26, text.length - 1)
	return `${text.slice(0, 10)} ${text.slice(11, end)}`
}
