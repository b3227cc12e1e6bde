/** Creates and fills the tables unless they are up to date, and drops them. */
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { type DatabaseName, openSession, type Session, urlOf } from './databases.ts'
import { BLOG, blogStatements } from './related/tables.ts'
import { statementsFor } from './tables.ts'

/** A table that records which tables the bench has created, and by which statements, so that no other table is touched. */
const REGISTER = 'bench_tables'

/**
 * Creates a table with `rows` rows, unless an earlier run has created it by the same statements and only read it since.
 *
 * @throws Error when the database can't be reached
 */
export async function ensureTable(
	database: DatabaseName,
	table: string,
	rows: number,
	{ anew = false }: { readonly anew?: boolean } = {},
): Promise<void> {
	await ensureMade(database, [table], statementsFor(database, table, rows), anew)
}

/** Like {@link ensureTable}, for the tables that refer to each other and so are created together. */
export async function ensureBlog(database: DatabaseName): Promise<void> {
	await ensureMade(database, Object.values(BLOG), blogStatements(database), false)
}

async function ensureMade(
	database: DatabaseName,
	tables: readonly string[],
	statements: readonly string[],
	anew: boolean,
): Promise<void> {
	const made = createHash('sha256').update(statements.join(';')).digest('hex')
	await withSession(database, async (session) => {
		await session.run(
			`create table if not exists ${REGISTER} (name varchar(64) primary key, made varchar(64) not null)`,
		)
		const names = tables.map((table) => `'${table}'`).join()
		const entries = await session.run(`select made from ${REGISTER} where name in (${names})`)
		const isThere = entries.length === tables.length && entries.every((entry) => entry.made === made)
		if (!anew && isThere) return
		await session.run(`delete from ${REGISTER} where name in (${names})`)
		for (const statement of statements) await session.run(statement)
		for (const table of tables)
			await session.run(`insert into ${REGISTER} (name, made) values ('${table}', '${made}')`)
	})
}

/** Drops every table that the bench has created in a database, and deletes SQLite's file. */
export async function clean(database: DatabaseName): Promise<void> {
	if (database === 'sqlite') {
		for (const end of ['', '-wal', '-shm']) rmSync(urlOf('sqlite') + end, { force: true })
		return
	}
	await withSession(database, async (session) => {
		await session.run(
			`create table if not exists ${REGISTER} (name varchar(64) primary key, made varchar(64) not null)`,
		)
		// So that tables which refer to each other can be dropped in any order.
		if (database === 'mariadb') await session.run('set foreign_key_checks = 0')
		for (const { name } of await session.run(`select name from ${REGISTER}`)) {
			await session.run(`drop table if exists ${name} cascade`)
		}
		await session.run(`drop table ${REGISTER}`)
	})
}

/** A database's version; `undefined` if it can't be reached. */
export async function versionOf(database: DatabaseName): Promise<string | undefined> {
	const version = database === 'sqlite' ? 'sqlite_version()' : 'version()'
	try {
		const [row] = await withSession(database, (session) => session.run(`select ${version} as version`))
		return String(row?.version)
	} catch {
		return undefined
	}
}

async function withSession<T>(database: DatabaseName, work: (session: Session) => Promise<T>): Promise<T> {
	const session = await openSession(database)
	try {
		return await work(session)
	} finally {
		await session.close()
	}
}
