/**
 * The lookup of `<method>_<resource>`: a table made once from a handler's class, in which a request
 * finds its method by Map. Nothing is looked up on the handler by a name that came from outside.
 */

import type { RouteMethod } from '../base/http.ts'
import type { Action } from '../exchange/action.ts'

/** The actions of one resource, by method. */
export type Verbs = { [M in RouteMethod]: Action | undefined }

/** All actions of a handler: by resource, and the `_default` ones. */
export class LookupTable {
	readonly #resources = new Map<string, Verbs>()
	readonly #default: Verbs = noVerbs()
	/** The default actions of paths of a certain length, by that length. */
	readonly #sized: Verbs[] = []

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

	/** Adds a `_default` action that is only for paths of so many segments. */
	addSized(method: RouteMethod, segments: number, action: Action): void {
		while (this.#sized.length <= segments) this.#sized.push(noVerbs())
		const verbs = this.#sized[segments]
		if (verbs !== undefined) verbs[method] = action
	}

	/** The action that a resource has already under a method. */
	get(method: RouteMethod, resource: string | undefined): Action | undefined {
		return resource === undefined ? this.#default[method] : this.#resources.get(resource)?.[method]
	}

	/** Whether any method has the resource that is named at `from`. */
	knows(segments: readonly string[], from: number): boolean {
		const resource = segments[from]
		return resource !== undefined && this.#resources.has(resource)
	}

	/** The action of the resource that is named at `from`; the segments behind it are its params. */
	find(method: RouteMethod, segments: readonly string[], from: number): Action | undefined {
		const resource = segments[from]
		if (resource === undefined) return undefined
		const action = this.#resources.get(resource)?.[method]
		return action !== undefined && segments.length - from - 1 <= action.maxParams ? action : undefined
	}

	/** The method's `_default`; all segments from `from` on are its params. */
	findDefault(method: RouteMethod, segments: readonly string[], from: number): Action | undefined {
		const count = segments.length - from
		const sized = this.#sized[count]?.[method]
		if (sized !== undefined) return sized
		const action = this.#default[method]
		return action !== undefined && count <= action.maxParams ? action : undefined
	}
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
