/** What is wrong with a query, as the 400 that says so. What was sent is named, never repeated. */
import { RestError } from '../base/error.ts'
import type { Detail } from '../wire/codes.ts'

/** Most characters of a name that a message repeats: a client can send any number of them. */
const LONGEST = 60

/** A name of a client's making, short enough to be shown. */
export function shown(name: string): string {
	return name.length <= LONGEST ? name : `${name.slice(0, LONGEST)}…`
}

/** A 400 about one parameter, or one place of it: `title[gt]`, `filter.or.0`. */
export function badQuery(place: string, code: string, message: string): RestError {
	const field = shown(place)
	return new RestError('bad_request', `${field} ${message}`, { details: [{ field, code, message }] })
}

/** A 400 of the first problem that was found at a place. */
export function badValue(place: string, problems: readonly Detail[]): RestError {
	const [{ code, message } = { code: 'invalid', message: 'is not valid' }] = problems
	return badQuery(place, code, message)
}

/** The same words for what there isn't and for what may not be known. */
export function unknownName(place: string, words: string, allowed: Iterable<string>): RestError {
	return badQuery(place, 'unknown', `${words} ${[...allowed].join(', ') || 'nothing'}`)
}
