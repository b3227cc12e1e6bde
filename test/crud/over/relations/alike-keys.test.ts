/** To-one relations by a text that the database considers equal to the other record's key, although it is spelled differently. */
import pg from 'pg'
import * as assert from 'uvu/assert'
import { CrudHandler, type Model } from '../../../../lib/index.ts'
import { MysqlModel } from '../../../../lib/models/mysql/model.ts'
import { PostgresModel } from '../../../../lib/models/postgres/model.ts'
import { SqliteModel } from '../../../../lib/models/sqlite/model.ts'
import { asking } from '../../../helpers/asking.ts'
import { describe } from '../../../helpers/describe.ts'
import { openPool } from '../../../helpers/mariadb.ts'
import { SERVER } from '../../../helpers/postgres.ts'
import { opened, sqliteDrivers } from '../../../helpers/sqlite.ts'
import { storesHere } from '../stores.ts'

const PREFIX = `overrel_alike_${process.pid}`
const TABLES = ['person', 'member', 'post'] as const

/** The tables, with keys of a type; posts refer to them by `author`, and to members by `n` as well. */
function creation(type: string): readonly string[] {
	return [
		`create table ${PREFIX}_person (name ${type} not null primary key)`,
		`create table ${PREFIX}_member (n int not null, name ${type} not null, primary key (n, name))`,
		`create table ${PREFIX}_post (id int primary key, n int, author ${type},
			foreign key (author) references ${PREFIX}_person (name),
			foreign key (n, author) references ${PREFIX}_member (n, name))`,
	]
}

/** What the posts have as `author`, and whose post it is. */
type Author = readonly [written: string | null, name: string | null]

const CASES: readonly Author[] = [
	['ann', 'ann'],
	['ANN', 'ann'],
	['Bob', 'bob'],
	[null, null],
]
const SPACES: readonly Author[] = [
	['ann', 'ann'],
	['ann ', 'ann'],
	['bob  ', 'bob'],
	[null, null],
]
/** The same in columns of PostgreSQL that fill texts with blanks. */
const PADDED = SPACES.map(([written, name]): Author => [written, name?.padEnd(20) ?? null])

function filling(authors: readonly Author[]): readonly string[] {
	const texts = authors.map(
		([written], at) => `(${at + 1}, 1, ${written === null ? 'null' : `'${written}'`})`,
	)
	return [
		`insert into ${PREFIX}_person (name) values ('ann'), ('bob'), ('eve')`,
		`insert into ${PREFIX}_member (n, name) values (1, 'ann'), (1, 'bob'), (1, 'eve'), (2, 'ann')`,
		`insert into ${PREFIX}_post (id, n, author) values ${texts.join()}`,
	]
}

type Models = Readonly<Record<(typeof TABLES)[number], Model>>

class Stripped extends CrudHandler {
	override stripObject(person: Record<string, unknown>) {
		return { ...person, stripped: true }
	}
}

class Read extends CrudHandler {
	override read(id: string) {
		return super.read(id)
	}
}

class Scoped extends CrudHandler {
	override scope() {
		return { name: 'ann' }
	}
}

async function check({ person, member, post }: Models, authors: readonly Author[]): Promise<void> {
	const options = { visible: ['name'] } as const
	const handlers = {
		person: new CrudHandler(person, options),
		stripped: new Stripped(person, options),
		read: new Read(person, options),
		scoped: new Scoped(person, options),
		member: new CrudHandler(member, options),
		memberRead: new Read(member, options),
	}
	const relations = Object.fromEntries(Object.entries(handlers).map(([name, to]) => [name, { to }]))
	const posts = new CrudHandler(post, {
		...{ visible: ['id'], updatable: ['n'], allow: ['list', 'read', 'update'], relations },
	})
	const { ask } = asking({ posts })
	const dataOf = async (request: string, body?: object) => {
		const { status, text } = await ask(request, body && { body })
		assert.is(status, 200, `${request}: ${text()}`)
		return (JSON.parse(text()) as { data: unknown }).data
	}
	for (const name of Object.keys(handlers)) {
		const expected = authors.map(([, author], at) => {
			const isSeen = author !== null && (name !== 'scoped' || author.trimEnd() === 'ann')
			return {
				id: at + 1,
				[name]: isSeen ? { name: author, ...(name === 'stripped' ? { stripped: true } : {}) } : null,
			}
		})
		assert.equal(await dataOf(`/posts?include=${name}`), expected, name)
		for (const one of expected) {
			const url = `/posts/${one.id}`
			assert.equal(await dataOf(`${url}?include=${name}`), one, name)
			assert.equal(await dataOf(`PATCH ${url}?include=${name}`, { n: 1 }), one, name)
			const below = await ask(`${url}/${name}`)
			assert.is(below.status, one[name] === null ? 404 : 200, `${url}/${name}`)
			if (one[name] !== null) assert.equal((below.json() as { data: unknown }).data, one[name])
		}
	}
}

describe('relations to one by texts that a collation considers equal', (test) => {
	const sqlite = sqliteDrivers.find(({ open }) => open !== undefined)
	const inSqlite = async (type: string, authors: readonly Author[]) => {
		const database = opened(sqlite?.open)
		try {
			database.exec('pragma foreign_keys = on')
			for (const statement of [...creation(type), ...filling(authors)]) database.exec(statement)
			await check(await modelsOf((table) => SqliteModel.open(database, table)), authors)
		} finally {
			database.close()
		}
	}
	test('in SQLite, nocase', () => inSqlite('text collate nocase', CASES))
	test('in SQLite, rtrim', () => inSqlite('varchar(20) collate rtrim', SPACES))
})

async function modelsOf(open: (table: string) => Promise<Model>): Promise<Models> {
	const models: [string, Model][] = []
	for (const table of TABLES) models.push([table, await open(`${PREFIX}_${table}`)])
	return Object.fromEntries(models) as Models // one for each table
}

const names = await storesHere()

if (names.includes('mariadb'))
	describe('relations to one by texts that a collation considers equal: MariaDB', (test) => {
		for (const type of ['varchar(20)', 'char(20)'])
			for (const collation of ['utf8mb4_general_ci', 'utf8mb4_bin']) {
				test(`${type}, ${collation}`, async () => {
					const pool = openPool()
					const sql = `${type} character set utf8mb4 collate ${collation}`
					const authors = collation === 'utf8mb4_bin' ? SPACES : CASES
					try {
						for (const statement of [...creation(sql), ...filling(authors)]) await pool.query(statement)
						await check(await modelsOf((table) => MysqlModel.open(pool, table)), authors)
					} finally {
						for (const table of TABLES.toReversed())
							await pool.query(`drop table if exists ${PREFIX}_${table}`)
						await pool.end()
					}
				})
			}
	})

const LOOSE = `${PREFIX}_loose`

if (names.includes('postgres'))
	describe('relations to one by texts that a collation considers equal: PostgreSQL', (test) => {
		let pool: pg.Pool
		test.before(() => {
			pool = new pg.Pool({ ...SERVER, max: 2 })
		})
		test.after(() => pool.end())

		const inPostgres = async (type: string, authors: readonly Author[]) => {
			try {
				for (const statement of [...creation(type), ...filling(authors)]) await pool.query(statement)
				await check(await modelsOf((table) => PostgresModel.open(pool, table)), authors)
			} finally {
				for (const table of TABLES.toReversed()) await pool.query(`drop table if exists ${PREFIX}_${table}`)
			}
		}
		test('citext', async () => {
			const { rows } = await pool.query("select from pg_available_extensions where name = 'citext'")
			if (rows.length === 0) return void console.error('SKIPPED: this PostgreSQL has no extension citext')
			await pool.query('create extension if not exists citext')
			await inPostgres('citext', CASES)
		})
		test('char(20)', () => inPostgres('char(20)', PADDED))
		test('char(20): an id is also what the record has, with its blanks', async () => {
			const table = `${PREFIX}_padded`
			await pool.query(`create table ${table} (name char(20) primary key, note text)`)
			try {
				const model = await PostgresModel.open(pool, table)
				const people = new CrudHandler(model, {
					...{ visible: 'all', updatable: ['note'], filterable: ['name'] },
					allow: ['list', 'read', 'create', 'update', 'remove', 'updateMany', 'removeMany'],
				})
				const { ask, said } = asking({ people })
				const ann = { name: 'ann'.padEnd(20), note: 'a' }
				const created = await ask('POST /people', { body: ann })
				assert.is(created.headers.location, '/people/ann')
				const url = `/people/${encodeURIComponent(ann.name)}`
				assert.equal((await ask(url)).json(), { success: true, data: ann })
				for (const place of [url, '/people/ann'])
					assert.is((await ask(`PATCH ${place}`, { body: ann })).status, 200, place)
				assert.is((await ask('PATCH /people', { body: [{ ...ann, note: 'b' }] })).status, 200)
				assert.match(await said('/people/ann'), '"note":"b"')
				for (const other of ['ann ', 'ann'.padEnd(19), 'ann'.padEnd(21)])
					assert.is((await ask(`/people/${encodeURIComponent(other)}`)).status, 404, `${other.length}`)
				assert.is(await said('DELETE /people?name[in]=ann,eve'), '200 {"success":true,"data":["ann"]}')
				assert.is((await ask('/people/ann')).status, 404)
			} finally {
				await pool.query(`drop table ${table}`)
			}
		})
		test('a nondeterministic collation', async () => {
			await pool.query(
				`create collation ${LOOSE} (provider = icu, locale = 'und-u-ks-level1', deterministic = false)`,
			)
			try {
				await inPostgres(`varchar(20) collate ${LOOSE}`, CASES)
			} finally {
				await pool.query(`drop collation ${LOOSE}`)
			}
		})
	})
