/** The databases that `verbena` serves: from the first argument to models, by the user's own driver. */
import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { MysqlDatabase } from '../models/mysql/model.ts'
import type { PostgresDatabase } from '../models/postgres/model.ts'
import type { SqliteDatabase } from '../models/sqlite/model.ts'
import { type Command, UsageError } from './arguments.ts'
import { driverIn } from './drivers.ts'
import { openJson } from './json-file.ts'
import type { Source } from './source.ts'

/** Connections to a server. */
const MAX = 10

/**
 * Opens what the command names.
 *
 * @param folder where the user is: relative paths and drivers are found from there
 * @throws UsageError for a URL that can't be meant, a file or a driver that isn't there
 */
export function sourceOf({ source, schema }: Command, folder: string): Promise<Source> | Source {
	const [, scheme] = /^([a-z][a-z0-9+.-]+):/i.exec(source) ?? []
	// C:\blog.db
	const kind = scheme?.toLowerCase()
	if (kind !== 'postgres' && kind !== 'postgresql' && schema !== undefined)
		throw new UsageError('--schema is for PostgreSQL')
	switch (kind) {
		case 'postgres':
		case 'postgresql':
			return postgres(urlOf(source), folder, schema)
		case 'mysql':
		case 'mariadb':
			return mysql(urlOf(source), folder)
		case 'sqlite':
		case 'file':
			return sqlite(source.slice(source.indexOf(':') + 1).replace(/^\/\/(?=[^/]|$)|^\/\/(?=\/)/, ''), folder)
		case undefined:
			break
		default:
			throw new UsageError(
				`${scheme}: is no database that is known here: write postgres://…, mysql://…, sqlite:file.db or file.json`,
			)
	}
	if (source.endsWith('.json')) return openJson(existing(source, folder), source)
	if (/\.(?:db|sqlite3?)$/.test(source)) return sqlite(source, folder)
	throw new UsageError(
		`${source} is neither a URL of a database nor an SQLite or JSON file: write postgres://…, mysql://…, sqlite:file.db or file.json`,
	)
}

async function postgres(url: URL, folder: string, schema: string | undefined): Promise<Source> {
	const { name, module } = await driverIn(folder, ['pg', 'postgres'], 'PostgreSQL')
	const { PostgresModel } = await import('../models/postgres/model.ts')
	const place = `PostgreSQL at ${url.host || 'its socket'}${url.pathname}`
	const connecting = { driver: name, address: withoutPassword(url), schema }
	const open = (database: PostgresDatabase) => (views: boolean) =>
		PostgresModel.openAll(database, { views, ...(schema === undefined ? {} : { schema }) })
	if (name === 'postgres') {
		const sql = made<PostgresDatabase & { end(options: object): Promise<void> }>(
			module,
			'default',
			(create) => create(url.href, { max: MAX, onnotice: () => {} }),
		)
		return { place, connecting, open: open(sql), close: () => sql.end({ timeout: 1 }) }
	}
	const pool = made<PostgresDatabase & { end(): Promise<void> }>(
		module.default as Readonly<Record<string, unknown>>,
		'Pool',
		(_, Pool) => new Pool({ connectionString: url.href, max: MAX }),
	)
	return { place, connecting, open: open(pool), close: () => pool.end() }
}

async function mysql(url: URL, folder: string): Promise<Source> {
	if (url.pathname.length < 2)
		throw new UsageError('Which database? Its name follows the host: mysql://root@localhost/blog')
	const { module } = await driverIn(folder, ['mysql2/promise'], 'MariaDB or MySQL')
	const { MysqlModel } = await import('../models/mysql/model.ts')
	url.protocol = 'mysql:'
	const pool = made<MysqlDatabase & { end(): Promise<void> }>(module, 'createPool', (create) =>
		create({ uri: url.href, connectionLimit: MAX }),
	)
	return {
		place: `MariaDB or MySQL at ${url.host}${url.pathname}`,
		connecting: { driver: 'mysql2/promise', address: withoutPassword(url) },
		open: (views) => MysqlModel.openAll(pool, { views }),
		close: () => pool.end(),
	}
}

type SqliteFile = SqliteDatabase & { exec(text: string): unknown; close(): unknown }

async function sqlite(name: string, folder: string): Promise<Source> {
	const file = existing(decodeURIComponent(name), folder)
	const { SqliteModel } = await import('../models/sqlite/model.ts')
	const own = process.getBuiltinModule('node:sqlite') as Readonly<Record<string, unknown>> | undefined
	const statement = own?.StatementSync as { readonly prototype: object } | undefined
	const isOwn = own !== undefined && statement !== undefined && 'setReturnArrays' in statement.prototype
	const found = isOwn
		? undefined
		: await driverIn(folder, ['better-sqlite3', 'libsql'], 'SQLite on this Node')
	const database = isOwn
		? made<SqliteFile>(own, 'DatabaseSync', (_, Database) => new Database(file))
		: made<SqliteFile>(found?.module ?? {}, 'default', (_, Database) => new Database(file))
	database.exec('pragma busy_timeout = 5000; pragma foreign_keys = on')
	return {
		place: `SQLite, ${name}`,
		connecting: { driver: found?.name ?? 'node:sqlite', address: name },
		open: (views) => SqliteModel.openAll(database, { views }),
		close: async () => void database.close(),
	}
}

/** Calls a driver's function, or makes an object of its class. */
function made<T>(
	module: Readonly<Record<string, unknown>>,
	name: string,
	make: (call: (...given: unknown[]) => unknown, Class: new (...given: unknown[]) => unknown) => unknown,
): T {
	const value = module[name]
	if (typeof value !== 'function') throw new TypeError(`the driver has no ${name}`)
	// What a driver makes is checked by the model that it is given to.
	return make(value as () => unknown, value as unknown as new () => unknown) as T
}

function existing(name: string, folder: string): string {
	const file = isAbsolute(name) ? name : join(folder, name)
	if (name !== '' && existsSync(file)) return file
	throw new UsageError(`There is no file ${name === '' ? 'named' : name} in ${folder}`)
}

function withoutPassword(url: URL): string {
	const shown = new URL(url)
	shown.password = ''
	shown.searchParams.delete('password')
	return shown.href
}

/** The URL's own error would repeat it, and it may have a password. */
function urlOf(source: string): URL {
	if (URL.canParse(source)) return new URL(source)
	throw new UsageError(
		'This is no URL: write postgres://user:password@host:5432/database, with special characters of the password as %40',
	)
}
