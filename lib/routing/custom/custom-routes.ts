/**
 * Custom routes, tried before the table of resources. Built at mount by `handler/mount/compile.ts`, then only read by
 * `../routing.ts`. The cost of a match depends on the path, not on the number of routes.
 */
import { ROUTE_METHODS, type RouteMethod } from '../../base/http.ts'
import { parseRoute, type RouteKey, refused } from './pattern.ts'
import { PatternPool, paramsOf, Trie } from './trie.ts'

interface RouteMatch<T> {
	readonly value: T
	/** The values of the placeholders, in order: `%s` a string, `%d` a number. */
	readonly params: (string | number)[]
}

interface MethodRoutes<T> {
	/** The declared keys, by the text of their pattern. */
	readonly keys: Map<string, string>
	readonly trie: Trie<T>
}

/**
 * Custom routes, each with a value.
 *
 *     table.add('GET|POST custom/%s/page/%d', 'page')
 *     table.match('GET', ['custom', 'a b', 'page', '7'])   // { value: 'page', params: ['a b', 7] }
 *
 * If several routes match, the one declared first wins.
 */
export class RouteTable<T> {
	readonly #routes: ReadonlyMap<RouteMethod, MethodRoutes<T>>
	readonly #pool = new PatternPool()
	#size = 0

	constructor() {
		this.#routes = new Map(
			ROUTE_METHODS.map((method) => [method, { keys: new Map(), trie: new Trie(this.#pool) }]),
		)
	}

	get size(): number {
		return this.#size
	}

	/**
	 * Adds a route and returns its parsed key; see {@link parseRoute}.
	 *
	 * @throws TypeError for a malformed key, or a method and pattern that are already declared
	 */
	add(key: string, value: T): RouteKey {
		const route = parseRoute(key)
		const { methods, text, pattern } = route
		const compiled = this.#pool.compiled(text, pattern)
		for (const method of methods) {
			const earlier = this.#routes.get(method)?.keys.get(text)
			if (earlier === undefined) continue
			throw refused(key, `${method} with this pattern is declared by '${earlier}' already: remove one`)
		}
		for (const method of methods) {
			const routes = this.#routes.get(method)
			routes?.keys.set(text, key)
			routes?.trie.add(this.#size, compiled, value)
		}
		this.#size++
		return route
	}

	/** The first route declared for a method and decoded segments, or `undefined`. Never throws. */
	match(method: RouteMethod, segments: readonly string[]): RouteMatch<T> | undefined {
		if (this.#size === 0) return undefined
		const route = this.#routes.get(method)?.trie.find(segments)
		return route === undefined ? undefined : { value: route.value, params: paramsOf(route, segments) }
	}

	/** The methods that have a route for decoded segments, in the order of `Allow`. */
	methodsFor(segments: readonly string[]): RouteMethod[] {
		if (this.#size === 0) return []
		return ROUTE_METHODS.filter((method) => this.#routes.get(method)?.trie.find(segments) !== undefined)
	}
}
