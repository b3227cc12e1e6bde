/** Models of the tables, as a program opens them: for the servers that read by them. */
export function openModel(database, url, table) {
	return { postgres: openPostgres, mariadb: openMariadb, sqlite: openSqlite }[database](url, table)
}

async function openPostgres(url, table) {
	const { default: pg } = await import('pg')
	const { PostgresModel } = await import('../../results/dist/models/postgres/model.js')
	return PostgresModel.open(new pg.Pool({ connectionString: url }), table)
}

async function openMariadb(url, table) {
	const { createPool } = await import('mysql2/promise')
	const { MysqlModel } = await import('../../results/dist/models/mysql/model.js')
	return MysqlModel.open(createPool({ uri: url, timezone: 'Z' }), table)
}

async function openSqlite(url, table) {
	const { openFile } = await import('./sqlite-driver.js')
	const { SqliteModel } = await import('../../results/dist/models/sqlite/model.js')
	return SqliteModel.open(openFile(url), table)
}
