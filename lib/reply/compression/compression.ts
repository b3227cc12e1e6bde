/** `Compression`: which coding an answer gets, made once of the option `compression`. */

import type { Bytes } from '../../base/time.ts'
import { qualitiesOf } from '../../request/accept.ts'
import type { Coding } from './codings.ts'

export class Compression {
	/** Fewest bytes that are compressed, where it is known how many there are. */
	readonly threshold: Bytes
	/** The best one first. */
	readonly codings: readonly Coding[]
	/** Most clients of a server say the same. */
	#lastHeader = ''
	#lastChoice: Coding | undefined = undefined

	constructor(threshold: Bytes, codings: readonly Coding[]) {
		this.threshold = threshold
		this.codings = codings
	}

	/**
	 * The coding for a request, by its `Accept-Encoding` (RFC 9110 §12.5.3): the one of the highest quality, of several
	 * the best. `undefined` where none is wanted as much as the answer as it is, and where nothing is said: "any" is
	 * allowed then, but who doesn't say so mostly can't read it.
	 */
	choose(header: string | undefined): Coding | undefined {
		if (header === undefined || header === '') return undefined
		if (header !== this.#lastHeader) {
			this.#lastChoice = this.#chosen(header)
			this.#lastHeader = header
		}
		return this.#lastChoice
	}

	#chosen(header: string): Coding | undefined {
		const qualities = qualitiesOf(header)
		const rest = qualities.get('*')
		let best: Coding | undefined
		// What isn't named is allowed, and wanted less than anything that is.
		let most = qualities.get('identity') ?? rest ?? 0
		for (const coding of this.codings) {
			const quality = qualities.get(coding.name) ?? qualities.get(`x-${coding.name}`) ?? rest ?? 0
			if (quality > most || (quality === most && quality > 0 && best === undefined)) {
				best = coding
				most = quality
			}
		}
		return best
	}
}
