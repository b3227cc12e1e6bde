/**
 * The endpoints of a handler, for descriptions: method, path, and the names of its params. Made at mount by
 * `handler/mount/compile.ts`; read by `openapi/` and `explorer/`.
 */

import type { RouteMethod } from '../base/http.ts'
import type { Action } from '../exchange/action.ts'
import type { Shape } from '../validate/schema/shape.ts'

/** A parameter of a method, as its source says. */
export interface ParamName {
	readonly name: string
	/** Whether it has a default, or is a rest: a path may leave it out. */
	readonly optional: boolean
	/** Whether it takes all that follow. */
	readonly rest: boolean
}

/** A value within a path. */
export interface EndpointParam {
	readonly name: string
	/** A `%d` takes a number, others a text; a `rest` all segments that follow. */
	readonly kind: 'text' | 'number' | 'rest'
}

export interface MountedEndpoint {
	readonly method: RouteMethod
	/** Below the handler path, percent-encoded: `/article/{id}`, or ''. */
	readonly path: string
	/** In the order of the path, each name once. */
	readonly params: readonly EndpointParam[]
	/** Declared as a custom `route`, by a method's `name`, or by the handler's `own` action. */
	readonly by: 'route' | 'name' | 'own'
	readonly action: Action
	/** The shape that an own action declares. */
	readonly shape: (() => Shape) | undefined
}

/** A path with its params. */
export type EndpointPath = Pick<MountedEndpoint, 'path' | 'params' | 'by'>

/**
 * The paths of a resource: one for each number of params that may be left out; a rest is shown as one segment. (Plain
 * parameters may be left out too, but then a method mostly fails.)
 *
 *     get_article(id)            /article/{id}
 *     get_greeting(name = '')    /greeting   /greeting/{name}
 */
export function resourcePaths(resource: string | undefined, names: readonly ParamName[]): EndpointPath[] {
	const base = resource === undefined ? '' : `/${encodeURIComponent(resource)}`
	const needed = names.filter(({ optional }) => !optional).length
	const params = distinct(names.map(({ name, rest }) => ({ name, kind: rest ? 'rest' : 'text' })))
	return Array.from({ length: names.length - needed + 1 }, (_, more) => {
		const taken = params.slice(0, needed + more)
		return { path: base + taken.map(({ name }) => `/{${name}}`).join(''), params: taken, by: 'name' }
	})
}

/** The path of own actions: '', or an id. */
export function ownPath(segments: number): EndpointPath {
	const params = distinct(
		Array.from({ length: segments }, (): EndpointParam => ({ name: 'id', kind: 'text' })),
	)
	return { path: params.map(({ name }) => `/{${name}}`).join(''), params, by: 'own' }
}

/**
 * The path of a custom route, its placeholders named like the parameters of its method.
 *
 *     custom/%s/page-%d    page(name, number)    /custom/{name}/page-{number}
 */
export function customPath(pattern: string, names: readonly ParamName[]): EndpointPath {
	const kinds = [...pattern.matchAll(/%([sd%])/g)]
		.map(([, letter]) => letter)
		.filter((letter) => letter !== '%')
	const params = distinct(
		kinds.map((letter, at) => ({
			name: names[at]?.rest === false ? names[at].name : `param${at + 1}`,
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
	return { path: `/${path}`, params, by: 'route' }
}

function distinct(params: readonly EndpointParam[]): EndpointParam[] {
	const taken = new Set<string>()
	return params.map(({ name, kind }, at) => {
		const own = taken.has(name) ? `${name}${at + 1}` : name
		taken.add(own)
		return { name: own, kind }
	})
}
