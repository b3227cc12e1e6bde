/** `RoleAcl`: role-based access control. The constructor resolves the resources of each role. */

import { isPlain, listOf, nested, or, type Readers, such, text } from '../base/options.ts'
import type { Acl, User } from './authenticator.ts'

/**
 * A role: a list of the resources that it allows, or an object that can also inherit other roles.
 *
 * A resource is a name of one or more parts joined by `:`, such as `article:write`. In a role, the last part may be a
 * wildcard: `article:*` allows `article:write` and `article:tag:write`, but not `article`. `*` alone allows everything.
 */
export type Role = readonly string[] | DerivedRole

/** A role that inherits the resources of other roles. */
export interface DerivedRole {
	/** Names of the roles to inherit from, including what these inherit. @default [] */
	readonly inherits?: readonly string[]
	/** Further resources that the role allows. @default [] */
	readonly allows?: readonly string[]
}

/** Parts without spaces, control characters, `:` and `*`; the last may be `*`. Linear: no part can contain `:`. */
const RESOURCE = /^(?:\*|[^\s:*\p{Cc}]+(?::[^\s:*\p{Cc}]+)*(?::\*)?)$/u

/**
 * Allows the resources of all roles in `user.roles`, an array of names. A user without `roles` is allowed nothing, and
 * unknown roles are ignored: neither is an error.
 *
 *     const acl = new RoleAcl({
 *       editor: ['article:read', 'article:write'],
 *       admin: { inherits: ['editor'], allows: ['user:*'] },
 *       root: ['*'],
 *     })
 *     acl.allows({ id: '7', roles: ['admin'] }, 'article:write') // true
 *
 * The roles are copied: later changes to the object have no effect.
 *
 * @throws TypeError for a malformed role or resource, and for a role that inherits itself or an unknown role
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
		// The user comes from an authenticator, and may be a proxy or have getters that throw: it then has no roles.
		return []
	}
}

type Declared = ReadonlyMap<string, Required<DerivedRole>>

function declaredIn(roles: Readonly<Record<string, Role>>): Declared {
	// `{ __proto__: ['*'] }` sets the prototype instead of adding a role: the role would be lost silently.
	if (!isPlain(roles)) {
		throw new TypeError(
			"roles must be a plain object of role names (write ['__proto__'] for a role called __proto__)",
		)
	}
	return new Map(Object.entries(roles).map(([name, role]) => [name, declare(name, role)]))
}

const RULE = "a resource: parts without spaces, joined by ':'; only the last part may be '*'"
const resource = such<string>(RULE, (value) => typeof value === 'string' && RESOURCE.test(value))
const resources = listOf('a list of resources', resource, 0)
const derived = nested(
	"{ inherits: ['editor'], allows: ['user:*'] }",
	{
		inherits: or(listOf('a list of roles', text, 0), []),
		allows: or(resources, []),
	} satisfies Readers<DerivedRole>,
	'a list of resources, or an object',
)

function declare(name: string, role: unknown): Required<DerivedRole> {
	if (name === '') throw new TypeError('a role must have a name')
	const where = `role '${name}'`
	return Array.isArray(role) ? { inherits: [], allows: resources(where, role) } : derived(where, role)
}

/** Resolves the resources of a role into `granted`; `heirs` are the roles that inherit it, the outermost first. */
function resolve(
	name: string,
	heirs: readonly string[],
	declared: Declared,
	granted: Map<string, ReadonlySet<string>>,
): ReadonlySet<string> {
	const resolved = granted.get(name)
	if (resolved !== undefined) return resolved
	const path = [...heirs, name]
	if (heirs.includes(name)) throw new TypeError(`role '${name}' inherits itself: ${path.join(' → ')}`)
	const role = declared.get(name)
	if (role === undefined) {
		throw new TypeError(
			`role '${heirs.at(-1)}' inherits '${name}', which is not a role: the roles are ${[...declared.keys()].join(', ')}`,
		)
	}
	const inherited = role.inherits.flatMap((other) => [...resolve(other, path, declared, granted)])
	const all = new Set([...inherited, ...role.allows])
	granted.set(name, all)
	return all
}
