/**
 * `MysqlModel`: a table or view of MySQL 8 or MariaDB 10.5 and later as a `Model`, over the user's own mysql2.
 * What it is made of is in `mysql/`.
 */
import { SqlModel } from '../sql/sql-model.ts'
import type { Table } from '../sql/table.ts'
import type { Seconds } from '../time.ts'
import { connectionsOf, type MysqlDatabase } from './mysql/connections.ts'
import { mysqlDialect } from './mysql/dialect.ts'
import { MysqlDriver } from './mysql/driver.ts'
import { describe, introspect, keyed, listTables, primaryOf } from './mysql/introspect.ts'
import { NoConnection } from './mysql/lost.ts'
import { askServer, type Server } from './mysql/server.ts'
import { parseTableName } from './mysql/table-name.ts'

export type { MysqlDatabase } from './mysql/connections.ts'

export interface MysqlOptions {
	/**
	 * The column that tells records apart; its values must be unique. By default that of the primary key. Views,
	 * and tables whose primary key has several columns, need it.
	 */
	readonly key?: string
	/**
	 * How BIGINT is written in JSON: all its digits as a number, or as a string, for clients that would lose
	 * digits beyond 2^53.
	 *
	 * @default 'number'
	 */
	readonly bigint?: 'number' | 'string'
	/**
	 * How long the database is waited for at most, for a connection or for an answer; then 503.
	 *
	 * @default 5
	 */
	readonly timeoutSeconds?: Seconds
}

/**
 * Text is compared by the column's collation: `eq`, `in` and the sort don't tell `a` from `A` with the usual ones.
 * Only ids are always compared exactly. DATETIME columns hold times in UTC.
 */
export class MysqlModel extends SqlModel {
	/**
	 * Reads columns, types, key and constraints of a table from the live database: `article`, `blog.article`, or
	 * in backticks whatever the name holds. `database` is a pool of mysql2 or mysql2/promise, a pool cluster, or
	 * one connection.
	 *
	 * @throws TypeError when there is no such table, no key, or the sessions can't be used as they are; what
	 * mysql2 throws when the database can't be reached
	 */
	static async open(database: MysqlDatabase, table: string, options: MysqlOptions = {}): Promise<MysqlModel> {
		const named = parseTableName(table)
		const opened = await openDatabase(database, options)
		const { driver, server } = opened
		const found = await reached(
			introspect(driver, server, named, { key: options.key, bigintAsText: asText(options) }),
		)
		return modelOf(opened, found, options)
	}

	/**
	 * Opens every table of the pool's database that has a primary key of one column, by its name. Views and
	 * others need a `key`, and so to be opened by themselves.
	 */
	static async openAll(
		database: MysqlDatabase,
		options: Omit<MysqlOptions, 'key'> = {},
	): Promise<Record<string, MysqlModel>> {
		const opened = await openDatabase(database, options)
		const { driver, server } = opened
		const models: [string, MysqlModel][] = []
		for (const listing of await reached(listTables(driver, server, undefined))) {
			if (listing.isView) continue
			const found = await reached(
				describe(driver, server, { schema: undefined, ...listing }, asText(options)),
			)
			const key = primaryOf(found)
			if (key !== undefined) models.push([listing.name, modelOf(opened, keyed(found, key, server), options)])
		}
		return Object.fromEntries(models)
	}
}

interface Opened {
	readonly driver: MysqlDriver
	readonly server: Server
}

async function openDatabase(
	database: MysqlDatabase,
	{ bigint, timeoutSeconds = 5 }: MysqlOptions,
): Promise<Opened> {
	if (bigint !== undefined && bigint !== 'number' && bigint !== 'string') {
		throw new TypeError(`bigint must be 'number' or 'string', got ${JSON.stringify(bigint)}`)
	}
	if (typeof timeoutSeconds !== 'number' || !(timeoutSeconds > 0)) {
		throw new RangeError(`timeoutSeconds must be a number above 0, got ${String(timeoutSeconds)}`)
	}
	const driver = new MysqlDriver(connectionsOf(database), timeoutSeconds)
	const server = await reached(askServer(driver))
	driver.strict = server.strict
	return { driver, server }
}

function modelOf({ driver, server }: Opened, table: Table, { timeoutSeconds }: MysqlOptions): MysqlModel {
	const dialect = mysqlDialect(server, table)
	return new MysqlModel(table, driver, dialect, timeoutSeconds === undefined ? {} : { timeoutSeconds })
}

function asText({ bigint }: MysqlOptions): boolean {
	return bigint === 'string'
}

/** Who opens a model is a programmer, and is told the driver's own words. */
async function reached<T>(asked: Promise<T>): Promise<T> {
	try {
		return await asked
	} catch (error) {
		throw error instanceof NoConnection && error.cause !== undefined ? error.cause : error
	}
}
