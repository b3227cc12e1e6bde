/**
 * The lookup of `<method>_<resource>`: a table made once from a handler's class, in which a request
 * finds its method by Map. Nothing is looked up on the handler by a name that came from outside.
 */
import type { Action } from './action.ts'
import type { RouteMethod } from './http.ts'

/** The actions of one resource, by method. */
export type Verbs = { [M in RouteMethod]: Action | undefined }

/** All actions of a handler: by resource, and the `_default` ones. */
export class LookupTable {
	readonly #resources = new Map<string, Verbs>()
	readonly #default: Verbs = noVerbs()

	/** Adds an action under a resource, or, without one, as the method's `_default`. */
	add(method: RouteMethod, resource: string | undefined, action: Action): void {
		if (resource === undefined) {
			this.#default[method] = action
			return
		}
		const verbs = this.#resources.get(resource) ?? noVerbs()
		verbs[method] = action
		this.#resources.set(resource, verbs)
	}

	/** The action that a resource has already under a method. */
	get(method: RouteMethod, resource: string | undefined): Action | undefined {
		return resource === undefined ? this.#default[method] : this.#resources.get(resource)?.[method]
	}

	/** Names of all resources, in the order they were added. */
	resources(): Iterable<string> {
		return this.#resources.keys()
	}

	/** Whether any method has the resource that the segments begin with. */
	knows(segments: readonly string[]): boolean {
		const resource = segments[0]
		return resource !== undefined && this.#resources.has(resource)
	}

	/** The action of the resource that the first segment names; the others are its params. */
	find(method: RouteMethod, segments: readonly string[]): Found | undefined {
		const resource = segments[0]
		if (resource === undefined) return undefined
		const action = this.#resources.get(resource)?.[method]
		if (action === undefined || segments.length - 1 > action.maxParams) return undefined
		return { action, params: segments.slice(1) }
	}

	/** The method's `_default`, given all segments. */
	findDefault(method: RouteMethod, segments: readonly string[]): Found | undefined {
		const action = this.#default[method]
		if (action === undefined || segments.length > action.maxParams) return undefined
		return { action, params: segments }
	}
}

/** An action, and the params its method is called with. */
export interface Found {
	readonly action: Action
	readonly params: readonly (string | number)[]
}

function noVerbs(): Verbs {
	return {
		GET: undefined,
		POST: undefined,
		PUT: undefined,
		PATCH: undefined,
		DELETE: undefined,
		QUERY: undefined,
	}
}
