/** Dates, times and timestamps of `MemoryModel`, in writings whose order as texts is that of time. */

const DATE = /^\d{4}-\d\d-\d\d$/
const TIME = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?$/
const TIMESTAMP = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)$/

/** `YYYY-MM-DD` of the years 1 to 9999; `undefined` for what is no day. */
export function dateOf(text: string): string | undefined {
	if (!DATE.test(text) || text.startsWith('0000')) return undefined
	const day = new Date(`${text}T00:00:00.000Z`)
	// A 30th of February is taken for the 2nd of March.
	return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text) ? text : undefined
}

/** `HH:MM:SS`, with a fraction of up to six digits that doesn't end in 0; `undefined` for what is no time. */
export function timeOf(text: string): string | undefined {
	if (!TIME.test(text)) return undefined
	const [seconds = '', fraction = ''] = text.split('.')
	const digits = fraction.slice(0, 6).replace(/0+$/, '')
	return digits === '' ? seconds : `${seconds}.${digits}`
}

/**
 * `YYYY-MM-DDTHH:MM:SS.ffffffZ`: UTC and microseconds, further digits are cut off. `undefined` for what is no
 * timestamp of RFC 3339; a leap second is none, as no store of ours has them.
 */
export function timestampOf(text: string): string | undefined {
	const [, day = '', time = '', fraction = '', zone = ''] = TIMESTAMP.exec(text) ?? []
	if (dateOf(day) === undefined || timeOf(time) === undefined) return undefined
	const offset = zone.toUpperCase()
	const seconds = offset === 'Z' || offset === '+00:00' ? `${day}T${time}` : inUtc(`${day}T${time}${offset}`)
	return seconds === undefined ? undefined : `${seconds}.${fraction.slice(0, 6).padEnd(6, '0')}Z`
}

function inUtc(text: string): string | undefined {
	const time = new Date(text)
	if (Number.isNaN(time.getTime())) return undefined
	const iso = time.toISOString()
	return /^\d{4}-/.test(iso) && !iso.startsWith('0000') ? iso.slice(0, 19) : undefined
}

/** A timestamp of `timestampOf` as it is sent: cut to milliseconds, as `Date` has them. */
export function wireTimestamp(timestamp: string): string {
	return `${timestamp.slice(0, 23)}Z`
}
