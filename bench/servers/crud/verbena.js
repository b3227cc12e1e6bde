/** CRUD on Verbena, as it is built and published: a model of each table behind a handler. */
import { CrudHandler, createServer } from '../../results/dist/index.js'

const WRITABLE = ['author_id', 'title', 'body', 'status', 'views', 'rating', 'published']
const OPTIONS = {
	visible: ['id', ...WRITABLE, 'created', 'updated'],
	updatable: WRITABLE,
	allow: ['list', 'read', 'create', 'update'],
}

export async function start({ database, url, tables }) {
	const open = { postgres: openPostgres, mariadb: openMariadb, sqlite: openSqlite }[database]
	const handlers = {}
	for (const [name, table] of Object.entries(tables)) {
		handlers[`api/${name}`] = new CrudHandler(await open(url, table), OPTIONS)
	}
	const { port } = await createServer(handlers).listen(0, '127.0.0.1')
	return port
}

async function openPostgres(url, table) {
	const { default: pg } = await import('pg')
	const { PostgresModel } = await import('../../results/dist/adapters/postgres.js')
	return PostgresModel.open(new pg.Pool({ connectionString: url }), table)
}

async function openMariadb(url, table) {
	const { createPool } = await import('mysql2/promise')
	const { MysqlModel } = await import('../../results/dist/adapters/mysql.js')
	return MysqlModel.open(createPool({ uri: url, timezone: 'Z' }), table)
}

async function openSqlite(url, table) {
	const { openFile } = await import('./sqlite-driver.js')
	const { SqliteModel } = await import('../../results/dist/adapters/sqlite.js')
	return SqliteModel.open(openFile(url), table)
}
