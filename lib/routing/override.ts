/** X-HTTP-Method-Override, for networks that let only GET and POST through. */
import { RestError } from '../base/error.ts'
import type { Method } from '../base/http.ts'

const OVERRIDES: ReadonlySet<string> = new Set<Method>(['PUT', 'PATCH', 'DELETE'])

/**
 * The method to act on. Only a POST can be overridden, and only by the header: a link or an image
 * tag can then never turn a GET into a DELETE.
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
