/** Several records at once, and upserts, in SQL databases: which statements are sent, and which constraints are found. */
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import * as assert from 'uvu/assert'
import type { Model, Values } from '../../../lib/models/model.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { describe } from '../../helpers/describe.ts'
import { IS_MYSQL, mariadbIsHere, openPool } from '../../helpers/mariadb.ts'
import { driversHere, SERVER } from '../../helpers/postgres.ts'
import { opened, sqliteDrivers } from '../../helpers/sqlite.ts'
import { trials } from '../../helpers/trials.ts'

const ID = { fields: ['id'], names: ['id'], version: undefined }
const VERSIONED = { fields: ['slug', 'n'], names: ['slug', 'n'], version: 'version' }

function uniques({ unique = [] }: Model): string[] {
	return unique.map((names) => names.join()).toSorted()
}

/** Upserts of new keys at the same time: never two records, no change lost, and the rest of the work as well. */
async function race(model: Model, within: boolean): Promise<void> {
	const rounds = trials(4)
	const crowd = 20
	for (let round = 0; round < rounds; round++) {
		const slug = `s${within}${round}`
		const one = (at: number, on: Model) => {
			const values = { slug, n: at, version: 1 }
			return on.upsert?.({ values, on: ['slug'], changes: { n: at }, where: undefined }, VERSIONED)
		}
		const begun = Array.from({ length: crowd }, (_, at) =>
			repeated(async () => (within ? model.transaction(async (inner) => one(at, inner)) : one(at, model))),
		)
		const made = await Promise.all(begun)
		assert.is(made.filter((record) => record?.isNew).length, 1, slug)
		assert.is(await model.count({ op: 'eq', field: 'slug', value: slug }), 1)
		const last = Math.max(...made.map((record) => Number(record?.version)))
		assert.is(last, crowd, 'each has changed it once')
	}
}

/** Begins again what was busy, as its caller must: with so many on one key, an upsert may be overtaken each time. */
async function repeated<T>(work: () => Promise<T>): Promise<T> {
	for (let attempt = 0; ; attempt++) {
		try {
			return await work()
		} catch (error) {
			if (attempt > 50 || (error as { kind?: string }).kind !== 'busy') throw error
		}
	}
}

/** Upserts against deletions: each ends with the record created or changed. */
async function raceDeletions(model: Model): Promise<void> {
	const guard = { where: undefined, version: undefined }
	const work = Array.from({ length: trials(20) }, async (_, at) => {
		const values = { slug: 'gone', n: at }
		const upsert = { values, on: ['slug'], changes: { n: at }, where: undefined }
		const made = await repeated(() => Promise.resolve(model.upsert?.(upsert, ID)))
		await repeated(() => model.delete(made?.id ?? '', ID, guard))
	})
	await Promise.all(work)
	assert.is(await model.count({ op: 'eq', field: 'slug', value: 'gone' }), 0)
}

/** What a conflict is in SQLite, by the clause of the constraint; `replace` has none. */
const CLAUSES = { abort: 'unique', rollback: 'unique', fail: 'unique', ignore: 'refused' }

// Known before the first suite, because uvu begins when the module waits.
const hasPostgres = (await driversHere()).includes('pg')
const hasMariadb = await mariadbIsHere()
const [sqlite] = sqliteDrivers.filter(({ open }) => open !== undefined)
if (sqlite !== undefined) {
	describe('several records and upserts in SQLite', (test) => {
		const open = async (sql: string) => {
			const database = opened(sqlite.open)
			database.exec(sql)
			return { database, model: await SqliteModel.open(database, 't') }
		}

		test('unique constraints are those over all records, by the columns’ own collations', async () => {
			const { model } = await open(`
				create table t (id integer primary key, a text unique, b text, c text, d text collate nocase, unique (b, c));
				create unique index t_part on t (c) where c > 'x';
				create unique index t_lower on t (lower(b));
				create unique index t_d on t (d);
				create unique index t_binary on t (d collate binary, a);
				create index t_plain on t (b)`)
			assert.equal(uniques(model), ['a', 'b,c', 'd', 'id'])
		})

		test('records in any order of a text key are returned as given', async () => {
			const { model } = await open('create table t (id text primary key, n int)')
			const ids = ['c', 'a', 'b', 'ä', '10', '9']
			const made = await model.createMany(
				ids.map((id) => ({ id })),
				ID,
			)
			assert.equal(
				made.map(({ id }) => id),
				ids,
			)
		})

		test('more records than fit into a statement are created together, or not at all', async () => {
			const { model } = await open(
				"create table t (id integer primary key, a int, b int, c int unique, d text default 'x')",
			)
			const values = Array.from({ length: 12_000 }, (_, at) => ({ a: at, b: 1, c: at }))
			const made = await model.createMany(values, {
				fields: ['a', 'd'],
				names: ['a', 'd'],
				version: undefined,
			})
			assert.is(made[11_999]?.json, '{"a":11999,"d":"x"}')
			const again = [{ a: 1, b: 1, c: 20_000 }, ...values.slice(0, 11_000)]
			const error = await model.createMany(again, ID).catch((one) => one)
			assert.equal([error.kind, error.index], ['unique', 1])
			assert.is(await model.count(undefined), 12_000)
		})

		for (const [clause, kind] of Object.entries(CLAUSES))
			test(`on conflict ${clause} in a constraint: several records are stored together, or not at all`, async () => {
				const column = `name text unique on conflict ${clause}`
				const { database, model } = await open(`create table t (id integer primary key, ${column})`)
				database.exec("insert into t (name) values ('old')")
				const values = ['a', 'b', 'old', 'd'].map((name) => ({ name }))
				const error = await model.createMany(values, ID).catch((one) => one)
				assert.equal([error.kind, error.index], [kind, 2])
				assert.is(await model.count(undefined), 1)
				await model.createMany([{ name: 'a' }, { name: 'b' }], ID)
				assert.is(await model.count(undefined), 3)
			})

		test('races on a key', async () => {
			const { model } = await open(
				'create table t (id integer primary key, slug text unique, n int, version int not null default 1)',
			)
			await race(model, false)
			await race(model, true)
			await raceDeletions(model)
		})
	})
}

if (hasPostgres) {
	describe('several records and upserts in PostgreSQL', (test) => {
		let pool: pg.Pool
		const name = `sql_many_${process.pid}`
		const statements: string[] = []
		test.before(() => {
			pool = new pg.Pool({ ...SERVER, max: 10 })
			pool.on('connect', (client) => {
				const query = client.query.bind(client) as (...given: unknown[]) => unknown
				Object.assign(client, {
					query: (...given: unknown[]) => {
						const [first] = given
						statements.push(typeof first === 'string' ? first : String(Reflect.get(Object(first), 'text')))
						return query(...given)
					},
				})
			})
		})
		test.after(async () => {
			await pool.query(`drop table if exists ${name}`)
			await pool.end()
		})
		const open = async (columns: string, more = '') => {
			await pool.query(
				`drop table if exists ${name}; create table ${name} (${columns}); ${more.replaceAll('TABLE', name)}`,
			)
			return PostgresModel.open(pool, name, { timeoutSeconds: 60 })
		}
		const sent = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
			statements.length = 0
			await work()
			return statements.map((text) => text.replaceAll(name, 't').slice(0, 58))
		}
		const TABLE = 'id serial primary key, slug text unique, n int, version int not null default 1'

		test('unique constraints are those over all records that aren’t deferrable', async () => {
			const model = await open(
				'id serial primary key, a text unique, b text, c text, d text unique deferrable, unique (b, c)',
				`create unique index on TABLE (c) where c > 'x'; create unique index on TABLE (lower(b));
				create unique index on TABLE (d, a); create index on TABLE (b)`,
			)
			assert.equal(uniques(model), ['a', 'b,c', 'd,a', 'id'])
		})

		test('records are one statement, also with different fields, and so is an upsert', async () => {
			const model = await open(TABLE)
			const values: Values[] = Array.from({ length: 100 }, (_, at) => ({ slug: `s${at}`, n: at }))
			const alike = await sent(() => model.createMany(values, ID))
			assert.equal(alike, ['insert into "public"."t" as b ("slug", "n") select unnest('])
			const shuffled = [
				{ slug: 'a', n: 1 },
				{ n: 2, slug: 'b' },
			]
			const fields = ['slug', 'n']
			const made = await model.createMany(shuffled, { fields, names: fields, version: undefined })
			assert.equal(
				made.map(({ json }) => json),
				['{"slug":"a","n":1}', '{"slug":"b","n":2}'],
			)
			const mixed = await sent(() => model.createMany([{ n: 1 }, { slug: 'x' }], ID))
			assert.equal(mixed, ['insert into "public"."t" as b ("n", "slug") values ($1::in'])
			const upsert = { values: { slug: 'y', n: 1 }, on: ['slug'], changes: { n: 2 }, where: undefined }
			for (const isNew of [true, false]) {
				const one = await sent(async () => assert.is((await model.upsert(upsert, ID)).isNew, isNew))
				assert.equal(one, ['insert into "public"."t" as b ("slug", "n") values ($1::te'])
			}
		})

		test('columns that can’t be sent as arrays are sent one by one', async () => {
			const model = await open('id serial primary key, tags text[], at box, extra jsonb, n numeric(9, 2)')
			const fields = { fields: ['tags', 'n'], names: ['tags', 'n'], version: undefined }
			const { RawJson } = await import('../../../lib/index.ts')
			const values = [
				{ tags: new RawJson('["a","b\\\\"]'), n: '1.5', extra: new RawJson('{"a":"\\""}') },
				{ tags: new RawJson('[]'), n: null, extra: new RawJson('null') },
			]
			const made = await model.createMany(values, fields)
			assert.equal(
				made.map(({ json }) => JSON.parse(json)),
				[
					{ tags: ['a', 'b\\'], n: '1.50' },
					{ tags: [], n: null },
				],
			)
			const plain = values.map(({ extra, n }) => ({ extra, n }))
			const read = await model.createMany(plain, { fields: ['extra'], names: ['extra'], version: undefined })
			assert.equal(
				read.map(({ json }) => json.replaceAll(' ', '')),
				['{"extra":{"a":"\\""}}', '{"extra":null}'],
			)
		})

		test('a trigger that skips one record creates none, and is named', async () => {
			const model = await open(
				TABLE,
				`create or replace function ${name}_skip() returns trigger language plpgsql as
				'begin if new.n = 3 then return null; end if; return new; end';
				create trigger skip before insert on TABLE for each row execute function ${name}_skip()`,
			)
			const error = await model.createMany([{ n: 1 }, { n: 3 }, { n: 2 }], ID).catch((one) => one)
			assert.equal([error.kind, error.index], ['refused', 1])
			assert.is(await model.count(undefined), 0)
			// With triggers, an upsert is several statements.
			const upsert = (slug: string, n: number) =>
				model.upsert({ values: { slug, n }, on: ['slug'], changes: { n }, where: undefined }, ID)
			assert.is((await upsert('a', 1)).isNew, true)
			assert.is((await upsert('a', 2)).isNew, false)
			assert.is((await upsert('b', 3).catch((one) => one)).kind, 'refused')
		})

		test('one that was added while the program runs stores none twice', async () => {
			const model = await open(TABLE)
			await pool.query(`create or replace function ${name}_skip() returns trigger language plpgsql as
				'begin if new.n = 3 then return null; end if; return new; end';
				create trigger skip before insert on ${name} for each row execute function ${name}_skip()`)
			const error = await model.createMany([{ n: 1 }, { n: 3 }, { n: 2 }], ID).catch((one) => one)
			assert.equal([error.kind, await model.count(undefined)], ['outcome_unknown', 2])
		})

		test('a partitioned table takes both', async () => {
			await pool.query(`drop table if exists ${name}; create table ${name} (id int primary key, n int) partition by hash (id);
				create table ${name}_0 partition of ${name} for values with (modulus 2, remainder 0);
				create table ${name}_1 partition of ${name} for values with (modulus 2, remainder 1)`)
			const model = await PostgresModel.open(pool, name)
			const ids = [5, 1, 9, 2, 8, 3, 7]
			const made = await model.createMany(
				ids.map((id) => ({ id })),
				ID,
			)
			assert.equal(
				made.map(({ id }) => Number(id)),
				ids,
			)
			const upsert = (id: number) =>
				model.upsert({ values: { id, n: 1 }, on: ['id'], changes: { n: 2 }, where: undefined }, ID)
			assert.equal([(await upsert(5)).isNew, (await upsert(6)).isNew], [false, true])
		})

		test('races on a key', async () => {
			const model = await open(TABLE)
			await race(model, false)
			await race(model, true)
			await raceDeletions(model)
			const slow = await open(TABLE, 'create rule nothing as on delete to TABLE where false do also nothing')
			await race(slow, false)
			await raceDeletions(slow)
		})
	})
}

if (hasMariadb) {
	describe('several records and upserts in MariaDB', (test) => {
		const pool = openPool({}, { connectionLimit: 10 })
		// One connection, whose statements are counted.
		const single = openPool({}, { connectionLimit: 1 })
		const name = `sql_many_${process.pid}`
		test.after(async () => {
			await pool.query(`drop table if exists ${name}`)
			await pool.end()
			await single.end()
		})
		const open = async (columns: string, through = pool) => {
			await pool.query(`drop table if exists ${name}`)
			await pool.query(`create table ${name} (${columns})`)
			return MysqlModel.open(through, name, { timeoutSeconds: 60 })
		}

		test('unique constraints are those over whole columns', async () => {
			const model = await open(
				'id int primary key auto_increment, a varchar(9) unique, b varchar(9), c varchar(9), d varchar(9), unique (b, c), unique (d(3)), key (b)',
			)
			assert.equal(uniques(model), ['a', 'b,c', 'id'])
		})

		// MySQL sends them one by one: it has no `returning`.
		const onMariadb = IS_MYSQL ? test.skip : test
		onMariadb('records with different fields are one statement', async () => {
			const model = await open("id int primary key auto_increment, a varchar(9) default 'x', n int", single)
			const before = await questions()
			const selection = { fields: ['id', 'a', 'n'], names: ['id', 'a', 'n'], version: undefined }
			const made = await model.createMany([{ n: 1 }, { a: 'y' }, { id: 9, n: 3 }], selection)
			assert.is((await questions()) - before, 1)
			assert.equal(
				made.map(({ json }) => json),
				['{"id":1,"a":"x","n":1}', '{"id":2,"a":"y","n":null}', '{"id":9,"a":"x","n":3}'],
			)
		})

		test('another unique key is never changed', async () => {
			const model = await open('id int primary key auto_increment, slug varchar(9) unique, n int unique')
			await model.create({ slug: 'a', n: 1 }, ID)
			const upsert = { values: { slug: 'b', n: 1 }, on: ['slug'], changes: { n: 1 }, where: undefined }
			const error = await model.upsert(upsert, ID).catch((one) => one)
			assert.equal([error.kind, error.fields], ['unique', ['n']])
			const [rows] = await pool.query(`select slug, n from ${name}`)
			assert.equal(JSON.stringify(rows), '[{"slug":"a","n":1}]')
		})

		test('what is in the way and is not found is an error at once', async () => {
			const model = await open('id int primary key auto_increment, at datetime unique', single)
			const put = async (at: string, on: Model = model) =>
				on.upsert?.({ values: { at }, on: ['at'], changes: {}, where: undefined }, ID)
			await put('2026-01-01T00:00:00.000Z')
			const before = await questions()
			for (const work of [
				() => put('2026-01-01T00:00:00.400Z'),
				() => model.transaction((inner) => put('2026-01-01T00:00:00.400Z', inner)),
			]) {
				const error = await work().catch((one) => one)
				assert.equal([error.kind, error.fields], ['unique', ['at']])
			}
			assert.ok((await questions()) - before < 10, 'statements')
		})

		test('without changes, in a transaction, it finds what was committed meanwhile', async () => {
			const model = await open('id int primary key auto_increment, slug varchar(99) unique')
			const put = async (on: Model) =>
				on.upsert?.({ values: { slug: 'a' }, on: ['slug'], changes: {}, where: undefined }, ID)
			const first = model.transaction(async (inner) => {
				const made = await put(inner)
				await setTimeout(300)
				return made
			})
			await setTimeout(100)
			const second = await model.transaction(put)
			assert.equal([second?.id, second?.isNew], [(await first)?.id, false])
		})

		test('races on a key', async () => {
			const model = await open(
				'id int primary key auto_increment, slug varchar(99) unique, n int, version int not null default 1',
			)
			await race(model, false)
			await race(model, true)
			await raceDeletions(model)
		})

		/** How many inserts the single connection has run. */
		async function questions(): Promise<number> {
			const [rows] = await single.query("show session status like 'Com_insert'")
			return Number((rows as { Value: string }[])[0]?.Value)
		}
	})
}
