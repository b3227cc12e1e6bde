/** A SQLite database for each test, and shorthands for calling its models. */
import type { Test } from 'uvu'
import type { Selection } from '../../../lib/models/model.ts'
import { opened, type SqliteDriverCase, type TestDatabase } from '../../helpers/sqlite.ts'

export const NO_GUARD = { where: undefined, version: undefined }

/** A selection of fields by their own names. */
export function selectionOf(...fields: string[]): Selection {
	return { fields, names: fields, version: undefined }
}

/** Declares a test with its own database, on which `sql` has been run. */
export type OnDatabase = (
	sql: string,
	promise: string,
	work: (database: TestDatabase) => Promise<void>,
) => void

/** Tests of a suite, skipped if this Node lacks the driver. */
export function onDatabases(test: Test, { open }: SqliteDriverCase): OnDatabase {
	return (sql, promise, work) =>
		(open === undefined ? test.skip : test)(promise, async () => {
			const database = opened(open)
			try {
				database.exec(sql)
				await work(database)
			} finally {
				database.close()
			}
		})
}
