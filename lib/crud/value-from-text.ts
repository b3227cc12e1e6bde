/**
 * Parses texts by the type of their field: ids in URLs, operands of queries, values of forms, and the JSON values that are
 * strings. A problem is noted as a detail that says what would be valid.
 */
import { isRestError } from '../base/error.ts'
import { shortestTimestamp } from '../models/key.ts'
import type { Field, FieldType, Value } from '../models/model.ts'
import { checkParsed } from '../request/body/json.ts'
import { booleanFrom } from '../validate/check.ts'
import { dateFrom, INTEGER, isUuid, NUMBER, TIME, timestampFrom } from '../validate/format.ts'
import { note, noteChoices } from '../validate/problem.ts'
import type { Detail } from '../wire/codes.ts'
import { RawJson } from '../wire/raw-json.ts'
import { joinId, splitId } from '../wire/record-id.ts'
import type { CrudField } from './fields.ts'

export type NonNullValue = Exclude<Value, null>

/** The message for a wrong type, which follows the field's name. */
const MESSAGES: Readonly<Record<FieldType, string>> = {
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

export const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/
const NOT_FINITE = /^(?:NaN|-?Infinity)$/
/** Maximum length of a decimal: no database supports more digits, and parsing them takes time. */
const MAX_DECIMAL_LENGTH = 1_000
/** With the flag u, this matches only unpaired surrogates. */
const LONE_SURROGATE = /\p{Surrogate}/u
/**
 * U+0000 or a lone surrogate as `JSON.stringify` escapes them. The backslash must not be escaped itself, by an odd
 * number of backslashes before it.
 */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/

/** An integer of at most 64 bits in canonical form, as ids and versions have it: no leading zeros, no -0. */
export const CANONICAL_INTEGER = /^(?:0|-?[1-9]\d{0,19})$/
/** Numbers with up to 15 digits are exact in a double. */
const EXACT_DIGITS = 15

/**
 * Returns a parser of ids. It returns the id in canonical form (a uuid in lower case), or `undefined` for a text that can't
 * be a value of the key: such an id is 404 without a query.
 *
 * @param isAlone whether the key has no other field
 */
export function idReader(key: Field, isAlone = true): KeyReader {
	if (key.type === 'uuid') return (text) => (isUuid(text) ? text.toLowerCase() : undefined)
	if (key.type === 'date') return (text) => dateFrom(text) ?? specialValue(key, text)
	if (key.type === 'timestamp') return (text) => timestampId(key, text)
	if (key.type !== 'integer' && key.type !== 'bigint') return (text) => textId(key, text, isAlone)
	const bits = key.type === 'integer' ? 2n ** 53n : 2n ** 63n
	const min = BigInt(key.min ?? (key.type === 'integer' ? 1n - bits : -bits))
	const max = BigInt(key.max ?? bits - 1n)
	const [minNumber, maxNumber] = [Number(min), Number(max)]
	return (text) => {
		if (!CANONICAL_INTEGER.test(text)) return undefined
		if (text.length <= EXACT_DIGITS) {
			const number = Number(text)
			return number >= minNumber && number <= maxNumber ? text : undefined
		}
		const number = BigInt(text)
		return number >= min && number <= max ? text : undefined
	}
}

/** Returns the canonical form of a value of the key, or of an id; `undefined` for a text that can't be one. */
export type KeyReader = (text: string) => string | undefined

/** A reader for each field of the key. A single text must not be a segment that clients would resolve, such as `..`. */
export function keyReaders(keys: readonly CrudField[]): Map<string, KeyReader> {
	return new Map(keys.map(({ name, field }) => [name, idReader(field, keys.length === 1)]))
}

/** Returns a function that checks an id of the whole key, and returns it in canonical form. */
export function idParser(readers: readonly KeyReader[]): KeyReader {
	const [only] = readers
	if (only !== undefined && readers.length === 1) return only
	return (id) => {
		const texts: string[] = []
		for (const [at, value] of splitId(id, readers.length)?.entries() ?? []) {
			const text = readers[at]?.(value)
			if (text === undefined) return undefined
			texts.push(text)
		}
		return texts.length === 0 ? undefined : joinId(texts)
	}
}

function textId(key: Field, given: string, isAlone: boolean): string | undefined {
	const { maxLength, choices, padded } = key
	// Records of `char(n)` have no padding in their ids.
	const text = padded === true && given.length === maxLength ? withoutPadding(given) : given
	// No URL can name these: clients resolve dot segments, and a path can't contain control characters.
	if ((isAlone && /^\.{0,2}$/.test(text)) || /[\x00-\x1f\x7f\p{Surrogate}]/u.test(text)) return undefined
	if (choices !== undefined && !choices.includes(text)) return undefined
	if (maxLength !== undefined && text.length > maxLength && [...text].length > maxLength) return undefined
	return text
}

/** The text of a `padded` field as ids have it. */
export function withoutPadding(text: string): string {
	let { length } = text
	while (text[length - 1] === ' ') length--
	return text.slice(0, length)
}

/**
 * The value of a text; `undefined` when a problem was noted. `maxLength` is not checked: a text that is too long to be
 * stored can still be compared.
 */
export function valueFromText(field: Field, text: string, problems: Detail[]): NonNullValue | undefined {
	switch (field.type) {
		case 'boolean':
			return booleanFrom(text) ?? wrongType(field, problems)
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
		default: {
			const value = formattedValue(field.type, text)
			if (value !== undefined) return value
			return field.besides?.test(text) === true ? text : wrongType(field, problems)
		}
	}
}

export function wrongType(field: Field, problems: Detail[]): undefined {
	return note(problems, field.type === 'other' ? 'text' : field.type, MESSAGES[field.type])
}

/** Not one pattern with groups of four: in a text of some megabytes, it would overflow V8's regexp stack. */
function isBase64(text: string): boolean {
	const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
	return text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(padding === 0 ? text : text.slice(0, -padding))
}

/** The value of a type that is stored as text with a format. */
function formattedValue(type: FieldType, text: string): string | undefined {
	if (type === 'uuid') return isUuid(text) ? text.toLowerCase() : undefined
	if (type === 'date') return dateFrom(text)
	if (type === 'time') return TIME.test(text) ? text : undefined
	if (type === 'timestamp') return timestampFrom(text)
	return text.length <= MAX_DECIMAL_LENGTH && DECIMAL.test(text) ? text : undefined
}

/** Refuses more fractional digits than the column has: the database would round them, and might find another record. */
function timestampId(key: Field, text: string): string | undefined {
	const utc = timestampFrom(text) ?? specialValue(key, text)
	const [, digits = ''] = /\.(\d*[1-9])0*Z/.exec(utc ?? '') ?? []
	return utc === undefined || digits.length > (key.fraction ?? 9) ? undefined : shortestTimestamp(utc)
}

/** `infinity`, `0000-00-00` */
function specialValue({ besides }: Field, text: string): string | undefined {
	return besides?.test(text) === true ? text : undefined
}

/** A whole number within its field's bounds; a bigint if a number would be inexact. */
function wholeNumber(field: Field, text: string, problems: Detail[]): number | bigint | undefined {
	if (!INTEGER.test(text)) return wrongType(field, problems)
	const number = Number(text)
	if (Number.isSafeInteger(number)) return withinBounds(field, number === 0 ? 0 : number, problems)
	if (field.type === 'integer' || text.length > 20) return wrongType(field, problems)
	const large = BigInt(text)
	return BigInt.asIntN(64, large) === large || (field.max ?? 0) >= large
		? withinBounds(field, large, problems)
		: wrongType(field, problems)
}

export function withinBounds<N extends number | bigint>(
	{ min, max }: Field,
	value: N,
	problems: Detail[],
): N | undefined {
	if (min !== undefined && value < min) return note(problems, 'min', `must be at least ${min}`)
	if (max !== undefined && value > max) return note(problems, 'max', `must be at most ${max}`)
	return value
}

/** A text that every database can store: PostgreSQL refuses U+0000, and a lone surrogate is not valid UTF-8. */
function plainText({ choices }: Field, text: string, problems: Detail[]): string | undefined {
	if (text.includes('\0')) return note(problems, 'text', 'must not hold the character U+0000')
	if (LONE_SURROGATE.test(text)) return note(problems, 'text', 'must be well-formed Unicode')
	if (choices === undefined || choices.includes(text)) return text
	return noteChoices(problems, choices)
}

/** @param text of a form or a table, which no parser of JSON has checked */
function jsonText(field: Field, text: string, problems: Detail[]): RawJson | undefined {
	try {
		const value: unknown = JSON.parse(text)
		checkParsed(value)
		return rawJson(value, problems)
	} catch (error) {
		if (!isRestError(error)) return wrongType(field, problems)
		return note(problems, 'json', `${MESSAGES.json}: ${error.message}`)
	}
}

/** @param value from JSON, nested as deeply as a body may be */
export function rawJson(value: unknown, problems: Detail[]): RawJson | undefined {
	const text = JSON.stringify(value)
	if (UNSTORABLE.test(text))
		return note(problems, 'text', 'must not hold the character U+0000, and must be well-formed Unicode')
	if (text.includes('null') && hasInfinity(value))
		return note(problems, 'max', `must not hold numbers beyond ${Number.MAX_VALUE}`)
	return new RawJson(text)
}

/** Whether a number was too large for a double, such as 1e400: `JSON.stringify` would write it as null. */
function hasInfinity(value: unknown): boolean {
	if (typeof value === 'number') return !Number.isFinite(value)
	return typeof value === 'object' && value !== null && Object.values(value).some(hasInfinity)
}
