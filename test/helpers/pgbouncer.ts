/** A PgBouncer started by a test, in front of a PostgreSQL server. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until } from './listening.ts'
import { SERVER } from './postgres.ts'
import { freePorts } from './program.ts'

/** Debian's path. /usr/sbin is not in the PATH of most users. */
const PROGRAM = '/usr/sbin/pgbouncer'

/** Whether PgBouncer is installed; otherwise a message is printed, and with `CI=true` it is a failure. */
export async function pgbouncerHere(): Promise<boolean> {
	try {
		await promisify(execFile)(PROGRAM, ['--version'])
		return true
	} catch (error) {
		if (process.env.CI === 'true') throw error
		console.error(`SKIPPED: there is no ${PROGRAM} here: ${String(error)}`)
		return false
	}
}

export interface OwnBouncer {
	readonly port: number
	/** Whether it is still running: no client may be able to end it. */
	readonly isRunning: boolean
	/** Its output. */
	log(): string
	remove(): Promise<void>
}

/** Starts one on a free port; `settings` are lines of its configuration, such as `pool_mode = session`. */
export async function ownBouncer(settings: readonly string[] = [], server: object = {}): Promise<OwnBouncer> {
	const folder = await mkdtemp(join(tmpdir(), 'verbena-pgbouncer-'))
	const [port = 0] = await freePorts(1)
	const { host, port: serverPort, user, database, password } = { ...SERVER, password: '', ...server }
	const secret = password === '' ? '' : ` password=${password}`
	const file = join(folder, 'pgbouncer.ini')
	const lines = [
		'[databases]',
		`${database} = host=${host} port=${serverPort} user=${user} dbname=${database}${secret}`,
		'[pgbouncer]',
		...[`listen_addr = 127.0.0.1`, `listen_port = ${port}`, 'unix_socket_dir ='],
		...[
			'auth_type = any',
			'ignore_startup_parameters = extra_float_digits, options',
			'pool_mode = transaction',
		],
		...settings,
	]
	await writeFile(file, `${lines.join('\n')}\n`)
	await chmod(folder, 0o755)
	const child = startAsUser(file)
	let output = ''
	for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes) => (output += bytes))
	const isRunning = () => child.exitCode === null && child.signalCode === null
	await until(async () => !isRunning() || (await isListening(port)), 'PgBouncer listens')
	if (!isRunning()) throw new Error(`PgBouncer has not started:\n${output}`)
	return {
		port,
		get isRunning() {
			return isRunning()
		},
		log: () => output,
		async remove() {
			if (isRunning()) {
				const ended = once(child, 'exit')
				child.kill('SIGINT')
				child.kill('SIGTERM')
				await ended
			}
			await rm(folder, { recursive: true, force: true })
		},
	}
}

/** As `nobody` if we are root, as PgBouncer refuses to run as root. */
function startAsUser(file: string): ChildProcess {
	const asNobody = ['--reuid=nobody', '--regid=nogroup', '--clear-groups', PROGRAM, file]
	const isRoot = process.getuid?.() === 0
	return isRoot ? spawn('setpriv', asNobody) : spawn(PROGRAM, [file])
}

async function isListening(port: number): Promise<boolean> {
	const socket = connect(port, '127.0.0.1')
	const answer = await Promise.race([
		once(socket, 'connect').then(() => true),
		once(socket, 'error').then(() => false),
	]).catch(() => false)
	socket.destroy()
	return answer
}
