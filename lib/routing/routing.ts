/**
 * Finds the action for a URL and a method. A tree finds the mount of a path; the mount's custom routes, or its table of
 * `<method>_<resource>`, find the action. `handler/controller.ts` creates mounts, `pipeline/answer.ts` finds actions. A name
 * sent by a client is never looked up on a handler itself.
 */

import { NOT_FOUND, RestError } from '../base/error.ts'
import { type Method, ROUTE_METHODS, type RouteMethod } from '../base/http.ts'
import type { Action } from '../exchange/action.ts'
import type { Exchange, MountFacts } from '../exchange/exchange.ts'
import type { RouteTable } from './custom/custom-routes.ts'
import { otherPlaceholder } from './custom/pattern.ts'
import type { MountedEndpoint } from './endpoints.ts'

export interface CustomRoute {
	/** As declared: `GET|POST custom/%s`. */
	readonly key: string
	readonly action: Action
}

export interface Mount extends MountFacts {
	/** The handler itself, for descriptions; requests use its views. */
	readonly handler: object
	/** `undefined` without custom routes. */
	readonly routes: RouteTable<CustomRoute> | undefined
	readonly table: LookupTable
	/** For descriptions; computed when first read. */
	readonly endpoints: readonly MountedEndpoint[]
	/** The handler's `init` while it runs, or once it has failed. */
	init: Promise<void> | undefined
}

/** The mount of a path, and how many of the path's segments lead to it. */
export interface Mounted {
	readonly mount: Mount
	readonly depth: number
}

/** A tree of mounts by path segment; the mount with the longest matching path wins. */
export class MountTree {
	readonly #root: Node = new Node()
	readonly #all: Mount[] = []

	get all(): readonly Mount[] {
		return this.#all
	}

	/** Adds a mount; returns false if its path is taken. */
	add(mount: Mount): boolean {
		let node = this.#root
		for (const segment of mount.path) {
			const next: Node = node.children.get(segment) ?? new Node()
			node.children.set(segment, next)
			node = next
		}
		if (node.mounted !== undefined) return false
		node.mounted = { mount, depth: mount.path.length }
		this.#all.push(mount)
		return true
	}

	/** The mount with the longest path that is a prefix of the segments. */
	find(segments: readonly string[]): Mounted | undefined {
		let node = this.#root
		let best = node.mounted
		for (let at = 0; at < segments.length; at++) {
			const next = node.children.get(segments[at] as string)
			if (next === undefined) break
			node = next
			best = node.mounted ?? best
		}
		return best
	}

	/**
	 * The index of the first segment that isn't in the tree, and the segments that the tree has there instead; `undefined` if
	 * all are in it.
	 */
	unknown(
		segments: readonly string[],
	): { readonly at: number; readonly others: Iterable<string> } | undefined {
		let node = this.#root
		for (const [at, segment] of segments.entries()) {
			const next = node.children.get(segment)
			if (next === undefined) return { at, others: node.children.keys() }
			node = next
		}
		return undefined
	}
}

class Node {
	readonly children = new Map<string, Node>()
	mounted: Mounted | undefined = undefined
}

type Verbs = { [M in RouteMethod]: Action | undefined }

/** The actions of a handler by resource, and its `_default` actions. */
export class LookupTable {
	readonly #resources = new Map<string, Verbs>()
	readonly #default: Verbs = noVerbs()
	/** Default actions for paths with a fixed number of segments, by that number. */
	readonly #sized: Verbs[] = []
	/** The same for paths with a fixed second segment, by that segment. */
	readonly #seconds = new Map<string, Verbs[]>()

	/** Adds an action of a resource, or, without one, the method's `_default`. */
	add(method: RouteMethod, resource: string | undefined, action: Action): void {
		if (resource === undefined) {
			this.#default[method] = action
			return
		}
		const verbs = this.#resources.get(resource) ?? noVerbs()
		verbs[method] = action
		this.#resources.set(resource, verbs)
	}

	/** Adds a `_default` action for paths of exactly this many segments, of which the second is `second` if given. */
	addSized(method: RouteMethod, segments: number, action: Action, second?: string): void {
		const sized = second === undefined ? this.#sized : (this.#seconds.get(second) ?? [])
		if (second !== undefined) this.#seconds.set(second, sized)
		while (sized.length <= segments) sized.push(noVerbs())
		const verbs = sized[segments]
		if (verbs !== undefined) verbs[method] = action
	}

	get(method: RouteMethod, resource: string | undefined): Action | undefined {
		return resource === undefined ? this.#default[method] : this.#resources.get(resource)?.[method]
	}

	/** Whether the segment at `from` is a resource, of any method. */
	hasResource(segments: readonly string[], from: number): boolean {
		const resource = segments[from]
		return resource !== undefined && this.#resources.has(resource)
	}

	/** The action of the resource at `from`; the segments after it are its params. */
	find(method: RouteMethod, segments: readonly string[], from: number): Action | undefined {
		const resource = segments[from]
		if (resource === undefined) return undefined
		const action = this.#resources.get(resource)?.[method]
		return action !== undefined && segments.length - from - 1 <= action.maxParams ? action : undefined
	}

	/** The method's `_default`; all segments from `from` on are its params. */
	findDefault(method: RouteMethod, segments: readonly string[], from: number): Action | undefined {
		const count = segments.length - from
		const sized = this.#sized[count]?.[method] ?? this.#ofSecond(method, segments, from)
		if (sized !== undefined) return sized
		const action = this.#default[method]
		return action !== undefined && count <= action.maxParams ? action : undefined
	}

	#ofSecond(method: RouteMethod, segments: readonly string[], from: number): Action | undefined {
		const second = segments[from + 1]
		return second === undefined ? undefined : this.#seconds.get(second)?.[segments.length - from]?.[method]
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

/**
 * The segments of a handler path as users type it: `blog/api` and `/blog/api` are the same, '' is the root. The
 * segments are compared with decoded segments of a URL, so they must not be percent-encoded.
 *
 * @throws TypeError for an empty segment, a dot segment, a placeholder, and characters that no path segment should have
 */
export function parsePath(what: string, path: unknown): string[] {
	if (typeof path !== 'string') throw new TypeError(`${what} must be a string, got ${typeof path}`)
	if (path === '' || path === '/') return []
	const inner = path.replace(/^\//, '').replace(/\/$/, '')
	const segments = inner.split('/')
	for (const segment of segments) {
		if (segment === '') throw new TypeError(`${what} ${JSON.stringify(path)} has an empty segment`)
		if (segment === '.' || segment === '..')
			throw new TypeError(
				`${what} ${JSON.stringify(path)} has a dot segment, which clients resolve before sending a request`,
			)
		if (/[?#%\\\x00-\x20\x7f]/.test(segment))
			throw new TypeError(
				`${what} ${JSON.stringify(path)} may not hold ?, #, %, \\, blanks or control characters`,
			)
		const other = otherPlaceholder(segment)
		if (other !== undefined)
			throw new TypeError(
				`${what} ${JSON.stringify(path)} would have ${other} as literal text: mount without it, and take it as a parameter of the methods`,
			)
	}
	return segments
}

/**
 * Finds the action for a path, and sets its params on the exchange. Custom routes come first, then resources, then
 * `_default`, unless another method serves the path: a PUT to a path that only GET serves is 405, and must not reach
 * `put__default`.
 */
export function findAction(
	exchange: Exchange,
	{ routes, table }: Mount,
	method: Method,
	segments: readonly string[],
	from: number,
): Action | undefined {
	const verb = routeMethodOf(method)
	if (verb === undefined) return undefined
	const custom = routes?.match(verb, segments.slice(from))
	if (custom !== undefined) {
		exchange.params = custom.params
		exchange.customRoute = custom.value.key
		return custom.value.action
	}
	const found = table.find(verb, segments, from)
	if (found !== undefined) {
		exchange.params = segments.slice(from + 1)
		return found
	}
	if (table.hasResource(segments, from)) return undefined
	if (routes !== undefined && routes.methodsFor(segments.slice(from)).length > 0) return undefined
	exchange.params = segments.slice(from)
	return table.findDefault(verb, segments, from)
}

/** The methods of a path: those of its custom routes and its resource, or else those with a `_default` for it. */
export function methodsOf(
	{ routes, table }: Mount,
	segments: readonly string[],
	from: number,
): RouteMethod[] {
	const methods = ROUTE_METHODS.filter((method) => table.find(method, segments, from) !== undefined)
	if (routes !== undefined) methods.push(...routes.methodsFor(segments.slice(from)))
	if (methods.length > 0 || table.hasResource(segments, from)) return methods
	return ROUTE_METHODS.filter((method) => table.findDefault(method, segments, from) !== undefined)
}

const OVERRIDES: ReadonlySet<string> = new Set<Method>(['PUT', 'PATCH', 'DELETE'])

/**
 * The method after X-HTTP-Method-Override, for networks that only allow GET and POST. Only a POST can be overridden,
 * and only by the header, so that no link or image can turn a GET into a DELETE.
 *
 * @throws RestError `bad_request` for any other method or value, and if the header is sent twice
 */
export function overrideMethod(method: Method, header: string | string[] | undefined): Method {
	if (header === undefined) return method
	const wanted = String(header).trim().toUpperCase()
	if (method === 'POST' && isOverride(wanted)) return wanted
	throw new RestError(
		'bad_request',
		'X-HTTP-Method-Override must be sent once, with a POST, and be PUT, PATCH or DELETE',
	)
}

function isOverride(name: string): name is Method {
	return OVERRIDES.has(name)
}

/** The 404 for a path without handler or action; for an unknown version, `/blog/v9/article`, it lists the known ones. */
export function notFound(
	mounts: MountTree,
	mounted: Mounted | undefined,
	segments: readonly string[],
): RestError {
	const unknown = mounts.unknown(segments)
	if (unknown === undefined) return NOT_FOUND
	const { at, others } = unknown
	const segment = segments[at] ?? ''
	if (!VERSION.test(segment)) return NOT_FOUND
	// The segment is a resource of this handler, not a version.
	if (mounted?.depth === at && mounted.mount.table.hasResource(segments, at)) return NOT_FOUND
	const versions = [...others].filter((other) => VERSION.test(other))
	if (versions.length === 0) return NOT_FOUND
	versions.sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)))
	return new RestError('not_found', `There is no version ${segment} here: ${versions.join(', ')}`)
}

/** Few digits, because the message repeats the version. */
const VERSION = /^v\d{1,9}$/

/** The method whose route serves a request: HEAD is served by GET, without the body (RFC 9110 §9.3.2). */
export function routeMethodOf(method: Method): RouteMethod | undefined {
	if (method === 'HEAD') return 'GET'
	return method === 'OPTIONS' ? undefined : method
}
