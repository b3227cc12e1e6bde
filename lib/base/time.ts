/** Units, and the only place where a clock is read: everything else gets one passed in. */

declare const unit: unique symbol

/** A duration. A literal (`30_000`) is a plain number; the type is for the reader. */
export type Milliseconds = number & { readonly [unit]?: 'ms' }
/** A duration in seconds. */
export type Seconds = number & { readonly [unit]?: 's' }
/** A size in bytes. */
export type Bytes = number & { readonly [unit]?: 'B' }

/** Returns the time. Only differences count, so any monotonic source will do. */
export type Clock = () => Milliseconds

/** The default clock: monotonic, unlike the time of day. */
export const steadyClock: Clock = () => performance.now()

/** The time of day, in milliseconds since 1970 (UTC): shared by several processes, as far as their clocks agree. */
export const timeOfDay: Clock = () => Date.now()

/** Settings are in seconds, timers and clocks in milliseconds. */
export function inMilliseconds(time: Seconds): Milliseconds {
	return Math.round(time * 1_000)
}
