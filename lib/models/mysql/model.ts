/**
 * `MysqlModel`: a table or view of MySQL 8 or MariaDB 10.5 and later as a `Model`, over the user's own mysql2.
 * What it is made of is in `mysql/`.
 */

import type { Seconds } from '../../base/time.ts'
import { primaryKey } from '../sql/key.ts'
import {
	type DatabaseOptions,
	type OpeningOptions,
	openingOptions,
	type TableOptions,
} from '../sql/options.ts'
import { NoConnection } from '../sql/pool.ts'
import { SqlModel } from '../sql/sql-model.ts'
import type { Table } from '../sql/table.ts'
import { type Lru, lruOf } from '../sql/text-cache.ts'
import { dialectOf } from './dialect.ts'
import { driverOf, type MysqlDriver } from './driver.ts'
import { describe, introspect, keyed, listTables, parseTableName } from './introspect.ts'
import type { MysqlDatabase } from './mysql2/connections.ts'
import { askServer, type Server } from './mysql2/server.ts'

export type { MysqlDatabase } from './mysql2/connections.ts'

/** How a table is opened. */
export type MysqlOptions = TableOptions

/**
 * Text is compared by the column's collation: `eq`, `in` and the sort don't tell `a` from `A` with the usual ones.
 * Only ids, and what a handler's scope demands, are always compared exactly. DATETIME columns hold times in UTC.
 */
export class MysqlModel extends SqlModel {
	/**
	 * Reads columns, types, key and constraints of a table from the live database: `article`, `blog.article`, or
	 * in backticks whatever the name holds. `database` is a pool of mysql2 or mysql2/promise, a pool cluster, or
	 * one connection.
	 *
	 * @throws TypeError when there is no such table, no key, an option is wrong, or the sessions can't be used as
	 * they are; what mysql2 throws when the database can't be reached
	 * @throws RangeError for a `timeoutSeconds` out of range
	 */
	static async open(database: MysqlDatabase, table: string, options: MysqlOptions = {}): Promise<MysqlModel> {
		const named = parseTableName(table)
		const { key, ...opening } = openingOptions('MysqlModel', options, ['key'])
		const opened = await openDatabase(database, opening)
		const { driver, server, bigintAsText } = opened
		return modelOf(opened, await reached(introspect(driver, server, named, { key, bigintAsText })))
	}

	/**
	 * Opens every table of the pool's database that has a primary key of one column, an integer, a uuid or a text, by its
	 * name. Views and others need a `key`, and so to be opened by themselves.
	 */
	static async openAll(
		database: MysqlDatabase,
		options: DatabaseOptions = {},
	): Promise<Record<string, MysqlModel>> {
		const opened = await openDatabase(database, openingOptions('MysqlModel', options, []))
		const { driver, server, bigintAsText } = opened
		const models: [string, MysqlModel][] = []
		for (const listing of await reached(listTables(driver, server, undefined))) {
			if (listing.isView) continue
			const found = await reached(describe(driver, server, { schema: undefined, ...listing }, bigintAsText))
			const key = primaryKey(found)
			if (key !== undefined) models.push([listing.name, modelOf(opened, keyed(found, key, server))])
		}
		return Object.fromEntries(models)
	}
}

interface Opened {
	readonly driver: MysqlDriver
	readonly server: Server
	readonly lru: Lru
	readonly bigintAsText: boolean
	readonly timeoutSeconds: Seconds
}

async function openDatabase(
	database: MysqlDatabase,
	{ bigint, timeoutSeconds }: Omit<OpeningOptions, 'key'>,
): Promise<Opened> {
	const driver = driverOf(database, timeoutSeconds)
	const server = await reached(askServer(driver, driver.longest))
	driver.withSettings = server.withSettings
	driver.largest = server.largest
	return { driver, server, lru: lruOf(database), bigintAsText: bigint === 'string', timeoutSeconds }
}

function modelOf({ driver, server, lru, bigintAsText, timeoutSeconds }: Opened, table: Table): MysqlModel {
	const reopen = () => introspect(driver, server, table, { key: table.key, bigintAsText })
	return new MysqlModel(table, driver, dialectOf(server, table, lru), timeoutSeconds, reopen)
}

/** Opening fails with the driver's own error: a programmer reads it. */
async function reached<T>(asked: Promise<T>): Promise<T> {
	try {
		return await asked
	} catch (error) {
		throw error instanceof NoConnection && error.cause !== undefined ? error.cause : error
	}
}
