/**
 * How PostgreSQL writes totals. Times are grouped by `date_trunc` in their zone, and become texts once per group. Its
 * `numeric` is exact.
 */
import type { TimePart, Value } from '../model.ts'
import type { KeyColumn, Sql, TotalColumn, TotalsDialect, TotalsParts } from '../sql/dialect.ts'
import { isDigitText, isExact, type TotalsWords, writeTotals } from '../sql/totals.ts'
import { AVERAGE_DIGITS } from '../totals/exact.ts'
import { concatText, isShort, jsonText } from './json.ts'
import { bound } from './types.ts'

const FORMATS: Readonly<Record<TimePart, string>> = {
	year: 'YYYY',
	quarter: 'YYYY"-Q"Q',
	month: 'YYYY-MM',
	week: 'IYYY"-W"IW',
	day: 'YYYY-MM-DD',
	hour: 'YYYY-MM-DD"T"HH24',
}

export function totalsOf(): TotalsDialect {
	return { write: (sql, parts) => writeTotals(sql, parts, wordsOf(parts)) }
}

function wordsOf({ query, keys, totals }: TotalsParts): TotalsWords {
	const isSmall =
		keys.every(({ column, part }) => part !== undefined || isShort(column)) &&
		totals.every((total) => total.op === 'count' || isExact(total) || isShort(total.column))
	const { maxBytes } = query
	return {
		key: (sql, key) => writeKey(sql, key, query.timeZone),
		total,
		keyJson,
		totalJson,
		operand: writeOperand,
		order: (ref, descending) => (descending ? `${ref} desc nulls last` : ref),
		concat: concatText,
		...(isSmall || maxBytes === undefined
			? {}
			: { selected: `case when sum(octet_length(j)) over () <= ${maxBytes} then j end` }),
	}
}

function writeKey(sql: Sql, { column, ref, part }: KeyColumn, timeZone: string): void {
	if (part === undefined) sql.add(ref)
	else if (column.type === 'date') sql.add(`date_trunc('${part}', ${ref}::timestamp)`)
	else {
		const isInstant = column.sqlType === 'timestamptz'
		// A `timestamp`, without a zone, is in UTC already.
		if (timeZone === 'UTC')
			sql.add(`date_trunc('${part}', ${isInstant ? `${ref} at time zone interval '0'` : ref})`)
		else {
			const instant = isInstant ? ref : `${ref} at time zone interval '0'`
			sql.add(`date_trunc('${part}', ${instant} at time zone $${sql.values.push(timeZone)}::text)`)
		}
	}
}

function keyJson({ column, part }: KeyColumn, ref: string): string {
	if (part === undefined) return jsonText(column, ref)
	const era = `case when ${ref} < '0001-01-01' then ' BC' else '' end`
	const text = `case when isfinite(${ref}) then to_char(${ref}, '${FORMATS[part]}') || ${era} else ${ref}::text end`
	return `coalesce('"' || ${text} || '"', 'null')`
}

function total(given: TotalColumn): string {
	if (given.op === 'count') return 'count(*)'
	const { op, column, ref } = given
	if (op === 'min' || op === 'max') return `${op}(${ref})`
	if (column.type === 'float') {
		const sum = `sum(${ref}::float8)`
		return op === 'sum' ? sum : `${sum} / nullif(count(${ref}), 0)`
	}
	const sum = `sum(${number(column.sqlType, ref)})`
	if (op === 'sum') return sum
	// With zeros after the point, the quotient has enough digits to be rounded only once.
	const zeros = `1.${'0'.repeat(AVERAGE_DIGITS + GUARD_DIGITS)}`
	const digits = `coalesce(scale(${sum}::numeric), 0) + ${AVERAGE_DIGITS}`
	return `round(${sum} * ${zeros} / nullif(count(${ref}), 0), ${digits})`
}

/** More digits than a count of records can have. */
const GUARD_DIGITS = 20

/** A value of a type that has sums. */
function number(sqlType: string, ref: string): string {
	if (sqlType === 'money') return `${ref}::numeric`
	return sqlType === 'oid' ? `${ref}::int8` : ref
}

function totalJson(given: TotalColumn, ref: string): string {
	if (given.op === 'count') return `${ref}::text`
	if (given.op === 'min' || given.op === 'max') return jsonText(given.column, ref)
	if (!isExact(given)) return `coalesce(to_json(${ref})::text, 'null')`
	return isDigitText(given) ? `coalesce('"' || ${ref} || '"', 'null')` : `coalesce(${ref}::text, 'null')`
}

function writeOperand(sql: Sql, given: TotalColumn, value: Value): void {
	const type = given.op === 'count' ? 'int8' : isExact(given) ? 'numeric' : 'float8'
	const text = given.op === 'count' ? String(value) : bound(value, given.column)
	sql.add(`$${sql.values.push(text)}::${type}`)
}
