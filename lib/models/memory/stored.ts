/**
 * Values as `MemoryModel` keeps them: one form for each value of a type, which no caller holds a reference to.
 */

import { RawJson } from '../../wire/raw-json.ts'
import type { Field, FieldType } from '../model.ts'
import { ModelError } from '../model-error.ts'
import { decimalOf } from './decimal.ts'
import { dateOf, timeOf, timestampOf } from './moment.ts'

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
