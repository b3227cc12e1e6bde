/** `GET /totals`: its responses, its refusals with their messages, and its place among a handler's routes. */
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	type CrudOptions,
	createServer,
	type InjectedRequest,
	MemoryModel,
	type Model,
	transaction,
} from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { Log } from '../helpers/listening.ts'

const authorModel = () =>
	new MemoryModel('author', {
		key: 'id',
		fields: { id: 'integer', name: 'text', secret: 'text', team: 'text' },
		rows: [
			{ name: 'Ada', secret: 's', team: 'red' },
			{ name: 'Bob', secret: 't', team: 'blue' },
		],
	})

function orderModel(author = authorModel()) {
	return new MemoryModel('purchase', {
		key: 'id',
		fields: {
			id: 'integer',
			status: { type: 'text', choices: ['paid', 'open'] },
			...{ amount: { type: 'decimal', nullable: true }, pieces: 'integer', hidden: 'decimal' },
			...{ created: 'timestamp', day: 'date', author_id: { type: 'integer', nullable: true } },
			...{ extra: 'json', fine: 'boolean' },
		},
		references: [{ field: 'author_id', model: author }],
		rows: [
			order('paid', '10.00', '2026-10-31T23:30:00Z', 1),
			order('paid', '2.50', '2026-11-20T12:00:00Z', 1),
			order('open', '7.25', '2026-11-20T13:00:00Z', 2),
			order('open', null, '2026-11-21T13:00:00Z', null),
		],
	})
}

function order(status: string, amount: string | null, created: string, author_id: number | null) {
	const more = { pieces: 3, hidden: '99.00', day: created.slice(0, 10), extra: {}, fine: true }
	return { status, amount, created, author_id, ...more }
}

const OPTIONS: CrudOptions = {
	visible: ['id', 'status', 'amount', 'pieces', 'created', 'day', 'fine', 'extra'],
	searchable: ['status'],
	allow: ['list', 'read', 'totals'],
	totals: { by: ['status', 'created', 'day', 'pieces', 'fine'], of: ['amount', 'pieces', 'created'] },
}

function serve(options: Partial<CrudOptions> = {}, model: Model = orderModel(), Class = CrudHandler) {
	const server = createServer({ order: new Class(model, { ...OPTIONS, ...options }) }, { logger: new Log() })
	return async (query: string, more: Partial<InjectedRequest> = {}) => {
		const url = `/order/totals${query === '' ? '' : '?'}${query}`
		const { status, text } = await server.inject({ url, ...more })
		return `${status} ${text().replace(/,"requestId":"[^"]*"/, '')}`
	}
}

const data = (said: string): unknown => JSON.parse(said.slice(4)).data
const json = (value: unknown) => encodeURIComponent(JSON.stringify(value))
const message = (said: string): string => {
	const { code, error } = JSON.parse(said.slice(4)) as { code: string; error: string }
	return `${said.slice(0, 3)} ${code}: ${error}`
}

describe('crud/totals', (test) => {
	test('groups have the requested figures', async () => {
		const ask = serve()
		const query = `by=status,created:month&count=exact&sum=amount&tz=Europe/Berlin&having=${json({ 'sum.amount': { gt: '2' } })}&sort=-sum.amount`
		assert.is(
			await ask(query),
			'200 {"success":true,"data":[{"status":"paid","created":"2026-11","count":2,"sum":{"amount":"12.50"}},{"status":"open","created":"2026-11","count":2,"sum":{"amount":"7.25"}}]}',
		)
		assert.is(
			await ask('count=exact&avg=amount,pieces&min=created&max=created,amount'),
			'200 {"success":true,"data":[{"count":4,"avg":{"amount":"6.58333333","pieces":"3.000000"},"min":{"created":"2026-10-31T23:30:00.000Z"},"max":{"created":"2026-11-21T13:00:00.000Z","amount":"10.00"}}]}',
		)
		assert.equal(data(await ask('by=status')), [{ status: 'open' }, { status: 'paid' }])
		assert.equal(data(await ask('count=exact&status=paid&amount[gt]=5')), [{ count: 1 }])
		assert.equal(data(await ask('count=exact&search=pai')), [{ count: 2 }])
		assert.equal(data(await ask(`count=exact&filter=${json({ not: { status: 'paid' } })}`)), [{ count: 2 }])
		assert.equal(data(await ask('by=status&sum=amount&id=0')), [])
		assert.equal(data(await ask('count=exact&sum=amount&id=0')), [{ count: 0, sum: { amount: null } }])
	})

	test('names may be repeated, or in the JSON of a QUERY', async () => {
		const ask = serve()
		const expected = [
			{ status: 'open', day: '2026', sum: { pieces: 6 } },
			{ status: 'paid', day: '2026', sum: { pieces: 6 } },
		]
		assert.equal(data(await ask('by=status&by=day:year&sum=pieces')), expected)
		const body = { by: ['status', 'day:year'], sum: 'pieces', having: { 'sum.pieces': 6 } }
		const headers = { 'content-type': 'application/json' }
		assert.equal(data(await ask('', { method: 'QUERY', headers, body: JSON.stringify(body) })), expected)
		const more = { ...body, filter: { status: 'paid' } }
		assert.equal(
			data(await ask('', { method: 'QUERY', headers, body: JSON.stringify(more) })),
			expected.slice(1),
		)
	})

	test('the first groups are answered with limit, in their order', async () => {
		const ask = serve()
		assert.equal(data(await ask('by=created:day&count=exact&sort=-count&limit=1')), [
			{ created: '2026-11-20', count: 2 },
		])
		assert.equal(data(await ask('by=created:day&sort=-created&limit=2')), [
			{ created: '2026-11-21' },
			{ created: '2026-11-20' },
		])
	})

	test('more groups than maxGroups are an error, and never cut', async () => {
		const ask = serve({ totals: { by: ['created', 'status'], maxGroups: 3 } })
		assert.is(
			message(await ask('by=created')),
			'400 bad_request: by makes more than 3 groups: filter, or ask for the first with limit',
		)
		assert.match(await ask('by=created:day'), /^200/)
		assert.match(await ask('by=created&limit=3'), /^200/)
		assert.match(await ask('by=created&status=open'), /^200/)
		assert.match(await ask(`by=created&count=exact&having=${json({ count: 2 })}`), /^200/)
		assert.is(message(await ask('by=created&limit=4')), '400 bad_request: limit must be from 1 to 3')
		assert.is(message(await ask('by=created&limit=0')), '400 bad_request: limit must be from 1 to 3')
	})

	const REFUSED: readonly (readonly [query: string, message: string])[] = [
		['', 'by or one of count, sum, avg, min and max must be given'],
		[
			'by=status,nothing',
			'by may only name status, created, created:year, created:quarter, created:month, created:week, created:day, created:hour, day, day:year, day:quarter, day:month, day:week, day:day, pieces, fine',
		],
		['by=status:year', 'by may name no part of status'],
		['by=day:hour', 'by may name these parts of day: year, quarter, month, week, day'],
		['by=created,created:year', 'by names a field more than once'],
		['by=status,status', 'by names a field more than once'],
		['sum=created', 'sum may only name amount, pieces'],
		['sum=amount,amount', 'sum names a field more than once'],
		['min=status', 'min may only name amount, pieces, created'],
		['count=5', 'count must be exact'],
		['count=exact&count=exact', 'count is given more than once'],
		['by=status&sort=pieces', 'sort may only name what is asked for: status'],
		['by=status&sum=pieces&sort=sum.amount', 'sort may only name what is asked for: status, sum.pieces'],
		['by=status&sort=status,-status', 'sort names a field more than once'],
		['by=created:day&tz=Berlin', 'tz must be a time zone such as Europe/Berlin, or UTC'],
		['by=created:day&tz=CET', 'tz must be a time zone such as Europe/Berlin, or UTC'],
		['by=created:day&tz=Europe/Nowhere', 'tz must be a time zone such as Europe/Berlin, or UTC'],
		['by=created:day&tz=%2B01:00', 'tz must be a time zone such as Europe/Berlin, or UTC'],
		['by=status&having=x', 'having is malformed JSON'],
		['by=status&having=[]', 'having must be an object, such as {"count":{"gt":1}} or {"or":[…]}'],
		[
			`count=exact&sum=pieces&having=${json({ 'sum.amount': 1 })}`,
			'having.sum.amount is not one of the totals that are asked for: count, sum.pieces',
		],
		[
			`count=exact&having=${json({ count: { in: [1] } })}`,
			'having.count.in is not an operator of totals: use one of eq, ne, gt, gte, lt, lte, null',
		],
		[`count=exact&having=${json({ count: {} })}`, 'having.count needs an operator, such as {"gte":3}'],
		[
			`count=exact&having=${json({ count: '1.5' })}`,
			'having.count must be a whole number, within 9007199254740991 of zero',
		],
		[
			`sum=amount&having=${json({ or: [{ 'sum.amount': { gt: 'x' } }] })}`,
			'having.or.0.sum.amount.gt must be a decimal number, best as a string such as "12.50"',
		],
		[
			`max=created&having=${json({ 'max.created': { gt: 'x' } })}`,
			'having.max.created.gt must be a date and time with zone such as 2026-11-20T10:00:00Z',
		],
		[
			`count=exact&having=${json({ not: { not: { not: { not: { not: { count: 1 } } } } } })}`,
			'having.not.not.not.not.not is nested too deeply: at most 5 levels are allowed',
		],
		[
			`count=exact&having=${json({ or: Array.from({ length: 101 }, () => ({ count: 1 })) })}`,
			'having.or.100.count is one comparison too many: at most 100 are allowed',
		],
		[
			'by=status&hidden=1',
			'hidden is not a parameter of these totals: it takes by, sum, avg, min, max, count, having, sort, limit, tz, filter, search, id, status, amount, pieces, created, day, fine, extra',
		],
		[
			'by=status&offset=1',
			'offset is not a parameter of these totals: it takes by, sum, avg, min, max, count, having, sort, limit, tz, filter, search, id, status, amount, pieces, created, day, fine, extra',
		],
	]

	test('invalid queries are refused, naming what is allowed', async () => {
		const ask = serve()
		for (const [query, expected] of REFUSED) {
			const said = message(await ask(query))
			// Longer names are cut.
			assert.is(said, `400 bad_request: ${expected}`, query)
		}
	})

	test('hidden fields are refused in the words for unknown ones', async () => {
		const ask = serve()
		const ways = [
			'by=NAME',
			'sum=NAME',
			'max=NAME',
			'by=status&sort=NAME',
			'count=exact&NAME=1',
			'count=exact&NAME[gt]=1',
		]
		for (const way of [
			...ways,
			`count=exact&filter=${json({ NAME: 1 })}`,
			`count=exact&having=${json({ 'sum.NAME': 1 })}`,
		]) {
			const [hidden, unknown] = [
				await ask(way.replace('NAME', 'hidden')),
				await ask(way.replace('NAME', 'nosuch')),
			]
			assert.match(hidden, /^400/)
			assert.is(hidden.replaceAll('hidden', 'NAME'), unknown.replaceAll('nosuch', 'NAME'), way)
		}
	})

	test('a handler without totals in allow has no such route', async () => {
		const { totals: _, ...options } = OPTIONS
		const server = createServer({
			order: new CrudHandler(orderModel(), { ...options, allow: ['list', 'read'] }),
		})
		assert.is((await server.inject({ url: '/order/totals?count=exact' })).status, 404)
		const given = createServer({ order: new CrudHandler(orderModel(), { ...OPTIONS, allow: ['list'] }) })
		assert.is((await given.inject({ url: '/order/totals?count=exact' })).status, 404)
	})

	test('options that do not fit are refused when the handler is mounted', () => {
		const mounted = (options: Partial<CrudOptions>, model: Model = orderModel()) =>
			createServer({ order: new CrudHandler(model, { ...OPTIONS, ...options }) })
		const cases: readonly (readonly [CrudOptions['totals'], string])[] = [
			[
				undefined,
				"CrudHandler of purchase: allow has totals, but there is no option totals: { by: ['status'], of: ['amount'] }",
			],
			[
				{ by: ['statos'] },
				'CrudHandler of purchase: totals.by: statos is not one of the visible fields: did you mean status?',
			],
			[{ by: ['hidden'] }, 'CrudHandler of purchase: totals.by: hidden is not one of the visible fields'],
			[{ of: ['hidden'] }, 'CrudHandler of purchase: totals.of: hidden is not one of the visible fields'],
			[
				{ by: ['extra'] },
				"CrudHandler of purchase: totals.by: extra is of type json, whose values can't be grouped",
			],
			[
				{ of: ['fine'] },
				'CrudHandler of purchase: totals.of: fine is of type boolean, which has neither a sum nor a minimum',
			],
			[
				{ by: ['author.name'] },
				'CrudHandler of purchase: totals.by: author.name is not one of the visible fields',
			],
		]
		for (const [totals, expected] of cases) {
			const { totals: _, ...others } = OPTIONS
			const options = totals === undefined ? others : { ...others, totals }
			assert.throws(
				() => createServer({ order: new CrudHandler(orderModel(), options) }),
				(error: Error) => error instanceof TypeError && error.message.startsWith(expected),
				expected,
			)
		}
		assert.throws(
			() => mounted({ totals: { maxGroups: 0 } }),
			/maxGroups must be a whole number from 1 to 100000, got 0/,
		)
		const counting = new MemoryModel('counting', { fields: { id: 'integer', count: 'integer' }, key: 'id' })
		const named = () => mounted({ visible: ['count'], searchable: [], totals: { by: ['count'] } }, counting)
		assert.throws(named, /totals.by: count is the name of a total: rename it with columns/)
		const bare: Model = Object.assign(Object.create(orderModel()), { totals: undefined })
		assert.throws(() => mounted({}, bare), /the model of purchase has no totals\(\)/)
		assert.throws(
			() => mounted({ allow: ['total' as 'totals'] }),
			/there is no operation total: did you mean totals\?/,
		)
	})

	test('totals are a resource: they come before ids, and a record with that key is not below the list', async () => {
		const model = new MemoryModel('word', {
			fields: { id: 'text', state: 'text' },
			key: 'id',
			rows: [
				{ id: 'totals', state: 'a' },
				{ id: 'other', state: 'a' },
			],
		})
		const allow = ['list', 'read', 'update', 'remove', 'totals'] as const
		const handler = new CrudHandler(model, {
			visible: 'all',
			updatable: ['state'],
			allow,
			totals: { by: ['state'] },
		})
		const server = createServer({ word: handler })
		const ask = async (method: string, url: string) => {
			const { status, headers, text } = await server.inject({ method, url })
			return [status, headers.allow, text()]
		}
		assert.equal(await ask('GET', '/word/totals?count=exact'), [
			200,
			undefined,
			'{"success":true,"data":[{"count":2}]}',
		])
		assert.equal((await ask('HEAD', '/word/totals?count=exact'))[0], 200)
		assert.equal((await ask('DELETE', '/word/totals')).slice(0, 2), [405, 'GET, HEAD, QUERY, OPTIONS'])
		assert.equal((await ask('GET', '/word/totals/x'))[0], 404)
		assert.equal((await ask('GET', '/word/other'))[0], 200)
		assert.match((await ask('GET', '/word?id=totals'))[2] as string, '"id":"totals"')
	})

	test('a method for the same requests is refused', () => {
		class Twice extends CrudHandler {
			get_totals() {
				return 1
			}
		}
		assert.throws(
			() => createServer({ order: new Twice(orderModel(), OPTIONS) }),
			/Twice.get_totals would serve the same requests as totals/,
		)
	})

	test('records without a key have totals', async () => {
		const model = new MemoryModel('log', { fields: { level: 'text' }, key: [], rows: [{ level: 'a' }] })
		const handler = new CrudHandler(model, { visible: 'all', allow: ['totals'], totals: { by: ['level'] } })
		const { text } = await createServer({ log: handler }).inject({ url: '/log/totals?by=level&count=exact' })
		assert.is(text(), '{"success":true,"data":[{"level":"a","count":1}]}')
	})

	test("columns' other names are those of the totals", async () => {
		const columns = { createdAt: 'created', state: 'status' }
		const ask = serve({
			...{ columns, visible: ['id', 'state', 'createdAt', 'amount'], searchable: [] },
			totals: { by: ['state', 'createdAt'], of: ['amount'] },
		})
		assert.equal(data(await ask('by=state,createdAt:year&sum=amount&state=paid&sort=-createdAt')), [
			{ state: 'paid', createdAt: '2026', sum: { amount: '12.50' } },
		])
	})

	test('scope() is called for totals, and limits them', async () => {
		const asked: string[] = []
		class Scoped extends CrudHandler {
			override scope(operation: string) {
				asked.push(operation)
				return { status: 'paid' }
			}
		}
		const ask = serve({}, orderModel(), Scoped)
		assert.equal(data(await ask('by=status&count=exact')), [{ status: 'paid', count: 2 }])
		assert.equal(data(await ask('count=exact&status=open')), [{ count: 0 }])
		assert.equal(asked, ['totals', 'totals'])
	})

	test('an override gets the query, and may ask for others', async () => {
		class Own extends CrudHandler {
			override async totals(query: Parameters<CrudHandler['totals']>[0]) {
				const where = { op: 'eq', field: 'status', value: 'paid' } as const
				return { paid: await super.totals({ ...query, where }) }
			}
			async get_sums() {
				const totals = [{ op: 'sum', field: 'hidden', name: 'all' }] as const
				return super.totals({ by: [{ name: 'state', field: 'status' }], totals, limit: 1 })
			}
		}
		const server = createServer({ order: new Own(orderModel(), OPTIONS) })
		const ask = async (url: string) => (await server.inject({ url })).text()
		assert.is(await ask('/order/totals?count=exact'), '{"success":true,"data":{"paid":[{"count":2}]}}')
		assert.is(await ask('/order/sums'), '{"success":true,"data":[{"state":"open","sum":{"all":"198.00"}}]}')
	})

	test("access asks for the operation's own name, else for '*'", async () => {
		class Guarded extends CrudHandler {
			override access = { list: 'anyone', '*': 'user' } as const
		}
		class Open extends CrudHandler {
			override access = { totals: 'anyone', '*': 'user' } as const
		}
		const authenticator = { authenticate: () => null }
		for (const [Class, status] of [
			[Guarded, 401],
			[Open, 200],
		] as const) {
			const server = createServer({ order: new Class(orderModel(), OPTIONS) }, { authenticator })
			assert.is((await server.inject({ url: '/order/totals?count=exact' })).status, status)
		}
	})

	const AUTHOR: CrudOptions = {
		visible: ['id', 'name', 'team'],
		filterable: ['name'],
		allow: ['read'],
	}

	test('records are grouped by fields of related ones that the client may see', async () => {
		const author = authorModel()
		class Red extends CrudHandler {
			override scope() {
				return { team: 'red' }
			}
		}
		const relations = { author: { to: new Red(author, AUTHOR) } }
		const ask = serve({ relations, totals: { by: ['author.name'], of: ['amount'] } }, orderModel(author))
		// Bob is out of scope.
		assert.equal(data(await ask('by=author.name&count=exact&sum=amount')), [
			{ 'author.name': 'Ada', count: 2, sum: { amount: '12.50' } },
			{ 'author.name': null, count: 2, sum: { amount: '7.25' } },
		])
		assert.equal(data(await ask('count=exact&author.name=Bob')), [{ count: 0 }])
		assert.equal(data(await ask(`count=exact&filter=${json({ author: null })}`)), [{ count: 2 }])
	})

	test('fields that a request does not have are refused like unknown ones, also through relations', async () => {
		const author = authorModel()
		class Nameless extends CrudHandler {
			override fields() {
				return this.request.header('x-all') === undefined ? { hidden: ['name'] } : {}
			}
		}
		class Poor extends CrudHandler {
			override fields() {
				return this.request.header('x-all') === undefined ? { hidden: ['amount', 'status'] } : {}
			}
		}
		const relations = { author: { to: new Nameless(author, AUTHOR) } }
		const ask = serve(
			{ relations, totals: { by: ['status', 'day', 'author.name'], of: ['amount', 'pieces'] } },
			orderModel(author),
			Poor,
		)
		const all = { headers: { 'x-all': '1' } }
		for (const way of ['by=NAME', 'sum=NAME', 'by=day&sort=NAME', 'by=author.NAME', 'count=exact&NAME=1']) {
			const own = way.includes('author') ? 'name' : way.startsWith('by=N') ? 'status' : 'amount'
			const [hidden, unknown] = [
				await ask(way.replace('NAME', own)),
				await ask(way.replace('NAME', 'nosuch')),
			]
			assert.match(hidden, /^400/, way)
			assert.is(
				hidden.replaceAll(`${own} is not`, 'NAME is not').replaceAll(`"${own}"`, '"NAME"'),
				unknown.replaceAll('nosuch', 'NAME'),
				way,
			)
		}
		assert.is(message(await ask('sum=amount')), '400 bad_request: sum may only name pieces')
		assert.equal(data(await ask('sum=amount', all)), [{ sum: { amount: '19.75' } }])
		assert.equal(data(await ask('by=author.name&sum=pieces&having={"sum.pieces":6}&limit=1', all)), [
			{ 'author.name': 'Ada', sum: { pieces: 6 } },
		])
	})

	test('deleted records are not among them', async () => {
		const model = new MemoryModel('note', {
			fields: { id: 'integer', state: 'text', deletedAt: { type: 'timestamp', nullable: true } },
			key: 'id',
			rows: [{ state: 'a' }, { state: 'a' }, { state: 'b' }],
		})
		const handler = new CrudHandler(model, {
			...{ visible: ['id', 'state'], allow: ['remove', 'totals'], softDelete: 'deletedAt' },
			totals: { by: ['state'] },
		})
		const server = createServer({ note: handler })
		const ask = async () => (await server.inject({ url: '/note/totals?by=state&count=exact' })).text()
		assert.is((await server.inject({ method: 'DELETE', url: '/note/1' })).status, 200)
		assert.is(await ask(), '{"success":true,"data":[{"state":"a","count":1},{"state":"b","count":1}]}')
	})

	test('totals in a transaction are of its records', async () => {
		class Adding extends CrudHandler {
			async post_add() {
				return transaction([this], async ([orders]) => {
					await orders.create(order('open', '5.00', '2026-11-22T00:00:00Z', null))
					return await orders.totals({ totals: [{ op: 'sum', field: 'amount', name: 'all' }] })
				})
			}
		}
		const server = createServer({ order: new Adding(orderModel(), { ...OPTIONS, creatable: ['status'] }) })
		const { text } = await server.inject({ method: 'POST', url: '/order/add' })
		assert.is(text(), '{"success":true,"data":[{"sum":{"all":"24.75"}}]}')
	})

	test('fields of related records must be visible and filterable there', () => {
		const author = authorModel()
		const mount = (name: string, options = AUTHOR, more: Partial<CrudOptions> = {}) => {
			const relations = { author: { to: new CrudHandler(author, options) }, ...more.relations }
			const handler = new CrudHandler(orderModel(author), { ...OPTIONS, relations, totals: { by: [name] } })
			createServer({ order: handler })
		}
		mount('author.name')
		const words =
			/totals.by: author.(?:team|secret): CrudHandler of author has no such field that is visible and filterable/
		assert.throws(() => mount('author.team'), words)
		assert.throws(() => mount('author.secret'), words)
		const many = new CrudHandler(author, {
			...AUTHOR,
			allow: ['totals'],
			relations: { orders: { to: () => new CrudHandler(orderModel(author), { visible: ['status'] }) } },
			totals: { by: ['orders.status'] },
		})
		assert.throws(() => createServer({ author: many }), /leads through orders, which has many records/)
	})

	test('totals through more relations than includeDepth are refused when it is mounted', async () => {
		const model = new MemoryModel('part', {
			fields: { id: 'integer', name: 'text', whole: { type: 'integer', nullable: true } },
			key: 'id',
			references: [{ field: 'whole', model: 'itself' }],
			rows: [{ name: 'a' }, { name: 'b', whole: 1 }, { name: 'c', whole: 2 }],
		})
		const mounted = (by: string) => {
			const parts: CrudHandler = new CrudHandler(model, {
				...{ visible: 'all', allow: ['read', 'totals'], includeDepth: 1 },
				relations: { parent: { to: () => parts } },
				totals: { by: [by] },
			})
			return createServer({ part: parts })
		}
		const answer = await mounted('parent.name').inject({ url: '/part/totals?by=parent.name' })
		assert.match(answer.text(), '[{"parent.name":"a"},{"parent.name":"b"},{"parent.name":null}]')
		assert.throws(
			() => mounted('parent.parent.name'),
			/totals\.by: parent\.parent\.name leads through 2 relations, and includeDepth is 1: raise it/,
		)
	})

	test('an answer with more than maxPageBytes is refused', async () => {
		const rows = Array.from({ length: 50 }, (_, at) => ({ name: `${at}${'x'.repeat(100)}` }))
		const model = new MemoryModel('long', { fields: { id: 'integer', name: 'text' }, key: 'id', rows })
		const ask = serve(
			{ visible: 'all', searchable: [], maxPageBytes: 2_000, totals: { by: ['name'], of: ['id'] } },
			model,
		)
		assert.is(
			message(await ask('by=name')),
			'400 too_large: There is too much to group: ask for fewer groups, or filter',
		)
		assert.match(await ask('by=name&limit=5'), /^200/)
	})
})
