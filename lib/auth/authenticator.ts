/**
 * Authentication and authorization: an `Authenticator` identifies the user from a request's headers, an `Acl` decides what
 * the user may do. `pipeline/credentials.ts` calls both. Implementations are in this room; programs may write others.
 */
import { isPlain } from '../base/options.ts'
import type { Request } from '../request/request.ts'

/** The authenticated user. Limits and logs use the `id`; other properties are up to the authenticator. */
export interface User {
	readonly id: string
	readonly [name: string]: unknown
}

/**
 * Identifies the user of a request. Called once per request, before the body is read.
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
	 * Returns the user, or null if no credentials were sent.
	 *
	 * @throws RestError `unauthorized` if credentials were sent but are invalid
	 */
	authenticate(request: Request): User | null | Promise<User | null>
	/**
	 * Headers of a 401, which must hold `WWW-Authenticate` (RFC 9110 §15.5.2).
	 * @default { 'WWW-Authenticate': 'Bearer' }
	 */
	readonly challenge?: Readonly<Record<string, string>>
	/**
	 * Whether the authenticator verifies the bytes of the body. If so, methods in `streaming` are refused at mount,
	 * because they would run before the last byte has been verified.
	 * @default false
	 */
	readonly comparesBody?: boolean
}

/**
 * Decides whether a user may use a resource, identified by its name (`'article:write'`). Synchronous, so that a
 * forgotten `await` can't grant access: what the decision depends on, such as roles, must be in the user.
 */
export interface Acl {
	/** Whether the user may use the resource. Any result but `true` refuses access. */
	allows(user: User, resource: string): boolean
}

/** The results of authenticators for one request. Each authenticator is called at most once. */
export class Credentials {
	readonly #users = new Map<Authenticator, Promise<User | null>>()

	/** Resolves to the user, or to null if no credentials were sent. Rejects if `authenticate()` does. */
	ask(authenticator: Authenticator, request: Request): Promise<User | null> {
		let user = this.#users.get(authenticator)
		if (user === undefined) {
			user = authenticate(authenticator, request)
			this.#users.set(authenticator, user)
		}
		return user
	}

	/** Whether the authenticator was called. */
	hasAsked(authenticator: Authenticator): boolean {
		return this.#users.has(authenticator)
	}
}

async function authenticate(authenticator: Authenticator, request: Request): Promise<User | null> {
	const user = await authenticator.authenticate(request)
	// An authenticator may return `users.get(key)`: undefined, for an unknown key, must not count as anonymous.
	if (user === null || typeof user?.id === 'string') return user
	throw new TypeError("authenticate() must return a user, { id: '…' }, or null for no credentials")
}

/**
 * Makes a frozen deep copy of plain objects and arrays; class instances, such as a Date, aren't copied. For declared
 * users: each request copies only the outermost object, so all requests share the rest.
 */
export function frozenCopy<T>(value: T): T {
	return copyOf(value, new Map()) as T // A plain object's copy has its properties, an array's its items.
}

/** `copies` maps originals to copies, so that shared references stay shared and cycles end. */
function copyOf(value: unknown, copies: Map<object, object>): unknown {
	if (!Array.isArray(value) && !isPlain(value)) return value
	const existing = copies.get(value)
	if (existing !== undefined) return existing
	const copy: object = Array.isArray(value) ? [] : {}
	copies.set(value, copy)
	for (const [name, held] of Object.entries(value)) {
		// Not `=`: a name from JSON may be `__proto__`, for which `=` would set the prototype.
		Object.defineProperty(copy, name, { value: copyOf(held, copies), enumerable: true })
	}
	return Object.freeze(copy)
}
