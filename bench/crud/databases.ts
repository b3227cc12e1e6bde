/** Connections to the databases that CRUD is measured on, for creating tables and data by plain SQL. */
import { existsSync, mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export type DatabaseName = 'postgres' | 'mariadb' | 'sqlite'

export const DATABASES: readonly DatabaseName[] = ['postgres', 'mariadb', 'sqlite']

/** A connection that runs SQL, one statement at a time. */
export interface Session {
	/** Returns the rows as objects. */
	run(sql: string): Promise<Record<string, unknown>[]>
	close(): Promise<void>
}

/** The process names of the databases; none for SQLite, which runs in the server. */
export const PROCESSES: Readonly<Record<DatabaseName, readonly string[]>> = {
	postgres: ['postgres'],
	mariadb: ['mariadbd', 'mysqld'],
	sqlite: [],
}

/** The URL of a database; `BENCH_POSTGRES_URL` and `BENCH_MARIADB_URL` override the default. */
export function urlOf(database: DatabaseName): string {
	if (database === 'postgres') {
		return process.env.BENCH_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/test'
	}
	if (database === 'mariadb') return process.env.BENCH_MARIADB_URL ?? 'mysql://root@127.0.0.1:3306/test'
	return fileURLToPath(new URL('../results/crud.sqlite', import.meta.url))
}

/** @throws Error with the URL, if the database can't be reached */
export async function openSession(database: DatabaseName): Promise<Session> {
	try {
		if (database === 'postgres') return await openPostgres()
		return database === 'mariadb' ? await openMariadb() : await openSqlite()
	} catch (error) {
		throw new Error(`${database} can't be reached at ${urlOf(database)}`, { cause: error })
	}
}

async function openPostgres(): Promise<Session> {
	const { default: pg } = await import('pg')
	const client = new pg.Client({ connectionString: urlOf('postgres') })
	await client.connect()
	return {
		run: async (sql) => (await client.query<Record<string, unknown>>(sql)).rows,
		close: () => client.end(),
	}
}

async function openMariadb(): Promise<Session> {
	const { createConnection } = await import('mysql2/promise')
	const connection = await createConnection({ uri: urlOf('mariadb'), timezone: 'Z' })
	return {
		async run(sql) {
			const [rows] = await connection.query(sql)
			// For statements without rows, mysql2 returns a result header in their place.
			return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : []
		},
		close: () => connection.end(),
	}
}

async function openSqlite(): Promise<Session> {
	const { default: Database } = await import('libsql')
	const folder = fileURLToPath(new URL('../results', import.meta.url))
	if (!existsSync(folder)) mkdirSync(folder)
	const file = new Database(urlOf('sqlite'))
	file.exec('pragma journal_mode = wal')
	return {
		async run(sql) {
			if (/^\s*(select|with[^;]*\)\s*select)/i.test(sql)) {
				return file.prepare(sql).all([]) as Record<string, unknown>[] // objects: `raw` is not set
			}
			file.exec(sql)
			return []
		},
		close: async () => {
			file.close()
		},
	}
}
