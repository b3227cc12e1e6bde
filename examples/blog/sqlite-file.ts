/** An SQLite file, by the driver that is there: Node's own (22.16 and later), else libsql. */
import type { SqliteDatabase } from '../../lib/models/sqlite/model.ts' // 'verbena/sqlite'

/** What the two have in common, as far as the blog uses it. */
export interface SqliteFile extends SqliteDatabase {
	close(): unknown
}

interface NodeSqlite {
	readonly DatabaseSync: new (file: string) => SqliteFile
	readonly StatementSync: { readonly prototype: object }
}

/** Opens the file, and makes it where it isn't there yet. */
export async function openSqlite(file: string): Promise<SqliteFile> {
	// Its types come with those of Node 22, the blog is compiled with those of Node 20.
	const own = process.getBuiltinModule('node:sqlite') as NodeSqlite | undefined
	if (own !== undefined && 'setReturnArrays' in own.StatementSync.prototype) return new own.DatabaseSync(file)
	const { default: Database } = await import('libsql')
	return new Database(file)
}
