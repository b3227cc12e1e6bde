/** Dates, times and timestamps as clients write them, in the one form in which they go to models. */
import { isDate } from '../validate/format.ts'

export const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?$/
const TIMESTAMP =
	/^(\d{4}-\d\d-\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(\.\d{1,9})?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/
const MINUTE_MS = 60_000

/** A day that exists, of the years 1 to 9999; `undefined` for anything else. */
export function dateFrom(text: string): string | undefined {
	return isDate(text) && !text.startsWith('0000') ? text : undefined
}

/** A time of day with its seconds, and at most nine digits behind these. */
export function timeFrom(text: string): string | undefined {
	return TIME.test(text) ? text : undefined
}

/**
 * A timestamp of RFC 3339 §5.6, whatever its offset, in UTC with the digits that it has.
 *
 *     2026-11-20T13:45:00.123456+01:00   →   2026-11-20T12:45:00.123456Z
 *
 * No leap seconds: no store has them.
 */
export function timestampFrom(text: string): string | undefined {
	const match = TIMESTAMP.exec(text)
	if (match === null) return undefined
	const [, day = '', hour = '', minute = '', second = '', fraction = '', sign, ahead, minutesAhead] = match
	if (dateFrom(day) === undefined) return undefined
	if (sign === undefined) return `${day}T${hour}:${minute}:${second}${fraction}Z`
	const offset = (sign === '-' ? -1 : 1) * (Number(ahead) * 60 + Number(minutesAhead))
	const utc = new Date(Date.parse(`${day}T${hour}:${minute}:${second}Z`) - offset * MINUTE_MS).toISOString()
	// Beyond the years 1 to 9999 the text begins with a sign, or with the year 0.
	return /^[+-]|^0000/.test(utc) ? undefined : `${utc.slice(0, 19)}${fraction}Z`
}
