/**
 * The formats of rules, for `check.ts` and for columns of `crud/`. All take linear time at worst, so that no text can block
 * the server.
 */
import type { Format } from './validator.ts'

/** Numbers as JSON writes them (RFC 8259 §6): no blanks, hex, plus sign, leading zeros, or leading point. */
export const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
export const INTEGER = /^-?(?:0|[1-9]\d*)$/

export function hasFormat(format: Format, text: string): boolean {
	return TESTS[format](text)
}

const TESTS: Readonly<Record<Format, (text: string) => boolean>> = {
	email: isEmail,
	url: isUrl,
	uuid: isUuid,
	date: isDate,
	datetime: isDateTime,
}

const EMAIL =
	/^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i

/** RFC 5321 §4.5.3.1.3, without the angle brackets. */
export const MAX_EMAIL_LENGTH = 254

/**
 * An address that a browser's `<input type=email>` accepts (HTML, "valid email address"), at most 254 characters, 64 of
 * them before the `@` (RFC 5321 §4.5.3.1). ASCII only: no quoted local parts, no comments, no internationalized
 * addresses. `user@localhost` is valid.
 */
function isEmail(text: string): boolean {
	return text.length <= MAX_EMAIL_LENGTH && EMAIL.test(text)
}

const URL_START = /^https?:\/\/[^/?#]/i
// Blanks, control characters and backslashes, which URL parsers remove or change.
const URL_REPAIRED = /[\0-\x20\x7f\\]/
/** A host name has at most 253 characters (RFC 1035); three times that when all is percent-encoded. */
const MAX_AUTHORITY = 1_024

/**
 * An absolute `http` or `https` URL that `new URL` accepts without removing or repairing anything. Credentials and
 * addresses in your own network are allowed: a server that fetches the URL must check that itself.
 */
export function isUrl(text: string): boolean {
	if (!URL_START.test(text) || URL_REPAIRED.test(text)) return false
	const start = text.indexOf('//') + 2
	const end = text.slice(start).search(/[/?#]/)
	const length = end === -1 ? text.length - start : end
	return length <= MAX_AUTHORITY && URL.canParse(text)
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

/** A UUID of any version in either case, nil and max included (RFC 9562 §4). No braces, no `urn:uuid:`. */
export function isUuid(text: string): boolean {
	return text.length === 36 && UUID.test(text)
}

const DATE = /^\d{4}-\d\d-\d\d$/

/** A day of the calendar, `2026-11-20` (`full-date`, RFC 3339 §5.6). */
export function isDate(text: string): boolean {
	return text.length === 10 && DATE.test(text) && isDay(text)
}

const DATE_TIME =
	/^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i

/**
 * A time with its zone, `2026-11-20T10:00:00.5+01:00` (`date-time`, RFC 3339 §5.6). Second 60 is accepted where there
 * can be a leap second: in the last minute of a month, in UTC, from 1972 on (§5.7). `new Date` returns an Invalid Date
 * for it.
 */
function isDateTime(text: string): boolean {
	if (!DATE_TIME.test(text) || !isDay(text)) return false
	return digits(text, 17, 2) < 60 || endsMonth(text)
}

/** A time of day, `13:45:00.5`. */
export const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?$/

const TIMESTAMP =
	/^(\d{4}-\d\d-\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(\.\d{1,9})?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/
const MINUTE_MS = 60_000

/** A day of the calendar, in the years 1 to 9999. */
export function dateFrom(text: string): string | undefined {
	return isDate(text) && !text.startsWith('0000') ? text : undefined
}

/**
 * Converts a timestamp of RFC 3339 §5.6 to UTC, keeping its fractional digits:
 *
 *     2026-11-20T13:45:00.123456+01:00   →   2026-11-20T12:45:00.123456Z
 *
 * No leap seconds: no database stores them.
 */
export function timestampFrom(text: string): string | undefined {
	const match = TIMESTAMP.exec(text)
	if (match === null) return undefined
	const [, day = '', hour = '', minute = '', second = '', fraction = '', sign, ahead, minutesAhead] = match
	if (dateFrom(day) === undefined) return undefined
	if (sign === undefined) return `${day}T${hour}:${minute}:${second}${fraction}Z`
	const offset = (sign === '-' ? -1 : 1) * (Number(ahead) * 60 + Number(minutesAhead))
	const utc = new Date(Date.parse(`${day}T${hour}:${minute}:${second}Z`) - offset * MINUTE_MS).toISOString()
	// Outside of the years 1 to 9999, `toISOString` begins with a sign or with 0000.
	return /^[+-]|^0000/.test(utc) ? undefined : `${utc.slice(0, 19)}${fraction}Z`
}

/** Whether month and day at the start of `text` exist. The year 0 is a leap year (ISO 8601). */
function isDay(text: string): boolean {
	const day = digits(text, 8, 2)
	return day > 0 && day <= daysIn(digits(text, 0, 4), digits(text, 5, 2))
}

function daysIn(year: number, month: number): number {
	if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
	if (month === 4 || month === 6 || month === 9 || month === 11) return 30
	return month >= 1 && month <= 12 ? 31 : 0
}

function endsMonth(text: string): boolean {
	if (digits(text, 0, 4) < 1972) return false
	const zone = /z$/i.test(text) ? 'Z' : text.slice(-6)
	// Date has no second 60. The second after 59 is the first one of the next month.
	const next = new Date(Date.parse(`${text.slice(0, 10)}T${text.slice(11, 17)}59${zone}`) + 1_000)
	return next.getUTCDate() === 1 && next.getUTCHours() === 0 && next.getUTCMinutes() === 0
}

/** The number in `count` digits from `start` on. */
function digits(text: string, start: number, count: number): number {
	let number = 0
	for (let at = start; at < start + count; at++) number = number * 10 + text.charCodeAt(at) - 48
	return number
}
