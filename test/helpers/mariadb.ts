/** MariaDB for tests: the existing server, through mysql2, and servers that a test starts. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import mysql, { type Pool, type PoolOptions } from 'mysql2/promise'
import { freePorts } from './program.ts'

const exec = promisify(execFile)

/** The server that is there: the one that the environment names, else the one of this machine. */
export const MARIADB = {
	host: process.env.MYSQL_HOST ?? '127.0.0.1',
	port: Number(process.env.MYSQL_TCP_PORT ?? 3306),
	user: process.env.MYSQL_USER ?? 'root',
	password: process.env.MYSQL_PWD ?? '',
	database: process.env.MYSQL_DATABASE ?? 'test',
}

/** What is set in each session: `{ sql_mode: 'ANSI_QUOTES', time_zone: '+05:30' }`. */
export type Settings = Readonly<Record<string, string | number>>

/** A pool of the server that is there. Close it by `end()`. */
export function openPool(settings: Settings = {}, options: PoolOptions = {}): Pool {
	const pool = mysql.createPool({ ...MARIADB, connectionLimit: 5, ...options })
	const values = Object.entries(settings)
	// The pool of promises hands its listeners the connection with callbacks; what is sent first runs first.
	pool.pool.on('connection', (connection) => {
		for (const [name, value] of values) connection.query(`set session ${name} = ?`, [value])
	})
	return pool
}

/**
 * Whether the server is there. Where it isn't, that is said aloud and its tests are left out; with `CI=true` it
 * is a failure.
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

/** A server of a test's own, for user `root` without a password, with a database `test`. */
export interface OwnMariadb {
	readonly port: number
	/** How mysql2 gets to it. */
	readonly options: { host: string; port: number; user: string; database: string }
	start(): Promise<void>
	/** In order: what is under way is ended, and its clients are told. */
	stop(): Promise<void>
	restart(): Promise<void>
	/** As a crash of the machine would. */
	kill(): Promise<void>
	/** It stays, and says nothing; until it is thawed. Resolves when that is so. */
	freeze(): Promise<void>
	thaw(): void
	/** Stops it, and takes its folder away. */
	remove(): Promise<void>
}

/** Makes a server in a folder for a while, on a free port; it is running. `args` are more of its arguments. */
export async function ownMariadb(args: readonly string[] = []): Promise<OwnMariadb> {
	const folder = await mkdtemp(join(tmpdir(), 'verbena-mariadb-'))
	const [port = 0] = await freePorts(1)
	const data = join(folder, 'data')
	// As root, the server wants to be told whose it shall be.
	const user = process.getuid?.() === 0 ? await ownedByMysql(folder) : []
	// A server that starts deletes all temporary tables where it makes its own: in `/tmp` also those of the one that is there,
	// whose statements fail of it. The installation starts one too.
	const env = { ...process.env, TMPDIR: folder }
	await exec(
		'mariadb-install-db',
		['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', ...user],
		{ env },
	)
	const options = { host: '127.0.0.1', port, user: 'root', database: 'test' }
	let server: ChildProcess | undefined
	const start = async () => {
		server = spawn(
			existsSync('/usr/sbin/mariadbd') ? '/usr/sbin/mariadbd' : 'mariadbd',
			[
				'--no-defaults',
				`--datadir=${data}`,
				`--port=${port}`,
				`--socket=${join(folder, 's.sock')}`,
				`--pid-file=${join(folder, 'pid')}`,
				`--tmpdir=${folder}`,
				'--bind-address=127.0.0.1',
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

/** Waits until every thread of a process has stopped: each does when it is scheduled next, and may answer before. */
async function stopped(pid: number | undefined): Promise<void> {
	const folder = `/proc/${pid}/task`
	if (!existsSync(folder)) return setTimeout(200)
	for (;;) {
		const threads = await readdir(folder)
		// A thread that is gone meanwhile says nothing either.
		const texts = await Promise.all(
			threads.map((id) => readFile(`${folder}/${id}/stat`, 'utf8').catch(() => '() T')),
		)
		// Behind the name, which is in parentheses and may hold anything.
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
