/** Opens Verbena's models, for the servers that use them. */
export async function openModel(database, url, table) {
	const [model] = await openModels(database, url, [table])
	return model
}

/** Opens models of one database, so that they can be joined. */
export async function openModels(database, url, tables) {
	const open = await { postgres: openPostgres, mariadb: openMariadb, sqlite: openSqlite }[database](url)
	return Promise.all(tables.map(open))
}

async function openPostgres(url) {
	const { default: pg } = await import('pg')
	const { PostgresModel } = await import('../../results/dist/models/postgres/model.js')
	const pool = new pg.Pool({ connectionString: url })
	return (table) => PostgresModel.open(pool, table)
}

async function openMariadb(url) {
	const { createPool } = await import('mysql2/promise')
	const { MysqlModel } = await import('../../results/dist/models/mysql/model.js')
	const pool = createPool({ uri: url, timezone: 'Z' })
	return (table) => MysqlModel.open(pool, table)
}

async function openSqlite(url) {
	const { openFile } = await import('./sqlite-driver.js')
	const { SqliteModel } = await import('../../results/dist/models/sqlite/model.js')
	const file = openFile(url)
	return (table) => SqliteModel.open(file, table)
}
