/**
 * The endpoints of a handler, for descriptions: method, path, and the names of its params. Created by
 * `handler/mount/compile.ts`; read by `openapi/` and `explorer/`, and by `routesOf`, which finds the route of a request.
 */

import type { RouteMethod } from '../base/http.ts'
import type { Action } from '../exchange/action.ts'
import type { MountFacts, RouteFacts } from '../exchange/exchange.ts'
import type { Shape } from '../validate/schema/shape.ts'

/** A parameter of a method, parsed from its source. */
export interface ParamName {
	readonly name: string
	/** Whether it has a default, or is a rest parameter: a path may leave it out. */
	readonly isOptional: boolean
	readonly isRest: boolean
}

export interface EndpointParam {
	readonly name: string
	/** `number` for `%d`, `rest` for all remaining segments. */
	readonly kind: 'text' | 'number' | 'rest'
}

export interface MountedEndpoint {
	readonly method: RouteMethod
	/** Below the handler path, percent-encoded: `/article/{id}`, or ''. */
	readonly path: string
	/** In the order of the path, with distinct names. */
	readonly params: readonly EndpointParam[]
	/** What declares it: a custom `route`, a method's `name`, or the handler's `own` (built-in) action. */
	readonly by: 'route' | 'name' | 'own'
	/** The key of a custom route, as declared: `GET|POST custom/%s`. */
	readonly key?: string
	/** How many of a request's segments are params; a rest parameter takes more. */
	readonly segments: number
	readonly action: Action
	/** The shape of a built-in action. */
	readonly shape: (() => Shape) | undefined
}

export type EndpointPath = Pick<MountedEndpoint, 'path' | 'params' | 'by' | 'segments'>

/** The path of a mount: `/blog/api`; empty for the root. */
export function pathOfMount({ path }: Pick<MountFacts, 'path'>): string {
	return path.map((segment) => `/${encodeURIComponent(segment)}`).join('')
}

/**
 * The paths of a resource: one for each number of optional params; a rest parameter is shown as one segment. (Clients may
 * leave out required params too, but methods rarely handle that.)
 *
 *     get_article(id)            /article/{id}
 *     get_greeting(name = '')    /greeting   /greeting/{name}
 */
export function resourcePaths(resource: string | undefined, names: readonly ParamName[]): EndpointPath[] {
	const base = resource === undefined ? '' : `/${encodeURIComponent(resource)}`
	const required = names.filter(({ isOptional }) => !isOptional).length
	const params = distinct(names.map(({ name, isRest }) => ({ name, kind: isRest ? 'rest' : 'text' })))
	return Array.from({ length: names.length - required + 1 }, (_, more) => {
		const used = params.slice(0, required + more)
		return { path: base + template(used), params: used, by: 'name', segments: used.length }
	})
}

/**
 * The path of a built-in action: '', `/{id}`, a path below an id (`/{id}/comments`, `/{id}/tags/{id2}`), or a resource's.
 */
export function ownPath(segments: number, second?: string, resource?: string): EndpointPath {
	if (resource !== undefined) return { path: `/${resource}`, params: [], by: 'own', segments: 0 }
	const count = second === undefined ? segments : segments - 1
	const params = distinct(Array.from({ length: count }, () => ({ name: 'id', kind: 'text' })))
	if (second === undefined) return { path: template(params), params, by: 'own', segments }
	const path = `${template(params.slice(0, 1))}/${second}${template(params.slice(1))}`
	return { path, params, by: 'own', segments }
}

function template(params: readonly EndpointParam[]): string {
	return params.map(({ name }) => `/{${name}}`).join('')
}

/**
 * The path of a custom route, with placeholders named like the parameters of its method.
 *
 *     custom/%s/page-%d    page(name, number)    /custom/{name}/page-{number}
 */
export function customPath(pattern: string, names: readonly ParamName[]): EndpointPath {
	const kinds = [...pattern.matchAll(/%([sd%])/g)]
		.map(([, letter]) => letter)
		.filter((letter) => letter !== '%')
	const params = distinct(
		kinds.map((letter, at) => ({
			name: names[at]?.isRest === false ? names[at].name : `param${at + 1}`,
			kind: letter === 'd' ? 'number' : 'text',
		})),
	)
	let at = 0
	const path = pattern
		.split(/(%[sd%]|\/)/)
		.map((part) => {
			if (part === '%%') return '%25'
			if (part === '%s' || part === '%d') return `{${params[at++]?.name}}`
			return part === '/' ? part : encodeURIComponent(part)
		})
		.join('')
	return { path: `/${path}`, params, by: 'route', segments: params.length }
}

function distinct(params: readonly EndpointParam[]): EndpointParam[] {
	const used = new Set<string>()
	return params.map(({ name, kind }, at) => {
		const distinctName = used.has(name) ? `${name}${at + 1}` : name
		used.add(distinctName)
		return { name: distinctName, kind }
	})
}

const PARAM = /\{[^{}]*\}/g

/**
 * Returns a function that finds the route of a request to a mount: the path of its endpoint, from the server's root, as
 * the OpenAPI description spells it. So there are only as many routes as endpoints, whatever clients send.
 *
 * @param endpoints called when a route is first needed: computing them is slow
 */
export function routesOf(
	path: readonly string[],
	endpoints: () => readonly MountedEndpoint[],
): MountFacts['routeOf'] {
	let templates: Templates | undefined
	return (routed) => {
		templates ??= new Templates(pathOfMount({ path }), endpoints())
		return templates.of(routed)
	}
}

class Templates {
	readonly #byKey = new Map<string, string>()
	/** The templates of each action, by number of params. */
	readonly #byAction = new Map<Action, string[]>()

	constructor(base: string, endpoints: readonly MountedEndpoint[]) {
		// A description spells templates that differ only in param names like the first of them. It leaves out QUERY, which
		// therefore comes last.
		const spelled = new Map<string, string>()
		const isLast = ({ method }: MountedEndpoint) => Number(method === 'QUERY')
		for (const endpoint of endpoints.toSorted((a, b) => isLast(a) - isLast(b))) {
			const { path, action, key, segments } = endpoint
			const shape = path.replace(PARAM, '{}')
			const template = spelled.get(shape) ?? (base + path || '/')
			spelled.set(shape, template)
			if (key !== undefined) this.#byKey.set(key, template)
			else {
				const known = this.#byAction.get(action) ?? []
				known[segments] = template
				this.#byAction.set(action, known)
			}
		}
	}

	of({ action, customRoute, params }: RouteFacts): string | undefined {
		if (customRoute !== undefined) return this.#byKey.get(customRoute)
		const known = action && this.#byAction.get(action)
		// A request may leave out params that the method doesn't declare as optional, and has any number for a rest parameter.
		return (
			known?.[Math.min(params.length, known.length - 1)] ?? known?.find((template) => template !== undefined)
		)
	}
}
