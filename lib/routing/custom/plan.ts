/**
 * What a match reads of a pattern. Plans share what they have in common: ten thousand routes have few
 * different ends and shapes, and a match that reads the shared ones finds them in the processor's cache.
 */
import type { Kind, Pattern, Shape, Template } from './pattern.ts'

/** A pattern as a match reads it. */
export interface Plan {
	/** The pattern's one spelling. */
	readonly text: string
	readonly pattern: Pattern
	/** The first segment with placeholders. */
	readonly cut: Shape | undefined
	/** The other segments with placeholders, in their order. */
	readonly cuts: readonly Shape[]
}

const NONE: readonly never[] = []

export class PlanPool {
	readonly #templates = new Map<string, Template>()
	readonly #shapes = new Map<string, Shape>()
	readonly #kinds = new Map<string, readonly Kind[]>()
	readonly #cuts = new Map<string, readonly Shape[]>()
	readonly #rests = new Map<string, Pattern>()

	/** The plan of a pattern. */
	plan(text: string, pattern: Pattern): Plan {
		const shared = pattern.map((part) => (typeof part === 'string' ? part : this.#template(part)))
		const [cut, ...cuts] = shared.flatMap((part) => (typeof part === 'string' ? NONE : part.shape))
		return { text, pattern: shared, cut, cuts: this.#list(cuts) }
	}

	/** The segments of a pattern from `depth` on. Of patterns that end alike it is one array. */
	rest({ text, pattern }: Plan, depth: number): Pattern {
		if (depth >= pattern.length) return NONE
		let start = 0
		for (let at = 0; at < depth; at++) start = text.indexOf('/', start) + 1
		return obtain(this.#rests, text.slice(start), () => pattern.slice(depth))
	}

	#template(part: Template): Template {
		const { text, shape } = part
		return obtain(this.#templates, `${shape.at}/${text}`, () => ({ ...part, shape: this.#shape(shape) }))
	}

	#shape(shape: Shape): Shape {
		return obtain(this.#shapes, shape.name, () => {
			return { ...shape, kinds: obtain(this.#kinds, shape.kinds.join(), () => shape.kinds) }
		})
	}

	#list(cuts: readonly Shape[]): readonly Shape[] {
		if (cuts.length === 0) return NONE
		return obtain(this.#cuts, cuts.map((shape) => shape.name).join('//'), () => cuts)
	}
}

function obtain<V>(pool: Map<string, V>, name: string, make: () => V): V {
	const known = pool.get(name)
	if (known !== undefined) return known
	const made = make()
	pool.set(name, made)
	return made
}
