/** The 400 errors for queries. They name the parameter, and never repeat its value. */
import { RestError } from '../base/error.ts'
import type { Detail } from '../wire/codes.ts'

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
	return badQuery(place, 'unknown', `${message} ${[...allowed].join(', ') || 'nothing'}`)
}
