/** Counts the statements that an SQL driver runs. */
import { MysqlDriver } from '../../lib/models/mysql/driver.ts'
import { PgDriver } from '../../lib/models/postgres/pg/driver.ts'
import type { Rows as Ran, Statement } from '../../lib/models/sql/driver.ts'
import { SqliteDriver } from '../../lib/models/sqlite/driver.ts'

/** The driver classes whose `query` is counted. */
const DRIVERS = { sqlite: SqliteDriver, postgres: PgDriver, mariadb: MysqlDriver } as const

export type Counted = keyof typeof DRIVERS

/** The method that is replaced. */
interface Noted {
	query(statement: Statement): Promise<Ran>
}

/** The number of statements that a driver runs during `work`. */
export async function statementsOf(
	name: Counted,
	work: () => Promise<unknown>,
	note: (run: Noted['query'], statement: Statement) => void = () => {},
): Promise<number> {
	const prototype: Noted = DRIVERS[name].prototype
	const { query } = prototype
	let count = 0
	prototype.query = function (statement) {
		count++
		note(query.bind(this), statement)
		return query.call(this, statement)
	}
	try {
		await work()
	} finally {
		prototype.query = query
	}
	return count
}
