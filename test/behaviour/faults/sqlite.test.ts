/** Faults of SQLite files over HTTP: locked, full, deleted, read-only, or with values that don't fit their columns. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { CrudHandler, ModelError } from '../../../lib/index.ts'
import { isClosed, prepare } from '../../../lib/models/sqlite/driver.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { describe } from '../../helpers/describe.ts'
import { listening, type Site } from '../../helpers/listening.ts'
import { opened, type SqliteDriverCase, sqliteDrivers, type TestDatabase } from '../../helpers/sqlite.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import { type Answer, ask, assertTellsNothing, assertUnavailable, withoutUnhandled } from './answers.ts'

interface Served extends Site {
	readonly site: string
	readonly file: string
	readonly database: TestDatabase
}

const TABLE = `create table article (id integer primary key, title text not null, note text);
	insert into article (title) values ('first')`

/** Serves the table `article` of a file for a while. */
async function serving(
	open: SqliteDriverCase['open'],
	use: (served: Served) => Promise<void>,
	setup: string = TABLE,
): Promise<void> {
	const folder = mkdtempSync(join(tmpdir(), 'verbena-faults-'))
	const file = join(folder, 'blog.db')
	const database = opened(open, file)
	try {
		database.exec(setup)
		const article = new CrudHandler(await SqliteModel.open(database, 'article'), {
			visible: 'all',
			updatable: ['title', 'note'],
			allow: ['list', 'read', 'create', 'update', 'remove'],
		})
		await withoutUnhandled(() =>
			listening({ article }, {}, (site) =>
				use({ ...site, site: `${site.url.replace(/\/$/, '')}/article`, file, database }),
			),
		)
	} finally {
		// node:sqlite won't close one twice.
		if (!isClosed(database)) database.close()
		rmSync(folder, { recursive: true, force: true })
	}
}

/** Counts the statements that fail from now on, while they are prepared or run. */
function failuresOf(database: TestDatabase): () => number {
	let failures = 0
	const counting =
		(work: (...values: unknown[]) => unknown, on: object) =>
		(...values: unknown[]) => {
			try {
				return work.apply(on, values)
			} catch (error) {
				failures++
				throw error
			}
		}
	const { prepare } = database
	database.prepare = (sql) => {
		const statement = counting(() => prepare.call(database, sql), database)() as object // as prepare answers
		for (const name of ['all', 'run']) {
			const work: unknown = Reflect.get(statement, name)
			if (typeof work === 'function')
				Reflect.set(
					statement,
					name,
					counting((...values) => Reflect.apply(work, statement, values), statement),
				)
		}
		return statement
	}
	return () => failures
}

function logged({ log }: Site): string {
	return log.lines
		.filter(({ level }) => level !== 'info')
		.map(({ fields }) => {
			const { err } = fields
			return err instanceof Error ? `${err} ${String(err.cause)} ${causes(err)}` : ''
		})
		.join('\n')
}

function causes(error: Error): string {
	return error.cause instanceof Error ? `${error.cause.message} ${causes(error.cause)}` : ''
}

function assertClean(answer: Answer): void {
	assert.ok(answer.status === 500 || answer.status === 503, `${answer.status} ${answer.text}`)
	assert.is(answer.body.success, false)
	assertTellsNothing(answer)
	if (answer.status === 503) assertUnavailable(answer)
}

for (const { name, open } of suitesBy(sqliteDrivers)) {
	if (open === undefined) continue
	describe(`faults of a SQLite file, by ${name}`, (test) => {
		test('locked by another connection: 503 in bounded time, and requests succeed when the lock is released', () =>
			serving(open, async (served) => {
				const { site, file, database } = served
				database.exec('pragma busy_timeout = 100')
				const other = opened(open, file)
				other.exec('begin exclusive')
				const answers = await Promise.all([
					ask(`${site}/1`),
					ask(site),
					ask(site, 'POST', { title: 'never' }),
					ask(`${site}/1`, 'PATCH', { title: 'never' }),
					ask(`${site}/1`, 'DELETE'),
				])
				for (const answer of answers) {
					assertUnavailable(answer, /^unavailable$/)
					assert.is(answer.headers.get('retry-after'), '1')
					// All five wait one after the other, and block this thread meanwhile.
					assert.ok(answer.milliseconds < 20_000, `it took ${answer.milliseconds} ms`)
				}
				assert.match(logged(served), /locked/)
				other.exec('rollback')
				other.close()
				const { body } = await ask(site)
				assert.equal(body.data, [{ id: 1, title: 'first', note: null }])
			}))

		test('locked: concurrent reads of one record wait for the lock once, not one after the other', () =>
			serving(open, async ({ site, file, database }) => {
				database.exec('pragma busy_timeout = 20')
				const waits = failuresOf(database)
				const other = opened(open, file)
				other.exec('begin exclusive')
				const answers = await Promise.all(Array.from({ length: 30 }, (_, id) => ask(`${site}/${id + 1}`)))
				for (const answer of answers) assertUnavailable(answer, /^unavailable$/)
				// Each that fails has waited for the whole 20 ms.
				assert.ok(waits() > 0 && waits() <= 30, `${waits()} waits`)
				other.close()
			}))

		test('disk full: a write is 503 and changes nothing, reads succeed', () =>
			serving(open, async (served) => {
				const { site, database } = served
				database.exec('pragma max_page_count = 4')
				const answer = await ask(site, 'POST', { title: 'x'.repeat(100_000) })
				assertUnavailable(answer)
				assert.match(logged(served), /full/)
				assertUnavailable(await ask(`${site}/1`, 'PATCH', { note: 'x'.repeat(100_000) }))
				assert.equal((await ask(site)).body.data, [{ id: 1, title: 'first', note: null }])
				assert.is((await ask(site, 'POST', { title: 'small' })).status, 201)
			}))

		test('read-only: a write is refused without the reason, reads succeed', () =>
			serving(open, async (served) => {
				const { site, database } = served
				database.exec('pragma query_only = 1')
				assertUnavailable(await ask(site, 'POST', { title: 'x' }))
				assertUnavailable(await ask(`${site}/1`, 'DELETE'))
				assert.match(logged(served), /readonly/)
				assert.is((await ask(`${site}/1`)).status, 200)
			}))

		test('a database that became read-only is not ready to write; one opened read-only is', () =>
			serving(open, async ({ database, file }) => {
				const model = await SqliteModel.open(database, 'article')
				const isReady = () =>
					model.check(true).then(
						() => true,
						(error: unknown) => error instanceof ModelError && error.kind !== 'unavailable',
					)
				assert.is(await isReady(), true)
				database.exec('pragma query_only = 1')
				assert.is(await isReady(), false)
				// Reads still work.
				await model.check()
				const always = opened(open, file)
				always.exec('pragma query_only = 1')
				await (await SqliteModel.open(always, 'article')).check(true)
				always.close()
				database.exec('pragma query_only = 0')
				assert.is(await isReady(), true)
				// A lock, or the user's own transaction, doesn't make the file read-only.
				database.exec('pragma busy_timeout = 20')
				const other = opened(open, file)
				other.exec('begin immediate')
				assert.is(await isReady(), true)
				other.exec('rollback')
				other.close()
				database.exec('begin')
				assert.is(await isReady(), true)
				database.exec('commit')
				assert.is(
					await model.transaction(async () => (await SqliteModel.open(database, 'article')).name),
					'article',
				)
			}))

		test('busy_timeout stays as the user set it, and is a second by default', () =>
			serving(open, async ({ database, file }) => {
				const boundOf = (one: TestDatabase) => {
					const [row] = prepare(one, 'pragma busy_timeout').run([]) as readonly (readonly unknown[])[]
					return Number(row?.[0])
				}
				assert.is(boundOf(database), name === 'better-sqlite3' ? 5_000 : 1_000)
				const other = opened(open, file)
				other.exec('pragma busy_timeout = 77')
				await SqliteModel.open(other, 'article')
				assert.is(boundOf(other), 77)
				other.close()
			}))

		test('deleted: answers are correct or clean errors', () =>
			serving(open, async ({ site, file }) => {
				rmSync(file)
				const answers = [
					await ask(site, 'POST', { title: 'x' }),
					await ask(`${site}/1`),
					await ask(site),
					await ask(`${site}/1`, 'DELETE'),
				]
				for (const answer of answers) if (answer.status > 299) assertClean(answer)
			}))

		test('table dropped: 500, and the log says why', () =>
			serving(open, async (served) => {
				const { site, database } = served
				database.exec('drop table article')
				for (const answer of [
					await ask(site),
					await ask(`${site}/1`),
					await ask(site, 'POST', { title: 'x' }),
				]) {
					assert.is(answer.status, 500)
					assertClean(answer)
				}
				assert.match(logged(served), /no such table/)
			}))

		test('closed by the program: 503', () =>
			serving(open, async ({ site, database }) => {
				database.close()
				assertUnavailable(await ask(site))
				assertUnavailable(await ask(site, 'POST', { title: 'x' }))
			}))

		test("values that do not fit their columns' types: the list is valid JSON, and every record can be read", () =>
			serving(
				open,
				async ({ site }) => {
					const list = await ask(`${site}?limit=100`)
					assert.is(list.status, 200, list.text)
					const records = list.body.data as readonly Record<string, unknown>[]
					assert.is(records.length, STRANGE.length)
					for (const record of records) {
						const one = await ask(`${site}/${record.id}`)
						assert.is(one.status, 200, one.text)
						assert.equal(one.body.data, record)
					}
					for (const column of sortableThrough(name)) {
						for (const order of [column, `-${column}`]) await assertSorts(site, order)
					}
				},
				STRANGE_TABLE,
			))
	})
}

/** Offset pages visit every record once, whatever order the values have. */
async function assertSorts(site: string, order: string): Promise<void> {
	const ids = new Set<unknown>()
	for (let offset = 0; offset < STRANGE.length; offset += 3) {
		const { status, body, text } = await ask(`${site}?sort=${order}&limit=3&offset=${offset}`)
		// JSON and bytes have no order, and say so.
		if (status === 400 && /sort/.test(text)) return
		assert.is(status, 200, text)
		for (const { id } of body.data as readonly { id: unknown }[]) ids.add(id)
	}
	assert.is(ids.size, STRANGE.length, order)
}

/** libsql ends the whole process when it reads a text that isn't UTF-8, as `cast(… as text)` makes of a BLOB. */
function sortableThrough(name: string): readonly string[] {
	return name === 'libsql' ? COLUMNS.filter((column) => !/^(?:number|big|price)$/.test(column)) : COLUMNS
}

const COLUMNS = ['title', 'number', 'big', 'ratio', 'done', 'day', 'at', 'price', 'extra', 'data']

/** In every column: texts, numbers, infinities, bytes, JSON and what looks like it. */
const STRANGE = [
	"'a text'",
	'\'{"a":\'',
	"'[1,2'",
	"''",
	"'null'",
	'\'{"a":1}\'',
	'12',
	'-1',
	'9223372036854775807',
	'1.5',
	'9e999',
	'-9e999',
	"x'00ff41'",
	"x''",
	"'a' || char(0) || 'b'",
	"'\"\\'",
	'char(8232) || char(1)',
	"'2026-13-45'",
	"'2026-11-20 13:45:00'",
]

const STRANGE_TABLE = [
	`create table article (id integer primary key, title text, number integer, big bigint, ratio real, done boolean,
		day date, at datetime, price decimal(10, 2), extra json, data blob, note text)`,
	...STRANGE.map((value) => `insert into article (${COLUMNS}) values (${COLUMNS.map(() => value)})`),
].join(';')
