/**
 * Patterns as linked lists that share their ends, and what is needed to cut a path, shared where it is
 * alike. Ten thousand routes have few different ends and shapes: a match that reads the shared ones
 * finds them in the processor's cache.
 */
import type { Kind, Part, Pattern, Shape } from './pattern.ts'

/** The end of a pattern, from one segment on. Of one pool, equal ends are one object. */
export interface Tail {
	/** How many segments it has: 0 where the pattern is over. */
	readonly length: number
	/** Its first segment. */
	readonly part: Part | undefined
	readonly below: Tail | undefined
	/** The tails that are one segment longer, by the spelling of that segment. */
	above: Map<string, Tail> | undefined
}

/** A pattern as a match reads it. */
export interface Plan {
	readonly tail: Tail
	/** The first segment with placeholders. */
	readonly cut: Shape | undefined
	/** The other segments with placeholders, in their order. */
	readonly cuts: readonly Shape[]
}

export class PlanPool {
	readonly #end: Tail = { length: 0, part: undefined, below: undefined, above: undefined }
	readonly #shapes = new Map<string, Shape>()
	readonly #kinds = new Map<string, readonly Kind[]>()
	readonly #cuts = new Map<string, readonly Shape[]>()

	/** The plan of a pattern, made of what it has in common with those before. */
	share(pattern: Pattern): Plan {
		let tail = this.#end
		for (const part of pattern.toReversed()) tail = this.#prepend(part, tail)
		const shapes = pattern.filter((part) => typeof part === 'object').map((part) => this.#shapeOf(part.shape))
		const [cut, ...cuts] = shapes
		const name = cuts.map((shape) => shape.name).join('//')
		return { tail, cut, cuts: obtain(this.#cuts, name, () => cuts) }
	}

	#prepend(part: Part, below: Tail): Tail {
		below.above ??= new Map()
		const spelling = typeof part === 'string' ? part.replaceAll('%', '%%') : part.text
		return obtain(below.above, spelling, () => {
			const shared = typeof part === 'string' ? part : { ...part, shape: this.#shapeOf(part.shape) }
			return { length: below.length + 1, part: shared, below, above: undefined }
		})
	}

	#shapeOf(shape: Shape): Shape {
		return obtain(this.#shapes, shape.name, () => {
			return { ...shape, kinds: obtain(this.#kinds, shape.kinds.join(), () => shape.kinds) }
		})
	}
}

function obtain<V>(pool: Map<string, V>, name: string, make: () => V): V {
	const known = pool.get(name)
	if (known !== undefined) return known
	const made = make()
	pool.set(name, made)
	return made
}
