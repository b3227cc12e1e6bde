/** `NewModel`: a table of libSQL as a model, written from docs/models.md, "Writing a new SQL database". */
import {
	type DatabaseOptions,
	type KeyOption,
	keyOf,
	openingOptions,
	primaryKey,
	SqlModel,
	type TableOptions,
	withKey,
} from '../../../../lib/models/sql/index.ts'
import { dialectOf } from './dialect.ts'
import { driverOf, type NewDatabase } from './driver.ts'
import { introspect, listTables } from './introspect.ts'

export class NewModel extends SqlModel {
	static async open(database: NewDatabase, name: string, options: TableOptions = {}): Promise<NewModel> {
		const { key, bigint, timeoutSeconds } = openingOptions('NewModel', options, ['key'])
		const driver = driverOf(database)
		const read = async (asked: KeyOption | undefined) => {
			const found = await introspect(driver, name, bigint)
			return withKey(found, keyOf(found, asked))
		}
		const table = await read(key)
		return new NewModel(table, driver, dialectOf(database), timeoutSeconds, () => read(table.key))
	}

	static async openAll(database: NewDatabase, options: DatabaseOptions = {}) {
		const models: Record<string, NewModel> = {}
		const driver = driverOf(database)
		for (const name of await listTables(driver))
			models[name] = await NewModel.open(database, name, {
				...options,
				key: primaryKey(await introspect(driver, name)),
			})
		return models
	}
}
