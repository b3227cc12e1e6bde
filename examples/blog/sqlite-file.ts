/** Opens an SQLite file with the available driver: Node's own (22.16 and later), else libsql. */
import type { SqliteDatabase } from '../../lib/models/sqlite/model.ts' // 'verbena/sqlite'

/** What the two have in common, as far as the blog uses it. */
export interface SqliteFile extends SqliteDatabase {
	close(): unknown
}

interface NodeSqlite {
	readonly DatabaseSync: new (file: string) => SqliteFile
	readonly StatementSync: { readonly prototype: object }
}

/** Opens the file, and creates it if it doesn't exist. */
export async function openSqlite(file: string): Promise<SqliteFile> {
	// The blog is compiled with the types of Node 20, which lack this module.
	const own = process.getBuiltinModule('node:sqlite') as NodeSqlite | undefined
	if (own !== undefined && 'setReturnArrays' in own.StatementSync.prototype) return new own.DatabaseSync(file)
	const { default: Database } = await import('libsql')
	return new Database(file)
}
