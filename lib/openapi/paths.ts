/**
 * The paths of a description. In OpenAPI two templates that differ in the names of their params alone are one path,
 * and a path has one operation for each method; so what requests would never reach is left out here.
 */

import type { Mount } from '../routing/mount.ts'
import { type Endpoint, pathOfMount } from './endpoints.ts'

/** An operation's place among the others. */
export interface PlacedEndpoint {
	readonly endpoint: Endpoint
	/** Names of its params: those of the first endpoint with this path. */
	readonly names: readonly string[]
}

export interface DescribedPath {
	/** `/blog/api/article/{id}` */
	readonly template: string
	readonly endpoints: readonly PlacedEndpoint[]
}

/** OpenAPI 3.1 has no place for QUERY. */
const UNSAID = 'QUERY'

const PARAM = /\{[^{}]*\}/g

/**
 * The paths of endpoints, in their order.
 *
 * @param mounts all that there are, whether they are described or not
 */
export function pathsOf(mounts: readonly Mount[], endpoints: readonly Endpoint[]): DescribedPath[] {
	const paths = new Map<string, { template: string; byMethod: Map<string, Endpoint> }>()
	const deeper = new Set(mounts.map(pathOfMount))
	for (const endpoint of endpoints) {
		if (endpoint.method === UNSAID || isCovered(endpoint, deeper)) continue
		const key = endpoint.path.replace(PARAM, '{}')
		const path = paths.get(key) ?? { template: endpoint.path, byMethod: new Map<string, Endpoint>() }
		paths.set(key, path)
		const before = path.byMethod.get(endpoint.method)
		if (before === undefined || comesBefore(endpoint, before)) path.byMethod.set(endpoint.method, endpoint)
	}
	return [...paths.values()].flatMap(({ template, byMethod }) => {
		const names = (template.match(PARAM) ?? []).map((param) => param.slice(1, -1))
		// Only now: what stands behind a hidden one would never be reached.
		const shown = [...byMethod.values()].filter(({ docs }) => docs.hidden !== true)
		return shown.length === 0 ? [] : [{ template, endpoints: shown.map((endpoint) => ({ endpoint, names })) }]
	})
}

/** Whether another handler answers: the longest handler path wins. */
function isCovered({ path, mount }: Endpoint, mounts: ReadonlySet<string>): boolean {
	const own = pathOfMount(mount).length
	for (let end = path.length; end > own; end = path.lastIndexOf('/', end - 1))
		if (mounts.has(path.slice(0, end))) return true
	return false
}

/**
 * Custom routes are tried before the lookup, and the first of them wins. One that takes only numbers leaves the
 * other texts to what stands behind it, which says more.
 */
function comesBefore(endpoint: Endpoint, before: Endpoint): boolean {
	if (endpoint.by !== 'route' || takesNumbers(endpoint)) return false
	return before.by !== 'route' || takesNumbers(before)
}

function takesNumbers({ by, params }: Endpoint): boolean {
	return by === 'route' && params.some(({ schema }) => schema.type === 'integer')
}
