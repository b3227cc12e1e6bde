/**
 * Opens the database that the first argument names, with the user's own driver: in their folder, or beside this package,
 * where `npx -p verbena -p pg` puts it.
 */
import { existsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { attempt } from '../base/attempt.ts'
import type { MysqlDatabase } from '../models/mysql/model.ts'
import type { PostgresDatabase } from '../models/postgres/model.ts'
import type { BrokenView } from '../models/sql/options.ts'
import type { SqliteDatabase } from '../models/sqlite/model.ts'
import { type Command, UsageError } from './arguments.ts'
import { openJson } from './json-file.ts'
import { problemOf } from './problems.ts'
import type { Source } from './source.ts'

/** Maximum number of connections to a database server. */
const MAX_CONNECTIONS = 10
/** Timeout for a server that accepts a connection but never answers. */
const CONNECT_SECONDS = 5

interface PgModule {
	readonly default: { readonly Pool: new (options: object) => PostgresDatabase & { end(): Promise<void> } }
}

interface PostgresJsModule {
	readonly default: (
		url: string,
		options: object,
	) => PostgresDatabase & { end(options: object): Promise<void> }
}

interface MysqlModule {
	createPool(options: object): MysqlDatabase & { end(): Promise<void> }
}

interface SqliteFile extends SqliteDatabase {
	exec(text: string): unknown
	close(): unknown
}

type SqliteClass = new (file: string) => SqliteFile

/** `node:sqlite`, whose types come with those of Node 22. */
interface NodeSqlite {
	readonly DatabaseSync: SqliteClass
	readonly StatementSync: { readonly prototype: object }
}

/**
 * Opens what the command names.
 *
 * @param folder the user's current folder: relative paths and drivers are resolved from there
 * @throws UsageError for an invalid URL, and for a file or driver that is missing or can't be opened
 */
export async function sourceOf({ source, schema }: Command, folder: string): Promise<Source> {
	// At least two letters: C:\blog.db is a path.
	const [, scheme] = /^([a-z][a-z0-9+.-]+):/i.exec(source) ?? []
	const kind = scheme?.toLowerCase()
	if (kind === 'postgres' || kind === 'postgresql') return postgres(urlOf(source), folder, schema)
	if (schema !== undefined) throw new UsageError('--schema is for PostgreSQL')
	if (kind === 'mysql' || kind === 'mariadb') return mysql(urlOf(source), folder)
	if (kind === 'sqlite' || kind === 'file') return sqlite(fileIn(source, folder), folder)
	const choices = 'write postgres://…, mysql://…, sqlite:file.db or file.json'
	if (kind !== undefined) throw new UsageError(`${scheme}: is no database that is known here: ${choices}`)
	if (source.endsWith('.json')) return openJson(existing(source, folder), source)
	if (/\.(?:db|sqlite3?)$/.test(source)) return sqlite(source, folder)
	// user:password@host/database, or host=… password=…
	const shown = /[@=]/.test(source) ? 'This' : source
	throw new UsageError(`${shown} is neither a URL of a database nor an SQLite or JSON file: ${choices}`)
}

async function postgres(url: URL, folder: string, schema: string | undefined): Promise<Source> {
	const { name, module } = await driverIn<PgModule | PostgresJsModule, 'pg' | 'postgres'>(
		folder,
		['pg', 'postgres'],
		'PostgreSQL',
	)
	const { PostgresModel } = await import('../models/postgres/model.ts')
	const place = `PostgreSQL at ${url.host || 'its socket'}${url.pathname}`
	const connecting = { driver: name, address: withoutPassword(url), schema }
	const open = (database: PostgresDatabase) => (broken: BrokenView) =>
		PostgresModel.openAll(database, { views: true, ...(schema === undefined ? {} : { schema }) }, broken)
	if (typeof module.default === 'function') {
		const options = { max: MAX_CONNECTIONS, connect_timeout: CONNECT_SECONDS, onnotice: () => {} }
		const connect = module.default
		// The folder of a Unix socket, as for libpq and pg; postgres.js would send it to the server as a setting.
		const socket = url.searchParams.get('host')
		const shown = new URL(url)
		shown.searchParams.delete('host')
		const host = socket === null ? {} : { host: socket }
		const sql = created(place, () => connect(shown.href, { ...options, ...host }))
		return { place, connecting, open: open(sql), close: () => sql.end({ timeout: 1 }) }
	}
	const { Pool } = module.default
	const options = { max: MAX_CONNECTIONS, connectionTimeoutMillis: CONNECT_SECONDS * 1_000 }
	const pool = created(place, () => new Pool({ connectionString: url.href, ...options }))
	return { place, connecting, open: open(pool), close: () => pool.end() }
}

async function mysql(url: URL, folder: string): Promise<Source> {
	if (url.pathname.length < 2)
		throw new UsageError('Which database? Its name follows the host: mysql://root@localhost/blog')
	const { module } = await driverIn<MysqlModule>(folder, ['mysql2/promise'], 'MariaDB or MySQL')
	const { MysqlModel } = await import('../models/mysql/model.ts')
	url.protocol = 'mysql:'
	const place = `MariaDB or MySQL at ${url.host}${url.pathname}`
	const options = { connectionLimit: MAX_CONNECTIONS, connectTimeout: CONNECT_SECONDS * 1_000 }
	const pool = created(place, () => module.createPool({ uri: url.href, ...options }))
	return {
		place,
		connecting: { driver: 'mysql2/promise', address: withoutPassword(url) },
		open: (broken) => MysqlModel.openAll(pool, { views: true }, broken),
		close: () => pool.end(),
	}
}

async function sqlite(name: string, folder: string): Promise<Source> {
	const file = existing(name, folder)
	const { driver, Database } = await sqliteDriver(folder)
	const { SqliteModel } = await import('../models/sqlite/model.ts')
	const place = `SQLite by ${driver}, ${name}`
	let database: SqliteFile | undefined
	try {
		database = new Database(file)
		database.exec('pragma busy_timeout = 5000; pragma foreign_keys = on')
	} catch (error) {
		database?.close()
		throw problemOf(error, place)
	}
	const opened = database
	return {
		place,
		connecting: { driver, address: name },
		open: (broken) => SqliteModel.openAll(opened, { views: true }, broken),
		close: async () => void opened.close(),
	}
}

async function sqliteDriver(
	folder: string,
): Promise<{ driver: 'node:sqlite' | 'better-sqlite3' | 'libsql'; Database: SqliteClass }> {
	const own = process.getBuiltinModule('node:sqlite') as NodeSqlite | undefined
	// `setReturnArrays` is there since Node 22.16.
	if (own !== undefined && 'setReturnArrays' in own.StatementSync.prototype)
		return { driver: 'node:sqlite', Database: own.DatabaseSync }
	const { name, module } = await driverIn<{ readonly default: SqliteClass }, 'better-sqlite3' | 'libsql'>(
		folder,
		['better-sqlite3', 'libsql'],
		'SQLite on this Node',
	)
	return { driver: name, Database: module.default }
}

/** The path in `sqlite:blog.db`, `sqlite:///tmp/blog.db` or `file:my%20blog.db`, decoded unless a file has the encoded name. */
function fileIn(source: string, folder: string): string {
	const name = source.slice(source.indexOf(':') + 1).replace(/^\/\//, '')
	return existsSync(resolve(folder, name)) ? name : (attempt(() => decodeURIComponent(name)) ?? name)
}

function existing(name: string, folder: string): string {
	const file = resolve(folder, name)
	if (name === '' || !existsSync(file))
		throw new UsageError(`There is no file ${name === '' ? 'without a name' : name} in ${folder}`)
	if (!statSync(file).isFile()) throw new UsageError(`${name} is not a file`)
	return file
}

/** @throws UsageError for what a driver refuses at once, such as a URL with `%zz` */
function created<T>(place: string, create: () => T): T {
	try {
		return create()
	} catch (error) {
		throw problemOf(error, place)
	}
}

function withoutPassword(url: URL): string {
	const shown = new URL(url)
	shown.password = ''
	shown.searchParams.delete('password')
	return shown.href
}

/** Parses a URL. Its own error isn't used: it would repeat the URL, which may contain a password. */
function urlOf(source: string): URL {
	const url = URL.canParse(source) ? new URL(source) : undefined
	// In postgres://user:12/3@host/d the host is "user": the path, with a part of the password, would be printed.
	if (url !== undefined && url.hash === '' && !url.pathname.includes('@')) return url
	throw new UsageError(
		'This is no URL: write postgres://user:password@host:5432/database, with special characters of the password as %40',
	)
}

/** A driver's package, imported. */
export interface FoundDriver<Name, Module> {
	readonly name: Name
	readonly module: Module
}

/**
 * Imports the first of some packages that is installed.
 *
 * @param folder the user's current folder
 * @param names packages, the best first
 * @param database for the message: `PostgreSQL`
 * @param beside a file of this package
 * @throws UsageError if none is installed, with the command that installs the first, and if one can't be loaded
 */
export async function driverIn<Module, Name extends string = string>(
	folder: string,
	names: readonly [Name, ...Name[]],
	database: string,
	beside: string = import.meta.url,
): Promise<FoundDriver<Name, Module>> {
	for (const base of [join(folder, 'package.json'), beside]) {
		const { resolve } = createRequire(base)
		for (const name of names) {
			const file = attempt(() => resolve(name))
			if (file !== undefined) return { name, module: await imported<Module>(file, name) }
		}
	}
	const packages = names.map((name) => name.split('/')[0])
	throw new UsageError(
		`${database} needs a driver, and there is none in ${folder}: npm install ${packages[0]}${
			packages.length > 1 ? ` (or ${packages.slice(1).join(', ')})` : ''
		}`,
	)
}

async function imported<Module>(file: string, name: string): Promise<Module> {
	try {
		// Not checked here: the model checks the driver's objects that it is given.
		return (await import(pathToFileURL(file).href)) as Module
	} catch (error) {
		throw new UsageError(`${name} can't be loaded: ${error instanceof Error ? error.message : String(error)}`)
	}
}
