/** The operations that the caller may use: at a path, and on the map of all handlers below it. */
import { ROUTE_METHODS, type RouteMethod } from '../base/http.ts'
import { exportUse } from '../crud/relations/shown.ts'
import type { Action } from '../exchange/action.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { type Endpoint, endpointsOf, Steps } from '../openapi/endpoints.ts'
import { pathOf } from '../reply/link.ts'
import { pathOfMount } from '../routing/endpoints.ts'
import type { Mount, MountTree } from '../routing/routing.ts'
import type { Caller } from './caller.ts'
import type { MapData, MapHandler, MapRoute, OperationData } from './page-data.ts'
import { actionAt, isAbove, type Place } from './place.ts'

/**
 * The operations of a path, in the order of `Allow`. After a 404 or 410, and for deleted records, those that need an
 * existing record are omitted.
 */
export async function operationsAt(
	exchange: Exchange,
	place: Place,
	caller: Caller,
	status: number,
): Promise<OperationData[]> {
	const { mount } = place
	if (mount === undefined) return []
	const restore = await restoreFor(mount, caller)
	const isDeleted = restore !== undefined && isOfDeleted(place.url)
	const isMissing = status === 404 || status === 410 || isDeleted
	const operations: OperationData[] = []
	for (const method of ROUTE_METHODS) {
		const action = actionAt(exchange, place, method)
		if (action === undefined) continue
		const endpoint = endpointFor(mount, place, method, action)
		if (isMissing && needsRecord(method, endpoint)) continue
		const data = operationData(method, action, await caller.may(mount, action), endpoint)
		// A caller who may not restore records may not read deleted ones.
		const query = data.query.filter(({ role }) => role !== 'deleted' || restore !== undefined)
		const exports =
			method === 'GET' && status < 400 && action.name === 'list' && (await mayExport(mount, caller))
		operations.push({ ...data, query, ...(exports ? { exports } : {}) })
		if (isDeleted && status < 400 && action.name === 'read') operations.push(restoreData(restore, place))
	}
	const imports = endpointsOf(mount).find(({ action }) => action.name === 'import')
	const isList = status < 400 && actionAt(exchange, place, 'GET')?.name === 'list'
	if (isList && imports !== undefined && (await caller.may(mount, imports.action)))
		operations.push({
			...operationData('POST', imports.action, true, imports),
			...{ url: place.prefix + imports.path, imports: true },
		})
	return operations
}

async function mayExport(mount: Mount, caller: Caller): Promise<boolean> {
	const use = exportUse(mount.handler)
	return use !== undefined && (await caller.mayUse(use, mount))
}

/** How the caller restores deleted records; `undefined` if they may not. */
async function restoreFor(mount: Mount, caller: Caller): Promise<Endpoint | undefined> {
	const endpoint = endpointsOf(mount).find(({ action }) => action.name === 'restore')
	return endpoint !== undefined && (await caller.may(mount, endpoint.action)) ? endpoint : undefined
}

/** Whether a URL asks for deleted records. */
export function isOfDeleted(url: string): boolean {
	return new URLSearchParams(url.slice(pathOf(url).length)).get('deleted') === 'only'
}

function restoreData(endpoint: Endpoint, { url }: Place): OperationData {
	const own = `${pathOf(url).replace(/\/$/, '')}/restore`
	return { ...operationData('POST', endpoint.action, true, endpoint), url: own, restores: true }
}

/** Whether a method needs an existing record. PUT and POST may create it (RFC 9110 §9.3.4), unless they document a 404. */
function needsRecord(method: RouteMethod, endpoint: Endpoint | undefined): boolean {
	if (method === 'PATCH' || method === 'DELETE') return true
	return (method === 'PUT' || method === 'POST') && endpoint?.shape.refusals.includes(404) === true
}

function operationData(
	method: RouteMethod,
	action: Action,
	isAllowed: boolean,
	endpoint: Endpoint | undefined,
): OperationData {
	const { summary, query, body, answer } = endpoint?.shape ?? {}
	const isShown = isAllowed && endpoint !== undefined
	return {
		method,
		summary: isAllowed ? summaryOf(action, summary) : '',
		isAllowed,
		query: isShown ? (query ?? []) : [],
		body: isShown ? body?.schema : undefined,
		matched: isShown ? body?.matched : undefined,
		isStreaming: isShown && action.streaming !== undefined,
		isPage: isShown && answer?.isPage === true,
		isTotals: isShown && action.name === 'totals',
	}
}

/** The declared summary, or else the method's name; empty for `_default`, which says no more than the path. */
function summaryOf({ name }: Action, summary: string | undefined): string {
	return summary || (name.endsWith('__default') ? '' : name)
}

/** Optional params give an action several endpoints: prefers the one with as many segments as the path. */
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

/** The URL template of this list's records, `/blog/articles/{id}`; `undefined` if the caller may not read records. */
export async function recordPathAt(
	exchange: Exchange,
	place: Place,
	caller: Caller,
): Promise<string | undefined> {
	const { mount, segments, depth, prefix } = place
	if (mount === undefined || segments.length < depth) return undefined
	const list = actionAt(exchange, place, 'GET')
	for (const { method, path, params, action } of endpointsOf(mount)) {
		const [param] = params
		const isRecord = method === 'GET' && params.length === 1 && lengthOf(path) === segments.length + 1
		if (!isRecord || param === undefined || !path.endsWith(`/{${param.name}}`)) continue
		if (!(await caller.may(mount, action))) return undefined
		return `${prefix}${path.slice(0, path.lastIndexOf('/'))}/${(keyOf(mount, list) ?? [param.name]).map((name) => `{${name}}`).join()}`
	}
	return undefined
}

/** The path of this list's totals, if the caller may use them. */
export async function totalsPathAt(
	exchange: Exchange,
	place: Place,
	caller: Caller,
): Promise<string | undefined> {
	const { mount } = place
	if (mount === undefined || actionAt(exchange, place, 'GET')?.name !== 'list') return undefined
	const totals = endpointsOf(mount).find(({ action }) => action.name === 'totals')
	if (totals === undefined || !(await caller.may(mount, totals.action))) return undefined
	return place.prefix + totals.path
}

/** The fields that identify a record, if the list declares them. */
function keyOf(mount: Mount, list: Action | undefined): readonly string[] | undefined {
	const pages = endpointsOf(mount).filter(({ action, shape }) => action === list && shape.answer.isPage)
	return pages[0]?.shape.answer.key
}

const IS_VERSION = /^v\d+(?:[.-]\d+)*$/i

/** The map of handlers at a path and below. Runs in steps, because describing all handlers for the first time is slow. */
export async function mapOf(mounts: MountTree, place: Place, caller: Caller): Promise<MapData> {
	const handlers: MapHandler[] = []
	const steps = new Steps()
	let hasMore = false
	for (const mount of mounts.all.filter((one) => isAbove(place.segments, one))) {
		const endpoints = endpointsOf(mount).filter(({ action }) => action.docs?.hidden !== true)
		const usable: Endpoint[] = []
		for (const endpoint of endpoints) if (await caller.may(mount, endpoint.action)) usable.push(endpoint)
		hasMore ||= usable.length < endpoints.length
		if (usable.length > 0) handlers.push(handlerOf(mount, place.prefix, usable))
		await steps.pause()
	}
	// Group the versions of a handler.
	const names = [...new Set(handlers.map(({ name }) => name))]
	return { handlers: names.flatMap((name) => handlers.filter((one) => one.name === name)), hasMore }
}

/** Paths of the handlers with at least one action that the caller may use. */
export async function rootsOf(mounts: MountTree, place: Place, caller: Caller): Promise<string[]> {
	const roots: string[] = []
	for (const mount of mounts.all) {
		for (const { action } of mount.endpoints) {
			if (!(await caller.may(mount, action))) continue
			roots.push(place.prefix + pathOfMount(mount))
			break
		}
	}
	return roots
}

function handlerOf(mount: Mount, prefix: string, endpoints: readonly Endpoint[]): MapHandler {
	const version = mount.path.find((segment) => IS_VERSION.test(segment))
	const name = mount.path.filter((segment) => segment !== version).join('/')
	const routes = new Map<string, Endpoint[]>()
	for (const endpoint of endpoints) {
		const others = routes.get(endpoint.path) ?? []
		others.push(endpoint)
		routes.set(endpoint.path, others)
	}
	return { name, version, routes: [...routes].map(([path, all]) => routeOf(prefix + path, all)) }
}

function routeOf(path: string, endpoints: readonly Endpoint[]): MapRoute {
	const operations = endpoints.map(({ method, shape, action }) => ({
		method,
		summary: summaryOf(action, shape.summary),
	}))
	const lists = (endpoints[0]?.params ?? []).filter(({ schema }) => schema.type === 'array')
	if (lists.length === 0) return { path, operations }
	const meanings = lists.map(({ name, schema }) => [name, schema.description ?? name])
	return { path, lists: Object.fromEntries(meanings), operations }
}
