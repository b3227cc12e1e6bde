/** Redis for tests: the existing server, with each of the three clients, and servers that a test starts. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Cluster, Redis } from 'ioredis'
import Valkey from 'iovalkey'
import { createClient, createCluster } from 'redis'
import type { RedisClient } from '../../../lib/cache/redis/redis-cache.ts'
import { describe } from '../../helpers/describe.ts'
import { HERE, hasMachines, type Machine, machines } from '../../helpers/machines.ts'
import { freePorts } from '../../helpers/program.ts'
import { REDIS_PORT, redisIsHere } from '../../helpers/redis.ts'

/** `describe`, where there is a Redis. */
export const describeRedis: typeof describe = (await redisIsHere()) ? describe : () => {}

export type ClientName = 'ioredis' | 'node-redis' | 'iovalkey'
export const CLIENTS: readonly ClientName[] = ['ioredis', 'node-redis', 'iovalkey']

/** A client, and the calls that differ between the three. */
export interface TestClient {
	readonly name: ClientName
	readonly client: RedisClient
	/** Sends any command, not through the cache. */
	command(...args: string[]): Promise<unknown>
	/** May be called again. */
	close(): void
}

/** The ACL user, where it isn't the default user. */
export interface Login {
	readonly username: string
	readonly password: string
}

/** Opens a client as its documentation does. It may connect later than this resolves. */
export function openClient(
	name: ClientName,
	port: number = REDIS_PORT,
	login?: Login,
	host: string = HERE.address,
): TestClient {
	if (name === 'node-redis') {
		const client = createClient({ socket: { host, port }, ...login })
		client.on('error', () => {})
		// Closed while connecting, it connects nevertheless, and would keep this process alive.
		client.unref()
		client.connect().catch(() => {})
		return {
			name,
			client,
			command: (...args) => client.sendCommand(args),
			close: () => void (client.isOpen && client.destroy()),
		}
	}
	const options = { host, port, ...login }
	const client = name === 'ioredis' ? new Redis(options) : new Valkey.Redis(options)
	client.on('error', () => {})
	return {
		name,
		client,
		command: (command = '', ...args) => client.call(command, args),
		close: () => client.disconnect(),
	}
}

/**
 * Opens a client of a cluster that has these servers. `command` is for a key, its first argument.
 *
 * @param silence after how many milliseconds a silent server is left, as docs/caching.md says
 */
export function openCluster(
	name: ClientName,
	servers: readonly Pick<OwnRedis, 'host' | 'port'>[],
	silence?: number,
): TestClient {
	const roots = servers.map(({ host, port }) => ({ host, port }))
	if (name === 'node-redis') {
		const settings =
			silence === undefined
				? {}
				: {
						topologyRefreshOnReconnectionAttemptStrategy: silence,
						defaults: {
							pingInterval: silence / 2,
							socket: {
								...{ socketTimeout: silence, connectTimeout: silence },
								reconnectStrategy: (retries: number) => Math.min(retries * 50, 500),
							},
						},
					}
		const client = createCluster({ rootNodes: roots.map((socket) => ({ socket })), ...settings })
		client.on('error', () => {})
		client.connect().catch(() => {})
		return {
			name,
			client,
			command: (command, ...args) => client.sendCommand(args[0], false, [command ?? '', ...args]),
			close: () => void (client.isOpen && client.destroy()),
		}
	}
	const redisOptions = silence === undefined ? {} : { socketTimeout: silence, connectTimeout: silence }
	const client =
		name === 'ioredis' ? new Cluster(roots, { redisOptions }) : new Valkey.Cluster(roots, { redisOptions })
	client.on('error', () => {})
	return {
		name,
		client,
		command: (command = '', ...args) => client.call(command, args),
		close: () => client.disconnect(),
	}
}

/** Deletes all keys with a prefix. */
export async function forget(prefix: string, { command }: TestClient): Promise<void> {
	let cursor = '0'
	do {
		const [next, keys] = (await command('SCAN', cursor, 'MATCH', `${prefix}*`, 'COUNT', '10000')) as [
			string,
			string[],
		]
		if (keys.length > 0) await command('UNLINK', ...keys)
		cursor = next
	} while (cursor !== '0')
}

/** A server started by a test. */
export interface OwnRedis {
	readonly host: string
	readonly port: number
	/** `undefined` unless it has one of its own. */
	readonly machine: Machine | undefined
	/** Starts it if it isn't running, with more options; resolves when it responds. */
	start(...options: string[]): Promise<void>
	/** Kills it, as a power failure does. */
	kill(): Promise<void>
	/** Makes it hang, with its connections open, until `resume`. */
	pause(): void
	resume(): void
	remove(): Promise<void>
}

/** A server started by a test; without persistence by default. Not running yet. */
export const ownRedis = (machine?: Machine): Promise<OwnRedis> =>
	ownServer(
		async (folder, port) => [
			...['--port', String(port), '--bind', machine?.address ?? HERE.address, '--dir', folder],
			...['--save', '', '--appendonly', 'no', '--protected-mode', 'no'],
		],
		machine,
	)

/**
 * A Redis Cluster of three primaries with a replica each, running, each a machine where that is possible. A server counts as failed
 * after a second.
 */
export async function ownCluster(): Promise<{ servers: readonly OwnRedis[]; remove(): Promise<void> }> {
	const settings = [
		...['--cluster-enabled', 'yes', '--cluster-node-timeout', '1000'],
		...['--cluster-require-full-coverage', 'no'],
	]
	const network = hasMachines ? await machines(6) : undefined
	const servers = await Promise.all(Array.from({ length: 6 }, (_, at) => ownRedis(network?.all[at])))
	const buses = await freePorts(servers.length)
	const remove = async () => {
		await Promise.all(servers.map((server) => server.remove()))
		await network?.remove()
	}
	try {
		await Promise.all(
			servers.map((server, at) =>
				server.start(...settings, '--cluster-port', String(buses[at]), '--repl-diskless-sync-delay', '0'),
			),
		)
		const addresses = servers.map(({ host, port }) => `${host}:${port}`)
		const replicas = ['--cluster-replicas', '1', '--cluster-yes']
		await promisify(execFile)('redis-cli', ['--cluster', 'create', ...addresses, ...replicas])
		return { servers, remove }
	} catch (error) {
		await remove()
		throw error
	}
}

/** A single Sentinel that monitors a primary under the name `main`. Not running yet. */
export const ownSentinel = (primary: Pick<OwnRedis, 'host' | 'port'>, machine?: Machine): Promise<OwnRedis> =>
	ownServer(async (folder, port) => {
		const file = join(folder, 'sentinel.conf')
		const lines = [`monitor main ${primary.host} ${primary.port} 1`, 'down-after-milliseconds main 1000']
		const sentinel = lines.map((line) => `sentinel ${line}`)
		const bound = [`port ${port}`, `bind ${machine?.address ?? HERE.address}`, 'protected-mode no']
		await writeFile(file, [...bound, `dir ${folder}`, ...sentinel, ''].join('\n'))
		return [file, '--sentinel']
	}, machine)

async function ownServer(
	argumentsOf: (folder: string, port: number) => Promise<readonly string[]>,
	machine?: Machine,
): Promise<OwnRedis> {
	const { address: host, prefix } = machine ?? HERE
	const folder = await mkdtemp(join(tmpdir(), 'verbena-redis-'))
	const [port = 0] = machine === undefined ? await freePorts(1) : [6379]
	let child: ChildProcess | undefined
	const kill = async () => {
		const server = child
		child = undefined
		if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
		const ended = once(server, 'exit')
		server.kill('SIGKILL')
		await ended
	}
	return {
		...{ host, port, machine, kill },
		async start(...options) {
			const own = await argumentsOf(folder, port)
			const [program = '', ...args] = [...prefix, 'redis-server', ...own, ...options]
			child = spawn(program, args, { stdio: 'ignore' })
			while (!(await answers(port, host))) {
				const ended = child.exitCode ?? child.signalCode
				if (ended !== null) throw new Error(`redis-server has ended with ${ended}`)
				await setTimeout(5)
			}
		},
		pause: () => void child?.kill('SIGSTOP'),
		resume: () => void child?.kill('SIGCONT'),
		async remove() {
			await kill()
			await rm(folder, { recursive: true, force: true })
		},
	}
}

/** Whether a Redis at a port is up and has loaded its data, even if it requires a password. */
async function answers(port: number, host: string): Promise<boolean> {
	const socket = connect(port, host)
	// A closed connection, or another program at the port, says nothing: it is retried.
	const signal = AbortSignal.timeout(3_000)
	try {
		await once(socket, 'connect', { signal })
		socket.write('PING\r\n')
		const [bytes] = await once(socket, 'data', { signal })
		return String(bytes).match(/^(?:\+PONG|-NOAUTH)/) !== null
	} catch {
		return false
	} finally {
		socket.destroy()
	}
}
