/**
 * Exact sums in SQLite, whose `sum` of integers fails beyond 64 bits, and whose decimals are texts or floats. Decimals with few
 * digits are summed as integers; other numbers are cut into parts, whose sums are put together here.
 */
import type { TotalColumn } from '../../sql/dialect.ts'
import type { Column } from '../../sql/table.ts'
import { averageOf, type Exact, exactOf, exactText } from '../../totals/exact.ts'
import { byExact, type Cell, type Compare, exactOperand, type Leaf } from '../../totals/groups.ts'
import {
	type Decimals,
	decimalText,
	isUniform,
	isUniformSql,
	ofDecimals,
	scaleOf,
	uniformSql,
} from './decimals.ts'

/** How a total is summed. */
export interface Sum {
	/** Columns of the statement that groups. */
	readonly columns: readonly string[]
	readonly compare: Compare
	/** The total of a group, by the values of its columns. */
	cell(values: readonly unknown[]): Cell
	/** The value that the total is compared with. */
	operand(leaf: Leaf): unknown
	/** Whether the values still fit what the probe found: others may have been written since. @default true */
	isAsFound?(values: readonly unknown[]): boolean
}

export const NULL: Cell = { json: 'null', value: null }

/** Digits of a part: with nine, its sum fits into 64 bits for more records than there can be. */
const PART = 9

type OfColumn = Extract<TotalColumn, { readonly column: Column }>

/** @param found what is known of the column's values; `undefined` for another type than decimal */
export function sumOf(total: TotalColumn, found: Decimals | undefined): Sum {
	if (total.op === 'count') return counting
	const { op, column } = total
	const isExtreme = op === 'min' || op === 'max'
	if (column.type === 'decimal' && found !== undefined) {
		if (isUniform(found)) return uniform(total, found)
		const own = found.hasOthers ? ofDecimals(total) : total
		return isExtreme ? extreme(own) : decimals(own, found)
	}
	if (isExtreme) return plain(total)
	return column.type === 'float' ? floating(total) : integers(total)
}

const numeric: Pick<Sum, 'compare' | 'operand'> = {
	compare: compareNumbers,
	operand: ({ value }) => Number(value),
}

/** NaN equals itself and is above all other numbers. */
function compareNumbers(a: unknown, b: unknown): number {
	const [left, right] = [Number(a), Number(b)]
	if (Number.isNaN(left) || Number.isNaN(right))
		return Number(Number.isNaN(left)) - Number(Number.isNaN(right))
	if (left === right) return 0
	return left < right ? -1 : 1
}

const counting: Sum = {
	...numeric,
	columns: ['count(*)'],
	cell: ([count]) => ({ json: String(count), value: Number(count) }),
}

/** A `min` or `max` that the database compares correctly: the statement selects its JSON and its rank. */
function plain({ op, ref }: OfColumn): Sum {
	return { ...numeric, columns: [`${op}(${ref})`], cell: () => NULL }
}

/** NaN is a text, and the sum of infinities of both signs is null. */
function floating({ op, ref }: OfColumn): Sum {
	return {
		...numeric,
		columns: [`sum(${ref})`, `count(${ref})`, `max(${ref} = 'NaN')`],
		cell([sum, count, hasNaN]) {
			if (Number(count) === 0) return NULL
			const exact = sum === null || Number(hasNaN) === 1 ? Number.NaN : Number(sum)
			const value = op === 'sum' ? exact : exact / Number(count)
			return { json: Number.isFinite(value) ? String(value) : `"${value}"`, value }
		},
	}
}

const exactly: Pick<Sum, 'compare' | 'operand'> = { compare: byExact, operand: exactOperand }

/** The sum, or the average, of exact numbers. */
function exactCell({ op, column }: OfColumn, sum: Exact, count: bigint): Cell {
	if (count === 0n) return NULL
	const value = op === 'avg' ? averageOf(sum, count) : sum
	const isText = op === 'avg' || column.type === 'decimal' || column.asText === true
	return { json: isText ? `"${exactText(value)}"` : exactText(value), value }
}

function integerOf(value: unknown): bigint {
	return BigInt(String(value ?? 0))
}

/** Sums the upper and the lower 32 bits separately. */
function integers(total: OfColumn): Sum {
	const { ref } = total
	return {
		...exactly,
		columns: [`sum(${ref} >> 32)`, `sum(${ref} & 4294967295)`, `count(${ref})`],
		cell: ([high, low, count]) =>
			exactCell(total, { digits: (integerOf(high) << 32n) + integerOf(low), scale: 0 }, integerOf(count)),
	}
}

/** Sums decimals as integers: all have the same number of digits after the point, and their sum fits (`isUniform`). */
function uniform(total: OfColumn, found: Decimals): Sum {
	const integer = uniformSql(total, found)
	const name = total.op === 'min' || total.op === 'max' ? total.op : 'sum'
	const scale = scaleOf(total.column, found)
	return {
		...exactly,
		columns: [`${name}(${integer})`, `count(${total.ref})`, `sum(${isUniformSql(total, found)})`],
		isAsFound: ([, count, uniform]) => Number(count) === Number(uniform ?? 0),
		cell: ([digits, count]) => exactCell(total, { digits: integerOf(digits), scale }, integerOf(count)),
	}
}

/** Sums parts of nine digits. */
function decimals(total: OfColumn, { whole, fraction }: Decimals): Sum {
	const sql = decimalText(total)
	const parts = Math.max(1, Math.ceil((whole + fraction) / PART))
	// The digits before the point, padded with zeros to fill the first part.
	const before = parts * PART - fraction
	const zeros = (count: number) => `'${'0'.repeat(count)}'`
	const all = `substr(${zeros(before)} || ${sql.whole}, -${Math.max(before, 1)}) || substr(${sql.fraction} || ${zeros(fraction)}, 1, ${fraction})`
	const columns = Array.from(
		{ length: parts },
		(_, at) => `sum(${sql.sign} * cast(substr(${all}, ${1 + at * PART}, ${PART}) as integer))`,
	)
	return {
		...exactly,
		columns: [`count(${total.ref})`, `max(length(${sql.fraction}))`, `max(length(${sql.whole}))`, ...columns],
		isAsFound: ([, scale, length]) => Number(scale ?? 0) <= fraction && Number(length ?? 0) <= before,
		cell([count, scale, _length, ...sums]) {
			const digits = sums.reduce<bigint>((sum, part) => sum * 10n ** BigInt(PART) + integerOf(part), 0n)
			const shown = Number(scale ?? 0)
			const exact = { digits: digits / 10n ** BigInt(fraction - shown), scale: shown }
			return exactCell(total, exact, integerOf(count))
		},
	}
}

/**
 * The least or the greatest decimal. The database compares texts: with the number of their digits in front, decimals of the
 * same sign are in order.
 */
function extreme(total: OfColumn): Sum {
	const { op, ref } = total
	const { whole, fraction } = decimalText(total)
	const trimmed = `ltrim(${whole}, '0')`
	const text = `printf('%04d', length(${trimmed})) || ${trimmed} || '.' || ${fraction}`
	const isNegative = `substr(${ref}, 1, 1) = '-'`
	const other = op === 'min' ? 'max' : 'min'
	return {
		...exactly,
		columns: [
			`${op}(case when not (${isNegative}) then ${text} end)`,
			`${other}(case when ${isNegative} then ${text} end)`,
		],
		cell([positive, negative]) {
			const [first, second] = op === 'min' ? [negative, positive] : [positive, negative]
			const found = first ?? second ?? null
			if (found === null) return NULL
			const sign = found === negative ? '-' : ''
			const [before = '', after = ''] = String(found).slice(4).split('.')
			const number = `${sign}${before === '' ? '0' : before}${after === '' ? '' : `.${after}`}`
			return { json: JSON.stringify(number), value: exactOf(number) }
		},
	}
}
