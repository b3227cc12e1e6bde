/**
 * Authentication and access: an `Authenticator` tells who is calling from a request's headers, an `Acl` what that user may
 * do. `pipeline/credentials.ts` asks both; `hmac/`, `token/`, `any-of.ts` and `role-acl.ts` are ours, programs write
 * others. They read the request, and keep used nonces in the cache.
 */
import { isPlain } from '../base/options.ts'
import type { Request } from '../request/request.ts'

/** The caller. Limits and logs name the `id`; the rest is the authenticator's own. */
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
	 * The user, or null when no credentials were sent.
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

/**
 * Decides whether a user may use a resource, by its name (`'article:write'`). Synchronous, so that a
 * forgotten `await` can't open a hole; what it needs (roles) comes with the user.
 */
export interface Acl {
	/** Whether the user may use the resource. Anything but `true` refuses. */
	allows(user: User, resource: string): boolean
}

/**
 * A frozen deep copy of plain objects and lists; instances of classes in it, such as a Date, are kept as they are. Made
 * of declared users, so that no request can change one for the next: a request copies only the outermost object.
 */
export function frozenCopy<T>(value: T): T {
	return copyOf(value, new Map()) as T // A plain object's copy has its properties, a list's its items.
}

/** `copies` has those made so far, so that shared references stay shared and cycles end. */
function copyOf(value: unknown, copies: Map<object, object>): unknown {
	if (!Array.isArray(value) && !isPlain(value)) return value
	const known = copies.get(value)
	if (known !== undefined) return known
	const copy: object = Array.isArray(value) ? [] : {}
	copies.set(value, copy)
	for (const [name, held] of Object.entries(value)) {
		// Not by `=`: a name from JSON may be `__proto__`, which would set one.
		Object.defineProperty(copy, name, { value: copyOf(held, copies), enumerable: true })
	}
	return Object.freeze(copy)
}
