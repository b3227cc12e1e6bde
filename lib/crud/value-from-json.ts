/**
 * Converts JavaScript values to values of a field: decoded JSON, of a body or a filter, and values that a subclass returns
 * from `scope()` or passes to `create()`, `update()` and `replace()`.
 */

import { nearest } from '../base/options.ts'
import { type Changes, DEFAULT, type Field, type Value } from '../models/model.ts'
import { note } from '../validate/problem.ts'
import type { Detail } from '../wire/codes.ts'
import { RawJson } from '../wire/raw-json.ts'
import type { CrudPlan } from './plan.ts'
import {
	DECIMAL,
	type NonNullValue,
	rawJson,
	valueFromText,
	withinBounds,
	wrongType,
} from './value-from-text.ts'

/**
 * The value for a field from a body; `undefined` when a problem was noted. The caller handles null. Strings are accepted as
 * numbers only where a JSON number may be inexact: for `bigint` and `decimal`.
 */
export function valueFromJson(field: Field, given: unknown, problems: Detail[]): NonNullValue | undefined {
	switch (field.type) {
		case 'json':
			return rawJson(given, problems)
		case 'boolean':
			return typeof given === 'boolean' ? given : wrongType(field, problems)
		case 'integer':
			if (isWhole(given)) return withinBounds(field, given + 0, problems)
			if (typeof given !== 'string') return wrongType(field, problems)
			return note(problems, 'integer', 'must be a whole number, not a text')
		case 'bigint':
			// + 0 turns -0 into 0: integers of databases have no -0.
			if (isWhole(given)) return withinBounds(field, given + 0, problems)
			break
		case 'float':
			if (Number.isFinite(given) || given === 'NaN' || given === 'Infinity' || given === '-Infinity')
				return Number(given)
			return wrongType(field, problems)
		case 'decimal':
			if (!Number.isFinite(given)) break
			if (keepsDigits(Number(given))) return storedFromText(field, String(given), problems)
			return note(problems, 'decimal', 'must be a string: a JSON number has 15 digits at most')
	}
	return typeof given === 'string' ? storedFromText(field, given, problems) : wrongType(field, problems)
}

function isWhole(given: unknown): given is number {
	return Number.isSafeInteger(given)
}

/** Whether a number has the digits that were sent: if it needs more than 15, JSON.parse may have rounded it. */
function keepsDigits(given: number): boolean {
	return (
		Number.isSafeInteger(given) ||
		String(given)
			.replace(/e.*|\D/g, '')
			.replace(/^0+|0+$/g, '').length <= 15
	)
}

/**
 * The value of a text to be stored. Stricter than `valueFromText`: refuses a text that is longer than its column (in
 * code points, as databases count), and a decimal with too many digits, which some databases would round.
 */
export function storedFromText(field: Field, text: string, problems: Detail[]): NonNullValue | undefined {
	const value = valueFromText(field, text, problems)
	if (typeof value !== 'string') return value
	const { maxLength, digits } = field
	if (digits !== undefined && !hasDigits(digits, value)) return note(problems, 'max', digitsAllowed(digits))
	if (field.type === 'decimal') return decimalWithin(field, value, problems)
	if (maxLength === undefined || value.length <= maxLength) return value
	if (value.length <= maxLength * 2 && [...value].length <= maxLength) return value
	return note(problems, 'max', `must have at most ${maxLength} character${maxLength === 1 ? '' : 's'}`)
}

function decimalWithin({ min, max }: Field, value: string, problems: Detail[]): string | undefined {
	// NaN is within no bounds.
	if (min !== undefined && !(orderOf(value, min) >= 0))
		return note(problems, 'min', `must be at least ${min}`)
	if (max !== undefined && !(orderOf(value, max) <= 0)) return note(problems, 'max', `must be at most ${max}`)
	return value
}

/** Compares a decimal with a bound by all digits: negative, 0 or positive; NaN if the decimal is. */
function orderOf(decimal: string, bound: number | bigint): number {
	const texts = [decimal, String(bound)]
	if (!texts.every((text) => DECIMAL.test(text))) return Number(decimal) - Number(bound)
	const scale = Math.max(...texts.map((text) => fractionOf(text).length))
	const [a = 0n, b = 0n] = texts.map((text) => {
		const fraction = fractionOf(text)
		return BigInt(text.slice(0, text.length - fraction.length).replace('.', '') + fraction.padEnd(scale, '0'))
	})
	return Number(a - b)
}

function fractionOf(decimal: string): string {
	return decimal.split('.')[1] ?? ''
}

/** Whether a decimal has at most this many digits before and after the point, without leading and trailing zeros. */
function hasDigits([before, behind]: readonly [number, number], decimal: string): boolean {
	const [, whole = '', fraction = ''] = /^-?0*(\d*)(?:\.(\d*?)0*)?$/.exec(decimal) ?? []
	if (whole.length > before || fraction.length > Math.max(0, behind)) return false
	return behind >= 0 || /^0*$/.test(whole.slice(behind))
}

function digitsAllowed([before, behind]: readonly [number, number]): string {
	const message = `must have at most ${before === 1 ? '1 digit' : `${before} digits`} before the point`
	return behind < 0
		? `${message}, of which the last ${-behind} must be 0`
		: `${message}, and ${behind} after it`
}

/**
 * The operand of a filter: a value as in a body, or a text as in a query (`"9007199254740993"` for a bigint that JSON
 * numbers can't represent).
 */
export function operandFromJson(field: Field, given: unknown, problems: Detail[]): NonNullValue | undefined {
	if (typeof given === 'string') return valueFromText(field, given, problems)
	return valueFromJson(field, given, problems)
}

/**
 * The value for a field from code, which may also be a Date, a string of digits for a number, and anything for `json`.
 *
 * @throws TypeError for `undefined`, which would otherwise mean no condition or no change, and for a value that isn't
 *   of the field's type
 */
export function givenValue(place: string, field: Field, given: unknown): Value {
	if (given === undefined) throw new TypeError(`${place} is undefined: give a value, or null`)
	if (given === null) return null
	const value = typedValue(field, given)
	if (value === undefined)
		throw new TypeError(`${place} is of type ${field.type}, which this value (${typeof given}) is not`)
	return value
}

function typedValue(field: Field, given: unknown): Value | undefined {
	const { type } = field
	if (given instanceof RawJson) return type === 'json' ? given : undefined
	if (type === 'json') return new RawJson(JSON.stringify(given))
	if (given instanceof Uint8Array) return type === 'bytes' ? given : undefined
	if (typeof given === 'boolean') return type === 'boolean' ? given : undefined
	if (type === 'float' && typeof given === 'number') return given
	const text = textOf(type, given)
	return text === undefined ? undefined : valueFromText(field, text, [])
}

function textOf(type: Field['type'], given: unknown): string | undefined {
	if (typeof given === 'string') return given
	if (typeof given === 'number' || typeof given === 'bigint') return String(given)
	if (!(given instanceof Date) || Number.isNaN(given.getTime())) return undefined
	return type === 'date' ? given.toISOString().slice(0, 10) : given.toISOString()
}

/**
 * Values from code, by the names for clients, converted to the model's.
 *
 * @throws TypeError for an unknown field, and as `givenValue`
 */
export function givenChanges(
	{ owner, fields }: CrudPlan,
	operation: string,
	given: Readonly<Record<string, unknown>>,
): Changes {
	const changes: Record<string, Value | typeof DEFAULT> = {}
	for (const [name, value] of Object.entries(given)) {
		const field = fields.get(name)
		if (field === undefined)
			throw new TypeError(
				`${owner}.${operation}() was given ${name}, which is not a field${nearest(name, fields.keys())}`,
			)
		changes[field.field.name] =
			value === DEFAULT
				? DEFAULT
				: givenValue(`${name}, given to ${owner}.${operation}(),`, field.field, value)
	}
	return changes
}
