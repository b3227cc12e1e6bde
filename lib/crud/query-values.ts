/** Values of a query's parameters, and the 400 errors for them, which name the parameter and never repeat its value. */
import { RestError } from '../base/error.ts'
import type { Detail } from '../wire/codes.ts'
import type { CrudField, FieldMap } from './fields.ts'

/** Maximum length of a name in a message: clients choose the names, so longer ones are truncated. */
const MAX_NAME_LENGTH = 60

export function truncatedName(name: string): string {
	return name.length <= MAX_NAME_LENGTH ? name : `${name.slice(0, MAX_NAME_LENGTH)}…`
}

/** A 400 about one parameter, or one place in it: `title[gt]`, `filter.or.0`. */
export function badQuery(place: string, code: string, message: string): RestError {
	const field = truncatedName(place)
	return new RestError('bad_request', `${field} ${message}`, { details: [{ field, code, message }] })
}

/** A 400 with the first problem of a value. */
export function badValue(place: string, problems: readonly Detail[]): RestError {
	const [{ code, message } = { code: 'invalid', message: 'is not valid' }] = problems
	return badQuery(place, code, message)
}

/** A 400 for an unknown or hidden name. Both get the same message, so that clients can't discover hidden names. */
export function unknownName(place: string, message: string, allowed: Iterable<string>): RestError {
	const names = [...allowed].join(', ')
	return badQuery(
		place,
		'unknown',
		names === '' ? 'names nothing that can be used here' : `${message} ${names}`,
	)
}

const WHOLE = /^(?:0|[1-9]\d*)$/

/** Names from comma-separated text, or from an array in JSON. */
export function names(place: string, given: unknown): readonly string[] {
	if (typeof given === 'string') return given.split(',')
	if (Array.isArray(given) && given.every((name) => typeof name === 'string')) return given
	throw badQuery(place, 'string', 'must be a comma-separated list of names')
}

export function wholeNumber(place: string, given: unknown): number {
	if (typeof given === 'string' && WHOLE.test(given)) return Number(given)
	if (Number.isInteger(given) && Number(given) >= 0) return Number(given)
	throw badQuery(place, 'integer', 'must be a whole number from 0 up')
}

/** The number up to which records are counted: `Infinity` for `exact`; `undefined` if they aren't counted. */
export function countOf(place: string, given: unknown): number | undefined {
	if (given === undefined) return undefined
	if (given === 'exact') return Number.POSITIVE_INFINITY
	const isDigits = typeof given === 'string' && WHOLE.test(given)
	const bound = isDigits ? Number(given) : given
	if (Number.isSafeInteger(bound) && Number(bound) > 0 && bound !== Number.MAX_SAFE_INTEGER)
		return Number(bound)
	throw badQuery(place, 'in', 'must be exact, or the number up to which is counted')
}

export function fieldNamed(place: string, name: string, fields: FieldMap): CrudField {
	const field = fields.get(name)
	if (field !== undefined) return field
	throw unknownName(place, 'may only name', fields.keys())
}
