/** A table with a column of every MariaDB type, and a model over it, for tests of reads and writes. */
import type { Pool } from 'mysql2/promise'
import type { Selection } from '../../../lib/models/model.ts'
import { MysqlModel, type MysqlOptions } from '../../../lib/models/mysql/model.ts'

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
