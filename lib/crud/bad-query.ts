/** The 400 of a query. It names what was sent, and never repeats a value. */
import { RestError } from '../base/error.ts'
import type { Detail } from '../wire/codes.ts'

/** Most characters of a client's name that a message repeats. */
const MAX_SHOWN = 60

/** A client's name, short enough to be shown. */
export function shown(name: string): string {
	return name.length <= MAX_SHOWN ? name : `${name.slice(0, MAX_SHOWN)}…`
}

/** A 400 about one parameter, or one place in it: `title[gt]`, `filter.or.0`. */
export function badQuery(place: string, code: string, message: string): RestError {
	const field = shown(place)
	return new RestError('bad_request', `${field} ${message}`, { details: [{ field, code, message }] })
}

/** A 400 of the first problem that was found at a place. */
export function badValue(place: string, problems: readonly Detail[]): RestError {
	const [{ code, message } = { code: 'invalid', message: 'is not valid' }] = problems
	return badQuery(place, code, message)
}

/** The same message for names that don't exist and names that may not be known. */
export function unknownName(place: string, message: string, allowed: Iterable<string>): RestError {
	return badQuery(place, 'unknown', `${message} ${[...allowed].join(', ') || 'nothing'}`)
}
