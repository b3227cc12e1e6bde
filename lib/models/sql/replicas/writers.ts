/** `Writers`: when each caller has last changed something, for the callers whose changes a replica may lack. */
import type { Bytes, Milliseconds } from '../../../base/time.ts'

/** Maximum size of what is remembered: about 8,000 callers. */
const MAX_BYTES: Bytes = 1_048_576
/** Approximate size of an entry besides its key. */
const ENTRY_BYTES: Bytes = 80

export class Writers {
	/** In the order of their times. */
	readonly #latest = new Map<string, Milliseconds>()
	#bytes: Bytes = 0
	/** The latest change of those that were forgotten for lack of room: anyone may have made it. */
	#forgotten: Milliseconds = Number.NEGATIVE_INFINITY

	/** @param before changes before this time needn't be known any more */
	note(caller: string, now: Milliseconds, before: Milliseconds): void {
		this.#delete(caller)
		this.#latest.set(caller, now)
		this.#bytes += sizeOf(caller)
		for (const [oldest, time] of this.#latest) {
			const isFull = this.#bytes > MAX_BYTES
			if (time >= before && !isFull) break
			this.#delete(oldest)
			if (isFull) this.#forgotten = Math.max(this.#forgotten, time)
		}
	}

	/** When the caller has last changed something, or may have. */
	latest(caller: string): Milliseconds {
		return Math.max(this.#forgotten, this.#latest.get(caller) ?? Number.NEGATIVE_INFINITY)
	}

	#delete(caller: string): void {
		if (this.#latest.delete(caller)) this.#bytes -= sizeOf(caller)
	}
}

function sizeOf(caller: string): Bytes {
	return ENTRY_BYTES + 2 * caller.length
}
