/** The map: all handlers, versions and routes that the caller may use. */
import { type Endpoint, endpointsOf, pathOfMount } from '../openapi/endpoints.ts'
import { Steps } from '../openapi/steps.ts'
import type { Mount, MountTree } from '../routing/mount.ts'
import type { Callers } from './callers.ts'
import type { MapData, MapHandler, MapRoute } from './page-data.ts'
import { isAbove, type Place } from './place.ts'
import { summaryOf } from './ways.ts'

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
		for (const { action } of mount.ways) {
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
