/**
 * How SQLite stores decimals, which decides how they are summed: as texts or, in a column without text affinity, as floats and
 * integers, which are read with the declared number of digits.
 */
import type { Column } from '../../sql/table.ts'
import { SCALE } from '../json.ts'

/** What is known of a column's decimals. */
export interface Decimals {
	/** Maximum numbers of digits before and after the point. */
	readonly whole: number
	readonly fraction: number
	/** Whether all values are texts with the same number of digits after the point, or none is a text. */
	readonly kind: 'texts' | 'numbers' | 'mixed'
	readonly count: number
	/** Whether there are also values that aren't decimals: see {@link ofDecimals}. */
	readonly hasOthers: boolean
}

interface OfColumn {
	readonly column: Column
	readonly ref: string
}

/** Digits after the point of a float whose column doesn't say how many it has. */
const FLOAT_DIGITS = 15

/** The declared number of digits after the point; `undefined` for none. */
function declaredScale({ storage }: Column): number | undefined {
	return storage?.startsWith(SCALE) === true ? Number(storage.slice(SCALE.length)) : undefined
}

/** A real that is above all numbers. */
const INFINITY = '9e999'

/**
 * Whether a value that isn't null is a finite number, or a text of digits with a sign or a point. A text that looks like a
 * number is compared as a number, which is below all other texts; `glob` then rejects those with an exponent or blanks.
 */
function isDecimalSql(ref: string): string {
	const text = `${ref} <= cast(${INFINITY} as real) and ${ref} not glob '*[^+-9]*'`
	const number = `${ref} > -${INFINITY} and ${ref} < ${INFINITY}`
	return `case typeof(${ref}) when 'text' then ${text} when 'blob' then 0 else ${number} end`
}

/** The decimals of a column. Other programs may have stored any text, a BLOB or an infinity: left out of totals, like null. */
export function ofDecimals<T extends OfColumn>(total: T): T {
	return { ...total, ref: `case when ${isDecimalSql(total.ref)} then ${total.ref} end` }
}

/** What {@link decimalsOf} reads of all records. */
export function probeSql({ ref }: OfColumn): string[] {
	const isText = `typeof(${ref}) = 'text'`
	const point = `instr(${ref}, '.')`
	const fraction = `case ${point} when 0 then 0 else length(${ref}) - ${point} end`
	return [
		`max(case when ${isText} then case ${point} when 0 then length(${ref}) else ${point} - 1 end end)`,
		`max(case when ${isText} then ${fraction} end)`,
		`min(case when ${isText} then ${fraction} end)`,
		`max(case when ${isText} then null else nullif(abs(${ref}), ${INFINITY}) end)`,
		`count(${ref})`,
		`count(case when ${isDecimalSql(ref)} then null else ${ref} end)`,
	]
}

/** Number of expressions of {@link probeSql}. */
export const PROBED = 6

export function decimalsOf({ column }: OfColumn, row: readonly unknown[]): Decimals {
	const [whole, most, least, greatest, count, others = 0] = row.map((value) =>
		value === null ? undefined : Number(value),
	)
	const digits = greatest === undefined ? 0 : Math.floor(Math.log10(Math.max(1, greatest))) + 2
	const behind = greatest === undefined ? 0 : (declaredScale(column) ?? FLOAT_DIGITS)
	const hasTexts = most !== undefined
	const isOneKind = hasTexts ? greatest === undefined && most === least : declaredScale(column) !== undefined
	return {
		whole: Math.max(whole ?? 0, digits),
		fraction: Math.max(most ?? 0, behind),
		kind: !isOneKind || others > 0 ? 'mixed' : hasTexts ? 'texts' : 'numbers',
		count: count ?? 0,
		hasOthers: others > 0,
	}
}

/** The digits that a float keeps exactly. */
const EXACT_DIGITS = 15
const INTEGER_DIGITS = 18

/** Whether the numbers, without their point, are integers whose sum fits into 64 bits. */
export function isUniform({ kind, whole, fraction, count }: Decimals): boolean {
	const digits = whole + fraction
	if (kind === 'mixed' || digits + String(count).length > INTEGER_DIGITS) return false
	return kind === 'texts' || digits <= EXACT_DIGITS
}

/** Digits after the point, if {@link isUniform}. */
export function scaleOf(column: Column, { kind, fraction }: Decimals): number {
	return kind === 'numbers' ? (declaredScale(column) ?? 0) : fraction
}

/** SQL that is 1 for a number that {@link uniformSql} can convert, and 0 for any other value. */
export function isUniformSql({ ref }: OfColumn, { kind, whole, fraction }: Decimals): string {
	if (kind === 'numbers') return `typeof(${ref}) <> 'text' and abs(${ref}) < 1e${whole}`
	const point = `instr(${ref}, '.')`
	const digits = fraction === 0 ? `${point} = 0` : `length(${ref}) - ${point} = ${fraction} and ${point} > 0`
	return `typeof(${ref}) = 'text' and ${digits} and length(${ref}) <= ${whole + fraction + 1}`
}

/** SQL for a number without its point, if {@link isUniform}. */
export function uniformSql({ column, ref }: OfColumn, { kind }: Decimals): string {
	if (kind === 'texts') return `cast(replace(${ref}, '.', '') as integer)`
	const scale = declaredScale(column) ?? 0
	const factor = `1${'0'.repeat(scale)}`
	const rounded = `cast(round(${ref} * ${factor}.0) as integer)`
	// A float with more digits is rounded as in its JSON, by `printf`.
	const shown = `cast(replace(printf('%.${scale}f', ${ref}), '.', '') as integer)`
	return `case when ${ref} is null then null when ${rounded} / ${factor}.0 = ${ref} then ${rounded} else ${shown} end`
}

export interface DecimalText {
	/** -1 or 1. */
	readonly sign: string
	/** The digits before and after the point, as texts. */
	readonly whole: string
	readonly fraction: string
}

export function decimalText({ column, ref }: OfColumn): DecimalText {
	const scale = declaredScale(column)
	const real =
		scale === undefined
			? `rtrim(rtrim(printf('%.${FLOAT_DIGITS}f', ${ref}), '0'), '.')`
			: `printf('%.${scale}f', ${ref})`
	const integer = scale === undefined || scale === 0 ? ref : `${ref} || '.${'0'.repeat(scale)}'`
	const text = `case typeof(${ref}) when 'text' then ${ref} when 'integer' then ${integer} else ${real} end`
	const digits = `ltrim(${text}, '+-')`
	const point = `instr(${digits} || '.', '.')`
	return {
		sign: `case when substr(${ref}, 1, 1) = '-' then -1 else 1 end`,
		whole: `substr(${digits}, 1, ${point} - 1)`,
		fraction: `substr(${digits}, ${point} + 1)`,
	}
}
