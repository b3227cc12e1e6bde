/**
 * The patterns of one method as a trie by segment. Routes are added in the order of their declaration: the first one in a
 * branch has its smallest order, and a branch whose first route comes after the best one found so far isn't entered.
 */
import { LiteralTable } from './literals.ts'
import type { Kind, Pattern, Shape, Template } from './pattern.ts'
import { fits, parseNumber, take } from './segment.ts'
import { TemplateIndex } from './templates.ts'

/** One route of one method. */
export class Route<T> {
	/** Its index in the order of declaration. */
	readonly order: number
	readonly value: T
	readonly cut: Shape | undefined
	readonly cuts: readonly Shape[]
	/** The part of its pattern below its place in the trie. */
	rest: Pattern
	readonly plan: Plan

	constructor(order: number, plan: Plan, value: T) {
		this.order = order
		this.value = value
		this.cut = plan.cut
		this.cuts = plan.cuts
		this.rest = plan.pattern
		this.plan = plan
	}
}

/** The values of a route's placeholders in a matching path, in order. */
export function paramsOf(route: Route<unknown>, segments: readonly string[]): (string | number)[] {
	const params: (string | number)[] = []
	if (route.cut !== undefined) take(route.cut, segments[route.cut.at] ?? '', params)
	for (const shape of route.cuts) take(shape, segments[shape.at] ?? '', params)
	return params
}

/** A branch of the trie; or its only route, with the rest of its pattern. */
type Place<T> = Branch<T> | Route<T>

class Branch<T> {
	/** The smallest order of its routes. */
	readonly order: number
	end: Route<T> | undefined
	literals: LiteralTable<Place<T>> | undefined
	text: Place<T> | undefined
	number: Place<T> | undefined
	templates: TemplateIndex<Place<T>> | undefined

	constructor(order: number) {
		this.order = order
	}
}

/** The patterns of one method. */
export class Trie<T> {
	readonly #pool: PlanPool
	#root: Place<T> | undefined

	constructor(pool: PlanPool) {
		this.#pool = pool
	}

	/** Adds a route of greater order, and another pattern, than all before. */
	add(order: number, plan: Plan, value: T): void {
		this.#root = this.#grow(this.#root, new Route(order, plan, value), 0)
	}

	/** The matching route of the smallest order. */
	find(segments: readonly string[]): Route<T> | undefined {
		return better(this.#root, segments, 0, undefined)
	}

	#grow(place: Place<T> | undefined, route: Route<T>, depth: number): Place<T> {
		if (place === undefined) {
			route.rest = this.#pool.rest(route.plan, depth)
			return route
		}
		if (place instanceof Branch) {
			this.#branch(place, route, depth)
			return place
		}
		const branch = new Branch<T>(place.order)
		this.#branch(branch, place, depth)
		this.#branch(branch, route, depth)
		return branch
	}

	#branch(branch: Branch<T>, route: Route<T>, depth: number): void {
		const part = route.plan.pattern[depth]
		if (part === undefined) {
			branch.end = route
		} else if (typeof part === 'string') {
			branch.literals ??= new LiteralTable('forward')
			branch.literals.set(part, this.#grow(branch.literals.get(part), route, depth + 1))
		} else if (isWhole(part, 'number')) {
			branch.number = this.#grow(branch.number, route, depth + 1)
		} else if (isWhole(part, 'text')) {
			branch.text = this.#grow(branch.text, route, depth + 1)
		} else {
			branch.templates ??= new TemplateIndex()
			const entry = branch.templates.obtain(part)
			entry.value = this.#grow(entry.value, route, depth + 1)
		}
	}
}

function isWhole({ prefix, suffix, shape }: Template, kind: Kind): boolean {
	return prefix === '' && suffix === '' && shape.inner === undefined && shape.kinds[0] === kind
}

/** The first route at a place that matches `segments[depth…]`, if it comes before `best`; else `best`. */
function better<T>(
	place: Place<T> | undefined,
	segments: readonly string[],
	depth: number,
	best: Route<T> | undefined,
): Route<T> | undefined {
	if (place === undefined || (best !== undefined && best.order < place.order)) return best
	if (place instanceof Route) return goesOn(place.rest, segments, depth) ? place : best
	const segment = segments[depth]
	if (segment === undefined) return earlier(place.end, best)
	if (segment === '') return best
	let found = best
	if (place.literals !== undefined) found = better(place.literals.get(segment), segments, depth + 1, found)
	if (place.number !== undefined && parseNumber(segment, 0, segment.length) !== undefined) {
		found = better(place.number, segments, depth + 1, found)
	}
	found = better(place.text, segments, depth + 1, found)
	if (place.templates === undefined) return found
	for (let entry = place.templates.matching(segment); entry !== undefined; entry = entry.next) {
		found = better(entry.value, segments, depth + 1, found)
	}
	return found
}

function earlier<T>(end: Route<T> | undefined, best: Route<T> | undefined): Route<T> | undefined {
	return end !== undefined && (best === undefined || end.order < best.order) ? end : best
}

/** Whether the rest of a pattern matches the segments from `depth` on. */
function goesOn(rest: Pattern, segments: readonly string[], depth: number): boolean {
	if (rest.length !== segments.length - depth) return false
	for (let at = 0; at < rest.length; at++) {
		const part = rest[at] ?? ''
		const segment = segments[depth + at] ?? ''
		if (typeof part === 'string' ? part !== segment : !fits(part, segment)) return false
	}
	return true
}

/** A pattern as a match reads it. */
export interface Plan {
	/** The pattern's text. */
	readonly text: string
	readonly pattern: Pattern
	/** The first segment with placeholders. */
	readonly cut: Shape | undefined
	/** The other segments with placeholders, in their order. */
	readonly cuts: readonly Shape[]
}

const NONE: readonly never[] = []

/**
 * Plans share their equal parts: ten thousand routes have few different ends and shapes, and shared ones stay in the
 * processor's cache.
 */
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

	/** The segments of a pattern from `depth` on; patterns that end alike share the array. */
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
