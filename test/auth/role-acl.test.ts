/** `RoleAcl`: what roles allow, and which declarations are refused. */
import * as assert from 'uvu/assert'
import type { User } from '../../lib/auth/authenticator.ts'
import { type Role, RoleAcl } from '../../lib/auth/role-acl.ts'
import { describe } from '../helpers/describe.ts'

const ACL = new RoleAcl({
	reader: ['article:read'],
	editor: { inherits: ['reader'], allows: ['article:write', 'tag:*'] },
	support: ['user:profile:*', 'Status', 'page/home.html'],
	admin: { inherits: ['editor', 'support'], allows: ['user:*'] },
	deputy: { inherits: ['admin'] },
	guest: [],
	nobody: {},
	root: ['*'],
	constructor: ['built:in'],
})

describe('RoleAcl allows', (test) => {
	const table: readonly (readonly [roles: string[], resource: string, allowed: boolean])[] = [
		[['reader'], 'article:read', true],
		[['reader'], 'article:write', false],
		[['reader'], 'article', false],
		[['reader'], 'article:read:all', false],
		[['reader'], 'Article:read', false],
		[['reader'], 'article:*', false],
		[['reader'], '*', false],
		[['reader'], '', false],
		[['editor'], 'article:read', true],
		[['editor'], 'article:write', true],
		[['editor'], 'tag:read', true],
		[['editor'], 'tag:group:write', true],
		[['editor'], 'tag:*', true],
		[['editor'], 'tag', false],
		[['editor'], 'tags:read', false],
		[['support'], 'user:profile:read', true],
		[['support'], 'user:profile', false],
		[['support'], 'user:password', false],
		[['support'], 'Status', true],
		[['support'], 'page/home.html', true],
		[['admin'], 'article:read', true],
		[['admin'], 'user:password', true],
		[['deputy'], 'tag:read', true],
		[['guest'], 'article:read', false],
		[['nobody'], 'article:read', false],
		[['root'], 'article:read', true],
		[['root'], 'anything', true],
		[['root'], '*', true],
		[['root'], '', false],
		[['reader', 'support'], 'Status', true],
		[['unknown', 'reader'], 'article:read', true],
		[['unknown'], 'article:read', false],
		[[], 'article:read', false],
		[['constructor'], 'built:in', true],
		[['toString'], 'built:in', false],
		[['__proto__'], 'built:in', false],
	]
	for (const [roles, resource, allowed] of table) {
		test(`[${roles}] ${allowed ? 'may' : 'may not'} '${resource}'`, () => {
			assert.is(ACL.allows({ id: '7', roles }, resource), allowed)
		})
	}

	test('a role called __proto__, when it is declared as an own key', () => {
		const acl = new RoleAcl({ ['__proto__']: ['a:read'] })
		assert.is(acl.allows({ id: '7', roles: ['__proto__'] }, 'a:read'), true)
	})

	test('roles from an object without a prototype', () => {
		const roles: Record<string, Role> = Object.assign(Object.create(null), { a: ['a:read'] })
		assert.is(new RoleAcl(roles).allows({ id: '7', roles: ['a'] }, 'a:read'), true)
	})

	test('what was declared, whatever happens to the object later', () => {
		const roles: Record<string, string[]> = { a: ['a:read'] }
		const acl = new RoleAcl(roles)
		roles.a?.push('*')
		roles.b = ['*']
		assert.is(acl.allows({ id: '7', roles: ['a', 'b'] }, 'b:read'), false)
	})
})

describe('RoleAcl refuses without throwing', (test) => {
	const throwing = {
		id: '7',
		get roles(): string[] {
			throw new Error('no database')
		},
	}
	const iterating = Object.assign(['root'], {
		[Symbol.iterator]() {
			throw new Error('no items')
		},
	})
	const odd: readonly (readonly [what: string, user: unknown])[] = [
		['no user', undefined],
		['null', null],
		['a text', 'root'],
		['a user without roles', { id: '7' }],
		['roles as a text', { id: '7', roles: 'root' }],
		['roles as an object', { id: '7', roles: { 0: 'root', length: 1 } }],
		['roles as a Set', { id: '7', roles: new Set(['root']) }],
		['null for roles', { id: '7', roles: null }],
		['role instead of roles', { id: '7', role: 'root' }],
		[
			'roles that are no texts',
			{ id: '7', roles: [null, undefined, 1, {}, ['root'], Symbol('root'), () => 'root'] },
		],
		['a text that only looks like a role', { id: '7', roles: [{ toString: () => 'root' }] }],
		['roles that throw when read', throwing],
		['roles that throw when gone through', { id: '7', roles: iterating }],
	]
	for (const [what, user] of odd) test(what, () => assert.is(ACL.allows(user as User, 'a:read'), false))

	for (const resource of [undefined, null, 1, {}, ['*'], Symbol('*')]) {
		test(`${typeof resource} ${String(resource)} as a resource, root or not`, () => {
			assert.is(ACL.allows({ id: '7', roles: ['root'] }, resource as unknown as string), false)
		})
	}

	test('a frozen list of roles is accepted', () => {
		assert.is(ACL.allows({ id: '7', roles: Object.freeze(['root']) }, 'a:read'), true)
	})
})

describe('RoleAcl constructor', (test) => {
	const plain = "roles must be a plain object of role names (write ['__proto__'] for a role called __proto__)"
	const rule = "a resource: parts without spaces, joined by ':'; only the last part may be '*'"
	const role = "a list of resources, or an object: { inherits: ['editor'], allows: ['user:*'] }"
	const table: readonly (readonly [roles: unknown, message: string])[] = [
		[undefined, plain],
		[null, plain],
		['editor', plain],
		[[['editor', []]], plain],
		[new Map([['editor', []]]), plain],
		[{ __proto__: { editor: ['a:read'] } }, plain],
		[{ '': ['a:read'] }, 'a role must have a name'],
		[{ a: 'x' }, `role 'a' must be ${role}, got "x"`],
		[{ a: null }, `role 'a' must be ${role}, got null`],
		[{ a: undefined }, `role 'a' must be ${role}, got undefined`],
		[{ a: { allow: ['x'] } }, "role 'a' has no option allow: did you mean allows?"],
		[{ a: { allows: 'x' } }, 'role \'a\'.allows must be a list of resources, got "x"'],
		[{ a: { inherits: {} } }, "role 'a'.inherits must be a list of roles, got an object"],
		[{ a: ['x', 1] }, `role 'a'[1] must be ${rule}, got 1`],
		[{ a: { inherits: [null] } }, "role 'a'.inherits[0] must be a string, got null"],
		[
			{ a: { inherits: ['b', 'c'] }, b: [] },
			"role 'a' inherits 'c', which is not a role: the roles are a, b",
		],
		[{ a: { inherits: ['toString'] } }, "role 'a' inherits 'toString', which is not a role: the roles are a"],
		[{ a: { inherits: ['a'] } }, "role 'a' inherits itself: a → a"],
		[
			{ z: { inherits: ['a'] }, a: { inherits: ['b'] }, b: { inherits: ['c'] }, c: { inherits: ['a'] } },
			"role 'a' inherits itself: z → a → b → c → a",
		],
		...[
			'',
			' ',
			'a b',
			'a:',
			':a',
			'a::b',
			':',
			'*:a',
			'a:*:b',
			'a*',
			'a:b*',
			'**',
			'a:**',
			'a\0',
			'a\n',
		].map(
			(resource) =>
				[{ a: [resource] }, `role 'a'[0] must be ${rule}, got ${JSON.stringify(resource)}`] as const,
		),
	]
	for (const [roles, message] of table) {
		test(JSON.stringify(message), () => {
			assert.throws(
				() => new RoleAcl(roles as Record<string, Role>),
				(error: unknown) => error instanceof TypeError && error.message === message,
			)
		})
	}

	test('accepts two roles that inherit the same one', () => {
		const acl = new RoleAcl({
			top: { inherits: ['a', 'b'] },
			a: { inherits: ['c'] },
			b: { inherits: ['c'] },
			c: ['x'],
		})
		assert.is(acl.allows({ id: '7', roles: ['top'] }, 'x'), true)
	})
})
