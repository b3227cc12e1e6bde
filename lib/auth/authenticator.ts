/** The `Authenticator` interface: who is calling, told from a request's headers. */
import type { Request } from '../request/request.ts'

/** Whoever is calling. `id` is what limits and logs name; the rest is the authenticator's own. */
export interface User {
	readonly id: string
	readonly [name: string]: unknown
}

/**
 * Tells who is calling. It is asked once for each request, before the body is read.
 *
 *     class ApiKeys implements Authenticator {
 *       authenticate(request: Request) {
 *         const key = request.header('x-api-key')
 *         if (key === undefined) return null
 *         return users.byKey(key) ?? unauthorized()
 *       }
 *     }
 */
export interface Authenticator {
	/**
	 * Answers the user, or null when no credentials were sent.
	 *
	 * @throws RestError `unauthorized` when credentials were sent and are bad
	 */
	authenticate(request: Request): User | null | Promise<User | null>
	/**
	 * Headers of a 401, which must hold `WWW-Authenticate` (RFC 9110 §15.5.2).
	 * @default { 'WWW-Authenticate': 'Bearer' }
	 */
	readonly challenge?: Readonly<Record<string, string>>
	/**
	 * Whether it compares the bytes of the body: where it is declared, methods in `streaming` are refused at mount,
	 * as they would run before the last byte is known.
	 * @default false
	 */
	readonly comparesBody?: boolean
}
