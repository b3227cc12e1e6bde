/**
 * `driverOf`: recognizes the user's database object (pg, postgres.js or PGlite) and creates its driver. PGlite is
 * PostgreSQL in this process, with one connection that serializes statements and transactions.
 */
import { hasMethods } from '../../base/options.ts'
import type { Seconds } from '../../base/time.ts'
import type { Driver, Rows, Statement } from '../sql/driver.ts'
import { type Session, within } from '../sql/transaction.ts'
import { isAborted, PROBE } from './errors.ts'
import { PgDriver } from './pg/driver.ts'
import type { PgPool } from './pg/pool.ts'
import { PostgresJsDriver, type PostgresJsSql } from './postgres-js/driver.ts'

/** A `Pool` of pg, a `sql` of postgres.js, or a PGlite. */
export type PostgresDatabase = PgPool | PostgresJsSql | PGliteDatabase

export interface Connected {
	readonly driver: Driver
	/** Whether the driver converts some types itself, so that their values must be sent as text. */
	readonly throughText: boolean
	/** Checks the connection before the first statement. @throws TypeError */
	begin?(): Promise<void>
}

/** @throws TypeError unless `database` is a pg Pool, a postgres.js `sql` or a PGlite */
export function driverOf(database: PostgresDatabase, timeoutSeconds: Seconds): Connected {
	if (isPostgresJs(database)) {
		const driver = new PostgresJsDriver(database, timeoutSeconds)
		return { driver, throughText: true, begin: () => driver.begin() }
	}
	if (isPGlite(database)) return { driver: pgliteDriver(database), throughText: false }
	if (isPgPool(database)) return { driver: new PgDriver(database, timeoutSeconds), throughText: false }
	throw new TypeError(
		'PostgresModel takes a pg Pool, a postgres.js sql or a PGlite; a pg Client is only one connection: use a Pool',
	)
}

function isPostgresJs(database: PostgresDatabase): database is PostgresJsSql {
	return typeof database === 'function' && hasMethods(database, 'unsafe', 'begin')
}

function isPGlite(database: PostgresDatabase): database is PGliteDatabase {
	return hasMethods(database, 'query', 'transaction', 'exec')
}

/** A pg Client has `connect` and `query` too, but no `totalCount`. */
function isPgPool(database: PostgresDatabase): database is PgPool {
	return hasMethods(database, 'connect', 'query') && 'totalCount' in database
}

/** The methods of PGlite, and of its transactions, that are used. */
interface PGliteQueryable {
	query(
		text: string,
		values: unknown[],
		options: { readonly rowMode: 'array' },
	): Promise<{ readonly rows: unknown[]; readonly affectedRows?: number }>
}

interface PGliteDatabase extends PGliteQueryable {
	exec(text: string): Promise<unknown>
	transaction<T>(work: (transaction: PGliteQueryable) => Promise<T>): Promise<T>
}

function pgliteDriver(database: PGliteDatabase): Driver {
	return {
		query: (statement) => run(database, statement),
		transaction: (work) =>
			database.transaction((transaction) => {
				const send = (statement: Statement) => run(transaction, statement)
				const session: Session = {
					run: send,
					control: (text) => send({ text, values: [], writes: false }),
					leaves: () => 'savepoint',
					...{ connection: transaction, probe: PROBE, isAborted },
				}
				return within(session, work)
			}),
	}
}

async function run(database: PGliteQueryable, { text, values }: Statement): Promise<Rows> {
	const { rows, affectedRows } = await database.query(text, [...values], { rowMode: 'array' })
	// rowMode 'array' makes every row an array.
	return { rows: rows as readonly unknown[][], affected: affectedRows ?? 0 }
}
