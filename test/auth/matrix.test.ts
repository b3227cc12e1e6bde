/**
 * Who may call what: every route, by every caller, with every method, under every override. Expected results are
 * computed from the tables below alone; for a refusal, no method has run and no byte was read.
 */
import { Readable } from 'node:stream'
import * as assert from 'uvu/assert'
import { Controller } from '../../lib/handler/controller.ts'
import {
	type AccessRules,
	CrudHandler,
	MemoryModel,
	RestHandler,
	RoleAcl,
	TokenAuthenticator,
	tokenDigest,
} from '../../lib/index.ts'
import { answer } from '../../lib/pipeline/answer.ts'
import { MountTree } from '../../lib/routing/routing.ts'
import { describe } from '../helpers/describe.ts'
import { appOf, exchangeFor } from '../helpers/exchange.ts'
import { listening } from '../helpers/listening.ts'
import { connected } from '../helpers/raw.ts'

type Rule = 'open' | 'anyone' | 'user' | readonly string[]
type Routes = Readonly<Record<string, readonly [runs: string, rule: Rule]>>

const VERBS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY']
const METHODS = [...VERBS, 'HEAD', 'OPTIONS']
const OVERRIDES = [undefined, ...METHODS, 'delete', 'TRACE', '']

/** One resource for each kind of rule, with all methods: `get_read`, `post_read`, … */
const KINDS: Readonly<Record<string, Rule>> = {
	open: 'open',
	anyone: 'anyone',
	user: 'user',
	read: ['doc:read'],
	write: ['doc:write'],
	tag: ['note:tag:add'],
	both: ['doc:read', 'doc:delete'],
}

/** The methods of each path: by HTTP method, what runs and who may call it. */
const PATHS: Readonly<Record<string, Routes>> = {
	...Object.fromEntries(Object.entries(KINDS).map(([kind, rule]) => [`/doc/${kind}`, allVerbs(kind, rule)])),
	'/doc/nothing': {},
	'/doc/mixed': {
		GET: ['get_mixed', 'anyone'],
		POST: ['post_mixed', 'user'],
		PUT: ['put_mixed', ['doc:write']],
		DELETE: ['delete_mixed', ['doc:delete']],
	},
	'/doc/page/5': { GET: ['page', 'user'], POST: ['page', 'user'], DELETE: ['erase', ['doc:delete']] },
	'/doc/all': Object.fromEntries(VERBS.slice(0, 5).map((verb) => [verb, ['everything', ['doc:write']]])),
	'/doc/detour': { PUT: ['get_mixed', 'anyone'], PATCH: ['delete_mixed', ['doc:delete']] },
	'/closed': closedDefaults(),
	'/closed/any/where': closedDefaults(),
	'/closed/known': { GET: ['get_known', ['doc:read']] },
	'/closed/open/5': { PATCH: ['change', 'user'] },
	'/record': { GET: ['list', 'anyone'], QUERY: ['list', 'anyone'], POST: ['create', ['doc:write']] },
	'/record/1': {
		GET: ['read', 'user'],
		POST: ['update', ['doc:write']],
		PATCH: ['update', ['doc:write']],
		PUT: ['replace', 'user'],
		DELETE: ['remove', ['doc:delete']],
	},
}

function allVerbs(kind: string, rule: Rule): Routes {
	return Object.fromEntries(VERBS.map((verb) => [verb, [`${verb.toLowerCase()}_${kind}`, rule]]))
}

function closedDefaults(): Routes {
	return {
		GET: ['get__default', 'anyone'],
		POST: ['post__default', 'user'],
		DELETE: ['delete__default', ['doc:delete']],
	}
}

/** The callers, and what they may do. */
const CALLERS: Readonly<Record<string, 'nobody' | 'bad' | readonly string[]>> = {
	nobody: 'nobody',
	bad: 'bad',
	guest: [],
	user: ['doc:read', 'doc:write', 'note:tag:add'],
	admin: ['doc:read', 'doc:write', 'note:tag:add', 'doc:delete'],
}

const acl = new RoleAcl({
	reader: ['doc:read'],
	editor: { inherits: ['reader'], allows: ['doc:write', 'note:*'] },
	admin: { inherits: ['editor'], allows: ['*'] },
})

const authenticator = new TokenAuthenticator({
	tokens: {
		[tokenDigest('guest')]: { id: 'g' },
		[tokenDigest('user')]: { id: 'u', roles: ['editor'] },
		[tokenDigest('admin')]: { id: 'a', roles: ['unknown', 'admin'] },
	},
})

/** The names of the methods that have run. */
const ran: string[] = []

class Doc extends RestHandler {
	override customRoutes = {
		'GET|POST page/%d': 'page',
		'DELETE page/%d': 'erase',
		'ALL all': 'everything',
		'PUT detour': 'get_mixed',
		'PATCH detour': 'delete_mixed',
	}
	override access: AccessRules = rulesOf('/doc')
}

class Closed extends RestHandler {
	override customRoutes = { 'PATCH open/%d': 'change' }
	override access: AccessRules = {
		'*': 'user',
		get__default: 'anyone',
		delete__default: ['doc:delete'],
		get_known: ['doc:read'],
	}
}

class Records extends CrudHandler {
	override access: AccessRules = {
		'*': 'user',
		list: 'anyone',
		create: ['doc:write'],
		update: ['doc:write'],
		remove: ['doc:delete'],
	}
}

/** The rules of a handler whose rules name each method. */
function rulesOf(place: string): Record<string, 'anyone' | 'user' | readonly string[]> {
	const rules: Record<string, 'anyone' | 'user' | readonly string[]> = {}
	for (const [name, rule] of actionsBelow(place)) if (rule !== 'open') rules[name] = rule
	return rules
}

function actionsBelow(place: string): (readonly [name: string, rule: Rule])[] {
	const below = Object.entries(PATHS).filter(([path]) => path === place || path.startsWith(`${place}/`))
	return below.flatMap(([, routes]) => Object.values(routes))
}

/** Gives a class all methods in the table; each records that it has run. */
function fill(handler: { readonly prototype: object }, place: string): void {
	for (const [name] of actionsBelow(place)) {
		const value = (..._params: unknown[]): unknown => {
			ran.push(name)
			return { id: 1, title: 'a' }
		}
		Object.defineProperty(handler.prototype, name, { value, configurable: true })
	}
}

fill(Doc, '/doc')
fill(Closed, '/closed')
fill(Records, '/record')

function records(): Records {
	const model = new MemoryModel('record', { key: 'id', fields: { id: 'integer', title: 'text' } })
	const allow = ['list', 'read', 'create', 'update', 'replace', 'remove'] as const
	return new Records(model, { visible: ['id', 'title'], updatable: ['title'], allow })
}

interface Trial {
	readonly path: string
	readonly method: string
	readonly override: string | undefined
	readonly caller: string
}

/** The expected result: the status, and the method that runs. */
function expected({ path, method, override, caller }: Trial): { status: number; runs?: string } {
	const overridden = override?.toUpperCase() ?? method
	if (override !== undefined && (method !== 'POST' || !['PUT', 'PATCH', 'DELETE'].includes(overridden)))
		return { status: 400 }
	const routes = PATHS[path] ?? {}
	if (Object.keys(routes).length === 0) return { status: 404 }
	if (overridden === 'OPTIONS') return { status: 204 }
	const [runs, rule] = routes[overridden === 'HEAD' ? 'GET' : overridden] ?? []
	if (runs === undefined || rule === undefined) return { status: 405 }
	const may = CALLERS[caller]
	if (may === 'bad' || may === undefined) return { status: 401 }
	const done = { status: runs === 'create' ? 201 : 200, runs }
	if (rule === 'open' || rule === 'anyone') return done
	if (may === 'nobody') return { status: 401 }
	return rule === 'user' || rule.every((resource) => may.includes(resource)) ? done : { status: 403 }
}

const app = appOf()
const mounts = new MountTree()
const controller = new Controller(app, mounts, '', { authenticator, acl })
controller.service('doc', new Doc())
controller.service('closed', new Closed())
controller.service('record', records())

/** The actual result: the status, the methods that have run, and whether the body was touched. */
async function happens(trial: Trial): Promise<{ status: number; ran: string[]; read: boolean }> {
	ran.length = 0
	let read = false
	const body = new Readable({
		read() {
			this.push(read ? null : '{"title":"a"}')
			read = true
		},
	})
	const headers: Record<string, string> = {
		'content-type': 'application/json',
		'transfer-encoding': 'chunked',
	}
	if (trial.caller !== 'nobody') headers.authorization = `Bearer ${trial.caller}`
	if (trial.override !== undefined) headers['x-http-method-override'] = trial.override
	const rawHeaders = Object.entries(headers).flat()
	const exchange = exchangeFor({ method: trial.method, url: trial.path, headers, rawHeaders }, app, body)
	const { status } = await answer(exchange, mounts)
	return { status, ran: [...ran], read }
}

describe('access', (test) => {
	for (const path of Object.keys(PATHS)) {
		for (const caller of Object.keys(CALLERS)) {
			test(`${path} as ${caller}`, async () => {
				for (const method of METHODS) {
					for (const override of OVERRIDES) {
						const trial = { path, method, override, caller }
						const { status, runs } = expected(trial)
						const isRead = runs !== undefined && method !== 'GET' && method !== 'HEAD'
						const wanted = { status, ran: runs === undefined ? [] : [runs], read: isRead }
						assert.equal(await happens(trial), wanted, `${method} (${override ?? 'no override'})`)
					}
				}
			})
		}
	}

	test('the cases cover every outcome', () => {
		const outcomes = new Map<number, number>()
		for (const path of Object.keys(PATHS)) {
			for (const caller of Object.keys(CALLERS)) {
				for (const method of METHODS) {
					const { status } = expected({ path, method, override: undefined, caller })
					outcomes.set(status, (outcomes.get(status) ?? 0) + 1)
				}
			}
		}
		assert.equal([...outcomes.keys()].sort(), [200, 201, 204, 401, 403, 404, 405])
		for (const [status, count] of outcomes)
			assert.ok(count >= (status === 201 ? 2 : 10), `${status}: ${count}`)
	})
})

describe('access over a socket', (test) => {
	const chunk = `ffff\r\n${'x'.repeat(65_535)}\r\n`
	const table: readonly (readonly [line: string, headers: readonly string[], status: number])[] = [
		['POST /doc/user', [], 401],
		['POST /doc/user', ['Authorization: Bearer guessed'], 401],
		['POST /doc/open', ['Authorization: Bearer guessed'], 401],
		['POST /doc/write', ['Authorization: Bearer guest'], 403],
		['POST /doc/mixed', ['Authorization: Bearer user', 'X-HTTP-Method-Override: DELETE'], 403],
		['POST /doc/mixed', ['X-HTTP-Method-Override: GET'], 400],
		['POST /record', ['Authorization: Bearer guest'], 403],
		['DELETE /doc/page/5', ['Authorization: Bearer user'], 403],
	]
	for (const [line, headers, status] of table) {
		test(`${line} (${headers}) is ${status}, though its upload never ends`, () =>
			served(async (port) => {
				await connected(port, async (client) => {
					void client.send(`${[`${line} HTTP/1.1`, ...COMMON, ...headers].join('\r\n')}\r\n\r\n${chunk}`)
					assert.is((await client.response('POST')).status, status)
				})
				assert.equal(ran, [])
			}))

		test(`${line} (${headers}) is ${status} instead of 100 Continue`, () =>
			served((port) =>
				connected(port, async (client) => {
					const all = [...COMMON, 'Expect: 100-continue', ...headers]
					void client.send(`${[`${line} HTTP/1.1`, ...all].join('\r\n')}\r\n\r\n`)
					assert.is((await client.response('POST')).status, status)
				}),
			))
	}
})

const COMMON = ['Host: localhost', 'Transfer-Encoding: chunked']

async function served(use: (port: number) => Promise<void>): Promise<void> {
	ran.length = 0
	const handlers = { doc: new Doc(), record: records() }
	await listening(handlers, { authenticator, acl }, ({ port }) => use(port))
}
