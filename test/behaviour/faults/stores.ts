/** Two tables with every kind of constraint, in each of the stores, for tests of violations. */
import mysql from 'mysql2/promise'
import pg from 'pg'
import type { Model } from '../../../lib/index.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { MARIADB, mariadbIsHere } from '../../helpers/mariadb.ts'
import { driversHere, SERVER } from '../../helpers/postgres.ts'
import { opened, sqliteDrivers } from '../../helpers/sqlite.ts'

/** An open store; statements run on a separate connection. */
export interface Store {
	readonly author: Model
	readonly article: Model
	exec(text: string): Promise<unknown>
	close(): Promise<void>
}

export interface StoreCase {
	readonly name: 'sqlite' | 'postgres' | 'mariadb'
	open(): Promise<Store>
}

/** Long timeout: the database's own errors are tested, however slow it is. */
const PATIENT = { timeoutSeconds: 60 }

/** `hidden_code` is writable and hidden; `hidden_twin` is hidden and not writable. */
function tables(prefix: string, key: string, quantity: string): string[] {
	return [
		`create table ${prefix}author (${key}, name varchar(20) not null)`,
		`create table ${prefix}article (
			${key}, title varchar(10) not null, slug varchar(20), hidden_code varchar(20), hidden_twin varchar(20),
			author integer, quantity ${quantity}, price integer,
			constraint faults_slug unique (slug), constraint faults_code unique (hidden_code),
			constraint faults_twin unique (hidden_twin), constraint faults_price check (price >= 0),
			constraint faults_author foreign key (author) references ${prefix}author (id))`,
		`insert into ${prefix}author (name) values ('alice'), ('bob')`,
		`insert into ${prefix}article (title, slug, hidden_code, hidden_twin, author)
			values ('first', 'first', 'code', null, 1), ('second', 'second', 'other', null, 1)`,
	]
}

async function onSqlite(): Promise<Store> {
	const driver = sqliteDrivers.find(({ open }) => open !== undefined)
	const database = opened(driver?.open)
	database.exec('pragma foreign_keys = on')
	for (const text of tables('', 'id integer primary key', 'smallint')) database.exec(text)
	const { author, article } = await SqliteModel.openAll(database)
	return {
		...{ author: present(author), article: present(article) },
		exec: async (text) => void database.exec(text),
		close: async () => void database.close(),
	}
}

async function onPostgres(): Promise<Store> {
	const pool = new pg.Pool({ ...SERVER, max: 4 })
	const schema = `faults_${process.pid}`
	await pool.query(`create schema ${schema}`)
	for (const text of tables(`${schema}.`, 'id serial primary key', 'smallint')) await pool.query(text)
	return {
		author: await PostgresModel.open(pool, `${schema}.author`, PATIENT),
		article: await PostgresModel.open(pool, `${schema}.article`, PATIENT),
		exec: (text) => pool.query(text),
		close: async () => {
			await pool.query(`drop schema ${schema} cascade`)
			await pool.end()
		},
	}
}

async function onMariadb(): Promise<Store> {
	const database = `faults_${process.pid}`
	const admin = await mysql.createConnection(MARIADB)
	await admin.query(`create database ${database} character set utf8mb4`)
	const pool = mysql.createPool({ ...MARIADB, database, connectionLimit: 4 })
	for (const text of tables('', 'id integer auto_increment primary key', 'smallint')) await pool.query(text)
	return {
		author: await MysqlModel.open(pool, 'author', PATIENT),
		article: await MysqlModel.open(pool, 'article', PATIENT),
		exec: (text) => pool.query(text),
		close: async () => {
			await pool.end()
			await admin.query(`drop database ${database}`)
			await admin.end()
		},
	}
}

function present(model: Model | undefined): Model {
	if (model === undefined) throw new Error('the table was not opened')
	return model
}

/** The available stores; the others are reported. */
export async function storesHere(): Promise<readonly StoreCase[]> {
	const [drivers, isMariadbHere] = await Promise.all([driversHere(), mariadbIsHere()])
	return [
		{ name: 'sqlite', open: onSqlite },
		...(drivers.includes('pg') ? [{ name: 'postgres', open: onPostgres } as const] : []),
		...(isMariadbHere ? [{ name: 'mariadb', open: onMariadb } as const] : []),
	]
}
