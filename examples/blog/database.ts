/**
 * The blog's database, selected by `DATABASE_URL`: an SQLite file, which is the default, PostgreSQL, MariaDB or MySQL. The
 * program creates the drivers, and passes them to the models.
 *
 *     sqlite:blog.db
 *     postgres://user:password@127.0.0.1:5432/blog
 *     mysql://user:password@127.0.0.1:3306/blog
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Model } from '../../lib/index.ts' // 'verbena'
import { MysqlModel } from '../../lib/models/mysql/model.ts' // 'verbena/mysql'
import { PostgresModel } from '../../lib/models/postgres/model.ts' // 'verbena/postgres'
import { SqliteModel } from '../../lib/models/sqlite/model.ts' // 'verbena/sqlite'
import { openSqlite } from './sqlite-file.ts'

export interface Database {
	/** Its name in messages, without user and password. */
	readonly place: string
	/** The model of a table. */
	open(table: string): Promise<Model>
	close(): Promise<void>
}

/** Connects, and creates the tables that don't exist yet. */
export async function connect(url: string | undefined): Promise<Database> {
	if (url === undefined || url === '') return sqlite(fileURLToPath(new URL('./blog.db', import.meta.url)))
	const { protocol, host, pathname } = parsed(url)
	const place = `${host}${pathname}`
	switch (protocol) {
		case 'sqlite:':
			return sqlite(decodeURIComponent(pathname))
		case 'postgres:':
		case 'postgresql:':
			return postgres(url, `PostgreSQL at ${place}`)
		case 'mysql:':
		case 'mariadb:':
			return mysql(url.replace(/^\w+/, 'mysql'), `MariaDB or MySQL at ${place}`)
		default:
			throw new TypeError(`DATABASE_URL must begin with sqlite:, postgres: or mysql:, got ${protocol}`)
	}
}

async function sqlite(file: string): Promise<Database> {
	const database = await openSqlite(file)
	database.exec('pragma journal_mode = wal')
	database.exec('pragma busy_timeout = 5000')
	database.exec('pragma foreign_keys = on')
	for (const statement of schema('sqlite')) database.exec(statement)
	return {
		place: `SQLite, ${file}`,
		open: (table) => SqliteModel.open(database, table),
		async close() {
			database.close()
		},
	}
}

async function postgres(url: string, place: string): Promise<Database> {
	const { Pool } = await import('pg')
	const pool = new Pool({ connectionString: url, max: 10 })
	// The pool replaces an idle connection that is lost. Without a listener, its error would end the program.
	pool.on('error', (error) => console.error(`A connection was lost: ${error.message}`))
	for (const statement of schema('postgres')) await pool.query(statement)
	return { place, open: (table) => PostgresModel.open(pool, table), close: () => pool.end() }
}

async function mysql(url: string, place: string): Promise<Database> {
	const { createPool } = await import('mysql2/promise')
	const pool = createPool({ uri: url, connectionLimit: 10 })
	for (const statement of schema('mysql')) await pool.query(statement)
	return { place, open: (table) => MysqlModel.open(pool, table), close: () => pool.end() }
}

/** The statements of a file in `schema/`. */
function schema(name: string): string[] {
	const text = readFileSync(new URL(`./schema/${name}.sql`, import.meta.url), 'utf8')
	return text.split(/;\n/).filter((statement) => statement.trim() !== '')
}

/** The URL, or an error without it: the message of `new URL()` would repeat it, with its password. */
function parsed(url: string): URL {
	if (URL.canParse(url)) return new URL(url)
	throw new TypeError('DATABASE_URL is no URL: write postgres://user:password@host:5432/name')
}
