/** HTTP methods that are served, and those that handlers can implement. */

/** Methods that a handler can implement. */
export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'QUERY'

/** Methods that are served: HEAD is answered by the method for GET, OPTIONS with `Allow`. */
export type Method = RouteMethod | 'HEAD' | 'OPTIONS'

/** In the order of `Allow`. */
export const ROUTE_METHODS: readonly RouteMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY']

/** The header that turns a POST into another method. */
export const METHOD_OVERRIDE = 'x-http-method-override'

const METHODS: ReadonlySet<string> = new Set<Method>([...ROUTE_METHODS, 'HEAD', 'OPTIONS'])

/** Whether a method is served. Method names are case-sensitive (RFC 9110 §9.1). */
export function isMethod(name: string): name is Method {
	return METHODS.has(name)
}

/** Whether a method's body is read. In GET and HEAD a body has no meaning (RFC 9110 §9.3.1): it is discarded unread. */
export function takesBody(method: Method): boolean {
	return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
}

/** The `Allow` header for the methods that have a route (RFC 9110 §10.2.1): HEAD comes with GET. */
export function allowHeader(methods: readonly RouteMethod[]): string {
	const names: string[] = []
	for (const method of ROUTE_METHODS) {
		if (!methods.includes(method)) continue
		names.push(method)
		if (method === 'GET') names.push('HEAD')
	}
	return [...names, 'OPTIONS'].join(', ')
}
