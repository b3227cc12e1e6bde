import pg from 'pg'
import * as assert from 'uvu/assert'
import { errorText } from '../../lib/base/error-text.ts'
import {
	type CrudFieldLimits,
	CrudHandler,
	type DatabaseMessages,
	MemoryModel,
	ModelError,
	type ModelErrorKind,
} from '../../lib/index.ts'
import { PostgresModel } from '../../lib/models/postgres/model.ts'
import { SqliteModel } from '../../lib/models/sqlite/model.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { driversHere, SERVER } from '../helpers/postgres.ts'
import { opened, sqliteDrivers } from '../helpers/sqlite.ts'
import { articles, EVERYTHING, OPTIONS, refusalOf } from './articles.ts'

const drivers = await driversHere()

/** A store that fails every call with a driver's error. */
class Failing extends MemoryModel {
	readonly #error: () => Error

	constructor(error: () => Error) {
		super('sqltable', {
			key: 'id',
			fields: {
				id: 'integer',
				title: 'text',
				...{ body: { type: 'text', nullable: true }, state: { type: 'text', nullable: true } },
				...{ rating: 'float', published: { type: 'timestamp', nullable: true }, secret: 'text' },
				owner: { type: 'text', nullable: true },
			},
		})
		this.#error = error
	}

	override list(): Promise<never> {
		return Promise.reject(this.#error())
	}
	override count(): Promise<never> {
		return Promise.reject(this.#error())
	}
	override read(): Promise<never> {
		return Promise.reject(this.#error())
	}
	override create(): Promise<never> {
		return Promise.reject(this.#error())
	}
	override update(): Promise<never> {
		return Promise.reject(this.#error())
	}
	override delete(): Promise<never> {
		return Promise.reject(this.#error())
	}
}

const BODY = { title: 'T', rating: 1, secret: 's' }
const DRIVER = () =>
	new Error('duplicate key value violates unique constraint "sqltable_title_key" (SQLSTATE 23505)')

function failing(kind: ModelErrorKind, fields: readonly string[] = []) {
	return articles(new CrudHandler(new Failing(() => new ModelError(kind, fields, DRIVER())), OPTIONS))
}

const READS = ['/article', '/article?limit=0', 'QUERY /article', '/article/1', '/article/1?fields=id']
const WRITES = ['POST /article', 'PATCH /article/1', 'PUT /article/1']

describe('crud/database-errors', (test) => {
	const unavailable: [ModelErrorKind, string, string, string][] = [
		['busy', 'unavailable', '503 Service Unavailable', '1'],
		['unavailable', 'unavailable', '503 Service Unavailable', '5'],
		['outcome_unknown', 'outcome_unknown', '503 The outcome of this request is unknown', '5'],
	]
	for (const [kind, code, message, retryAfter] of unavailable) {
		test(`${kind} is ${message} with Retry-After, for every verb`, async () => {
			const asked = failing(kind)
			for (const request of [...READS, ...WRITES, 'DELETE /article/1']) {
				const body = request.startsWith('/') || request.startsWith('QUERY') ? undefined : BODY
				const reply = await asked.ask(request, { body })
				assert.is(reply.headers['retry-after'], retryAfter)
				assert.is((reply.json() as { code: string }).code, code)
				assert.is(await refusalOf(asked, request, { body }), message)
				assert.is(asked.lines.at(-1)?.level, 'error')
			}
		})
	}

	const writes: [ModelErrorKind, readonly string[], string][] = [
		['unique', ['title'], '409 title is taken by another record'],
		['unique', ['owner', 'title'], '409 title is taken by another record'],
		['unique', ['owner'], '409 Conflicts with existing records'],
		['unique', [], '409 Conflicts with existing records'],
		['foreign_key', ['title'], '409 title refers to a record that does not exist'],
		['foreign_key', [], '409 Conflicts with existing records'],
		['not_null', ['title'], '422 title must not be null'],
		['not_null', ['owner'], '422 A value cannot be stored'],
		['check', ['title'], "422 title can't be stored with this value"],
		['check', [], '422 A value cannot be stored'],
		['invalid', ['rating'], "422 rating can't be stored with this value"],
	]
	for (const [kind, fields, message] of writes) {
		test(`${kind} of ${fields.join() || 'nothing'} is ${message}`, async () => {
			for (const request of WRITES)
				assert.is(await refusalOf(failing(kind, fields), request, { body: BODY }), message)
		})
	}

	test('an exclusion constraint is a conflict, and not a value that is taken', async () => {
		const overlap = () =>
			new ModelError('unique', ['title', 'rating'], Object.assign(DRIVER(), { code: '23P01' }))
		const asked = articles(new CrudHandler(new Failing(overlap), OPTIONS))
		for (const request of WRITES)
			assert.is(
				await refusalOf(asked, request, { body: BODY }),
				'409 title conflicts with another record, together with rating',
			)
	})

	test('a required field that fields() keeps from being written is named if it is visible', async () => {
		const posts = (limits: CrudFieldLimits) => {
			class Posts extends CrudHandler {
				override fields() {
					return limits
				}
			}
			const model = new MemoryModel('post', {
				key: 'id',
				fields: { id: 'integer', title: 'text', slug: 'text' },
			})
			return asking({
				post: new Posts(model, { visible: 'all', updatable: ['title', 'slug'], allow: ['create'] }),
			})
		}
		const body = { title: 'a', slug: 'thyme' }
		const reply = await posts({ readOnly: ['slug'] }).ask('POST /post', { body })
		const message = 'is required, but this request may not write it'
		const { error, details } = reply.json() as { error: string; details: unknown }
		assert.equal([reply.status, error], [422, `slug ${message}`])
		assert.equal(details, [{ field: 'slug', code: 'required', message }])
		const hidden = posts({ hidden: ['slug'] })
		assert.is(await refusalOf(hidden, 'POST /post', { body: { title: 'a' } }), '422 A value cannot be stored')
	})

	test('a record that is restored conflicts by the fields that may be written', async () => {
		const model = new MemoryModel('note', {
			fields: { id: 'integer', text: 'text', gone: { type: 'timestamp', nullable: true } },
			...{ key: 'id', rows: [{ text: 'a', gone: '2026-01-01T00:00:00Z' }] },
		})
		model.update = async () => {
			throw new ModelError('unique', ['text'])
		}
		const options = { visible: 'all', updatable: ['text'], softDelete: 'gone', allow: ['restore'] } as const
		const asked = asking({ note: new CrudHandler(model, options) })
		assert.is(await refusalOf(asked, 'POST /note/1/restore'), '409 text is taken by another record')
	})

	test('a referenced record is not deleted', async () => {
		assert.is(
			await refusalOf(failing('foreign_key', ['title']), 'DELETE /article/1'),
			'409 Other records refer to this one',
		)
	})

	test('a missing database privilege is 403, and a violated database rule 422', async () => {
		for (const request of [...WRITES, 'DELETE /article/1']) {
			const body = request.startsWith('DELETE') ? undefined : BODY
			assert.is(await refusalOf(failing('forbidden'), request, { body }), '403 Forbidden')
			const refused = failing('refused')
			assert.is(await refusalOf(refused, request, { body }), '422 The database refuses this change')
			const { code } = (await refused.ask(request, { body })).json() as { code: string }
			assert.is(code, 'refused_by_database')
		}
	})

	const raised: [DatabaseMessages | undefined, ModelErrorKind, string, string][] = [
		[undefined, 'refused', 'P0001', '422 The database refuses this change'],
		[[], 'refused', 'P0001', '422 The database refuses this change'],
		[['AB123'], 'refused', 'P0001', '422 The database refuses this change'],
		[['P0001'], 'refused', 'P0001', '422 only 3 of sqltable left'],
		[{ P0001: true }, 'refused', 'P0001', '422 only 3 of sqltable left'],
		[{ P0001: 'The stock is too low' }, 'refused', 'P0001', '422 The stock is too low'],
		[{ SQLITE_CONSTRAINT_TRIGGER: 'No' }, 'refused', 'SQLITE_CONSTRAINT_TRIGGER', '422 No'],
		[{ '23514': true }, 'check', '23514', '422 only 3 of sqltable left'],
		[{ '23505': 'Twice' }, 'unique', '23505', '409 Twice'],
		[{ '23503': 'In use' }, 'foreign_key', '23503', '409 In use'],
		[{ '42501': 'Not yours' }, 'forbidden', '42501', '403 Not yours'],
		[{ constructor: 'x' } as never, 'refused', 'P0001', 'TypeError'],
	]
	for (const [databaseMessages, kind, code, told] of raised) {
		test(`${kind} raised as ${code} is ${told} with ${JSON.stringify(databaseMessages)}`, async () => {
			const message = 'only 3 of sqltable left'
			const error = () => new ModelError(kind, [], DRIVER(), { code, message })
			const handler = () => new CrudHandler(new Failing(error), { ...OPTIONS, databaseMessages })
			if (told === 'TypeError') assert.throws(handler, /databaseMessages: "constructor" is not a SQLSTATE/)
			else
				for (const request of WRITES)
					assert.is(await refusalOf(articles(handler()), request, { body: BODY }), told)
		})
	}

	test('the text of an error not raised by a rule is never sent', async () => {
		const handler = new CrudHandler(new Failing(() => new ModelError('check', ['title'], DRIVER())), {
			...OPTIONS,
			databaseMessages: ['23514', '23505'],
		})
		const told = await refusalOf(articles(handler), 'POST /article', { body: BODY })
		assert.is(told, "422 title can't be stored with this value")
	})

	test('meaningless databaseMessages are refused', () => {
		for (const [option, message] of [
			['P0001', /databaseMessages must be a plain object: \{ P0001: true \}, or an array of codes/],
			[['P001'], /"P001" is not a SQLSTATE/],
			[['p0001'], /"p0001" is not a SQLSTATE/],
			[[1], /1 is not a SQLSTATE/],
			[{ P0001: false }, /P0001 must be true for the database's own text, or the text to send instead/],
			[{ P0001: '' }, /P0001 must be true/],
		] as const) {
			const options = { ...OPTIONS, databaseMessages: option as never }
			assert.throws(() => new CrudHandler(new Failing(DRIVER), options), message)
		}
	})

	test('a query value that cannot be compared is 400', async () => {
		for (const request of READS)
			assert.is(
				await refusalOf(failing('invalid', ['title']), request),
				'400 A query value is not valid for its field',
			)
	})

	const invalid: [request: string, status: 400 | 500][] = [
		...(['/article', '/article?limit=0', '/article?sort=title&fields=title', '/article/1'] as const).map(
			(request): [string, 500] => [request, 500],
		),
		['/article?title=x', 400],
		['/article?id=1&rating[gt]=1', 400],
		['/article?filter={"or":[{"id":1},{"published":{"lt":"2026-01-01T00:00:00Z"}}]}', 400],
		['/article?search=x', 400],
	]
	for (const [request, status] of invalid)
		test(`${request} is ${status} where the store finds a value invalid that may ${status === 500 ? 'only be of a record' : 'be of the query'}`, async () => {
			const asked = failing('invalid')
			const message = status === 400 ? 'A query value is not valid for its field' : 'Internal Server Error'
			assert.is(await refusalOf(asked, request), `${status} ${message}`)
			assert.match(asked.logged(), status === 500 ? /a record can't be read/ : 'undefined')
		})

	test('any other error is 500, logged, and its text is not sent', async () => {
		const asked = articles(new CrudHandler(new Failing(DRIVER), OPTIONS))
		for (const request of [...READS, ...WRITES, 'DELETE /article/1']) {
			const body = request.startsWith('/') || request.startsWith('QUERY') ? undefined : BODY
			assert.is(await refusalOf(asked, request, { body }), '500 Internal Server Error')
			assert.match(asked.logged(), /duplicate key/)
		}
	})

	test("no response has the store's own text", async () => {
		for (const kind of [
			'unique',
			'foreign_key',
			'not_null',
			'check',
			'invalid',
			'forbidden',
			'refused',
			'busy',
			'unavailable',
			'outcome_unknown',
		] as const)
			for (const request of [...READS, ...WRITES, 'DELETE /article/1']) {
				const body = request.startsWith('/') || request.startsWith('QUERY') ? undefined : BODY
				const reply = await failing(kind, ['title', 'owner']).ask(request, { body })
				assert.not.match(reply.text(), /sql|table|constraint|key value|duplicate|owner|MemoryModel/i)
			}
	})

	test("errors of an override's own calls of the model are translated too", async () => {
		class Own extends CrudHandler {
			override list() {
				return this.model.count(undefined)
			}
		}
		const asked = articles(new Own(new Failing(() => new ModelError('unavailable')), OPTIONS))
		assert.is(await refusalOf(asked, '/article'), '503 Service Unavailable')
	})
})

describe("crud: model errors in a handler's own methods", (test) => {
	class Own extends CrudHandler {
		async post_many() {
			return this.model.transaction(() => this.model.create({ title: 'A' }, SELECTION))
		}
		post_sync(kind: string) {
			throw new ModelError(kind as ModelErrorKind, ['owner'])
		}
	}
	const SELECTION = { fields: ['id'], names: ['id'], version: undefined }
	const rows: [kind: ModelErrorKind, fields: string[], refusal: string][] = [
		['unique', ['title'], '409 title is taken by another record'],
		['unique', ['owner'], '409 Conflicts with existing records'],
		['foreign_key', ['title'], '409 Conflicts with existing records'],
		['not_null', ['title'], '422 title must not be null'],
		['invalid', [], '422 A value cannot be stored'],
		['forbidden', [], '403 Forbidden'],
		['busy', [], '503 Service Unavailable'],
		['unavailable', [], '503 Service Unavailable'],
		['outcome_unknown', [], '503 '],
	]
	for (const [kind, fields, refusal] of rows) {
		test(`are translated as in the operations: ${kind} of ${fields.join()}`, async () => {
			const model = new Failing(() => new ModelError(kind, fields))
			const { status, json, headers } = await articles(new Own(model, OPTIONS)).ask('POST /article/many')
			assert.match(`${status} ${(json() as { error: string }).error}`, refusal)
			assert.is('retry-after' in headers, status === 503)
		})
	}

	test('are translated when thrown synchronously, and other errors stay 500', async () => {
		const asked = articles(new Own(new Failing(() => new Error('No')), OPTIONS))
		assert.is((await asked.ask('POST /article/sync/unique')).status, 409)
		assert.is((await asked.ask('POST /article/many')).status, 500)
	})
})

describe('crud: types that only the database can validate', (test) => {
	/** Refuses like PostgreSQL, which names no column. */
	class Unnamed extends MemoryModel {
		constructor() {
			const nullable = true
			super('host', {
				key: 'id',
				fields: {
					id: 'integer',
					title: { type: 'text', nullable },
					address: { type: 'other', nullable },
					tags: { type: 'json', nullable },
				},
				rows: [{}],
			})
		}
		override create(): Promise<never> {
			return Promise.reject(new ModelError('invalid'))
		}
		override update(): Promise<never> {
			return Promise.reject(new ModelError('invalid'))
		}
	}
	const asked = articles(
		new CrudHandler(new Unnamed(), {
			visible: 'all',
			updatable: ['title', 'address', 'tagList'],
			columns: { tagList: 'tags' },
			allow: ['list', 'create', 'update'],
		}),
	)
	const rows: [body: object, error: string, fields: string[]][] = [
		[{ title: 'a', address: 'abc' }, "address can't be stored with this value", ['address']],
		[{ tagList: 'x', address: null }, "tagList can't be stored with this value", ['tagList']],
		[{ address: 'abc', tagList: [] }, 'A value cannot be stored: one of address, tagList', []],
		[{ title: 'a' }, 'A value cannot be stored', []],
	]
	for (const [body, error, fields] of rows) {
		test(`are refused with the field's name: ${Object.keys(body).join()}`, async () => {
			for (const request of ['POST /article', 'PATCH /article/1']) {
				const { status, json } = await asked.ask(request, { body })
				const said = json() as { error: string; details?: { field: string }[] }
				assert.is(`${status} ${said.error}`, `422 ${error}`)
				assert.equal(said.details?.map(({ field }) => field) ?? [], fields)
			}
		})
	}

	test('can not be compared, and the message says so', async () => {
		assert.match(
			await asked.said('/article?tagList=x'),
			"tagList can't be compared with a value: use tagList[null]",
		)
	})
})

/** SQLite doesn't report which reference of a record is broken, or which record refers to it. */
describe('crud: foreign keys of SQLite', (test) => {
	test('that are violated get the same message as a unique conflict', async () => {
		const database = opened(sqliteDrivers.find(({ open }) => open !== undefined)?.open)
		try {
			database.exec(`pragma foreign_keys = on;
				create table author (id integer primary key, email text not null, pen text unique);
				create table post (id integer primary key, author integer references author (id));
				insert into author values (1, 'ann', 'a'), (2, 'bob', 'b');
				insert into post values (1, 1)`)
			class Penned extends CrudHandler {
				override update(id: string, values: Record<string, unknown>) {
					return super.update(id, { ...values, pen: 'b' })
				}
			}
			const asked = asking({
				author: new Penned(await SqliteModel.open(database, 'author'), {
					...{ visible: ['id'], updatable: ['email'], allow: EVERYTHING },
				}),
				post: new CrudHandler(await SqliteModel.open(database, 'post'), {
					...{ visible: 'all', updatable: ['author'], allow: EVERYTHING },
				}),
			})
			const refused = '409 {"success":false,"error":"Conflicts with existing records","code":"conflict"}'
			const body = { author: 9 }
			for (const request of ['POST /post', 'PATCH /post/1', 'PUT /post/1'])
				assert.is(await asked.said(request, { body }), refused)
			assert.is(await asked.said('PATCH /author/1', { body: { email: 'x' } }), refused)
			assert.is(
				await asked.said('DELETE /author/1'),
				'409 {"success":false,"error":"Other records refer to this one","code":"conflict"}',
			)
		} finally {
			database.close()
		}
	})
})

if (drivers.includes('pg'))
	describe('crud: values that only PostgreSQL can validate', (test) => {
		test('views that fail to compute one are 500 and logged, unless a value of the query may be the cause', async () => {
			const pool = new pg.Pool(SERVER)
			const name = `failing_${process.pid}`
			await pool.query(`create table ${name} (id int primary key, part int references ${name}, text text, host inet);
				insert into ${name} values (1, 1, 'no number', '10.0.0.1');
				create view ${name}_view as select id, host, text::int as number from ${name}`)
			try {
				const view = new CrudHandler(await PostgresModel.open(pool, `${name}_view`, { key: 'id' }), {
					...{ visible: 'all', allow: ['list', 'read', 'export', 'totals'] },
					totals: { of: ['number'] },
				})
				const table = new CrudHandler(await PostgresModel.open(pool, name), {
					visible: 'all',
					relations: { computed: { to: view, by: 'part' } },
				})
				const asked = asking({ view, table })
				const told = async (path: string, headers = {}) => (await asked.ask(path, { headers })).status
				for (const path of ['/view', '/view/1', '/view/totals?sum=number'])
					assert.is(await told(path), 500, path)
				assert.is(await told('/view', { accept: 'text/csv' }), 500)
				assert.is(await told('/table?include=computed'), 500)
				const logged = errorText(asked.lines.at(-1)?.fields.err)
				assert.match(logged, 'invalid input syntax for type integer')
				assert.is(await told('/view?host[contains]=10'), 400)
				assert.is(await told('/view?host[contains]=11'), 200)
			} finally {
				await pool.query(`drop table ${name} cascade`)
				await pool.end()
			}
		})

		test('a day that is out of range is told from a value of another type', async () => {
			const pool = new pg.Pool(SERVER)
			const name = `days_${process.pid}`
			await pool.query(`create table ${name} (day date primary key, later date, host inet, price numeric)`)
			try {
				const updatable = ['later', 'host', 'price']
				const allow = ['read', 'create', 'remove'] as const
				const days = new CrudHandler(await PostgresModel.open(pool, name), {
					...{ visible: 'all', creatable: ['day', ...updatable], updatable, allow },
				})
				const { said } = asking({ days })
				const answers: [body: object, error: string][] = [
					[{ later: '5874898-01-01', price: '1' }, "later can't be stored with this value"],
					[{ host: 'x', price: '1' }, "host can't be stored with this value"],
					[{ host: 'x', later: '5874898-01-01' }, 'A value cannot be stored: one of later, host'],
				]
				for (const [body, error] of answers)
					assert.match(
						await said('POST /days', { body: { day: '2026-01-01', ...body } }),
						`"error":"${error}"`,
					)
				for (const method of ['GET', 'DELETE'])
					assert.match(await said(`${method} /days/10000-02-30`), /^400 /, method)
			} finally {
				await pool.query(`drop table ${name}`)
				await pool.end()
			}
		})
	})
