/** `RoleAcl`: the `Acl` of fixed roles, each a list of resources, resolved when it is made. */

import { isPlain } from '../base/options.ts'
import type { Acl, User } from './authenticator.ts'

/**
 * What a role allows: a list of resources, or the same with the roles whose resources it has too.
 *
 * A resource is a name of one or more parts joined by `:`, and allows itself (`article:write`). With the last
 * part `*` it allows all that begins with the rest (`article:*`: `article:write` and `article:tag:write`, but
 * not `article`). `*` alone allows everything.
 */
export type Role = readonly string[] | DerivedRole

/** A role that has the resources of others too. */
export interface DerivedRole {
	/**
	 * The other roles; theirs count in turn.
	 * @default []
	 */
	readonly inherits?: readonly string[]
	/**
	 * Resources of its own.
	 * @default []
	 */
	readonly allows?: readonly string[]
}

/**
 * Parts without spaces, control characters, `:` and `*`; a last one may be `*`. Linear: no part can hold the
 * `:` that ends it.
 */
const RESOURCE = /^(?:\*|[^\s:*\p{Cc}]+(?::[^\s:*\p{Cc}]+)*(?::\*)?)$/u

/**
 * Allows what the roles in `user.roles` (an array of names) allow together. A user without such an array, a
 * an unknown role and an empty resource are refused, never an error.
 *
 *     const acl = new RoleAcl({
 *       editor: ['article:read', 'article:write'],
 *       admin: { inherits: ['editor'], allows: ['user:*'] },
 *       root: ['*'],
 *     })
 *     acl.allows({ id: '7', roles: ['admin'] }, 'article:write') // true
 *
 * What the roles mean is fixed here: changes of the object that was passed have no effect.
 *
 * @throws TypeError when a role is of another shape, a resource malformed, a role that is inherited unknown,
 * or one inherits itself
 */
export class RoleAcl implements Acl {
	readonly #granted: ReadonlyMap<string, ReadonlySet<string>>

	constructor(roles: Readonly<Record<string, Role>>) {
		const declared = declaredIn(roles)
		const granted = new Map<string, ReadonlySet<string>>()
		for (const name of declared.keys()) resolve(name, [], declared, granted)
		this.#granted = granted
	}

	allows(user: User, resource: string): boolean {
		if (typeof resource !== 'string' || resource === '') return false
		return rolesOf(user).some((role) => covers(this.#granted.get(role), resource))
	}
}

function covers(granted: ReadonlySet<string> | undefined, resource: string): boolean {
	if (granted === undefined) return false
	if (granted.has('*') || granted.has(resource)) return true
	for (let colon = resource.indexOf(':'); colon !== -1; colon = resource.indexOf(':', colon + 1)) {
		if (granted.has(`${resource.slice(0, colon)}:*`)) return true
	}
	return false
}

function rolesOf(user: User): readonly string[] {
	try {
		const roles: unknown = user.roles
		return Array.isArray(roles) ? [...roles] : []
	} catch {
		// A user is the authenticator's own object: a getter or a proxy may throw. No roles, no rights.
		return []
	}
}

type Declared = ReadonlyMap<string, Required<DerivedRole>>

function declaredIn(roles: Readonly<Record<string, Role>>): Declared {
	// `{ __proto__: ['*'] }` sets a prototype instead of naming a role, which would be lost silently.
	if (!isPlain(roles)) {
		throw new TypeError(
			"roles must be a plain object of role names (one called __proto__ is written ['__proto__'])",
		)
	}
	return new Map(Object.entries(roles).map(([name, role]) => [name, declare(name, role)]))
}

function declare(name: string, role: unknown): Required<DerivedRole> {
	if (name === '') throw new TypeError('a role must have a name')
	if (Array.isArray(role)) return { inherits: [], allows: resourcesOf(name, role) }
	if (!isObject(role)) {
		throw new TypeError(
			`role '${name}' must be a list of resources or { inherits, allows }, got ${wordFor(role)}`,
		)
	}
	const { inherits = [], allows = [], ...others } = role
	for (const other of Object.keys(others)) {
		throw new TypeError(`role '${name}' has '${other}', which means nothing: only inherits and allows do`)
	}
	return { inherits: listOf(name, 'inherits', inherits), allows: resourcesOf(name, allows) }
}

function resourcesOf(name: string, value: unknown): readonly string[] {
	const resources = listOf(name, 'allows', value)
	for (const resource of resources) {
		if (RESOURCE.test(resource)) continue
		const rule = "parts joined by ':', without spaces, '*' alone or as the last part"
		throw new TypeError(`role '${name}' allows '${resource}', which is no resource: write ${rule}`)
	}
	return resources
}

function listOf(name: string, property: string, value: unknown): readonly string[] {
	if (!Array.isArray(value)) {
		throw new TypeError(`'${property}' of role '${name}' must be a list of strings, got ${wordFor(value)}`)
	}
	return value.map((item: unknown) => {
		if (typeof item === 'string') return item
		throw new TypeError(
			`'${property}' of role '${name}' must be a list of strings, and holds ${wordFor(item)}`,
		)
	})
}

/** Fills in what a role grants; `heirs` are the roles that led here, the outermost first. */
function resolve(
	name: string,
	heirs: readonly string[],
	declared: Declared,
	granted: Map<string, ReadonlySet<string>>,
): ReadonlySet<string> {
	const known = granted.get(name)
	if (known !== undefined) return known
	const path = [...heirs, name]
	if (heirs.includes(name)) throw new TypeError(`role '${name}' inherits itself: ${path.join(' → ')}`)
	const role = declared.get(name)
	if (role === undefined) {
		throw new TypeError(
			`role '${heirs.at(-1)}' inherits '${name}', which is no role: the roles are ${[...declared.keys()].join(', ')}`,
		)
	}
	const inherited = role.inherits.flatMap((other) => [...resolve(other, path, declared, granted)])
	const all = new Set([...inherited, ...role.allows])
	granted.set(name, all)
	return all
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function wordFor(value: unknown): string {
	if (value === undefined || value === null) return String(value)
	return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
