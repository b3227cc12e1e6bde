/** The order of stored values, by type: the same for conditions, lists and cursors. */
import type { FieldType, Order } from '../model.ts'
import { compareDecimals } from './decimal.ts'
import type { Row, Stored } from './stored.ts'

export type Compare = (a: Stored, b: Stored) => number

/** The order of a type's values, none of them null. */
export function comparisonOf(type: FieldType): Compare {
	if (type === 'text' || type === 'other' || type === 'json') return asTexts
	// The forms of decimals are strings: `decimalOf` made them.
	if (type === 'decimal') return (a, b) => compareDecimals(a as string, b as string)
	if (type === 'bytes') return (a, b) => Buffer.compare(a as Uint8Array, b as Uint8Array)
	if (type === 'float') return asFloats
	return plainly
}

/** Orders rows by several terms. Nulls come last in both directions. */
export function compareRows(
	terms: readonly (Pick<Order, 'descending'> & { readonly index: number; readonly type: FieldType })[],
): (a: readonly Stored[], b: readonly Stored[]) => number {
	const compared = terms.map(({ index, type, descending }) => ({
		index,
		descending,
		compare: comparisonOf(type),
	}))
	return (a, b) => {
		for (const { index, descending, compare } of compared) {
			const [left = null, right = null] = [a[index], b[index]]
			if (left === null || right === null) {
				if (left === right) continue
				return left === null ? 1 : -1
			}
			const order = compare(left, right)
			if (order !== 0) return descending ? -order : order
		}
		return 0
	}
}

/** Where a row with these values is, or would be, among rows that are in this order. */
export function placeOf(
	rows: readonly Row[],
	values: readonly Stored[],
	compare: (a: readonly Stored[], b: readonly Stored[]) => number,
): number {
	let [low, high] = [0, rows.length]
	while (low < high) {
		const middle = (low + high) >>> 1
		const row = rows[middle]
		if (row !== undefined && compare(row.values, values) < 0) low = middle + 1
		else high = middle
	}
	return low
}

/** Numbers, booleans, and texts of ASCII that are as long as each other or begin alike. */
function plainly(a: Stored, b: Stored): number {
	if (a === b || a === null || b === null) return 0
	return a < b ? -1 : 1
}

/** NaN equals itself and is above all others, as in PostgreSQL: else no cursor would get past it. */
function asFloats(a: Stored, b: Stored): number {
	if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b))
	return plainly(a, b)
}

/**
 * By code point, which is the order of the bytes of UTF-8. JavaScript's own is by code unit: it has characters
 * beyond U+FFFF, whose units are surrogates, before those from U+E000.
 */
function asTexts(a: Stored, b: Stored): number {
	if (a === b || typeof a !== 'string' || typeof b !== 'string') return 0
	const length = Math.min(a.length, b.length)
	for (let at = 0; at < length; at++) {
		const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)]
		if (left !== right) return rankOf(left) - rankOf(right)
	}
	return a.length - b.length
}

/** A code unit's place when surrogates come last. */
function rankOf(unit: number): number {
	return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
