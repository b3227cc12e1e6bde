/** `MysqlModel`: a table or view of MySQL 8, or MariaDB 10.5 and later, as a `Model`, over the user's mysql2 pool. */

import { primaryKey } from '../sql/key.ts'
import {
	type BrokenView,
	type OpenAllOptions,
	type OpeningOptions,
	openingOptions,
	type TableOptions,
} from '../sql/options.ts'
import { NoConnection } from '../sql/pool.ts'
import { openReplicas } from '../sql/replicas/replicas.ts'
import { type Replicated, readPools } from '../sql/replicas/replicated.ts'
import { SqlModel } from '../sql/sql-model.ts'
import type { Table } from '../sql/table.ts'
import { type Lru, lruOf } from '../sql/text-cache.ts'
import { listTables, parseTableName } from './catalog/listing.ts'
import { dialectOf } from './dialect.ts'
import { driverOf, type MysqlDriver } from './driver.ts'
import { describe, introspect, type Read, withTableKey } from './introspect.ts'
import type { MysqlDatabase } from './mysql2/connections.ts'
import { askServer, type Server } from './mysql2/server.ts'
import { replicationOf } from './replicas/replication.ts'

export type { Replica, ReplicaState, Replicas } from '../replicas.ts'
export type { Replicated } from '../sql/replicas/replicated.ts'
export type { MysqlDatabase } from './mysql2/connections.ts'

/** Options of one table. */
export type MysqlOptions = TableOptions

/**
 * A table or view of MySQL or MariaDB as a model. Text is compared by the column's collation: with the usual ones,
 * `eq`, `in` and sorting ignore case. Only ids, and the conditions of a handler's scope, are always compared exactly.
 * DATETIME columns are in UTC.
 */
export class MysqlModel extends SqlModel {
	/**
	 * Opens a table or view, named `article`, `blog.article`, or any name in backticks: reads its columns, types, key and
	 * constraints. `database` is a pool of mysql2 or mysql2/promise, a pool cluster, or one connection. With replicas,
	 * `{ write: pool, read: [replica] }`, a `CrudHandler` reads from those: see `Replicated`.
	 *
	 * @throws TypeError if there is no such table or no key, for a wrong option, and for sessions with unsuitable
	 *   settings
	 * @throws the error of mysql2 if the database can't be reached
	 * @throws RangeError for a `timeoutSeconds` out of range
	 */
	static async open(
		database: MysqlDatabase | Replicated<MysqlDatabase>,
		table: string,
		options: MysqlOptions = {},
	): Promise<MysqlModel> {
		const tableName = parseTableName(table)
		const opened = await openDatabase(database, openingOptions('MysqlModel', options, ['key']))
		const { driver, server } = opened
		return modelOf(opened, await unwrapped(introspect(driver, server, tableName, opened)))
	}

	/**
	 * Opens each table of the pool's database, with `views: true` its views too; returns the models by name. The records of a
	 * view, and of a table without a primary key, can only be listed. `open` opens one view with `key`.
	 *
	 * @param broken called for a view that can't be opened, which is then left out. @default the error is thrown
	 * @throws TypeError for a wrong option, and for sessions with unsuitable settings
	 * @throws the error of mysql2 for a view that can't be read, because its table is gone for example
	 */
	static async openAll(
		database: MysqlDatabase | Replicated<MysqlDatabase>,
		options: OpenAllOptions = {},
		broken?: BrokenView,
	): Promise<Record<string, MysqlModel>> {
		const opened = await openDatabase(database, openingOptions('MysqlModel', options, ['views']))
		const { driver, server, bigint, views } = opened
		const models: [string, MysqlModel][] = []
		// A table behind views is read once.
		const read: Read = new Map()
		for (const listing of await unwrapped(listTables(driver, server, undefined))) {
			if (listing.isView && (listing.isSystem || !views)) continue
			const place = { schema: undefined, ...listing }
			try {
				const found = await unwrapped(describe(driver, server, place, bigint, read))
				models.push([listing.name, modelOf(opened, withTableKey(found, primaryKey(found), server))])
			} catch (error) {
				if (!listing.isView || broken === undefined) throw error
				broken(listing.name, error)
			}
		}
		return Object.fromEntries(models)
	}
}

interface Opened extends OpeningOptions {
	readonly driver: MysqlDriver
	readonly server: Server
	readonly lru: Lru
}

async function openDatabase(
	given: MysqlDatabase | Replicated<MysqlDatabase>,
	options: OpeningOptions,
): Promise<Opened> {
	const pools = readPools('MysqlModel', given)
	const database = pools?.write ?? (given as MysqlDatabase) // not `Replicated`, as it has no pools
	const driver = driverOf(database, options.timeoutSeconds)
	const server = await unwrapped(askServer(driver, driver.statementTimeout))
	useServer(driver, server)
	if (pools !== undefined) {
		// A replica may be unreachable now, so it is assumed to have the primary's settings.
		const replicas = pools.read.map((pool) => ({
			driver: useServer(driverOf(pool, options.timeoutSeconds), server),
		}))
		const replication = replicationOf(server.isMariaDb)
		await unwrapped(openReplicas('MysqlModel', pools, { primary: driver, replicas }, replication))
	}
	return { ...options, driver, server, lru: lruOf(database) }
}

function useServer(driver: MysqlDriver, { withSettings, maxPacketBytes }: Server): MysqlDriver {
	driver.withSettings = withSettings
	driver.maxPacketBytes = maxPacketBytes
	return driver
}

function modelOf({ driver, server, lru, bigint, timeoutSeconds }: Opened, table: Table): MysqlModel {
	const reopen = () => introspect(driver, server, table, { key: table.key, bigint })
	return new MysqlModel(table, driver, dialectOf(server, table, lru), timeoutSeconds, reopen)
}

/** Rejects with the driver's own error, which is more useful to the programmer who opens a model. */
async function unwrapped<T>(result: Promise<T>): Promise<T> {
	try {
		return await result
	} catch (error) {
		throw error instanceof NoConnection && error.cause !== undefined ? error.cause : error
	}
}
