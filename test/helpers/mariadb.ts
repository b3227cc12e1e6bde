/**
 * MariaDB for tests: the existing server, through mysql2, and servers that a test starts. The existing server may be MySQL:
 * `openPool` then rewrites the statements of fixtures that only MariaDB has.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import mysql, { type Pool, type PoolOptions, type RowDataPacket } from 'mysql2/promise'
import { HERE, type Machine } from './machines.ts'
import { freePorts } from './program.ts'

const exec = promisify(execFile)

/** The existing server: the one named by the environment, else the local one. */
export const MARIADB = {
	host: process.env.MYSQL_HOST ?? '127.0.0.1',
	port: Number(process.env.MYSQL_TCP_PORT ?? 3306),
	user: process.env.MYSQL_USER ?? 'root',
	password: process.env.MYSQL_PWD ?? '',
	database: process.env.MYSQL_DATABASE ?? 'test',
}

/** Whether the existing server is MySQL. Tests that need MariaDB check it. */
export const IS_MYSQL = await isMysql()

/** Settings of each session: `{ sql_mode: 'ANSI_QUOTES', time_zone: '+05:30' }`. */
export type Settings = Readonly<Record<string, string | number>>

/** A pool of the existing server. Close it with `end()`. */
export function openPool(settings: Settings = {}, options: PoolOptions = {}): Pool {
	const pool = mysql.createPool({ ...MARIADB, connectionLimit: 5, ...options })
	const values = Object.entries(settings)
	// The promise pool passes its listeners the callback connection; statements run in the order they are sent.
	pool.pool.on('connection', (connection) => {
		for (const [name, value] of values) connection.query(`set session ${name} = ?`, [value])
		// `forMysql` replaces sequences by recursive queries.
		if (IS_MYSQL) connection.query('set session cte_max_recursion_depth = 1000000')
	})
	if (IS_MYSQL) rewriteFixtures(pool)
	return pool
}

async function isMysql(): Promise<boolean> {
	try {
		const connection = await mysql.createConnection({ ...MARIADB, connectTimeout: 30_000 })
		const [[row]] = await connection.query<RowDataPacket[]>('select version() as version')
		await connection.end()
		return !/mariadb/i.test(String(row?.version))
	} catch {
		return false // `mariadbIsHere` says why
	}
}

type Send = (...args: unknown[]) => Promise<unknown>

/** Rewrites only the statements that a test sends by `pool.query`: models use connections of the pool. */
function rewriteFixtures(pool: Pool): void {
	const query = pool.query.bind(pool) as Send
	const rewritten = async (text: unknown, ...rest: unknown[]): Promise<unknown> => {
		if (typeof text !== 'string') return query(text, ...rest)
		const [, name, value, statement] = SET_STATEMENT.exec(text) ?? []
		if (statement === undefined) return query(forMysql(text), ...rest)
		const connection = await pool.getConnection()
		try {
			await connection.query(`set @before = @@session.${name}, session ${name} = ${value}`)
			const send = connection.query.bind(connection) as Send
			return await send(forMysql(statement), ...rest)
		} finally {
			await connection.query(`set session ${name} = @before`)
			connection.release()
		}
	}
	Object.assign(pool, { query: rewritten })
}

const SET_STATEMENT = /^set statement (\S+?) ?= ?(\S+) for ([\s\S]+)$/

/** A statement of MariaDB, for MySQL: uuid becomes `char(36)`, a sequence becomes a recursive query. */
function forMysql(text: string): string {
	const typed = /^\s*create table/.test(text) ? text.replace(/(?<=\w )uuid\b(?! *\()/g, 'char(36)') : text
	return typed
		.replace(
			/\bfrom seq_(\d+)_to_(\d+)/g,
			'from (with recursive s (seq) as (select $1 union all select seq + 1 from s where seq < $2) select seq from s) seqs',
		)
		.replaceAll('utf8mb4_nopad_bin', 'utf8mb4_0900_bin')
		.replace(/\bdefault (uuid\(\)|current_date)/g, 'default ($1)')
}

/**
 * Whether the existing server can be reached. If not, a message is printed and its tests are skipped; with `CI=true` it is a
 * failure.
 */
export async function mariadbIsHere(): Promise<boolean> {
	try {
		const connection = await mysql.createConnection({ ...MARIADB, connectTimeout: 30_000 })
		await connection.end()
		return true
	} catch (error) {
		if (process.env.CI === 'true') throw error
		console.error(`SKIPPED: there is no MariaDB at ${MARIADB.host}:${MARIADB.port}: ${String(error)}`)
		return false
	}
}

/** A server started by a test, for user `root` without a password, with a database `test`. */
export interface OwnMariadb {
	readonly port: number
	/** mysql2's connection options. */
	readonly options: { host: string; port: number; user: string; database: string }
	start(): Promise<void>
	/** A clean shutdown: running statements are ended, and clients get an error. */
	stop(): Promise<void>
	restart(): Promise<void>
	/** Kills it, like a crash of the machine. */
	kill(): Promise<void>
	/** Freezes it until it is thawed. Resolves once it is frozen. */
	freeze(): Promise<void>
	thaw(): void
	/** Stops it, and deletes its folder. */
	remove(): Promise<void>
}

/** Lets root connect from other machines. It is not replicated: each Galera node runs this by itself. */
const FROM_ANYWHERE = `set session sql_log_bin = 0;
set session wsrep_on = off;
create user if not exists root@'%';
grant all on *.* to root@'%' with grant option;
`

/** Creates and starts a server in a temporary folder, on a free port. `args` are further arguments. */
export async function ownMariadb(
	args: readonly string[] = [],
	{ address: host, prefix }: Pick<Machine, 'address' | 'prefix'> = HERE,
): Promise<OwnMariadb> {
	const folder = await mkdtemp(join(tmpdir(), 'verbena-mariadb-'))
	const isElsewhere = prefix.length > 0
	const [port = 0] = isElsewhere ? [3306] : await freePorts(1)
	const data = join(folder, 'data')
	// Started by root, the server requires a user to run as.
	const user = process.getuid?.() === 0 ? await ownedByMysql(folder) : []
	// A starting server deletes all temporary tables in its tmpdir; in `/tmp` that would include those of the existing
	// server, whose statements would fail. `mariadb-install-db` starts a server too.
	const env = { ...process.env, TMPDIR: folder }
	await exec(
		'mariadb-install-db',
		['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', ...user],
		{ env },
	)
	const options = { host, port, user: 'root', database: 'test' }
	const init = join(folder, 'init.sql')
	if (isElsewhere) await writeFile(init, FROM_ANYWHERE, { mode: 0o644 })
	let server: ChildProcess | undefined
	const start = async () => {
		const [program = '', ...rest] = [
			...prefix,
			existsSync('/usr/sbin/mariadbd') ? '/usr/sbin/mariadbd' : 'mariadbd',
		]
		server = spawn(
			program,
			[
				...rest,
				'--no-defaults',
				`--datadir=${data}`,
				`--port=${port}`,
				`--socket=${join(folder, 's.sock')}`,
				`--pid-file=${join(folder, 'pid')}`,
				`--tmpdir=${folder}`,
				`--bind-address=${host}`,
				...(isElsewhere ? [`--init-file=${init}`, '--skip-name-resolve'] : []),
				'--innodb-buffer-pool-size=16M',
				...user,
				...args,
			],
			{ stdio: 'ignore', env },
		)
		await answers(options, server)
	}
	const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
		if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
		const ended = once(server, 'exit')
		server.kill(signal)
		await ended
	}
	await start()
	return {
		...{ port, options, start },
		stop: () => end('SIGTERM'),
		kill: () => end('SIGKILL'),
		freeze: async () => {
			server?.kill('SIGSTOP')
			await stopped(server?.pid)
		},
		thaw: () => void server?.kill('SIGCONT'),
		restart: async () => {
			await end('SIGTERM')
			await start()
		},
		remove: async () => {
			await end('SIGKILL')
			await rm(folder, { recursive: true, force: true })
		},
	}
}

/** Waits until every thread of a process has stopped. Until a thread is scheduled next, it may still respond. */
async function stopped(pid: number | undefined): Promise<void> {
	const folder = `/proc/${pid}/task`
	if (!existsSync(folder)) return setTimeout(200)
	for (;;) {
		const threads = await readdir(folder)
		// A thread that has ended meanwhile counts as stopped.
		const texts = await Promise.all(
			threads.map((id) => readFile(`${folder}/${id}/stat`, 'utf8').catch(() => '() T')),
		)
		// After the name, which is in parentheses and may contain anything.
		if (texts.every((text) => text.slice(text.lastIndexOf(')') + 2).startsWith('T'))) return
		await setTimeout(5)
	}
}

async function ownedByMysql(folder: string): Promise<string[]> {
	const ids = await Promise.all(
		['-u', '-g'].map(async (flag) => Number((await exec('id', [flag, 'mysql'])).stdout)),
	)
	const [uid = 0, gid = 0] = ids
	await chown(folder, uid, gid)
	return ['--user=mysql']
}

/** Waits until a server answers. @throws Error when it has ended, or after two minutes */
async function answers(options: OwnMariadb['options'], server: ChildProcess): Promise<void> {
	const end = performance.now() + 120_000
	while (performance.now() < end) {
		const ended = server.exitCode ?? server.signalCode
		if (ended !== null) throw new Error(`the server has ended with ${ended}`)
		try {
			const connection = await mysql.createConnection({ ...options, connectTimeout: 30_000 })
			await connection.end()
			return
		} catch {
			await setTimeout(100)
		}
	}
	throw new Error('the server has not started within two minutes')
}
