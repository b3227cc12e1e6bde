/** `examples/18-cluster`, running with its own database and keys, and a load on it. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import pg from 'pg'
import { forget, openClient } from '../cache/redis/servers.ts'
import { bundled } from '../helpers/bundled.ts'
import { SERVER } from '../helpers/postgres.ts'
import { freePorts, ROOT, type Running, start, untilPrinted } from '../helpers/program.ts'
import { REDIS_PORT } from '../helpers/redis.ts'
import type { Findings } from './cluster-load.ts'

export interface Cluster {
	readonly running: Running
	readonly port: number
	readonly token: string
	readonly secret: string
	readonly database: pg.Pool
	/** Of the loads on it: none outlives it. */
	readonly loads: ChildProcess[]
	/** The processes that were started and listened, in this order. */
	started(): number[]
	/** Replaces all workers, and waits until they are. */
	restart(): Promise<void>
}

/** A load that runs until `end`. */
export interface Load {
	/** Ends it when each of these processes has answered; in vain, after a minute. */
	end(workers: readonly number[]): Promise<Findings>
}

/** Starts the cluster, and ends it whatever becomes of `use`; of what it has made nothing stays. */
export async function withCluster(
	env: Readonly<Record<string, string>>,
	use: (cluster: Cluster) => Promise<void>,
): Promise<void> {
	const folder = await compiled()
	const name = `verbena_cluster_${process.pid}`
	const { host, port: at, user, password = '' } = { password: undefined, ...SERVER }
	const [port = 0] = await freePorts(1)
	const owner = new pg.Client(SERVER)
	await owner.connect()
	await owner.query(`drop database if exists ${name} with (force)`)
	await owner.query(`create database ${name}`)
	const database = new pg.Pool({ ...SERVER, database: name, max: 2 })
	database.on('error', () => {}) // its connections end with the database
	const own = {
		PORT: String(port),
		DATABASE_URL: `postgres://${user}:${password}@${host}:${at}/${name}`,
		REDIS_URL: `redis://127.0.0.1:${REDIS_PORT}`,
		REDIS_PREFIX: `${name}:`,
	}
	const running = start({ args: [join(folder, 'main.js')], env: { ...own, ...env } })
	const loads: ChildProcess[] = []
	try {
		await untilPrinted(running, 'kill -HUP')
		const said = (pattern: RegExp) => pattern.exec(running.output())?.[1] ?? ''
		await use({
			...{ running, port, database, loads, token: said(/Bearer (\S+)/), secret: said(/secret (\S+)/) },
			started: () => [...running.output().matchAll(/^Worker (\d+) serves$/gm)].map(([, pid]) => Number(pid)),
			restart: () => restart(running),
		})
	} finally {
		for (const load of loads) load.kill('SIGKILL')
		running.child.kill('SIGKILL') // its workers end when it has
		await running.ended
		rmSync(folder, { recursive: true, force: true })
		await database.end()
		await owner.query(`drop database ${name} with (force)`)
		await owner.end()
		const redis = openClient('ioredis')
		await forget(own.REDIS_PREFIX, redis)
		redis.close()
	}
}

/** The example in JavaScript, as it would be deployed, in a folder for a while: tsx takes a second for each worker. */
async function compiled(): Promise<string> {
	const folder = mkdtempSync(join(tmpdir(), 'verbena-cluster-'))
	const example = `${ROOT}/examples/18-cluster`
	await build({
		...{ entryPoints: [`${example}/main.ts`, `${example}/worker.ts`], outdir: folder, bundle: true },
		...{ format: 'esm', platform: 'node', target: 'node20', packages: 'external', logLevel: 'error' },
	})
	const main = readFileSync(join(folder, 'main.js'), 'utf8')
	writeFileSync(join(folder, 'main.js'), main.replace('"worker.ts"', '"worker.js"'))
	writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
	cpSync(`${ROOT}/examples/blog/schema`, join(folder, 'schema'), { recursive: true })
	symlinkSync(`${ROOT}/node_modules`, join(folder, 'node_modules'), 'dir')
	return folder
}

const DONE = 'All workers are new\n'

async function restart(running: Running): Promise<void> {
	const before = running.output().split(DONE).length
	running.child.kill('SIGHUP')
	await untilSaid(running, (output) => output.split(DONE).length > before, DONE)
}

/** Waits until something was printed; fails when the program ends instead, or after a minute. */
export async function untilSaid(
	{ child, output }: Running,
	holds: (output: string) => boolean,
	what: string,
): Promise<void> {
	const end = performance.now() + 60_000
	while (!holds(output())) {
		if (child.exitCode !== null || performance.now() > end)
			throw new Error(`${what} was waited for, and this was printed:\n${output()}`)
		await new Promise((resolve) => setTimeout(resolve, 20))
	}
}

/** Starts a load; resolves when each of its lanes was served. */
export async function loadOn({ port, token, loads }: Cluster, lanes: number): Promise<Load> {
	const args = await bundled(`${ROOT}/test/examples/cluster-load.ts`, String(port), token, String(lanes))
	const { child, ended, output } = start({ args })
	loads.push(child)
	const early = ended.then((code) => {
		throw new Error(`the load has ended with ${code}:\n${output()}`)
	})
	early.catch(() => {})
	await Promise.race([once(child, 'message'), early])
	return {
		async end(workers) {
			child.send(workers)
			const [findings] = await Promise.race([once(child, 'message'), early])
			await ended
			return findings as Findings // as cluster-load.ts sends them
		},
	}
}
