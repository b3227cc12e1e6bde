/** Units, and the only place where a clock is read: everything else is handed one. */

declare const unit: unique symbol

/** A length of time. Written out (`30_000`) it is a plain number; the name is for the reader. */
export type Milliseconds = number & { readonly [unit]?: 'ms' }
/** A length of time in seconds. */
export type Seconds = number & { readonly [unit]?: 's' }
/** A size in bytes. */
export type Bytes = number & { readonly [unit]?: 'B' }

/** Tells the time. Only differences count, so any steady source will do. */
export type Clock = () => Milliseconds

/** The clock used where none is given: never set back, unlike the time of day. */
export const steadyClock: Clock = () => performance.now()

/** The time of day, in milliseconds since 1970 (UTC): what several processes can agree on, as far as their clocks do. */
export const timeOfDay: Clock = () => Date.now()

/** Settings are in seconds, timers and clocks in milliseconds. */
export function inMilliseconds(time: Seconds): Milliseconds {
	return Math.round(time * 1_000)
}
