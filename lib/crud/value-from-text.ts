/**
 * Text to a value by the type of its field: of a query, of a form, and of the types that are text in JSON too.
 * What is wrong is noted, in words that say what would be right.
 */

import type { Field, FieldType, Value } from '../models/model.ts'
import { isUuid } from '../validate/format.ts'
import { note } from '../validate/problem.ts'
import type { Detail } from '../wire/codes.ts'
import { RawJson } from '../wire/raw-json.ts'
import { dateFrom, timeFrom, timestampFrom } from './moment-text.ts'

/** A value that is no null. */
export type Given = Exclude<Value, null>

/** What a value of each type is, as it ends the sentence "title …". */
const WORDS: Readonly<Record<FieldType, string>> = {
	boolean: 'must be true or false',
	integer: 'must be a whole number, within 9007199254740991 of zero',
	bigint: 'must be a whole number of at most 64 bits, and beyond 9007199254740991 a string of digits',
	float: 'must be a number, or "NaN", "Infinity" or "-Infinity"',
	decimal: 'must be a decimal number, best as a string such as "12.50"',
	text: 'must be a string',
	other: 'must be a string',
	uuid: 'must be a UUID',
	date: 'must be a date such as 2026-11-20',
	time: 'must be a time such as 13:45:00',
	timestamp: 'must be a date and time with zone such as 2026-11-20T10:00:00Z',
	json: 'must be JSON',
	bytes: 'must be base64',
}

export const WHOLE = /^-?(?:0|[1-9]\d*)$/
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
export const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/
const NOT_FINITE = /^(?:NaN|-?Infinity)$/
/** More digits are in no database's decimal, and would only keep it busy. */
const MAX_DIGITS = 1_000
/** With the flag u, only a surrogate without its other half is one. */
const LONE_SURROGATE = /\p{Surrogate}/u

/**
 * The value that a text stands for; `undefined` when a problem was noted. Lengths aren't looked at: a text that
 * is too long to be stored can still be compared with.
 */
export function valueFromText(field: Field, text: string, problems: Detail[]): Given | undefined {
	switch (field.type) {
		case 'boolean':
			return text === 'true' || text === 'false' ? text === 'true' : wrongType(field, problems)
		case 'integer':
		case 'bigint':
			return wholeNumber(field, text, problems)
		case 'float': {
			const number = NUMBER.test(text) ? Number(text) : Number.NaN
			if (Number.isFinite(number)) return number
			return NOT_FINITE.test(text) ? Number(text) : wrongType(field, problems)
		}
		case 'text':
		case 'other':
			return plainText(field, text, problems)
		case 'json':
			return jsonText(field, text, problems)
		case 'bytes':
			return isBase64(text) ? Buffer.from(text, 'base64') : wrongType(field, problems)
		default:
			return formOf(field.type, text) ?? besides(field, text) ?? wrongType(field, problems)
	}
}

/** A pattern of all of it, with its groups of four, would overflow the stack of V8's matcher at some megabytes. */
function isBase64(text: string): boolean {
	const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
	return text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(padding === 0 ? text : text.slice(0, -padding))
}

/** Notes that a value isn't of its field's type. */
export function wrongType(field: Field, problems: Detail[]): undefined {
	return note(problems, field.type === 'other' ? 'text' : field.type, WORDS[field.type])
}

function besides({ besides }: Field, text: string): string | undefined {
	return besides?.test(text) === true ? text : undefined
}

/** The types whose values are texts of a certain form. */
function formOf(type: FieldType, text: string): string | undefined {
	if (type === 'uuid') return isUuid(text) ? text.toLowerCase() : undefined
	if (type === 'date') return dateFrom(text)
	if (type === 'time') return timeFrom(text)
	if (type === 'timestamp') return timestampFrom(text)
	return text.length <= MAX_DIGITS && DECIMAL.test(text) ? text : undefined
}

/** Between the bounds of its field; a number where that is exact. */
function wholeNumber(field: Field, text: string, problems: Detail[]): number | bigint | undefined {
	if (!WHOLE.test(text)) return wrongType(field, problems)
	const number = Number(text)
	if (Number.isSafeInteger(number)) return withinBounds(field, number === 0 ? 0 : number, problems)
	if (field.type === 'integer' || text.length > 20) return wrongType(field, problems)
	const large = BigInt(text)
	return BigInt.asIntN(64, large) === large || (field.max ?? 0) >= large
		? withinBounds(field, large, problems)
		: wrongType(field, problems)
}

/** Notes a whole number that its field can't hold. */
export function withinBounds<N extends number | bigint>(
	{ min, max }: Field,
	value: N,
	problems: Detail[],
): N | undefined {
	if (min !== undefined && value < min) return note(problems, 'min', `must be at least ${min}`)
	if (max !== undefined && value > max) return note(problems, 'max', `must be at most ${max}`)
	return value
}

/**
 * A text that every store can hold: PostgreSQL's can't have U+0000 in them, and half a pair of surrogates is no
 * UTF-8.
 */
function plainText({ choices }: Field, text: string, problems: Detail[]): string | undefined {
	if (text.includes('\0')) return note(problems, 'text', 'must not hold the character U+0000')
	if (LONE_SURROGATE.test(text)) return note(problems, 'text', 'must be well-formed Unicode')
	if (choices !== undefined && !choices.includes(text))
		return note(problems, 'in', `must be one of ${listed(choices)}`)
	return text
}

/** Most choices that a message lists. */
const MAX_LISTED = 20

function listed(choices: readonly string[]): string {
	const rest = choices.length > MAX_LISTED ? ` and ${choices.length - MAX_LISTED} more` : ''
	return `${choices.slice(0, MAX_LISTED).join(', ')}${rest}`
}

function jsonText(field: Field, text: string, problems: Detail[]): RawJson | undefined {
	try {
		return rawJson(JSON.parse(text), problems)
	} catch {
		return wrongType(field, problems)
	}
}

/**
 * U+0000 or half a pair of surrogates, as `JSON.stringify` escapes them: the backslash before the `u` is no
 * escaped one itself.
 */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/

/** A JSON value for a `json` field, as its text. */
export function rawJson(value: unknown, problems: Detail[]): RawJson | undefined {
	const text = JSON.stringify(value)
	if (UNSTORABLE.test(text))
		return note(problems, 'text', 'must not hold the character U+0000, and must be well-formed Unicode')
	return new RawJson(text)
}
