/**
 * Values as `MemoryModel` stores them: one form for each value of a type, which no caller holds a reference to;
 * dates, times, decimals; and their order, the same for conditions, lists and cursors.
 */
import { RawJson } from '../../wire/raw-json.ts'
import type { Field, FieldType, Order } from '../model.ts'
import { ModelError } from '../model-error.ts'

/**
 * A value in its type's form: `bigint` is a BigInt only beyond ±(2^53 − 1), `json` its text, `timestamp` a
 * text with microseconds, all others as in `Value`. Bytes are a copy.
 */
export type Stored = null | boolean | number | bigint | string | Uint8Array

/** A record: its values in the order of the fields. It is replaced, never changed. */
export interface Row {
	readonly id: string
	readonly values: readonly Stored[]
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** With the flag u, only a surrogate without its other half is one. */
const NOT_TEXT = /[\0\p{Surrogate}]/u
const DIGITS = /^[+-]?\d{1,40}$/
const BIGINT_BOUND = 2n ** 63n

/** Each type's form of a value; `undefined` for one that it can't hold. */
const FORMS: Readonly<Record<FieldType, (value: unknown) => Stored | undefined>> = {
	boolean: (value) => (typeof value === 'boolean' ? value : undefined),
	integer: integerOf,
	bigint: bigintOf,
	float: floatOf,
	decimal: (value) =>
		decimalOf(typeof value === 'number' || typeof value === 'bigint' ? `${value}` : textOf(value)),
	text: plainText,
	other: plainText,
	uuid: uuidOf,
	date: (value) => dateOf(value instanceof Date ? isoOf(value).slice(0, 10) : textOf(value)),
	time: (value) => timeOf(textOf(value)),
	timestamp: (value) => timestampOf(value instanceof Date ? isoOf(value) : textOf(value)),
	json: jsonOf,
	bytes: (value) => (value instanceof Uint8Array ? Uint8Array.from(value) : undefined),
}

/**
 * A value in the form of its field's type, for a comparison: bounds and lengths don't count.
 *
 * @throws ModelError `invalid` when the type can't hold it
 */
export function formOf(value: unknown, field: Field): Exclude<Stored, null> {
	const form = FORMS[field.type](value)
	if (form === undefined || form === null) throw new ModelError('invalid', [field.name])
	return form
}

/**
 * A value as its field keeps it.
 *
 * @throws ModelError `not_null`, `check` (none of the choices), `invalid` (malformed, too long, out of range)
 */
export function storedOf(value: unknown, field: Field): Stored {
	if (value === null) {
		if (!field.nullable) throw new ModelError('not_null', [field.name])
		return null
	}
	const form = formOf(value, field)
	if (typeof form === 'string') {
		if (isTooLong(form, field)) throw new ModelError('invalid', [field.name])
		if (field.choices !== undefined && !field.choices.includes(form))
			throw new ModelError('check', [field.name])
	}
	if (typeof form === 'number' || typeof form === 'bigint') {
		const { min, max } = field
		if ((min !== undefined && form < min) || (max !== undefined && form > max)) {
			throw new ModelError('invalid', [field.name])
		}
	}
	return form
}

/** Whether a text has more characters than its field may: a character beyond U+FFFF is one. */
function isTooLong(text: string, { type, maxLength }: Field): boolean {
	if (maxLength === undefined || type !== 'text' || text.length <= maxLength) return false
	return [...text].length > maxLength
}

function textOf(value: unknown): string {
	return typeof value === 'string' ? value : ''
}

/** A text; U+0000 is in none, as PostgreSQL can't hold it, and half a pair of surrogates, as UTF-8 can't. */
function plainText(value: unknown): string | undefined {
	return typeof value === 'string' && !NOT_TEXT.test(value) ? value : undefined
}

function uuidOf(value: unknown): string | undefined {
	const text = textOf(value).toLowerCase()
	return UUID.test(text) ? text : undefined
}

function integerOf(value: unknown): number | undefined {
	const form = bigintOf(value)
	return typeof form === 'number' ? form : undefined
}

/** A whole number within ±2^63; `after` has it as digits. */
function bigintOf(value: unknown): number | bigint | undefined {
	if (typeof value === 'number') return Number.isSafeInteger(value) ? value + 0 : undefined
	if (typeof value === 'string') return DIGITS.test(value) ? bigintOf(BigInt(value)) : undefined
	if (typeof value !== 'bigint' || value < -BIGINT_BOUND || value >= BIGINT_BOUND) return undefined
	const number = Number(value)
	return Number.isSafeInteger(number) ? number : value
}

function floatOf(value: unknown): number | undefined {
	if (typeof value === 'number') return value
	if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return Number(value)
	return undefined
}

/** JSON as text. Values of other kinds are the programmer's rows. */
function jsonOf(value: unknown): string | undefined {
	if (!(value instanceof RawJson)) return JSON.stringify(value)
	try {
		JSON.parse(value.text)
		return value.text
	} catch {
		return undefined
	}
}

function isoOf(date: Date): string {
	return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}

const DATE = /^\d{4}-\d\d-\d\d$/
const TIME = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?$/
const TIMESTAMP = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)$/

/** `YYYY-MM-DD` of the years 1 to 9999; `undefined` for what is no day. */
export function dateOf(text: string): string | undefined {
	if (!DATE.test(text) || text.startsWith('0000')) return undefined
	const day = new Date(`${text}T00:00:00.000Z`)
	// A 30th of February is taken for the 2nd of March.
	return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text) ? text : undefined
}

/** `HH:MM:SS`, with a fraction of up to six digits that doesn't end in 0; `undefined` for what is no time. */
export function timeOf(text: string): string | undefined {
	if (!TIME.test(text)) return undefined
	const [seconds = '', fraction = ''] = text.split('.')
	const digits = fraction.slice(0, 6).replace(/0+$/, '')
	return digits === '' ? seconds : `${seconds}.${digits}`
}

/**
 * `YYYY-MM-DDTHH:MM:SS.ffffffZ`: UTC and microseconds, further digits are cut off. `undefined` for what is no
 * timestamp of RFC 3339; a leap second is none, as no store of ours has them.
 */
export function timestampOf(text: string): string | undefined {
	const [, day = '', time = '', fraction = '', zone = ''] = TIMESTAMP.exec(text) ?? []
	if (dateOf(day) === undefined || timeOf(time) === undefined) return undefined
	const offset = zone.toUpperCase()
	const seconds = offset === 'Z' || offset === '+00:00' ? `${day}T${time}` : inUtc(`${day}T${time}${offset}`)
	return seconds === undefined ? undefined : `${seconds}.${fraction.slice(0, 6).padEnd(6, '0')}Z`
}

function inUtc(text: string): string | undefined {
	const time = new Date(text)
	if (Number.isNaN(time.getTime())) return undefined
	const iso = time.toISOString()
	return /^\d{4}-/.test(iso) && !iso.startsWith('0000') ? iso.slice(0, 19) : undefined
}

/** A timestamp of `timestampOf` as it is sent: cut to milliseconds, as `Date` has them. */
export function wireTimestamp(timestamp: string): string {
	return `${timestamp.slice(0, 23)}Z`
}

const DECIMAL = /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/

/** Most zeros that an exponent may add: `1e999999999` would be a gigabyte. */
const MAX_EXPONENT = 1_000

/** The number without exponent, plus and leading zeros; zeros at its end stay. `undefined` for no number. */
export function decimalOf(text: string): string | undefined {
	const match = DECIMAL.exec(text)
	if (match === null) return undefined
	const [, sign = '', before = '', after = '', exponent = '0'] = match
	const shift = Number(exponent)
	if (Math.abs(shift) > MAX_EXPONENT) return undefined
	const [whole, fraction] = shifted(before, after, shift)
	const digits = whole.replace(/^0+(?=\d)/, '') || '0'
	const number = fraction === '' ? digits : `${digits}.${fraction}`
	return sign === '-' && /[1-9]/.test(number) ? `-${number}` : number
}

/** The digits before and after the point, when it is moved to the right by `places`, or to the left. */
function shifted(before: string, after: string, places: number): [whole: string, fraction: string] {
	if (places >= 0) {
		const moved = after.padEnd(places, '0')
		return [before + moved.slice(0, places), moved.slice(places)]
	}
	const moved = before.padStart(-places, '0')
	const point = moved.length + places
	return [moved.slice(0, point), moved.slice(point) + after]
}

/** Below, above or equal 0, as `a` is below, above or equal `b`. Both are of `decimalOf`. */
export function compareDecimals(a: string, b: string): number {
	const isNegative = a.startsWith('-')
	if (isNegative !== b.startsWith('-')) return isNegative ? -1 : 1
	return isNegative ? comparePositive(b.slice(1), a.slice(1)) : comparePositive(a, b)
}

/** Without zeros at their ends, numbers with as many digits before the point are in the order of their texts. */
function comparePositive(a: string, b: string): number {
	const order = wholeLength(a) - wholeLength(b)
	if (order !== 0) return order
	const [left, right] = [shortestDecimal(a), shortestDecimal(b)]
	if (left === right) return 0
	return left < right ? -1 : 1
}

function wholeLength(decimal: string): number {
	const point = decimal.indexOf('.')
	return point === -1 ? decimal.length : point
}

/** One text for all writings of a number: `1.5` for `1.50`. */
export function shortestDecimal(decimal: string): string {
	if (!decimal.endsWith('0') || !decimal.includes('.')) return decimal
	let end = decimal.length
	while (decimal[end - 1] === '0') end--
	return decimal.slice(0, decimal[end - 1] === '.' ? end - 1 : end)
}

type Compare = (a: Stored, b: Stored) => number

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
