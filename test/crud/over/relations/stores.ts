/**
 * Five tables with foreign keys in four stores, as similar as the databases allow: people, articles that refer to two of
 * them and to each other, comments with a key of two columns, and tags, tied to articles by a table with a key of two
 * columns. Unavailable stores are skipped with a message.
 */
import pg from 'pg'
import { MemoryModel, type Model } from '../../../../lib/index.ts'
import { MysqlModel } from '../../../../lib/models/mysql/model.ts'
import { PostgresModel } from '../../../../lib/models/postgres/model.ts'
import { SqliteModel } from '../../../../lib/models/sqlite/model.ts'
import { openPool } from '../../../helpers/mariadb.ts'
import { SERVER } from '../../../helpers/postgres.ts'
import { opened, sqliteDrivers } from '../../../helpers/sqlite.ts'
import { type StoreName, storesHere } from '../stores.ts'

/** Long timeout: responses are tested, however long a machine stalls. */
const PATIENT = { timeoutSeconds: 60 }

/** In the order in which records can be inserted. */
export const TABLES = ['person', 'article', 'comment', 'tag', 'tie'] as const

export type Table = (typeof TABLES)[number]
export type Row = Readonly<Record<string, string | number | boolean | null>>
export type Rows = Readonly<Record<Table, readonly Row[]>>
export type Models = Readonly<Record<Table, Model>>

export interface Store {
	readonly name: StoreName
	/** Replaces all records, and returns models of the tables: new ones where that is quicker. */
	filled(rows: Rows): Promise<Models>
	/** Drops the tables, and closes what was opened for them. */
	close(): Promise<void>
}

/** The tables' columns; `BIG`, `TEXT` and `PRICE` differ between the databases. */
const COLUMNS: Readonly<Record<Table, string>> = {
	person: 'id BIG primary key, name TEXT, team TEXT not null, secret TEXT',
	article: `id BIG primary key, title TEXT not null, author_id bigint not null references P_person (id),
		editor_id bigint references P_person (id), parent_id bigint references P_article (id),
		score bigint, price PRICE, day date, done boolean, version bigint not null default 1`,
	comment: `article_id bigint not null references P_article (id), n bigint not null, author_id bigint references P_person (id),
		text TEXT, score bigint, hidden boolean not null default false, primary key (article_id, n)`,
	tag: 'id BIG primary key, word TEXT, price PRICE',
	tie: `article_id bigint not null references P_article (id), tag_id bigint not null references P_tag (id), note TEXT,
		primary key (article_id, tag_id)`,
}

/** What `COLUMNS` leaves open. */
interface Types {
	readonly id: string
	readonly text: string
	readonly price: string
	/** After the columns. */
	readonly options: string
}

const SQLITE: Types = { id: 'integer', text: 'varchar(50)', price: 'decimal text', options: '' }
const POSTGRES: Types = {
	id: 'bigint',
	text: 'varchar(50) collate "C"',
	price: 'numeric(12, 2)',
	options: '',
}
const MARIADB: Types = {
	...{ id: 'bigint', text: 'varchar(50)', price: 'decimal(12, 2)' },
	options: ' character set utf8mb4 collate utf8mb4_nopad_bin',
}

function creation(prefix: string, table: Table, { id, text, price, options }: Types): string {
	const columns = COLUMNS[table]
		.replaceAll('P_', `${prefix}_`)
		.replaceAll('BIG', id)
		.replaceAll('TEXT', text)
		.replaceAll('PRICE', price)
	// InnoDB ignores references that are written with their column.
	const keys = [...columns.matchAll(/(\w+) bigint[^,]* (references \w+ \(id\))/g)].map(
		([, column, target]) => `, foreign key (${column}) ${target}`,
	)
	const all = options === '' ? columns : columns.replaceAll(/ references \w+ \(id\)/g, '') + keys.join('')
	return `create table ${prefix}_${table} (${all})${options}`
}

/** The statements that replace all records. The texts of tests have no backslashes, which MariaDB would interpret. */
function filling(prefix: string, rows: Rows): string[] {
	const deletions = TABLES.toReversed().map((table) => `delete from ${prefix}_${table}`)
	const insertions = TABLES.filter((table) => rows[table].length > 0).map((table) => {
		const names = Object.keys(rows[table][0] ?? {})
		const values = rows[table].map((row) => `(${names.map((name) => literal(row[name] ?? null)).join()})`)
		return `insert into ${prefix}_${table} (${names.join()}) values ${values.join()}`
	})
	return [...deletions, ...insertions]
}

function literal(value: Row[string] | undefined): string {
	return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}

/** Opens all available stores. Tables in shared databases have `prefix` and the process id in their names. */
export async function openStores(prefix: string): Promise<readonly Store[]> {
	const names = await storesHere()
	return Promise.all(names.map((name) => openStore(name, prefix)))
}

export function openStore(name: StoreName, prefix: string): Promise<Store> {
	const all = `overrel_${prefix}_${process.pid}`
	if (name === 'memory') return Promise.resolve(inMemory(all))
	if (name === 'sqlite') return inSqlite(all)
	return name === 'postgres' ? inPostgres(all) : inMariadb(all)
}

function inMemory(prefix: string): Store {
	return { name: 'memory', filled: (rows) => memoryModels(prefix, rows), close: async () => {} }
}

const NOTHING = { fields: [], names: [], version: undefined }
const ANY = { where: undefined, version: undefined }

/** Cursors depend on the models' names, which are therefore the same in all stores. */
async function memoryModels(prefix: string, rows: Rows): Promise<Models> {
	const nullable = <T extends string>(type: T) => ({ type, nullable: true }) as const
	const text = { type: 'text', maxLength: 50 } as const
	const maybe = { ...text, nullable: true } as const
	const person = new MemoryModel(`${prefix}_person`, {
		fields: { id: 'bigint', name: maybe, team: text, secret: maybe },
		key: 'id',
		rows: rows.person,
	})
	const article = new MemoryModel(`${prefix}_article`, {
		fields: {
			...{ id: 'bigint', title: text, author_id: 'bigint', editor_id: nullable('bigint') },
			...{ parent_id: nullable('bigint'), score: nullable('bigint'), price: nullable('decimal') },
			...{ day: nullable('date'), done: nullable('boolean') },
			version: { type: 'bigint', default: 1 },
		},
		key: 'id',
		references: [
			{ field: 'author_id', model: person },
			{ field: 'editor_id', model: person },
			{ field: 'parent_id', model: 'itself' },
		],
		rows: rows.article.map((row) => ({ ...row, parent_id: null })),
	})
	// An article may refer to a later one.
	for (const { id, parent_id = null } of rows.article)
		if (parent_id !== null) await article.update(String(id), { parent_id }, NOTHING, ANY)
	const comment = new MemoryModel(`${prefix}_comment`, {
		fields: {
			...{ article_id: 'bigint', n: 'bigint', author_id: nullable('bigint') },
			...{ text: maybe, score: nullable('bigint'), hidden: { type: 'boolean', default: false } },
		},
		key: ['article_id', 'n'],
		references: [
			{ field: 'article_id', model: article },
			{ field: 'author_id', model: person },
		],
		rows: rows.comment,
	})
	const tag = new MemoryModel(`${prefix}_tag`, {
		fields: { id: 'bigint', word: maybe, price: nullable('decimal') },
		key: 'id',
		rows: rows.tag,
	})
	const tie = new MemoryModel(`${prefix}_tie`, {
		fields: { article_id: 'bigint', tag_id: 'bigint', note: maybe },
		key: ['article_id', 'tag_id'],
		references: [
			{ field: 'article_id', model: article },
			{ field: 'tag_id', model: tag },
		],
		rows: rows.tie,
	})
	return { person, article, comment, tag, tie }
}

async function modelsOf(open: (table: Table) => Promise<Model>): Promise<Models> {
	const models: [string, Model][] = []
	for (const table of TABLES) models.push([table, await open(table)])
	return Object.fromEntries(models) as Models // one for each table
}

async function inSqlite(prefix: string): Promise<Store> {
	const database = opened(sqliteDrivers.find((driver) => driver.open !== undefined)?.open)
	database.exec('pragma foreign_keys = on')
	for (const table of TABLES) database.exec(creation(prefix, table, SQLITE))
	const models = await modelsOf((table) => SqliteModel.open(database, `${prefix}_${table}`))
	return {
		name: 'sqlite',
		filled: async (rows) => {
			for (const statement of filling(prefix, rows)) database.exec(statement)
			return models
		},
		close: async () => void database.close(),
	}
}

async function inPostgres(prefix: string): Promise<Store> {
	const pool = new pg.Pool({ ...SERVER, max: 5 })
	for (const table of TABLES) await pool.query(creation(prefix, table, POSTGRES))
	const models = await modelsOf((table) => PostgresModel.open(pool, `${prefix}_${table}`, PATIENT))
	return {
		name: 'postgres',
		filled: async (rows) => {
			await pool.query(filling(prefix, rows).join(';'))
			return models
		},
		close: async () => {
			for (const table of TABLES.toReversed()) await pool.query(`drop table ${prefix}_${table}`)
			await pool.end()
		},
	}
}

async function inMariadb(prefix: string): Promise<Store> {
	const pool = openPool({}, { connectionLimit: 5 })
	for (const table of TABLES) await pool.query(creation(prefix, table, MARIADB))
	const models = await modelsOf((table) => MysqlModel.open(pool, `${prefix}_${table}`, PATIENT))
	return {
		name: 'mariadb',
		filled: async (rows) => {
			// It checks references row by row, and would fail at articles that refer to later ones.
			for (const statement of filling(prefix, rows))
				await pool.query(`set statement foreign_key_checks = 0 for ${statement}`)
			return models
		},
		close: async () => {
			for (const table of TABLES.toReversed()) await pool.query(`drop table ${prefix}_${table}`)
			await pool.end()
		},
	}
}
