/** Values as `MemoryModel` stores them: normalized by type, objects as copies; and their order. */
import { attempt } from '../../base/attempt.ts'
import { dateFrom, isUuid, TIME, timestampFrom } from '../../validate/format.ts'
import { RawJson } from '../../wire/raw-json.ts'
import type { Field, FieldType } from '../model.ts'
import { ModelError } from '../model-error.ts'

/**
 * A normalized value: `bigint` is a BigInt only beyond ±(2^53 − 1), `json` its text, `timestamp` a text with microseconds,
 * all others as in `Value`. Bytes are a copy.
 */
export type Stored = null | boolean | number | bigint | string | Uint8Array

/** An immutable record: its values in the order of the fields. */
export interface Row {
	readonly id: string
	readonly values: readonly Stored[]
}

/** Comparator of rows by their values. */
export type RowOrder = (a: readonly Stored[], b: readonly Stored[]) => number

/** With the flag `u`, `\p{Surrogate}` matches only lone surrogates. */
const NOT_TEXT = /[\0\p{Surrogate}]/u
const DIGITS = /^[+-]?\d{1,40}$/

/** Normalizes a value of each type; `undefined` for one that the type can't hold. */
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
	date: (value) => dateFrom(value instanceof Date ? isoOf(value).slice(0, 10) : textOf(value)),
	time: (value) => timeOf(textOf(value)),
	timestamp: (value) => timestampOf(value instanceof Date ? isoOf(value) : textOf(value)),
	json: jsonOf,
	bytes: (value) => (value instanceof Uint8Array ? Uint8Array.from(value) : undefined),
}

/**
 * Normalizes a value for a comparison, without checking bounds and lengths.
 *
 * @throws ModelError `invalid` if the type can't hold it
 */
export function formOf(value: unknown, field: Field): Exclude<Stored, null> {
	const form = FORMS[field.type](value)
	if (form === undefined || form === null) throw new ModelError('invalid', [field.name])
	return form
}

/**
 * Normalizes a value and checks it against its field.
 *
 * @throws ModelError `not_null`, `check` (not one of the choices), `invalid` (malformed, too long, out of range)
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

/** Whether a text is longer than `maxLength`, in characters: a surrogate pair counts as one. */
function isTooLong(text: string, { type, maxLength }: Field): boolean {
	if (maxLength === undefined || type !== 'text' || text.length <= maxLength) return false
	return [...text].length > maxLength
}

function textOf(value: unknown): string {
	return typeof value === 'string' ? value : ''
}

/** Refuses U+0000, which PostgreSQL can't store, and lone surrogates, which UTF-8 can't encode. */
function plainText(value: unknown): string | undefined {
	return typeof value === 'string' && !NOT_TEXT.test(value) ? value : undefined
}

function uuidOf(value: unknown): string | undefined {
	const text = textOf(value).toLowerCase()
	return isUuid(text) ? text : undefined
}

function integerOf(value: unknown): number | undefined {
	const form = bigintOf(value)
	return typeof form === 'number' ? form : undefined
}

/** A whole number within ±2^63; cursors have it as a string of digits. */
function bigintOf(value: unknown): number | bigint | undefined {
	if (typeof value === 'number') return Number.isSafeInteger(value) ? value + 0 : undefined
	if (typeof value === 'string') return DIGITS.test(value) ? bigintOf(BigInt(value)) : undefined
	if (typeof value !== 'bigint' || BigInt.asIntN(64, value) !== value) return undefined
	const number = Number(value)
	return Number.isSafeInteger(number) ? number : value
}

function floatOf(value: unknown): number | undefined {
	if (typeof value === 'number') return value
	if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return Number(value)
	return undefined
}

/** JSON as text. Values other than RawJson are from the option `rows` or a default. */
function jsonOf(value: unknown): string | undefined {
	if (!(value instanceof RawJson)) return JSON.stringify(value)
	return attempt<unknown>(() => JSON.parse(value.text)) === undefined ? undefined : value.text
}

function isoOf(date: Date): string {
	return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}

/** `HH:MM:SS`, with a fraction of up to six digits that doesn't end in 0; `undefined` for anything else. */
export function timeOf(text: string): string | undefined {
	if (!TIME.test(text)) return undefined
	const [seconds = '', fraction = ''] = text.split('.')
	const digits = fraction.slice(0, 6).replace(/0+$/, '')
	return digits === '' ? seconds : `${seconds}.${digits}`
}

/**
 * `YYYY-MM-DDTHH:MM:SS.ffffffZ`, in UTC; further digits are cut off. `undefined` for anything but a timestamp of RFC 3339,
 * and for leap seconds, which none of Verbena's stores supports.
 */
export function timestampOf(text: string): string | undefined {
	const [seconds, fraction = ''] = timestampFrom(text.replace(' ', 'T'))?.slice(0, -1).split('.') ?? []
	return seconds && `${seconds}.${fraction.slice(0, 6).padEnd(6, '0')}Z`
}

/** Converts a result of `timestampOf` to the wire's format: cut to milliseconds, the precision of `Date`. */
export function wireTimestamp(timestamp: string): string {
	return `${timestamp.slice(0, 23)}Z`
}

const DECIMAL = /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/

/** Maximum exponent: the zeros of `1e999999999` would take a gigabyte. */
const MAX_EXPONENT = 1_000

/** Removes exponent, plus sign and leading zeros, but not trailing zeros; `undefined` if the text isn't a number. */
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

/** Moves the decimal point to the right by `places`; to the left if negative. */
function shifted(before: string, after: string, places: number): [whole: string, fraction: string] {
	if (places >= 0) {
		const moved = after.padEnd(places, '0')
		return [before + moved.slice(0, places), moved.slice(places)]
	}
	const moved = before.padStart(-places, '0')
	const point = moved.length + places
	return [moved.slice(0, point), moved.slice(point) + after]
}

/** Comparator of decimals, both from `decimalOf`. */
export function compareDecimals(a: string, b: string): number {
	const isNegative = a.startsWith('-')
	if (isNegative !== b.startsWith('-')) return isNegative ? -1 : 1
	return isNegative ? comparePositive(b.slice(1), a.slice(1)) : comparePositive(a, b)
}

/** Numbers with the same number of digits before the point sort like their texts without trailing zeros. */
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

/** Without trailing zeros: `1.5` for `1.50`. */
export function shortestDecimal(decimal: string): string {
	if (!decimal.endsWith('0') || !decimal.includes('.')) return decimal
	let end = decimal.length
	while (decimal[end - 1] === '0') end--
	return decimal.slice(0, decimal[end - 1] === '.' ? end - 1 : end)
}

type Compare = (a: Stored, b: Stored) => number

/** Comparator of a type's values, none of them null. */
export function comparisonOf(type: FieldType): Compare {
	if (type === 'text' || type === 'other' || type === 'json') return compareTexts
	// Decimals are stored as strings, by `decimalOf`.
	if (type === 'decimal') return (a, b) => compareDecimals(a as string, b as string)
	if (type === 'bytes') return (a, b) => Buffer.compare(a as Uint8Array, b as Uint8Array)
	if (type === 'float') return compareFloats
	return compareScalars
}

/** Binary search: the first of `length` indexes for which `isBefore` is false. */
export function partitionPoint(length: number, isBefore: (at: number) => boolean): number {
	let [low, high] = [0, length]
	while (low < high) {
		const middle = (low + high) >>> 1
		if (isBefore(middle)) low = middle + 1
		else high = middle
	}
	return low
}

/** For numbers, booleans, and ASCII texts of a fixed format. */
function compareScalars(a: Stored, b: Stored): number {
	if (a === b || a === null || b === null) return 0
	return a < b ? -1 : 1
}

/** NaN equals itself and is above all other numbers, as in PostgreSQL: otherwise no cursor could get past it. */
function compareFloats(a: Stored, b: Stored): number {
	if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b))
	return compareScalars(a, b)
}

/** By code point, like UTF-8's bytes; by code unit, surrogate pairs would be before U+E000 to U+FFFF. */
function compareTexts(a: Stored, b: Stored): number {
	if (a === b || typeof a !== 'string' || typeof b !== 'string') return 0
	const length = Math.min(a.length, b.length)
	for (let at = 0; at < length; at++) {
		const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)]
		if (left !== right) return rankOf(left) - rankOf(right)
	}
	return a.length - b.length
}

/** A code unit's rank with surrogates last. */
function rankOf(unit: number): number {
	return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
