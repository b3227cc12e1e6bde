/** A table with a column of every MariaDB type, and a model over it, for tests of reads and writes. */
import type { Pool } from 'mysql2/promise'
import type { Selection } from '../../../lib/models/model.ts'
import { MysqlModel, type MysqlOptions } from '../../../lib/models/mysql/model.ts'
import { IS_MYSQL } from '../../helpers/mariadb.ts'

/**
 * Whether the server has a type: MySQL has neither UUIDs nor addresses nor more than 30 fractional digits, and an unsigned `tinyint(1)` is any `tinyint`.
 */
export const hasType = (type: string): boolean =>
	!(IS_MYSQL && /^(?:uuid|inet6|tinyint\(1\) unsigned$|decimal\(38,38)/.test(type))

export const NO_GUARD = { where: undefined, version: undefined }

/** A selection of fields by their own names. */
export function select(...fields: string[]): Selection {
	return { fields, names: fields, version: undefined }
}

/** Creates a table with `id` and given columns, opens it, and drops it after `work`. */
export async function withTable<T>(
	pool: Pool,
	name: string,
	columns: string,
	work: (model: MysqlModel) => Promise<T>,
	options: MysqlOptions = {},
): Promise<T> {
	await pool.query(`drop table if exists ${name}`)
	await pool.query(`create table ${name} (${columns})`)
	try {
		return await work(await MysqlModel.open(pool, name, options))
	} finally {
		await pool.query(`drop table ${name}`)
	}
}
