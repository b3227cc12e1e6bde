/** PostgreSQL for tests: the existing server, with each of the three drivers, and servers that a test starts. */
import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { appendFile, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import postgres from 'postgres'
import { ModelError } from '../../lib/models/model-error.ts'
import type { PostgresDatabase } from '../../lib/models/postgres/model.ts'
import { NoAnswer, NoConnection } from '../../lib/models/sql/pool.ts'
import { HERE, type Machine } from './machines.ts'
import { freePorts } from './program.ts'

const exec = promisify(execFile)

/** The existing server: the one named by `PGHOST` etc., else the local one. */
export const SERVER = {
	host: process.env.PGHOST ?? '127.0.0.1',
	port: Number(process.env.PGPORT ?? 5432),
	user: process.env.PGUSER ?? 'postgres',
	database: process.env.PGDATABASE ?? 'test',
	...(process.env.PGPASSWORD === undefined ? {} : { password: process.env.PGPASSWORD }),
}

export type DriverName = 'pg' | 'postgres.js' | 'PGlite'

/** A database opened with one of the drivers. */
export interface TestDatabase {
	readonly name: DriverName
	readonly database: PostgresDatabase
	/** Runs statements without values. */
	exec(text: string): Promise<void>
	close(): Promise<void>
}

/** Settings of a session: `{ TimeZone: 'Asia/Kathmandu' }`. */
export type Settings = Readonly<Record<string, string>>

/** How it is opened: by default with 5 connections to the existing server, and prepared statements. */
export interface Opening {
	readonly max?: number
	readonly port?: number
	/** Only for postgres.js. */
	readonly prepare?: boolean
	/** @default that of {@link SERVER}; of another port `postgres` */
	readonly database?: string
}

/** Opens a database with a driver; PGlite creates a new one, in memory. */
export async function openDatabase(
	name: DriverName,
	settings: Settings = {},
	{ max = 5, port = SERVER.port, prepare = true, database }: Opening = {},
): Promise<TestDatabase> {
	const server = {
		...SERVER,
		port,
		database: database ?? (port === SERVER.port ? SERVER.database : 'postgres'),
	}
	if (name === 'pg') {
		const options = Object.entries(settings).map(
			([key, value]) => `-c ${key}=${value.replaceAll(' ', '\\ ')}`,
		)
		// By default it closes a connection after ten idle seconds, and with it a test's settings, transactions and locks.
		const pool = new pg.Pool({ ...server, max, options: options.join(' '), idleTimeoutMillis: 0 })
		const exec = async (text: string) => void (await pool.query(text))
		return { name, database: pool, exec, close: () => pool.end() }
	}
	if (name === 'postgres.js') {
		const sql = postgres({ ...server, max, prepare, connection: settings, onnotice: () => {} })
		const exec = async (text: string) => void (await sql.unsafe(text).simple())
		return { name, database: sql, exec, close: () => sql.end({ timeout: 1 }) }
	}
	const lite = await PGlite.create()
	for (const [key, value] of Object.entries(settings)) await lite.exec(`set ${key} = '${value}'`)
	const exec = async (text: string) => void (await lite.exec(text))
	return { name, database: lite, exec, close: () => lite.close() }
}

/** The same, opened on first use: starting a PGlite blocks the process for a while. */
export function databaseLater(...of: Parameters<typeof openDatabase>): () => Promise<TestDatabase> {
	let opened: Promise<TestDatabase> | undefined
	return () => {
		opened ??= openDatabase(...of)
		return opened
	}
}

/**
 * The drivers that can be tested: PGlite always, the others if the server can be reached. If not, a message is printed; with
 * `CI=true` it is a failure.
 */
export async function driversHere(): Promise<readonly DriverName[]> {
	const client = new pg.Client({ ...SERVER, connectionTimeoutMillis: 30_000 })
	try {
		await client.connect()
		await client.end()
		return ['pg', 'postgres.js', 'PGlite']
	} catch (error) {
		if (process.env.CI === 'true') throw error
		console.error(`SKIPPED: there is no PostgreSQL at ${SERVER.host}:${SERVER.port}: ${String(error)}`)
		return ['PGlite']
	}
}

/** Whether servers can be started here; otherwise a message is printed, and with `CI=true` it is a failure. */
export async function ownPostgresHere(): Promise<boolean> {
	try {
		await exec(join(binaries(), 'initdb'), ['--version'])
		return true
	} catch (error) {
		if (process.env.CI === 'true') throw error
		console.error(`SKIPPED: there are no programs of a PostgreSQL server here: ${String(error)}`)
		return false
	}
}

/** A server started by a test. */
export interface OwnPostgres {
	readonly host: string
	readonly port: number
	start(): Promise<void>
	/** `fast` closes connections cleanly, `immediate` as in a crash. */
	stop(mode?: 'fast' | 'immediate'): Promise<void>
	restart(mode?: 'fast' | 'immediate'): Promise<void>
	/** Kills its main process, like a crash of the machine. */
	kill(): Promise<void>
	/** Restarts it as a replica of another. */
	follow(primary: OwnPostgres): Promise<void>
	/** Promotes a replica; resolves when it accepts writes. */
	promote(): Promise<void>
	/** Stops it, and deletes its folder. */
	remove(): Promise<void>
}

/**
 * Creates and starts a server in a temporary folder, on a free port, for user `postgres` without a password. With a
 * `primary`, it is a replica of that.
 */
export async function ownPostgres(
	primary?: OwnPostgres,
	{ address: host, prefix }: Pick<Machine, 'address' | 'prefix'> = HERE,
): Promise<OwnPostgres> {
	const folder = await mkdtemp(join(tmpdir(), 'verbena-postgres-'))
	// The same port on all machines, so that one host name can lead to any of them.
	const [port = 0] = prefix.length > 0 ? [5432] : await freePorts(1)
	const program = await programs(folder, prefix)
	const data = join(folder, 'data')
	const local = ['-D', data, '-U', 'postgres', '--no-sync']
	if (primary === undefined) {
		await program('initdb', ...local, '-A', 'trust', '-E', 'UTF8', '--locale=C')
		const lines = ['all', 'replication'].map((database) => `host ${database} all all trust\n`)
		await appendFile(join(data, 'pg_hba.conf'), lines.join(''))
	} else {
		const from = ['-h', primary.host, '-p', String(primary.port), '-c', 'fast', '--write-recovery-conf']
		await program('pg_basebackup', ...local, ...from)
	}
	const settings = `-p ${port} -c listen_addresses=${host} -c unix_socket_directories=${folder} -c fsync=off`
	const control = (...args: string[]) => program('pg_ctl', '-D', data, '-w', '-t', '120', ...args)
	const start = () => control('-l', join(folder, 'log'), '-o', settings, 'start')
	const stop = (mode: string = 'fast') => control('-m', mode, 'stop')
	const kill = async () => {
		const [pid = ''] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')
		process.kill(Number(pid), 'SIGKILL')
	}
	await start()
	return {
		...{ host, port, start, stop, kill },
		restart: async (mode) => {
			await stop(mode)
			await start()
		},
		follow: async (other) => {
			await stop()
			const conninfo = `host=${other.host} port=${other.port} user=postgres`
			await appendFile(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`)
			await writeFile(join(data, 'standby.signal'), '')
			await start()
		},
		promote: () => control('promote'),
		remove: async () => {
			await stop('immediate').catch(() => {})
			await rm(folder, { recursive: true, force: true })
		},
	}
}

/** Runs PostgreSQL's programs; as user `postgres` if we are root, as they refuse to run as root. */
async function programs(
	folder: string,
	prefix: readonly string[],
): Promise<(name: string, ...args: string[]) => Promise<void>> {
	const bin = binaries()
	const isRoot = process.getuid?.() === 0
	if (isRoot) {
		const [uid, gid] = await Promise.all(
			['-u', '-g'].map(async (flag) => Number((await exec('id', [flag, 'postgres'])).stdout)),
		)
		await chown(folder, uid ?? 0, gid ?? 0)
	}
	return async (name, ...args) => {
		const own = [join(bin, name), ...args]
		const user = isRoot ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups'] : []
		const [first = '', ...rest] = [...prefix, ...user, ...own]
		await exec(first, rest, { cwd: folder, env: { ...process.env, LC_ALL: 'C' } })
	}
}

/** The folder with the newest server's programs, which Debian doesn't put in the PATH. */
function binaries(): string {
	const debian = '/usr/lib/postgresql'
	const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(a) - Number(b)) : []
	const newest = versions.at(-1)
	return newest === undefined ? '' : join(debian, newest, 'bin')
}

/**
 * Opens a model with a short timeout. The timeout applies to opening too, so opening is retried when it was too short, or when
 * a pooler has not replaced its killed connections yet.
 */
export async function untilOpened<T>(open: () => Promise<T>): Promise<T> {
	for (let tries = 0; ; tries++) {
		try {
			return await open()
		} catch (error) {
			const isLate = error instanceof ModelError || error instanceof NoAnswer || error instanceof NoConnection
			if (!isLate || tries === 50) throw error
			await setTimeout(100)
		}
	}
}
