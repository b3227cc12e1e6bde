/**
 * Custom routes, the step before the lookup: built when a handler is mounted, then only read. What a
 * match costs depends on the path, not on how many routes there are.
 */
import { ROUTE_METHODS, type RouteMethod } from './http.ts'
import { parseRoute, refused } from './route/pattern.ts'
import { Pool } from './route/pool.ts'
import { paramsOf, Trie } from './route/trie.ts'

export { parseRoute }

/** The route that a path has led to. */
export interface RouteMatch<T> {
	readonly value: T
	/** What the placeholders took, in their order: `%s` a string, `%d` a number. */
	readonly params: (string | number)[]
}

/**
 * Custom routes, each leading to a value.
 *
 *     table.add('GET|POST custom/%s/page/%d', 'page')
 *     table.match('GET', ['custom', 'a b', 'page', '7'])   // { value: 'page', params: ['a b', 7] }
 *
 * Of all routes that match, the one declared first answers.
 */
export class RouteTable<T> {
	readonly #tries: ReadonlyMap<RouteMethod, Trie<T>>
	/** The key that declared each method and pattern. */
	readonly #keys = new Map<string, string>()
	#size = 0

	constructor() {
		const pool = new Pool()
		this.#tries = new Map(ROUTE_METHODS.map((method) => [method, new Trie<T>(pool)]))
	}

	/** How many keys have been added. */
	get size(): number {
		return this.#size
	}

	/**
	 * Declares a route; see {@link parseRoute} for what a key says.
	 *
	 * @throws TypeError when the key can't be read, or a method and pattern of it were declared before
	 */
	add(key: string, value: T): void {
		const { methods, pattern } = parseRoute(key)
		const names = methods.map((method) => `${method} ${JSON.stringify(pattern)}`)
		for (const [at, name] of names.entries()) {
			const earlier = this.#keys.get(name)
			if (earlier === undefined) continue
			throw refused(key, `${methods[at]} with this pattern is declared by '${earlier}' already: remove one`)
		}
		for (const name of names) this.#keys.set(name, key)
		for (const method of methods) this.#tries.get(method)?.add(this.#size, pattern, value)
		this.#size++
	}

	/** The first route declared for a method and decoded segments, or `undefined`. Never throws. */
	match(method: RouteMethod, segments: readonly string[]): RouteMatch<T> | undefined {
		if (this.#size === 0) return undefined
		const route = this.#tries.get(method)?.find(segments)
		return route === undefined ? undefined : { value: route.value, params: paramsOf(route, segments) }
	}

	/** The methods that have a route for decoded segments, in the order of `Allow`. */
	methodsFor(segments: readonly string[]): RouteMethod[] {
		if (this.#size === 0) return []
		return ROUTE_METHODS.filter((method) => this.#tries.get(method)?.find(segments) !== undefined)
	}
}
