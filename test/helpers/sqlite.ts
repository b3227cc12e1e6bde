/** SQLite databases in memory, through each of the drivers that this Node can load. */
import { createRequire } from 'node:module'
import type { SqliteDatabase } from '../../lib/models/sqlite/model.ts'

/** A database as created by its driver, and the operations tests use on it directly. */
export type TestDatabase = SqliteDatabase & { close(): unknown }

type Open = (path?: string) => TestDatabase

export interface SqliteDriverCase {
	readonly name: 'better-sqlite3' | 'libsql' | 'node:sqlite'
	/** Opens a database; `undefined` if this Node lacks the driver, which is reported on the console. */
	readonly open: Open | undefined
}

const load = createRequire(import.meta.url)

const all: readonly SqliteDriverCase[] = [
	{ name: 'node:sqlite', open: opener('node:sqlite', (module) => Reflect.get(module, 'DatabaseSync')) },
	{ name: 'better-sqlite3', open: opener('better-sqlite3', (module) => module) },
	{ name: 'libsql', open: opener('libsql', (module) => module) },
]

/**
 * The three drivers, available ones first. Node 20 has no node:sqlite; the others are dev dependencies, so that at least one
 * is available.
 */
export const sqliteDrivers = all.toSorted(
	(a, b) => Number(a.open === undefined) - Number(b.open === undefined),
)

// Otherwise all tests of SQLite would be skipped. libsql's binary comes with its package, so it should always load.
if (sqliteDrivers.every(({ open }) => open === undefined))
	throw new Error('no driver of SQLite can be loaded')

/** A database of an available driver. */
export function opened(open: Open | undefined, path?: string): TestDatabase {
	if (open === undefined) throw new Error('this Node has no such driver: the test should have been skipped')
	return open(path)
}

function opener(name: string, find: (module: object) => unknown): Open | undefined {
	try {
		const module = load(name)
		// better-sqlite3 fails only at the first database when it was built for another Node.
		const Database = find(module) as new (path: string) => TestDatabase
		new Database(':memory:').close()
		return (path = ':memory:') => new Database(path)
	} catch {
		console.log(`SKIPPED: Node ${process.version} can't load ${name}`)
		return undefined
	}
}
