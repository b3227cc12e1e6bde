/** What the caller may do: at a path, by method, and on the map, which lists all handlers, versions and routes below it. */
import { ROUTE_METHODS, type RouteMethod } from '../base/http.ts'
import type { Action } from '../exchange/action.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { type Endpoint, endpointsOf, pathOfMount } from '../openapi/endpoints.ts'
import { Steps } from '../openapi/steps.ts'
import type { Mount, MountTree } from '../routing/mount.ts'
import type { Callers } from './callers.ts'
import type { MapData, MapHandler, MapRoute, WayData } from './page-data.ts'
import { actionAt, isAbove, type Place } from './place.ts'

/** In the order in which `Allow` names them; without those that can't succeed where GET has answered `status`. */
export async function waysAt(
	exchange: Exchange,
	place: Place,
	callers: Callers,
	status: number,
): Promise<WayData[]> {
	const { mount } = place
	if (mount === undefined) return []
	const ways: WayData[] = []
	for (const method of ROUTE_METHODS) {
		const action = actionAt(exchange, place, method)
		if (action === undefined) continue
		const endpoint = endpointFor(mount, place, method, action)
		if ((status === 404 || status === 410) && needsRecord(method, endpoint)) continue
		ways.push(wayOf(method, action, await callers.may(mount, action), endpoint))
	}
	return ways
}

/**
 * Whether a method does something to what is there, and so nothing where nothing is. PUT may make it (RFC 9110
 * §9.3.4), and POST too, unless they say that they answer 404 themselves.
 */
function needsRecord(method: RouteMethod, endpoint: Endpoint | undefined): boolean {
	if (method === 'PATCH' || method === 'DELETE') return true
	return (method === 'PUT' || method === 'POST') && endpoint?.shape.refusals.includes(404) === true
}

function wayOf(
	method: RouteMethod,
	action: Action,
	isAllowed: boolean,
	endpoint: Endpoint | undefined,
): WayData {
	const { summary, query, body, answer } = endpoint?.shape ?? {}
	const isShown = isAllowed && endpoint !== undefined
	return {
		method,
		summary: isAllowed ? summaryOf(action, summary) : '',
		isAllowed,
		query: isShown ? (query ?? []) : [],
		body: isShown ? body?.schema : undefined,
		isStreaming: isShown && action.streaming !== undefined,
		isPage: isShown && answer?.isPage === true,
	}
}

/** What an action does, else how its method is called: `_default` says no more than the path. */
export function summaryOf({ name }: Pick<Action, 'name'>, summary: string | undefined): string {
	return summary || (name.endsWith('__default') ? '' : name)
}

/** Of the endpoints of an action the one whose path has as many segments as this. */
function endpointFor(
	mount: Mount,
	{ segments }: Place,
	method: RouteMethod,
	action: Action,
): Endpoint | undefined {
	const all = endpointsOf(mount).filter((one) => one.action === action && one.method === method)
	return all.find(({ path }) => lengthOf(path) === segments.length) ?? all[0]
}

function lengthOf(path: string): number {
	return path.split('/').length - 1
}

/** Where the records of the list at this path are, where the caller may read them: one param behind it. */
export async function recordPathAt(
	exchange: Exchange,
	place: Place,
	callers: Callers,
): Promise<string | undefined> {
	const { mount, segments, depth, outside } = place
	if (mount === undefined || segments.length < depth) return undefined
	const list = actionAt(exchange, place, 'GET')
	for (const { method, path, params, action } of endpointsOf(mount)) {
		const [param] = params
		const isRecord = method === 'GET' && params.length === 1 && lengthOf(path) === segments.length + 1
		if (!isRecord || param === undefined || !path.endsWith(`/{${param.name}}`)) continue
		if (!(await callers.may(mount, action))) return undefined
		return `${outside}${path.slice(0, path.lastIndexOf('/'))}/{${keyOf(mount, list) ?? param.name}}`
	}
	return undefined
}

/** The field whose value is in the URL of a record, where the list says so. */
function keyOf(mount: Mount, list: Action | undefined): string | undefined {
	const pages = endpointsOf(mount).filter(({ action, shape }) => action === list && shape.answer.isPage)
	return pages[0]?.shape.answer.key
}

const IS_VERSION = /^v\d+(?:[.-]\d+)*$/i

/** What is at a path, and below it; made in steps, as each handler is described for it where it wasn't before. */
export async function mapOf(mounts: MountTree, place: Place, callers: Callers): Promise<MapData> {
	const handlers: MapHandler[] = []
	const steps = new Steps()
	let hasMore = false
	for (const mount of mounts.all.filter((one) => isAbove(place.segments, one))) {
		const endpoints = endpointsOf(mount).filter(({ action }) => action.docs?.hidden !== true)
		const usable: Endpoint[] = []
		for (const endpoint of endpoints) if (await callers.may(mount, endpoint.action)) usable.push(endpoint)
		hasMore ||= usable.length < endpoints.length
		if (usable.length > 0) handlers.push(handlerOf(mount, place.outside, usable))
		await steps.pause()
	}
	// Versions of one thing stand together, whatever was mounted between.
	const names = [...new Set(handlers.map(({ name }) => name))]
	return { handlers: names.flatMap((name) => handlers.filter((one) => one.name === name)), hasMore }
}

/** Handler paths at which the caller may use anything, as far as that is known. */
export async function rootsOf(mounts: MountTree, place: Place, callers: Callers): Promise<string[]> {
	const roots: string[] = []
	for (const mount of mounts.all) {
		for (const { action } of mount.endpoints) {
			if (!(await callers.may(mount, action))) continue
			roots.push(place.outside + pathOfMount(mount))
			break
		}
	}
	return roots
}

function handlerOf(mount: Mount, outside: string, endpoints: readonly Endpoint[]): MapHandler {
	const version = mount.path.find((segment) => IS_VERSION.test(segment))
	const name = mount.path.filter((segment) => segment !== version).join('/')
	const routes = new Map<string, MapRoute['ways'][number][]>()
	for (const { path, method, shape, action } of endpoints) {
		const ways = routes.get(path) ?? []
		ways.push({ method, summary: summaryOf(action, shape.summary) })
		routes.set(path, ways)
	}
	return {
		name,
		version,
		routes: [...routes].map(([path, ways]) => ({ path: outside + path, ways })),
	}
}
