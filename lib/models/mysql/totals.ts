/**
 * How MySQL and MariaDB write totals. Their tables of time zones are often empty, so the offsets of a zone come from `Intl`,
 * for the time from the first record to the last. Their decimals are exact.
 */
import type { TimePart, Value } from '../model.ts'
import { ModelError } from '../model-error.ts'
import type { KeyColumn, Sql, TotalColumn, TotalsDialect, TotalsParts } from '../sql/dialect.ts'
import { type OffsetWords, offsetOf, timeOf, zonedKeys } from '../sql/offsets.ts'
import { isDigitText, isExact, type TotalsWords, writeTotals } from '../sql/totals.ts'
import { AVERAGE_DIGITS } from '../totals/exact.ts'
import { FOLD_TO_YEAR } from '../totals/time-zone.ts'
import { concatOf, doubleText, jsonParts, mysqlColumn, oneText } from './json.ts'

export function totalsOf(isMariaDb: boolean): TotalsDialect {
	return {
		probe: writeProbe,
		write: (sql, parts, probed) => writeTotals(sql, parts, wordsOf(parts, probed, isMariaDb)),
	}
}

/** The first and the last time of each key in another zone than UTC. */
function writeProbe(sql: Sql, parts: TotalsParts): boolean {
	const times = zonedKeys(parts).map((key) => utcOf(key))
	if (times.length === 0) return false
	const text = (name: string, time: string) => `cast(${name}(${time}) as char)`
	sql.add(`select ${times.map((time) => `${text('min', time)}, ${text('max', time)}`).join(', ')}`)
	parts.source(sql)
	return true
}

function utcOf({ column, ref }: KeyColumn): string {
	if (column.sqlType !== 'timestamp') return ref
	return `(timestamp'1970-01-01 00:00:00'+interval unix_timestamp(${ref}) second)`
}

function wordsOf(parts: TotalsParts, probed: readonly unknown[], isMariaDb: boolean): TotalsWords {
	const times = new Map(
		zonedKeys(parts).map((key, at) => [key, localOf(key, parts, probed.slice(2 * at, 2 * at + 2))] as const),
	)
	return {
		key: (sql, key) => {
			const { part, ref } = key
			sql.add(part === undefined ? ref : partOf(part, times.get(key) ?? utcOf(key)))
		},
		total,
		keyJson: ({ column, part }, ref) => {
			if (part !== undefined) return `if(${ref} is not null,concat('"',${ref},'"'),'null')`
			return oneText(jsonParts({ ...mysqlColumn(column), nullable: true }, ref, 'json'))
		},
		totalJson: (given, ref) => totalJson(given, ref, isMariaDb),
		operand: writeOperand,
		order: (ref, descending) => (descending ? `${ref} desc` : `${ref} is null, ${ref}`),
		concat: concatOf,
	}
}

/** The time of a key in the query's zone. */
function localOf(key: KeyColumn, { spans }: TotalsParts, [first, last]: readonly unknown[]): string {
	const utc = utcOf(key)
	const [from, to] = [timeOf(first), timeOf(last)]
	const ahead = offsetOf(utc, spans(from, to), to, OFFSETS)
	// UTC if the local time is out of DATETIME's range.
	return `coalesce(${utc} + interval (${ahead}) second, ${utc})`
}

const OFFSETS: OffsetWords = {
	isBefore: (time, moment) => `${time} < timestamp'${moment.replace('T', ' ')}'`,
	folded: (time) => `(${time} - interval (floor((year(${time}) - ${FOLD_TO_YEAR}) / 400) * 400) year)`,
}

/** String functions take a third of the time of `date_format`. */
function partOf(part: TimePart, time: string): string {
	switch (part) {
		case 'year':
			return `left(${time},4)`
		case 'quarter':
			return `concat(left(${time},4),'-Q',quarter(${time}))`
		case 'month':
			return `left(${time},7)`
		case 'week':
			return `date_format(${time},'%x-W%v')`
		case 'day':
			return `left(${time},10)`
		default:
			return `insert(left(${time},13),11,1,'T')`
	}
}

/** Maximum number of digits after the point that both servers have. */
const MAX_SCALE = 30
const GUARD_DIGITS = 15

function total(given: TotalColumn): string {
	if (given.op === 'count') return 'count(*)'
	const { op, column, ref } = given
	if (op === 'min' || op === 'max') return `${op}(${ref})`
	// Zero-padded numbers and bits become numbers by `+0`.
	const sum = `sum(${ref}+0${column.type === 'float' ? 'e0' : ''})`
	if (op === 'sum') return sum
	if (column.type === 'float') return `${sum}/count(${ref})`
	const scale = Math.min((column.digits?.[1] ?? 0) + AVERAGE_DIGITS, MAX_SCALE)
	const exact = `cast(${sum} as decimal(65,${Math.min(scale + GUARD_DIGITS, MAX_SCALE)}))`
	return `round(${exact}/count(${ref}),${scale})`
}

function totalJson(given: TotalColumn, ref: string, isMariaDb: boolean): string {
	if (given.op === 'count') return ref
	if (given.op === 'min' || given.op === 'max')
		return oneText(jsonParts({ ...mysqlColumn(given.column), nullable: true }, ref, 'json'))
	return `if(${ref} is not null,${totalText(given, ref, isMariaDb)},'null')`
}

function totalText(given: TotalColumn, ref: string, isMariaDb: boolean): string {
	if (!isExact(given)) return doubleText(ref, isMariaDb)
	return isDigitText(given) ? `concat('"',${ref},'"')` : ref
}

/** @throws ModelError `invalid` for a number that the database doesn't have */
function writeOperand(sql: Sql, given: TotalColumn, value: Value): void {
	if (given.op !== 'count' && !isExact(given)) {
		if (typeof value !== 'number' || !Number.isFinite(value)) throw new ModelError('invalid')
		sql.add('?').values.push(value)
	} else {
		sql.add(given.op === 'count' ? 'cast(? as signed)' : `cast(? as decimal(65,${MAX_SCALE}))`)
		sql.values.push(String(value))
	}
}
