/** The ways that lead to a handler's actions, as a description tells them: method, path and names of its params. */

import type { RouteMethod } from '../base/http.ts'
import type { Action } from '../exchange/action.ts'
import type { ParamName } from '../handler/mount/param-names.ts'
import type { Shape } from '../validate/schema/shape.ts'

/** A value within a path. */
export interface WayParam {
	readonly name: string
	/** What a placeholder takes: `%d` a number, all others a text; a `rest` all texts that follow. */
	readonly kind: 'text' | 'number' | 'rest'
}

export interface Way {
	readonly method: RouteMethod
	/** Behind the handler path, percent-encoded: `/article/{id}`, or nothing. */
	readonly path: string
	/** In the order of the path. No name is there twice. */
	readonly params: readonly WayParam[]
	/** What leads there: a custom `route`, the name of a method, or an action that was brought along. */
	readonly by: 'route' | 'name' | 'own'
	readonly action: Action
	/** What an action that was brought along says of itself. */
	readonly shape: (() => Shape) | undefined
}

/** A path, and what is in it. */
export type WayPath = Pick<Way, 'path' | 'params' | 'by'>

/**
 * The paths of a resource: one for each number of params that may be left out. Of a rest, one segment is shown. (A
 * method that declares only plain parameters can be called with fewer of them, too; but then it mostly fails.)
 *
 *     get_article(id)            /article/{id}
 *     get_greeting(name = '')    /greeting   /greeting/{name}
 */
export function resourcePaths(resource: string | undefined, names: readonly ParamName[]): WayPath[] {
	const base = resource === undefined ? '' : `/${encodeURIComponent(resource)}`
	const needed = names.filter(({ optional }) => !optional).length
	const params = distinct(names.map(({ name, rest }) => ({ name, kind: rest ? 'rest' : 'text' })))
	return Array.from({ length: names.length - needed + 1 }, (_, more) => {
		const taken = params.slice(0, needed + more)
		return { path: base + taken.map(({ name }) => `/{${name}}`).join(''), params: taken, by: 'name' }
	})
}

/** The path of actions that are brought along: of nothing, or of an id. */
export function ownPath(segments: number): WayPath {
	const params = distinct(Array.from({ length: segments }, (): WayParam => ({ name: 'id', kind: 'text' })))
	return { path: params.map(({ name }) => `/{${name}}`).join(''), params, by: 'own' }
}

/**
 * The path of a custom route, whose placeholders are called as the parameters of its method are.
 *
 *     custom/%s/page-%d    page(name, number)    /custom/{name}/page-{number}
 */
export function customPath(pattern: string, names: readonly ParamName[]): WayPath {
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

function distinct(params: readonly WayParam[]): WayParam[] {
	const taken = new Set<string>()
	return params.map(({ name, kind }, at) => {
		const own = taken.has(name) ? `${name}${at + 1}` : name
		taken.add(own)
		return { name: own, kind }
	})
}
