/** Units of time and size, the default clocks, and parsing of dates. */

declare const unit: unique symbol

/** A duration. A literal (`30_000`) is a plain number; the type is for the reader. */
export type Milliseconds = number & { readonly [unit]?: 'ms' }
/** A duration in seconds. */
export type Seconds = number & { readonly [unit]?: 's' }
/** A size in bytes. */
export type Bytes = number & { readonly [unit]?: 'B' }

/** Returns the time. Only differences matter, so that any monotonic source will do. */
export type Clock = () => Milliseconds

/** The default clock: monotonic, unlike the time of day. */
export const steadyClock: Clock = () => performance.now()

/** The time of day, in milliseconds since 1970 (UTC): shared by several processes, as far as their clocks agree. */
export const timeOfDay: Clock = () => Date.now()

/** Settings are in seconds, timers and clocks in milliseconds. */
export function inMilliseconds(time: Seconds): Milliseconds {
	return Math.round(time * 1_000)
}

/** RFC 3339, or its date alone. A time needs an offset: without one it would depend on the machine. */
const MOMENT = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/

/**
 * Reads a moment: a Date, or a text, `'2026-06-30'` (midnight in UTC) or `'2026-06-30T12:00:00Z'`. `undefined` for anything
 * else, and for a day that doesn't exist: `Date` turns 30 February into 2 March.
 */
export function momentOf(value: unknown): Date | undefined {
	const [text = '', day = ''] = typeof value === 'string' ? (MOMENT.exec(value) ?? []) : []
	const date = new Date(value instanceof Date ? value : text)
	if (Number.isNaN(date.getTime())) return undefined
	if (value instanceof Date) return date
	return new Date(day).toISOString().startsWith(day) ? date : undefined
}
