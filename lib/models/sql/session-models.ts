/** `SessionModels`: the models of a table by session, kept for the sessions used last. Called by `postgres/model.ts`. */
import type { Bytes } from '../../base/time.ts'
import { Lru, type LruEntry } from './text-cache.ts'

/** Maximum size of the models that a table keeps: about 700 with claims of 300 characters. */
const MAX_BYTES: Bytes = 1_048_576
/** Approximate size of a model besides its key, which its statements hold as well. */
const MODEL_BYTES: Bytes = 900

interface Kept<M> extends LruEntry {
	readonly model: M
}

export class SessionModels<M> {
	readonly #kept = new Map<string, Kept<M>>()
	readonly #lru = new Lru(MAX_BYTES)

	/** The model of a session, made unless it is kept. */
	of(key: string, make: () => M): M {
		const known = this.#kept.get(key)
		if (known !== undefined) {
			this.#lru.touch(known)
			return known.model
		}
		const kept = {
			...{ model: make(), bytes: MODEL_BYTES + 2 * key.length },
			...{ drop: () => this.#kept.delete(key), older: undefined, newer: undefined },
		}
		if (this.#lru.add(kept)) this.#kept.set(key, kept)
		return kept.model
	}
}
