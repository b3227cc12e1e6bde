/**
 * Six tables with foreign keys in PostgreSQL and MariaDB, served with relations of every kind, and a connection of its own
 * that locks tables and ends the connections of the server.
 */
import mysql from 'mysql2/promise'
import pg from 'pg'
import { CrudHandler, type Handlers, type Model } from '../../../lib/index.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { until } from '../../helpers/listening.ts'
import { MARIADB, mariadbIsHere } from '../../helpers/mariadb.ts'
import { driversHere, openDatabase, SERVER } from '../../helpers/postgres.ts'
import { suitesBy } from '../../helpers/suites-by.ts'

/** The connections of a server's pool. */
export const PLACES = 4

/** Articles up to this one are only read. */
export const LAST_READ = 20

export type Models = Readonly<Record<(typeof TABLES)[number], Model>>

/** A database with the tables, as the server sees it and as somebody beside it does. */
export interface RelatedStore {
	readonly models: Models
	/** Runs a statement beside the server, in which `T_` begins the tables' names; returns the rows as texts. */
	rows(text: string): Promise<string[][]>
	/** Lets all statements on a table wait, or those that change or refer to one record. */
	lock(table: string, id?: number): Promise<void>
	unlock(): Promise<void>
	/** How many of the server's connections wait for a lock. */
	waiting(): Promise<number>
	/**
	 * Ends connections of the server, and waits until they are gone: those that wait for a lock, any one, or all. Resolves to
	 * their number.
	 */
	end(which: 'waiting' | 'any' | 'all'): Promise<number>
	close(): Promise<void>
}

/** Where a database is, if not the existing one; and how long a statement waits for a lock, in seconds. */
export interface Place {
	readonly port?: number
	readonly lockSeconds?: number
}

export interface RelatedCase {
	readonly name: string
	/**
	 * Whether all connections may be ended at any time. postgres.js (3.4.9) may send nothing on a new connection for 30 s if it
	 * has written to one that was just being closed.
	 */
	readonly isSteady: boolean
	open(place?: Place): Promise<RelatedStore>
}

const TABLES = ['author', 'article', 'comment', 'tag', 'article_tag', 'note'] as const

/** @param later after the foreign key of notes: when it is checked */
function creation(prefix: string, id: string, later: string): string[] {
	const articles = Array.from({ length: LAST_READ + 4 }, (_, at) => `('article ${at + 1}', ${1 + (at % 3)})`)
	const comments = articles
		.slice(0, LAST_READ)
		.flatMap((_, at) => [1, 2, 3, 4, 5].map((n) => `(${at + 1}, 'comment ${n} of ${at + 1}')`))
	const ties = articles.slice(0, LAST_READ).map((_, at) => `(${at + 1}, ${1 + (at % 3)})`)
	return [
		`create table T_author (${id}, name varchar(40) not null)`,
		`create table T_article (${id}, title varchar(40) not null, author_id int not null,
			foreign key (author_id) references T_author (id))`,
		`create table T_comment (${id}, article_id int not null, text varchar(40) not null,
			foreign key (article_id) references T_article (id))`,
		`create table T_tag (${id}, name varchar(40) not null)`,
		`create table T_article_tag (article_id int not null, tag_id int not null, primary key (article_id, tag_id),
			foreign key (article_id) references T_article (id), foreign key (tag_id) references T_tag (id))`,
		`create table T_note (${id}, text varchar(40) not null, tag_id int not null, version int not null default 1,
			foreign key (tag_id) references T_tag (id) ${later})`,
		"insert into T_author (name) values ('Ada'), ('Bob'), ('Clary')",
		`insert into T_article (title, author_id) values ${articles}`,
		`insert into T_comment (article_id, text) values ${comments}`,
		"insert into T_tag (name) values ('herb'), ('tea'), ('tree'), ('pot')",
		`insert into T_article_tag (article_id, tag_id) values ${ties}`,
	].map((text) => text.replaceAll('T_', prefix))
}

/** Long timeout: what the database does is tested, however slow it is. */
const PATIENT = { timeoutSeconds: 60 }

async function opened(open: (table: string) => Promise<Model>): Promise<Models> {
	const models: [string, Model][] = []
	for (const table of TABLES) models.push([table, await open(table)])
	return Object.fromEntries(models) as Models // one for each table
}

/** Numbers the stores of this process, whose names must differ. */
let count = 0

async function onPostgres(
	driver: 'pg' | 'postgres.js',
	{ port, lockSeconds = 0 }: Place = {},
): Promise<RelatedStore> {
	const schema = `faults_related_${process.pid}_${++count}`
	const own =
		port === undefined ? SERVER : { host: '127.0.0.1', port, user: 'postgres', database: 'postgres' }
	const beside = new pg.Pool({ ...own, max: 1 })
	const locking = new pg.Pool({ ...own, max: 1 })
	let holder: pg.PoolClient | undefined
	// A server that is killed ends these too.
	beside.on('error', () => {})
	locking.on('error', () => {})
	await beside.query(`create schema ${schema}`)
	for (const text of creation(`${schema}.`, 'id serial primary key', 'deferrable initially deferred'))
		await beside.query(text)
	const settings = { application_name: schema, lock_timeout: `${lockSeconds * 1_000}` }
	const { database, close } = await openDatabase(driver, settings, {
		max: PLACES,
		...(port === undefined ? {} : { port }),
	})
	const rows = async (text: string) => {
		const result = await beside.query<string[]>({
			text: text.replaceAll('T_', `${schema}.`),
			rowMode: 'array',
		})
		return result.rows.map((row) => row.map(String))
	}
	const backends = `from pg_stat_activity where application_name = '${schema}'`
	const blocked = `${backends} and wait_event_type = 'Lock'`
	return {
		rows,
		models: await opened((table) => PostgresModel.open(database, `${schema}.${table}`, PATIENT)),
		lock: async (table, id) => {
			holder = await locking.connect()
			const text =
				id === undefined
					? `lock table ${schema}.${table} in access exclusive mode`
					: `select from ${schema}.${table} where id = ${id} for update`
			await holder.query(`begin; ${text}`)
		},
		unlock: async () => {
			await holder?.query('rollback')
			holder?.release()
		},
		waiting: async () => (await rows(`select pid ${blocked}`)).length,
		end: async (which) => {
			const whom = { waiting: blocked, any: `${backends} order by random() limit 1`, all: backends }[which]
			const ended = await rows(`select pid, pg_terminate_backend(pid) from (select pid ${whom}) one`)
			const left = `select pid from pg_stat_activity where pid in (0${ended.map(([pid]) => `, ${pid}`).join('')})`
			await until(async () => (await rows(left)).length === 0, 'the connections have ended')
			return ended.length
		},
		close: async () => {
			await close()
			await locking.end()
			await beside.query(`drop schema ${schema} cascade`)
			await beside.end()
		},
	}
}

async function onMariadb({ port, lockSeconds }: Place = {}): Promise<RelatedStore> {
	const database = `faults_related_${process.pid}_${++count}`
	const own = port === undefined ? MARIADB : { host: '127.0.0.1', port, user: 'root', password: '' }
	const beside = mysql.createPool({ ...own, database: 'information_schema', connectionLimit: 1 })
	await beside.query(`create database ${database} character set utf8mb4`)
	const locking = mysql.createPool({ ...own, database: 'information_schema', connectionLimit: 1 })
	for (const text of creation(`${database}.`, 'id int auto_increment primary key', ''))
		await beside.query(text)
	const pool = mysql.createPool({ ...own, database, connectionLimit: PLACES })
	pool.pool.on('connection', (connection) => {
		if (lockSeconds !== undefined)
			connection.query(
				`set session lock_wait_timeout = ${lockSeconds}, innodb_lock_wait_timeout = ${lockSeconds}`,
			)
	})
	const rows = async (text: string) => {
		const sql = text.replaceAll('T_', `${database}.`)
		const [found] = await beside.query<mysql.RowDataPacket[][]>({ sql, rowsAsArray: true })
		return Array.isArray(found) ? found.map((row) => row.map(String)) : []
	}
	const sessions = `select id from processlist where db = '${database}'`
	const blocked = `${sessions} and (state like 'Waiting for%lock%' or info like '%into%' and state = 'Update'
		or (state = 'Updating' or info like '%for update%') and time_ms > 30)`
	return {
		rows,
		models: await opened((table) => MysqlModel.open(pool, table, PATIENT)),
		lock: async (table, id) => {
			if (id === undefined) return void (await locking.query(`lock tables ${database}.${table} write`))
			await locking.query('start transaction')
			await locking.query(`select id from ${database}.${table} where id = ${id} for update`)
		},
		unlock: async () => {
			await locking.query('rollback')
			await locking.query('unlock tables')
		},
		waiting: async () => (await rows(blocked)).length,
		end: async (which) => {
			const whom = { waiting: blocked, any: `${sessions} order by rand() limit 1`, all: sessions }[which]
			const ids = await rows(whom)
			// It may have ended by itself.
			for (const [id] of ids) await beside.query(`kill ${id}`).catch(() => {})
			const left = `select id from processlist where id in (0${ids.map(([id]) => `, ${id}`).join('')})`
			await until(async () => (await rows(left)).length === 0, 'the connections have ended')
			return ids.length
		},
		close: async () => {
			await pool.end()
			await locking.end()
			await beside.query(`drop database ${database}`)
			await beside.end()
		},
	}
}

/** The available databases; the others are reported. */
export async function relatedCases(): Promise<readonly RelatedCase[]> {
	const [drivers, isMariadbHere] = await Promise.all([driversHere(), mariadbIsHere()])
	const pooled = drivers.filter((driver) => driver !== 'PGlite')
	return [
		...suitesBy(pooled).map((driver) => ({
			...{ name: driver, isSteady: driver === 'pg' },
			open: (place?: Place) => onPostgres(driver, place),
		})),
		...suitesBy(isMariadbHere ? [{ name: 'MariaDB', isSteady: true, open: onMariadb }] : []),
	]
}

export function relatedHandlers({ author, article, comment, tag, article_tag: ties }: Models): Handlers {
	const pages = { limit: 25, maxLimit: 200, columns: 'camelCase' } as const
	const authors = new CrudHandler(author, { ...pages, visible: 'all' })
	const articles: CrudHandler = new CrudHandler(article, {
		...{ ...pages, visible: 'all', updatable: ['title'], allow: ['list', 'read', 'update'] },
		relations: {
			author: { to: authors },
			comments: { to: () => comments, limit: 3 },
			tags: { to: () => tags, through: ties, limit: 3, writable: ['tie'] },
		},
	})
	const comments: CrudHandler = new CrudHandler(comment, {
		...{ ...pages, visible: 'all', creatable: ['articleId', 'text'], allow: ['list', 'read', 'create'] },
		relations: { article: { to: articles } },
	})
	const tags: CrudHandler = new CrudHandler(tag, {
		...{ ...pages, visible: 'all' },
		relations: { articles: { to: articles, through: ties, limit: 3 } },
	})
	return { author: authors, article: articles, comment: comments, tag: tags }
}
