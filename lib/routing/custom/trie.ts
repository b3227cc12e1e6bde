/**
 * A trie of the patterns of one method, by segment. Routes are added in the order of their declaration, so a branch's
 * lowest order is that of its first route. A branch is skipped if its lowest order comes after the best route found so
 * far.
 */
import { LiteralTable } from './literals.ts'
import type { Kind, Pattern, Shape, Template } from './pattern.ts'
import { appendValues, matchesTemplate, parseNumber } from './segment.ts'
import { TemplateIndex } from './templates.ts'

export class Route<T> {
	/** Its index in the order of declaration. */
	readonly order: number
	readonly value: T
	readonly firstShape: Shape | undefined
	readonly otherShapes: readonly Shape[]
	/** The part of its pattern below its node in the trie. */
	rest: Pattern
	readonly compiled: CompiledPattern

	constructor(order: number, compiled: CompiledPattern, value: T) {
		this.order = order
		this.value = value
		this.firstShape = compiled.firstShape
		this.otherShapes = compiled.otherShapes
		this.rest = compiled.pattern
		this.compiled = compiled
	}
}

/** The values of a route's placeholders in a matching path, in order. */
export function paramsOf(route: Route<unknown>, segments: readonly string[]): (string | number)[] {
	const { firstShape, otherShapes } = route
	const params: (string | number)[] = []
	if (firstShape !== undefined) appendValues(firstShape, segments[firstShape.at] ?? '', params)
	for (const shape of otherShapes) appendValues(shape, segments[shape.at] ?? '', params)
	return params
}

/** A node of the trie: a branch, or a leaf with the rest of its route's pattern. */
type Node<T> = Branch<T> | Route<T>

class Branch<T> {
	/** The lowest order of its routes. */
	readonly order: number
	end: Route<T> | undefined
	literals: LiteralTable<Node<T>> | undefined
	text: Node<T> | undefined
	number: Node<T> | undefined
	templates: TemplateIndex<Node<T>> | undefined

	constructor(order: number) {
		this.order = order
	}
}

export class Trie<T> {
	readonly #pool: PatternPool
	#root: Node<T> | undefined

	constructor(pool: PatternPool) {
		this.#pool = pool
	}

	/** Adds a route with a higher order than all before, and a pattern that no other route has. */
	add(order: number, compiled: CompiledPattern, value: T): void {
		this.#root = this.#insert(this.#root, new Route(order, compiled, value), 0)
	}

	/** The matching route with the lowest order. */
	find(segments: readonly string[]): Route<T> | undefined {
		return bestMatch(this.#root, segments, 0, undefined)
	}

	/** Inserts a route below a node; returns the node, or the branch that replaces it. */
	#insert(node: Node<T> | undefined, route: Route<T>, depth: number): Node<T> {
		if (node === undefined) {
			route.rest = this.#pool.rest(route.compiled, depth)
			return route
		}
		if (node instanceof Branch) {
			this.#insertInto(node, route, depth)
			return node
		}
		const branch = new Branch<T>(node.order)
		this.#insertInto(branch, node, depth)
		this.#insertInto(branch, route, depth)
		return branch
	}

	#insertInto(branch: Branch<T>, route: Route<T>, depth: number): void {
		const part = route.compiled.pattern[depth]
		if (part === undefined) {
			branch.end = route
		} else if (typeof part === 'string') {
			branch.literals ??= new LiteralTable('forward')
			branch.literals.set(part, this.#insert(branch.literals.get(part), route, depth + 1))
		} else if (isWhole(part, 'number')) {
			branch.number = this.#insert(branch.number, route, depth + 1)
		} else if (isWhole(part, 'text')) {
			branch.text = this.#insert(branch.text, route, depth + 1)
		} else {
			branch.templates ??= new TemplateIndex()
			const entry = branch.templates.entry(part)
			entry.value = this.#insert(entry.value, route, depth + 1)
		}
	}
}

function isWhole({ prefix, suffix, shape }: Template, kind: Kind): boolean {
	return prefix === '' && suffix === '' && shape.infix === undefined && shape.kinds[0] === kind
}

/** The first route below a node that matches `segments[depth…]`, if it comes before `best`; otherwise `best`. */
function bestMatch<T>(
	node: Node<T> | undefined,
	segments: readonly string[],
	depth: number,
	best: Route<T> | undefined,
): Route<T> | undefined {
	if (node === undefined || (best !== undefined && best.order < node.order)) return best
	if (node instanceof Route) return matchesRest(node.rest, segments, depth) ? node : best
	const segment = segments[depth]
	if (segment === undefined) {
		const { end } = node
		return end !== undefined && (best === undefined || end.order < best.order) ? end : best
	}
	if (segment === '') return best
	let found = best
	if (node.literals !== undefined) found = bestMatch(node.literals.get(segment), segments, depth + 1, found)
	if (node.number !== undefined && parseNumber(segment, 0, segment.length) !== undefined) {
		found = bestMatch(node.number, segments, depth + 1, found)
	}
	found = bestMatch(node.text, segments, depth + 1, found)
	if (node.templates === undefined) return found
	for (let entry = node.templates.matching(segment); entry !== undefined; entry = entry.next) {
		found = bestMatch(entry.value, segments, depth + 1, found)
	}
	return found
}

/** Whether the rest of a pattern matches the segments from `depth` on. */
function matchesRest(rest: Pattern, segments: readonly string[], depth: number): boolean {
	if (rest.length !== segments.length - depth) return false
	for (let at = 0; at < rest.length; at++) {
		const part = rest[at] ?? ''
		const segment = segments[depth + at] ?? ''
		if (typeof part === 'string' ? part !== segment : !matchesTemplate(part, segment)) return false
	}
	return true
}

export interface CompiledPattern {
	readonly text: string
	readonly pattern: Pattern
	readonly firstShape: Shape | undefined
	/** The shapes of the other segments with placeholders, in order. */
	readonly otherShapes: readonly Shape[]
}

const NONE: readonly never[] = []

/**
 * Compiles patterns, and interns their parts: ten thousand routes have few different rests and shapes, and shared ones stay
 * in the processor's cache.
 */
export class PatternPool {
	readonly #templates = new Map<string, Template>()
	readonly #shapes = new Map<string, Shape>()
	readonly #kinds = new Map<string, readonly Kind[]>()
	readonly #shapeLists = new Map<string, readonly Shape[]>()
	readonly #rests = new Map<string, Pattern>()

	compiled(text: string, pattern: Pattern): CompiledPattern {
		const shared = pattern.map((part) => (typeof part === 'string' ? part : this.#template(part)))
		const [firstShape, ...others] = shared.flatMap((part) => (typeof part === 'string' ? NONE : part.shape))
		return { text, pattern: shared, firstShape, otherShapes: this.#list(others) }
	}

	/** The segments of a pattern from `depth` on; patterns with the same rest share the array. */
	rest({ text, pattern }: CompiledPattern, depth: number): Pattern {
		if (depth >= pattern.length) return NONE
		let start = 0
		for (let at = 0; at < depth; at++) start = text.indexOf('/', start) + 1
		return interned(this.#rests, text.slice(start), () => pattern.slice(depth))
	}

	#template(part: Template): Template {
		const { text, shape } = part
		return interned(this.#templates, `${shape.at}/${text}`, () => ({ ...part, shape: this.#shape(shape) }))
	}

	#shape(shape: Shape): Shape {
		return interned(this.#shapes, shape.name, () => {
			return { ...shape, kinds: interned(this.#kinds, shape.kinds.join(), () => shape.kinds) }
		})
	}

	#list(shapes: readonly Shape[]): readonly Shape[] {
		if (shapes.length === 0) return NONE
		return interned(this.#shapeLists, shapes.map((shape) => shape.name).join('//'), () => shapes)
	}
}

function interned<V>(pool: Map<string, V>, name: string, make: () => V): V {
	const existing = pool.get(name)
	if (existing !== undefined) return existing
	const created = make()
	pool.set(name, created)
	return created
}
