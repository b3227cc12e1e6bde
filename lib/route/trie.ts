/**
 * The patterns of one method as a trie by segment. Routes come in the order of their declaration, so
 * the first that passes a branch is the smallest below it, and a branch whose first route comes after
 * the best one found so far is never entered.
 */
import { LiteralTable } from './literals.ts'
import type { Kind, Pattern, Shape, Template } from './pattern.ts'
import type { Pool } from './pool.ts'
import { fits, parseNumber, take } from './segment.ts'
import { TemplateIndex } from './templates.ts'

/** A segment that has placeholders. */
interface Cut {
	readonly at: number
	readonly shape: Shape
}

/** One route of one method. It holds what a match reads, and shares it with the routes that are alike. */
export class Route<T> {
	/** Its place in the order of declaration. */
	readonly order: number
	readonly value: T
	readonly cuts: readonly Cut[]
	/** The end of its pattern, below its place in the trie. */
	rest: Pattern

	constructor(order: number, pattern: Pattern, value: T, pool: Pool) {
		this.order = order
		this.value = value
		this.rest = pattern
		const cuts = pattern.map((part, at) =>
			typeof part === 'string' ? [] : [{ at, shape: pool.share(part.shape) }],
		)
		this.cuts = pool.share(cuts.flat())
	}
}

/** What the placeholders of a route take of a path that it matches, in their order. */
export function paramsOf(route: Route<unknown>, segments: readonly string[]): (string | number)[] {
	const params: (string | number)[] = []
	for (const { at, shape } of route.cuts) take(shape, segments[at] ?? '', params)
	return params
}

/** A branch of the trie. The only route below a place stands there itself, with the rest of its pattern. */
type Place<T> = Branch<T> | Route<T>

class Branch<T> {
	/** The smallest order of the routes below. */
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
	readonly #pool: Pool
	#root: Place<T> | undefined

	constructor(pool: Pool) {
		this.#pool = pool
	}

	/** Adds a route whose order is greater than all before, and whose pattern is none of theirs. */
	add(order: number, pattern: Pattern, value: T): void {
		this.#root = this.#grow(this.#root, new Route(order, pattern, value, this.#pool), pattern)
	}

	/** The route of the smallest order whose pattern matches. */
	find(segments: readonly string[]): Route<T> | undefined {
		return better(this.#root, segments, 0, undefined)
	}

	#grow(place: Place<T> | undefined, route: Route<T>, rest: Pattern): Place<T> {
		if (place === undefined) {
			route.rest = this.#pool.share(rest)
			return route
		}
		if (place instanceof Branch) {
			this.#branch(place, route, rest)
			return place
		}
		const branch = new Branch<T>(place.order)
		this.#branch(branch, place, place.rest)
		this.#branch(branch, route, rest)
		return branch
	}

	#branch(branch: Branch<T>, route: Route<T>, rest: Pattern): void {
		const [part, ...below] = rest
		if (part === undefined) {
			branch.end = route
			route.rest = rest
		} else if (typeof part === 'string') {
			branch.literals ??= new LiteralTable('forward')
			branch.literals.set(part, this.#grow(branch.literals.get(part), route, below))
		} else if (isWhole(part, 'number')) {
			branch.number = this.#grow(branch.number, route, below)
		} else if (isWhole(part, 'text')) {
			branch.text = this.#grow(branch.text, route, below)
		} else {
			branch.templates ??= new TemplateIndex()
			const entry = branch.templates.obtain({ ...part, shape: this.#pool.share(part.shape) })
			entry.value = this.#grow(entry.value, route, below)
		}
	}
}

function isWhole({ prefix, suffix, shape }: Template, kind: Kind): boolean {
	return prefix === '' && suffix === '' && shape.inners.length === 0 && shape.kinds[0] === kind
}

/** The first route below a place that matches `segments[depth…]`, if it comes before `best`; else `best`. */
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

/** Whether the rest of a pattern is what the segments from `depth` on are. */
function goesOn(rest: Pattern, segments: readonly string[], depth: number): boolean {
	if (rest.length !== segments.length - depth) return false
	for (let at = 0; at < rest.length; at++) {
		const part = rest[at] ?? ''
		const segment = segments[depth + at] ?? ''
		if (typeof part === 'string' ? part !== segment : !fits(part, segment)) return false
	}
	return true
}
