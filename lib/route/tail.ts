/**
 * Patterns as linked lists that share their ends, and what is needed to cut a path, shared where it is
 * alike. Ten thousand routes have few different ends and shapes: a match that reads the shared ones
 * finds them in the processor's cache. Equal patterns are one and the same `Tail`.
 */
import type { Part, Pattern, Shape } from './pattern.ts'

/** The end of a pattern, from one segment on. */
export interface Tail {
	/** How many segments it has. The last tail, below every pattern, has none, and no part. */
	readonly length: number
	readonly part: Part | undefined
	readonly below: Tail | undefined
	/** The tails that are one segment longer, by that segment's spelling. */
	readonly above: Map<string, Tail>
}

/** A segment of a path that has placeholders. */
export interface Cut {
	/** Its place, from 0. */
	readonly at: number
	readonly shape: Shape
}

/** A pattern as a match reads it. */
export interface Plan {
	readonly tail: Tail
	/** In the order of the segments; empty without placeholders. */
	readonly cuts: readonly Cut[]
}

export class PlanPool {
	readonly #empty: Tail = { length: 0, part: undefined, below: undefined, above: new Map() }
	readonly #shapes = new Map<string, Shape>()
	readonly #cuts = new Map<string, readonly Cut[]>()

	/** The plan of a pattern, made of what earlier patterns have in common with it. */
	share(pattern: Pattern): Plan {
		let tail = this.#empty
		const cuts: Cut[] = []
		let name = ''
		for (let at = pattern.length - 1; at >= 0; at--) {
			tail = this.#prepend(pattern[at] ?? '', tail)
			if (typeof tail.part !== 'object') continue
			cuts.unshift({ at, shape: tail.part.shape })
			name = `${at}:${nameOf(tail.part.shape)}/${name}`
		}
		return { tail, cuts: obtain(this.#cuts, name, () => cuts) }
	}

	#prepend(part: Part, below: Tail): Tail {
		const literal = typeof part === 'string'
		return obtain(below.above, literal ? part.replaceAll('%', '%%') : part.text, () => {
			const shared = literal ? part : { ...part, shape: this.#shared(part.shape) }
			return { length: below.length + 1, part: shared, below, above: new Map() }
		})
	}

	#shared(shape: Shape): Shape {
		return obtain(this.#shapes, nameOf(shape), () => shape)
	}
}
