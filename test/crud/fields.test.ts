/**
 * `fields()`: if a field is hidden from a request, the response is that of a handler without this field.
 */
import * as assert from 'uvu/assert'
import {
	type CrudFieldLimits,
	CrudHandler,
	type CrudOperation,
	type CrudValues,
	MemoryModel,
	RoleAcl,
	type User,
} from '../../lib/index.ts'
import { type Asking, asking, type More } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

const MARKER = 'MARKER'

/** Three people in two teams; salaries and notes are texts with MARKER. */
function models() {
	const team = new MemoryModel('team', {
		key: 'id',
		fields: { id: 'integer', name: 'text', budget: { type: 'text', nullable: true } },
		rows: [
			{ name: 'Red', budget: `${MARKER} 9` },
			{ name: 'Blue', budget: `${MARKER} 8` },
		],
	})
	const person = new MemoryModel('person', {
		key: 'id',
		fields: {
			id: 'integer',
			name: 'text',
			teamId: 'integer',
			salary: { type: 'text', nullable: true },
			role: { type: 'text', default: 'member' },
			version: { type: 'integer', default: 1 },
		},
		references: [{ field: 'teamId', model: team }],
		unique: [['salary']],
		rows: ['Ann', 'Bob', 'Eve'].map((name, at) => ({
			name,
			teamId: 1 + (at % 2),
			salary: `${MARKER} ${9 - at}`,
		})),
	})
	return { team, person }
}

const PEOPLE = ['id', 'name', 'teamId', 'role', 'version']
const TEAMS = ['id', 'name']
const ALL: readonly CrudOperation[] = ['list', 'read', 'create', 'update', 'replace', 'remove']
const authenticator = {
	authenticate: ({ headers }: { headers: Readonly<Record<string, unknown>> }): User | null =>
		typeof headers.user === 'string' ? { id: headers.user, roles: [headers.user] } : null,
}
const acl = new RoleAcl({ staff: ['salaries'] })

let asked = 0

class People extends CrudHandler {
	override async fields(): Promise<CrudFieldLimits> {
		asked++
		await new Promise(setImmediate)
		return this.can('salaries') ? {} : { hidden: ['salary'], readOnly: ['role'] }
	}
	get_all() {
		return this.list(this.listQuery())
	}
}

class Teams extends CrudHandler {
	override fields() {
		return this.can('salaries') ? {} : { hidden: ['budget'] }
	}
}

/** People and teams with the fields that `fields()` hides from all but staff. */
function limited(): Asking {
	const { team, person } = models()
	const teams: CrudHandler = new Teams(team, {
		visible: [...TEAMS, 'budget'],
		updatable: ['name', 'budget'],
		searchable: ['name', 'budget'],
		allow: ALL,
		relations: { people: { to: () => people } },
	})
	const people: CrudHandler = new People(person, {
		...{ visible: [...PEOPLE, 'salary'], updatable: ['name', 'teamId', 'role', 'salary'] },
		...{ searchable: ['salary', 'name'], allow: ALL, version: 'version' },
		relations: { team: { to: teams } },
	})
	return asking({ person: people, team: teams }, { authenticator, acl })
}

/** The same without these fields. */
function without(): Asking {
	class AllPeople extends CrudHandler {
		get_all() {
			return this.list(this.listQuery())
		}
	}
	const { team, person } = models()
	const teams: CrudHandler = new CrudHandler(team, {
		visible: TEAMS,
		updatable: ['name'],
		searchable: ['name'],
		allow: ALL,
		relations: { people: { to: () => people } },
	})
	const people: CrudHandler = new AllPeople(person, {
		...{
			visible: PEOPLE,
			updatable: ['name', 'teamId'],
			searchable: ['name'],
			allow: ALL,
			version: 'version',
		},
		relations: { team: { to: teams } },
	})
	return asking({ person: people, team: teams }, { authenticator, acl })
}

const json = (value: unknown) => encodeURIComponent(JSON.stringify(value))

/** Requests that name the hidden fields, and some that don't. */
const REQUESTS: [string, unknown?][] = [
	...['/person', '/person/1', '/person/all', '/person?limit=0', '/person/all?count=exact'].map(
		(one): [string] => [one],
	),
	...[
		...['fields=salary', 'fields=name,salary', 'fields=name', 'sort=salary', 'sort=-salary,id', 'salary=x'],
		...['salary[gt]=a', 'salary[null]=false', 'salary[contains]=MARKER', 'search=MARKER', 'search=ann'],
		`filter=${json({ salary: 'x' })}`,
		`filter=${json({ or: [{ name: 'Ann' }, { not: { salary: null } }] })}`,
		...['include=team', 'fields=name,team.budget', 'fields=team.name', 'include=salary', 'team.budget=x'],
		...['team.name=Red', 'sort=team.budget', 'sort=team.name', `filter=${json({ team: { budget: 'x' } })}`],
		...[`include=${json({ team: { fields: ['budget'] } })}`, `include=${json({ team: true })}`],
		...['include=team.people', 'fields=team.people.salary', 'team.people.salary=x'],
	].flatMap((query): [string][] => [[`/person?${query}`], [`/person/all?${query}`], [`/person/1?${query}`]]),
	...[
		...['include=people', 'fields=people.salary', 'people.salary=x', 'people.salary[contains]=MARKER'],
		...[
			{ people: { sort: 'salary' } },
			{ people: { fields: ['salary'] } },
			{ people: { filter: { salary: { gt: 'a' } } } },
			{ people: { sort: '-name', limit: 1, fields: ['name'] } },
			{ people: { include: { team: { fields: ['budget'] } } } },
		].map((include) => `include=${json(include)}`),
		...[
			{ people: { some: { salary: 'x' } } },
			{ people: { none: { salary: 'x' } } },
			{ people: { every: { salary: null } } },
			{ people: { some: { name: 'Ann' } } },
		].map((filter) => `filter=${json(filter)}`),
	].flatMap((query): [string][] => [[`/team?${query}`], [`/team/1?${query}`]]),
	...['', '?sort=salary', '?salary=x', '?search=MARKER', '?fields=salary', '?include=team'].map(
		(query): [string] => [`/team/1/people${query}`],
	),
	...[
		{ sort: 'salary' },
		{ fields: ['salary'] },
		{ salary: 'x' },
		{ filter: { team: { budget: 'x' } } },
		{ include: { team: { fields: ['budget'] } } },
		{ 'team.budget': 'x' },
		{ search: MARKER },
	].map((body): [string, unknown] => ['QUERY /person', body]),
	...[
		{ name: 'New', teamId: 1, salary: 'x' },
		{ name: 'New', teamId: 1, role: 'chief' },
		{ name: 'New', teamId: 1 },
		{ name: 'New', teamId: 1, role: null },
		{ name: 'New', teamId: 1, secret: 'x' },
	].flatMap((body): [string, unknown][] => [
		['POST /person', body],
		['PATCH /person/2', body],
		['PUT /person/2', body],
		['PATCH /person/2?include=team', body],
		['POST /person?fields=salary', body],
	]),
	['PATCH /team/2', { budget: 'x' }],
	['PUT /team/2', { name: 'Blue' }],
	['DELETE /person/3'],
]

describe('crud/fields', (test) => {
	test('what is hidden from a request might as well not exist', async () => {
		const [one, other] = [limited(), without()]
		for (const [request, body] of REQUESTS) {
			const more = (user: string): More => ({ headers: { user }, ...(body === undefined ? {} : { body }) })
			const [got, expected] = [await one.ask(request, more('bob')), await other.ask(request, more('bob'))]
			const { date: _, etag: _e, 'x-request-id': _r, ...headers } = got.headers
			const { date: _d, etag: _f, 'x-request-id': _s, ...expectedHeaders } = expected.headers
			const plain = (text: string) =>
				text.replace(/"version":\d+/g, '"version":0').replace(/"requestId":"[^"]*"/, '')
			assert.is(
				`${request} ${got.status} ${plain(got.text())}`,
				`${request} ${expected.status} ${plain(expected.text())}`,
			)
			assert.equal(headers, expectedHeaders, request)
			assert.not.match(got.text() + JSON.stringify(got.headers), MARKER, request)
		}
	})

	test('writes of others keep what is hidden or read-only', async () => {
		const one = limited()
		const headers = { user: 'bob' }
		const staff = { headers: { user: 'staff' } }
		await one.ask('PUT /person/1', { headers, body: { name: 'Anna', teamId: 1, role: 'chief' } })
		assert.match(await one.said('/person/1', staff), /"name":"Anna".*"role":"member".*"salary":"MARKER 9"/)
		assert.is(
			await one.said('PATCH /person/1', { headers, body: { salary: 'x' } }),
			'422 {"success":false,"error":"salary is not a field that can be written","code":"invalid","details":[{"field":"salary","code":"unknown","message":"is not a field that can be written"}]}',
		)
		const changed = await one.ask('PATCH /person/1', { ...staff, body: { salary: 'x', role: 'chief' } })
		assert.match(changed.text(), /"role":"chief".*"salary":"x"/)
	})

	test('staff has all fields, on the same handlers at the same time', async () => {
		const one = limited()
		const urls = [
			...['/person?sort=salary', '/team?include=people', '/person/1?fields=team.budget'],
			'/person?fields=name,salary',
		]
		const both: string[] = []
		// Several times: what is sent repeatedly is cached.
		for (let round = 0; round < 3; round++) {
			const said = ['staff', 'bob'].flatMap((user) => urls.map((url) => one.said(url, { headers: { user } })))
			both.push(...(await Promise.all(said)))
		}
		for (const [at, said] of both.entries()) {
			const isStaff = at % 8 < 4
			assert.is(said.includes(MARKER), isStaff, said)
			assert.is(said.startsWith('200'), isStaff || at % 4 === 1, said)
		}
	})

	test('a cursor of staff, sorted by a hidden field, is no use to others', async () => {
		const one = limited()
		const first = await one.ask('/person?sort=salary&limit=1', { headers: { user: 'staff' } })
		const { next } = (first.json() as { meta: { next: string } }).meta
		for (const query of [`sort=salary&cursor=${next}`, `cursor=${next}`])
			assert.is((await one.ask(`/person?${query}`, { headers: { user: 'bob' } })).status, 400)
	})

	test('is called once a request, also through relations', async () => {
		const one = limited()
		for (const url of [
			'/person',
			'/person/1',
			'/person/1?include=team',
			'/team?include=people',
			'/person/all',
		]) {
			asked = 0
			assert.is((await one.ask(url, { headers: { user: 'bob' } })).status, 200)
			assert.is(asked, 1, url)
		}
		asked = 0
		await one.ask('/team')
		assert.is(asked, 0)
	})

	test('holds for overridden operations and what they call', async () => {
		class Overriding extends People {
			override async update(id: string, values: CrudValues) {
				const before = await this.read(id)
				return { before, after: await super.update(id, values) }
			}
		}
		const { person } = models()
		const handler = new Overriding(person, {
			visible: 'all',
			updatable: ['name', 'salary'],
			allow: ['update'],
		})
		const one = asking({ person: handler }, { authenticator, acl })
		const said = await one.said('PATCH /person/1', { headers: { user: 'bob' }, body: { name: 'N' } })
		assert.match(said, /^200 .*"before":\{"id":1,"name":"Ann"/)
		assert.not.match(said, MARKER)
	})

	test('a version that another caller was shown more of is answered whole, not with 304', async () => {
		const one = limited()
		const staff = await one.ask('/person/1', { headers: { user: 'staff' } })
		const etag = String(staff.headers.etag)
		const other = await one.ask('/person/1', { headers: { user: 'bob', 'if-none-match': etag } })
		assert.equal([staff.status, other.status, other.headers.etag], [200, 200, etag])
		assert.match(staff.text(), MARKER)
		assert.not.match(other.text(), MARKER)
		assert.is((await one.ask('/person/1', { headers: { user: 'bob', 'if-match': '"0"' } })).status, 412)
	})

	test('is not called for a handler that the client may not use', async () => {
		const { team, person } = models()
		class Guarded extends CrudHandler {
			override access = { create: 'anyone', '*': 'user' } as const
			override fields() {
				if (this.user === null) asked++
				return this.can('salaries') ? {} : { hidden: ['salary'] }
			}
		}
		const options = { visible: 'all', creatable: ['name', 'teamId', 'salary'] } as const
		const people = new Guarded(person, { ...options, allow: ['list', 'read', 'create'] })
		const teams = new CrudHandler(team, { visible: 'all', relations: { people: { to: people } } })
		const one = asking({ person: people, team: teams }, { authenticator, acl })
		asked = 0
		for (const url of ['/team?limit=1', '/team/1?fields=name'])
			assert.is((await one.ask(url)).status, 200, url)
		for (const query of [
			'include=people',
			'fields=people.salary',
			'filter={"people":{"some":{"salary":"x"}}}',
			'people.salary=x',
		])
			assert.is((await one.ask(`/team?${query}`)).status, 401, query)
		const body = { filter: { people: { some: { salary: 'x' } } } }
		assert.is((await one.ask('QUERY /team', { body })).status, 401)
		assert.is(asked, 0)
		// Creating is allowed, and its answer has what is left for the client.
		const made = await one.said('POST /team/1/people?fields=name', { body: { name: 'New', version: 1 } })
		assert.match(made, /^201 .*"data":\{"name":"New"\}/)
		assert.match(await one.said('POST /team/1/people?fields=salary', { body: { name: 'New' } }), /^400 /)
		assert.is((await one.ask('/team?include=people', { headers: { user: 'bob' } })).status, 200)
		const said = await one.said('/team?fields=people.salary', { headers: { user: 'bob' } })
		assert.match(said, /^400 .*may only name, below \w+, id, name, teamId, role, version/)
	})

	test('the order of an included list leads no further than includeDepth, and names no hidden field', async () => {
		const { team, person } = models()
		class Limited extends CrudHandler {
			override fields() {
				return { hidden: ['budget'] }
			}
		}
		const teams: CrudHandler = new Limited(team, {
			visible: 'all',
			relations: { people: { to: () => people } },
		})
		const people: CrudHandler = new CrudHandler(person, {
			visible: ['id'],
			relations: { team: { to: teams } },
		})
		const one = asking({ team: teams, person: people })
		const sorted = (path: string, sort: string) =>
			one.said(`${path}?include=${encodeURIComponent(`{"team":{"include":{"people":{"sort":"${sort}"}}}}`)}`)
		for (const name of ['team.name', '-team.budget', 'team.none'])
			assert.match(
				await sorted('/person', name),
				/^400 .*include\.team\.people\.sort has too many relations one behind the other: at most 2 are/,
			)
		assert.match(await sorted('/person/1', 'id'), /^200 /)
	})

	test('the lists may be frozen, and are left as they are', async () => {
		const limits = { hidden: Object.freeze(['salary', 'name']), readOnly: ['version', 'role'] }
		class Frozen extends CrudHandler {
			override fields() {
				return limits
			}
		}
		const one = asking({ person: new Frozen(models().person, { visible: ['id', 'name', 'salary'] }) })
		assert.match(await one.said('/person/1'), /^200 .*"data":\{"id":1\}/)
		assert.equal(limits.readOnly, ['version', 'role'])
	})

	for (const [limits, hidden] of [
		[{}, 'nothing'],
		[{ hidden: ['name'] }, 'a field'],
	] as const) {
		test(`a hook may call needs(), where ${hidden} is hidden`, async () => {
			class Needing extends CrudHandler {
				override fields() {
					return limits
				}
				override before() {
					this.needs('salary')
				}
				override async read(id: string) {
					this.needs('role')
					const record = await super.read(id)
					return { ...record.value<object>(), needed: Object.keys(record.needed) }
				}
			}
			const one = asking({ person: new Needing(models().person, { visible: ['id', 'name'] }) })
			for (const url of ['/person/1', '/person/1?fields=id'])
				assert.match(await one.said(url), /^200 .*"id":1.*"needed":\["salary","role"\]/)
			assert.is((await one.ask('/person')).status, 200)
		})
	}

	const wrong: [unknown, RegExp][] = [
		[undefined, /^People\.fields\(\) must return an object/],
		[['salary'], /^People\.fields\(\) must return an object/],
		[{ hide: [] }, /^People\.fields\(\) returned hide: there are hidden and readOnly$/],
		[{ hidden: 'salary' }, /^People\.fields\(\)\.hidden must be a list of fields$/],
		[{ hidden: undefined }, /^People\.fields\(\)\.hidden must be a list of fields$/],
		[
			{ hidden: ['salry'] },
			/^People\.fields\(\)\.hidden names salry, which is not a field: did you mean salary\?$/,
		],
		[{ readOnly: [undefined] }, /^People\.fields\(\)\.readOnly names undefined, which is not a field/],
	]
	for (const [given, message] of wrong) {
		test(`${JSON.stringify(given)} is an error, and nothing is shown`, async () => {
			const Wrong = {
				People: class People extends CrudHandler {
					override fields() {
						return given as CrudFieldLimits
					}
				},
			}.People
			const one = asking({
				person: new Wrong(models().person, { visible: 'all', updatable: ['name', 'teamId'], allow: ALL }),
			})
			for (const request of ['/person', '/person/1', 'POST /person', 'DELETE /person/1']) {
				assert.is((await one.ask(request, request.startsWith('P') ? { body: {} } : {})).status, 500)
				assert.match(one.logged(), message)
			}
		})
	}

	test('a function in a field is refused', () => {
		class Held extends CrudHandler {
			override fields = () => ({ hidden: ['salary'] })
		}
		assert.throws(
			() => asking({ person: new Held(models().person, { visible: 'all' }) }),
			/Held\.fields is a field, whose `this` would be the shared handler/,
		)
	})
})
