/** The action that a path and a method lead to: a custom route's, else a resource's, else `_default`'s. */

import { type Method, ROUTE_METHODS, type RouteMethod, routeMethodOf } from '../base/http.ts'
import type { Action } from '../exchange/action.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Mount } from './mount.ts'

/**
 * The action for a path, whose params are left in the exchange. Custom routes are tried before the lookup;
 * `_default` is asked last, and only for a path that no other method knows: a PUT to a path that GET
 * serves is a mistake to be told, not a record to be made.
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
	if (routes.size > 0) {
		const custom = routes.match(verb, segments.slice(from))
		if (custom !== undefined) {
			exchange.params = custom.params
			return custom.value
		}
	}
	const found = table.find(verb, segments, from)
	if (found !== undefined) {
		exchange.params = segments.slice(from + 1)
		return found
	}
	if (table.knows(segments, from)) return undefined
	if (routes.size > 0 && routes.methodsFor(segments.slice(from)).length > 0) return undefined
	exchange.params = segments.slice(from)
	return table.findDefault(verb, segments, from)
}

/** The methods of a path: the union of its custom routes and its resource, else those whose `_default` fits. */
export function methodsOf(
	{ routes, table }: Mount,
	segments: readonly string[],
	from: number,
): RouteMethod[] {
	const known = ROUTE_METHODS.filter((method) => table.find(method, segments, from) !== undefined)
	if (routes.size > 0) known.push(...routes.methodsFor(segments.slice(from)))
	if (known.length > 0 || table.knows(segments, from)) return known
	return ROUTE_METHODS.filter((method) => table.findDefault(method, segments, from) !== undefined)
}
