/**
 * The users' own database objects: what of pg, postgres.js and PGlite is called, how they are told apart, and
 * the driver that goes with each.
 */

import type { Seconds } from '../../base/time.ts'
import type { Driver } from '../sql/driver.ts'
import { PgDriver } from './pg/pg-driver.ts'
import type { PgPool } from './pg/pool.ts'
import { type PGliteDatabase, PGliteDriver } from './pglite-driver.ts'
import { PostgresJsDriver, type PostgresJsSql } from './postgres-js/postgres-js-driver.ts'

/** A `Pool` of pg, a `sql` of postgres.js, or a PGlite. */
export type PostgresDatabase = PgPool | PostgresJsSql | PGliteDatabase

export interface Connected {
	readonly driver: Driver
	/** Whether the driver has its own forms for some types, which values have to be kept from. */
	readonly throughText: boolean
	/** Looks at what is between the driver and the server, before the first statement. @throws TypeError */
	begin(): Promise<void>
}

/**
 * The driver for a database; told apart by what they can do.
 *
 * @throws TypeError for anything else
 */
export function connected(database: PostgresDatabase, timeoutSeconds: Seconds): Connected {
	if (isPostgresJs(database)) {
		const driver = new PostgresJsDriver(database, timeoutSeconds)
		return { driver, throughText: true, begin: () => driver.begin() }
	}
	if (isPGlite(database)) return { driver: new PGliteDriver(database), throughText: false, begin: nothing }
	if (isPgPool(database))
		return { driver: new PgDriver(database, timeoutSeconds), throughText: false, begin: nothing }
	throw new TypeError(
		"PostgresModel takes a pg Pool, a postgres.js sql or a PGlite; a pg Client won't do, as it is one connection only",
	)
}

async function nothing(): Promise<void> {}

function isPostgresJs(database: PostgresDatabase): database is PostgresJsSql {
	return typeof database === 'function' && can(database, 'unsafe') && can(database, 'begin')
}

function isPGlite(database: PostgresDatabase): database is PGliteDatabase {
	return can(database, 'query') && can(database, 'transaction') && can(database, 'exec')
}

/** A pg Client has `connect` and `query` too, but only a pool knows how many it has. */
function isPgPool(database: PostgresDatabase): database is PgPool {
	return can(database, 'connect') && can(database, 'query') && 'totalCount' in database
}

function can(database: PostgresDatabase, name: string): boolean {
	if (database === null || (typeof database !== 'object' && typeof database !== 'function')) return false
	return name in database && typeof Reflect.get(database, name) === 'function'
}
