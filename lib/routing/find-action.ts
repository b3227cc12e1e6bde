/**
 * A URL and a method to an action: a custom route's, else a resource's, else `_default`'s; the method that
 * X-HTTP-Method-Override asks for; and the 404 where there is none. Called by `pipeline/answer.ts`; asks the tables of the
 * mount, which are made in `mount.ts` and `custom/`.
 */

import { NOT_FOUND, RestError } from '../base/error.ts'
import { type Method, ROUTE_METHODS, type RouteMethod, routeMethodOf } from '../base/http.ts'
import type { Action } from '../exchange/action.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Mount, Mounted, MountTree } from './mount.ts'

/**
 * The action for a path; its params are set on the exchange. Custom routes come first, then resources; `_default` is last,
 * and only for a path that no other method serves: a PUT to a path that only GET serves is 405, and must not reach
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
		return custom.value
	}
	const found = table.find(verb, segments, from)
	if (found !== undefined) {
		exchange.params = segments.slice(from + 1)
		return found
	}
	if (table.knows(segments, from)) return undefined
	if (routes !== undefined && routes.methodsFor(segments.slice(from)).length > 0) return undefined
	exchange.params = segments.slice(from)
	return table.findDefault(verb, segments, from)
}

/** The methods of a path: those of its custom routes and its resource, else those whose `_default` takes it. */
export function methodsOf(
	{ routes, table }: Mount,
	segments: readonly string[],
	from: number,
): RouteMethod[] {
	const known = ROUTE_METHODS.filter((method) => table.find(method, segments, from) !== undefined)
	if (routes !== undefined) known.push(...routes.methodsFor(segments.slice(from)))
	if (known.length > 0 || table.knows(segments, from)) return known
	return ROUTE_METHODS.filter((method) => table.findDefault(method, segments, from) !== undefined)
}

const OVERRIDES: ReadonlySet<string> = new Set<Method>(['PUT', 'PATCH', 'DELETE'])

/**
 * The method to act on, for networks that let only GET and POST through: X-HTTP-Method-Override. Only a POST can be
 * overridden, and only by the header, so that no link or image can turn a GET into a DELETE.
 *
 * @throws RestError `bad_request` on any other method, for any other value, and for two headers
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

/** The 404 for a path without handler or action; it lists the versions there are for `/blog/v9/article`. */
export function notFound(
	mounts: MountTree,
	mounted: Mounted | undefined,
	segments: readonly string[],
): RestError {
	const unknown = mounts.unknown(segments)
	if (unknown === undefined) return NOT_FOUND
	const { at, others } = unknown
	// The segment is a resource of this handler, and no version.
	if (mounted?.depth === at && mounted.mount.table.knows(segments, at)) return NOT_FOUND
	const message = unknownVersion(segments[at] ?? '', others)
	return message === undefined ? NOT_FOUND : new RestError('not_found', message)
}

/** Bounded: the message repeats the version. */
const VERSION = /^v\d{1,9}$/

/**
 * `There is no version v9 here: v1, v2`; `undefined` where the segment is no version, or there are no versions.
 *
 * @param segment as it was sent
 * @param others the segments that lead to handlers in its place
 */
function unknownVersion(segment: string, others: Iterable<string>): string | undefined {
	if (!VERSION.test(segment)) return undefined
	const versions = [...others].filter((other) => VERSION.test(other))
	if (versions.length === 0) return undefined
	versions.sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)))
	return `There is no version ${segment} here: ${versions.join(', ')}`
}
