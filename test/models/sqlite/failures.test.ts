import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import * as assert from 'uvu/assert'
import type { Changes, Condition, Model, Values } from '../../../lib/models/model.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { describe } from '../../helpers/describe.ts'
import { opened, sqliteDrivers, type TestDatabase } from '../../helpers/sqlite.ts'
import { stopwatch } from '../../helpers/stalls.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import { NO_GUARD, onDatabases, selectionOf } from './database.ts'

const ID = selectionOf('id')

async function failure(work: Promise<unknown>): Promise<unknown> {
	try {
		await work
	} catch (error) {
		return error instanceof ModelError ? [error.kind, error.fields] : error
	}
	return 'done'
}

const TABLES = `
	pragma foreign_keys = on;
	create table author (id integer primary key, name text not null);
	create table article (
		id integer primary key, title text not null check (title <> 'bad'), "e,mail" text unique,
		a int, b int, author int references author (id), unique (a, b)
	);
	create unique index "odd 'index'" on article (lower(title));
	create trigger no before insert on article when new.title = 'no' begin select raise(abort, 'not this one'); end;
	insert into author values (1, 'first'); insert into article values (1, 'one', 'x', 1, 1, 1)
`

for (const driver of suitesBy(sqliteDrivers)) {
	describe(`SqliteModel over ${driver.name}: failures`, (test) => {
		const { open } = driver
		const check = open === undefined ? test.skip : test
		const onDatabase = onDatabases(test, driver)
		const on = (promise: string, work: (database: TestDatabase) => Promise<void>) =>
			onDatabase(TABLES, promise, work)

		const refusals: readonly [what: string, values: Values, kind: string, fields: readonly string[]][] = [
			['a unique value', { title: 't', 'e,mail': 'x' }, 'unique', ['e,mail']],
			['unique values together', { title: 't', a: 1, b: 1 }, 'unique', ['a', 'b']],
			['a unique expression', { title: 'ONE' }, 'unique', []],
			['a key', { id: 1, title: 't' }, 'unique', ['id']],
			['a reference', { title: 't', author: 99 }, 'foreign_key', []],
			['null', { title: null }, 'not_null', ['title']],
			['a field that is missing', { a: 5 }, 'not_null', ['title']],
			['a check', { title: 'bad' }, 'check', []],
			['a trigger', { title: 'no' }, 'refused', []],
			['a text for a rowid', { id: 'abc', title: 't' }, 'invalid', []],
		]
		on(
			"a row skipped by a trigger, or raised on, is refused, with the trigger's text if any",
			async (database) => {
				database.exec(`
				create trigger out before insert on article when new.title = 'out' begin select raise(ignore); end;
				create trigger kept before update on article when new.title = 'out' begin select raise(ignore); end;
				create trigger stays before delete on article when old.id = 1 begin select raise(ignore); end;
			`)
				const article = await SqliteModel.open(database, 'article')
				assert.equal(await failure(article.create({ title: 'out' }, ID)), ['refused', []])
				assert.equal(await failure(article.update('1', { title: 'out' }, ID, NO_GUARD)), ['refused', []])
				assert.equal(await failure(article.delete('1', ID, NO_GUARD)), ['refused', []])
				assert.is(await article.update('9', { title: 'out' }, ID, NO_GUARD), 'missing')
				const error = await article.create({ title: 'no' }, ID).catch((error: unknown) => error)
				assert.instance(error, ModelError)
				if (error instanceof ModelError) {
					assert.is(error.raised?.code, 'SQLITE_CONSTRAINT_TRIGGER')
					assert.match(error.raised?.message ?? '', /not this one/)
				}
				assert.is(await article.count(undefined), 1)
			},
		)

		on('rows skipped by a temporary trigger, or by one that is new, are refused', async (database) => {
			database.exec(`
				create table t (id integer primary key, n int);
				create temp trigger skips before insert on main.t when new.n < 0 begin select raise(ignore); end;`)
			const model = await SqliteModel.open(database, 't')
			assert.equal(await failure(model.createMany([{ n: 1 }, { n: -1 }], ID)), ['refused', []])
			await model.create({ id: 1, n: 1 }, ID)
			database.exec('create trigger keeps before update on t begin select raise(ignore); end')
			assert.equal(await failure(model.update('1', { n: 2 }, ID, NO_GUARD)), ['refused', []])
			assert.is(await model.count(undefined), 1)
		})

		for (const [what, values, kind, fields] of refusals) {
			on(`${what} is refused as ${kind}`, async (database) => {
				const article = await SqliteModel.open(database, 'article')
				assert.equal(await failure(article.create(values, ID)), [kind, fields])
				assert.is(await article.count(undefined), 1)
			})
		}

		on('violations in updates and deletes are refused alike', async (database) => {
			const { article, author } = await SqliteModel.openAll(database)
			const update = (changes: Changes) => failure((article as Model).update('1', changes, ID, NO_GUARD))
			assert.equal(await update({ title: null }), ['not_null', ['title']])
			assert.equal(await update({ author: 99 }), ['foreign_key', []])
			assert.equal(await failure((author as Model).delete('1', ID, NO_GUARD)), ['foreign_key', []])
		})

		on('a closed database is unavailable', async (database) => {
			const article = await SqliteModel.open(database, 'article')
			const other = opened(open)
			other.exec('create table t (id integer primary key)')
			const model = await SqliteModel.open(other, 't')
			await model.count(undefined)
			other.close()
			const works = [model.count(undefined), model.read('1', ID, undefined), model.create({}, ID)]
			for (const outcome of await Promise.all(works.map(failure))) {
				assert.equal(outcome, ['unavailable', []])
			}
			assert.equal(await failure(model.transaction(async () => 1)), ['unavailable', []])
			assert.is(await article.count(undefined), 1)
		})

		on("a dropped table is a server error, not the client's", async (database) => {
			const article = await SqliteModel.open(database, 'article')
			database.exec('drop table article')
			const error = await failure(article.count(undefined))
			assert.ok(error instanceof Error && /no such table/.test(error.message))
		})

		check('a database locked by another connection is busy', async () => {
			const folder = mkdtempSync(`${tmpdir()}/verbena-sqlite-`)
			const [first, second] = [opened(open, `${folder}/a.db`), opened(open, `${folder}/a.db`)]
			try {
				first.exec(TABLES)
				const article = await SqliteModel.open(first, 'article')
				first.exec('pragma busy_timeout = 0')
				second.exec('begin immediate')
				assert.equal(await failure(article.create({ title: 't' }, ID)), ['busy', []])
				assert.equal(await failure(article.transaction(async () => 1)), ['busy', []])
				second.exec('rollback')
				assert.is(await failure(article.create({ title: 't' }, ID)), 'done')
			} finally {
				first.close()
				second.close()
				rmSync(folder, { recursive: true })
			}
		})

		check('check() waits for no lock of another connection, and leaves busy_timeout unchanged', async () => {
			const folder = mkdtempSync(`${tmpdir()}/verbena-sqlite-`)
			const [first, second] = [opened(open, `${folder}/a.db`), opened(open, `${folder}/a.db`)]
			const waits = () => Object.values(Object(first.prepare('pragma busy_timeout')).get())[0]
			try {
				first.exec(TABLES)
				first.exec('pragma busy_timeout = 60000')
				second.exec('begin immediate')
				const article = await SqliteModel.open(first, 'article')
				const took = stopwatch()
				for (const writes of [false, true]) assert.is(await failure(article.check(writes)), 'done')
				assert.is(waits(), 60_000)
				assert.ok(took() < 30_000)
				second.exec('rollback')
				assert.is(await failure(article.check(true)), 'done')
			} finally {
				first.close()
				second.close()
				rmSync(folder, { recursive: true })
			}
		})

		on(
			'a database that became read-only is unavailable for writes and their check(), and passes it for reads',
			async (database) => {
				const article = await SqliteModel.open(database, 'article')
				database.exec('pragma query_only = 1')
				assert.is(await failure(article.check()), 'done')
				const error = await article.check(true).catch((error: unknown) => error)
				assert.ok(error instanceof ModelError && error.kind === 'unavailable')
				assert.match(String(error instanceof Error && error.cause), /readonly|read-only/)
				assert.equal(await failure(article.create({ title: 't' }, ID)), ['unavailable', []])
				assert.equal(await failure(article.update('1', { title: 't' }, ID, NO_GUARD)), ['unavailable', []])
				assert.equal(await failure(article.createMany([{ title: 't' }, { title: 'u' }], ID)), [
					'unavailable',
					[],
				])
				database.exec('pragma query_only = 0')
				assert.is(await failure(article.check(true)), 'done')
			},
		)

		on("models opened separately wait for each other's transactions", async (database) => {
			const article = await SqliteModel.open(database, 'article')
			const author = await SqliteModel.open(database, 'author')
			const order: string[] = []
			const transaction = article.transaction(async (model) => {
				await new Promise((resolve) => setTimeout(resolve, 20))
				await model.create({ title: 'within' }, ID)
				order.push('transaction')
				throw new Error('no')
			})
			const insert = author.create({ name: 'second' }, ID).then(() => order.push('insert'))
			const next = author.transaction(async (model) => {
				return model.count(undefined)
			})
			assert.equal(String(await failure(transaction)), 'Error: no')
			await insert
			assert.is(await next, 2)
			assert.equal(order, ['transaction', 'insert'])
			assert.equal([await article.count(undefined), await author.count(undefined)], [1, 2])
		})

		on('an operation waiting for a transaction times out, and its read is dropped', async (database) => {
			const article = await SqliteModel.open(database, 'article', { timeoutSeconds: 0.04 })
			let end = (): void => {}
			const held = article.transaction(() => new Promise<void>((resolve) => (end = resolve)))
			const alive = setInterval(() => {}, 1_000)
			assert.equal(await failure(article.count(undefined)), ['unavailable', []])
			assert.equal(await failure(article.transaction(async () => 1)), ['unavailable', []])
			clearInterval(alive)
			end()
			await held
			assert.is(await article.count(undefined), 1)
		})

		on(
			'what was given up while it waited for a transaction is unavailable, and never run',
			async (database) => {
				const article = await SqliteModel.open(database, 'article', { timeoutSeconds: 0.04 })
				let end = (): void => {}
				const held = article.transaction(() => new Promise<void>((resolve) => (end = resolve)))
				const alive = setInterval(() => {}, 1_000)
				const works: Promise<unknown>[] = [
					article.create({ title: 'late' }, ID),
					article.createMany([{ title: 'late' }, { title: 'late' }], ID),
					article.update('1', { title: 'late' }, ID, NO_GUARD),
					article.delete('1', ID, NO_GUARD),
					article.read('1', ID, undefined),
				]
				const outcomes = await Promise.all(works.map(failure))
				clearInterval(alive)
				end()
				await held
				for (const outcome of outcomes) assert.equal(outcome, ['unavailable', []])
				assert.is(await article.count({ op: 'eq', field: 'title', value: 'one' }), 1)
				assert.is(await article.count(undefined), 1)
			},
		)

		on(
			'what is used in a transaction without being in it has waited for it, and says so',
			async (database) => {
				const article = await SqliteModel.open(database, 'article', { timeoutSeconds: 0.04 })
				const author = await SqliteModel.open(database, 'author', { timeoutSeconds: 0.04 })
				const alive = setInterval(() => {}, 1_000)
				for (const work of [() => author.count(undefined), () => author.transaction(async () => 1)]) {
					const error = await article.transaction(async () => work()).catch((reason: unknown) => reason)
					assert.instance(error, ModelError)
					assert.match(
						String((error as ModelError).cause),
						/waited until timeoutSeconds for an open transaction: within transaction\(\), use what/,
					)
				}
				clearInterval(alive)
				assert.is(await author.count(undefined), 1)
			},
		)

		on('what waited for a transaction that ended in time is done', async (database) => {
			const article = await SqliteModel.open(database, 'article')
			const works: Promise<unknown>[] = []
			await article.transaction(async () => {
				works.push(article.create({ title: 'in time' }, ID), article.count(undefined))
			})
			assert.is((await Promise.all(works)).at(1), 2)
		})

		on('a nested transaction is rolled back alone', async (database) => {
			const article = await SqliteModel.open(database, 'article')
			await article.transaction(async (outer) => {
				await outer.create({ title: 'kept' }, ID)
				const inner = outer.transaction(async (model) => {
					await model.create({ title: 'lost' }, ID)
					await model.transaction((innermost) => innermost.create({ title: 'lost too' }, ID))
					throw new Error('no')
				})
				assert.equal(String(await failure(inner)), 'Error: no')
				await outer.transaction((model) => model.create({ title: 'kept too' }, ID))
			})
			assert.is(await article.count({ op: 'startsWith', field: 'title', value: 'kept' }), 2)
			assert.is(await article.count(undefined), 3)
		})

		on('the model of a finished transaction is refused', async (database) => {
			const article = await SqliteModel.open(database, 'article')
			let kept: Model = article
			await article.transaction(async (model) => {
				kept = model
			})
			const error = await failure(kept.create({ title: 'late' }, ID))
			assert.is(String(error), 'TypeError: this transaction has ended: await all operations in it')
			assert.is(await article.count(undefined), 1)
		})

		on('a deferred constraint violated at commit rolls back the transaction', async (database) => {
			database.exec(
				'create table late (id integer primary key, r int references late (id) deferrable initially deferred)',
			)
			const late = await SqliteModel.open(database, 'late')
			const work = late.transaction((model) => model.create({ r: 99 }, ID))
			assert.equal(await failure(work), ['foreign_key', []])
			assert.is(await failure(late.transaction((model) => model.create({ r: null }, ID))), 'done')
			assert.is(await late.count(undefined), 1)
		})

		on(
			'statements are prepared once per text, at most 500 are kept, and long ones only briefly',
			async (database) => {
				const article = await SqliteModel.open(database, 'article')
				const { prepare } = database
				let prepared = 0
				database.prepare = (sql) => {
					prepared++
					return prepare.call(database, sql)
				}
				const preparedBy = async (lengths: readonly number[], nots = 0) => {
					const before = prepared
					for (const length of lengths) {
						const terms = Array.from({ length }, (_, at) => ({ op: 'eq', field: 'id', value: at }) as const)
						let where: Condition = { op: 'or', terms }
						for (let depth = 0; depth < nots; depth++) where = { op: 'not', term: where }
						await article.count(where)
					}
					return prepared - before
				}
				const few = Array.from({ length: 128 }, (_, at) => at + 1)
				// A statement used once isn't kept.
				for (let time = 0; time < 2; time++) assert.is(await preparedBy(few), 128)
				assert.is(await preparedBy(few), 0)
				// Each is prepared again, and evicts no other.
				const many = Array.from({ length: 600 }, (_, at) => at + 129)
				assert.is(await preparedBy(many), 600)
				assert.is(await preparedBy(many.slice(0, 20)), 20)
				assert.is(await preparedBy(few), 0)
				// 512 in all: the least recently used ones are evicted.
				for (const nots of [1, 2]) for (let time = 0; time < 2; time++) await preparedBy(few, nots)
				assert.is(await preparedBy(few), 0)
				for (let time = 0; time < 2; time++) assert.is(await preparedBy(few, 3), 128)
				assert.is(await preparedBy(few, 3), 0)
				assert.is(await preparedBy(few), 0)
				assert.is(await preparedBy(few.slice(0, 5), 1), 5)
			},
		)

		on('more statements than are kept prepared still work', async (database) => {
			const article = await SqliteModel.open(database, 'article')
			for (let length = 1; length <= 600; length++) {
				const values = Array.from({ length }, (_, at) => at)
				if (length % 7 === 0 || length > 590) {
					assert.is(await article.count({ op: 'in', field: 'id', values }), length > 1 ? 1 : 0)
				} else await article.count({ op: 'in', field: 'id', values })
			}
		})
	})
}
