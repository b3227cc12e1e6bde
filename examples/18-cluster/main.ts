/**
 * The blog on all cores. This process listens, hands connections to its workers (worker.ts) in turn, and replaces
 * those that end. Records are in PostgreSQL; in Redis is what workers must agree on.
 *
 *     DATABASE_URL=postgres://user:password@127.0.0.1:5432/blog node --import tsx examples/18-cluster/main.ts
 *
 * kill -HUP puts new workers in the place of the old ones, one after the other, and no request is lost: after a new
 * version was installed. kill -TERM, or Ctrl-C, ends all when they have answered. PORT, HOST, WORKERS, REDIS_URL,
 * REDIS_PREFIX, TOKEN, SECRET and DRAIN_DELAY (ms) set what their names say: docs/scaling.md
 */
import cluster, { type Worker } from 'node:cluster'
import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { newToken } from '../../lib/index.ts' // you write 'verbena'
import { connect } from '../blog/database.ts'
import { fill } from '../blog/fill.ts'

/** How long a worker may take to listen, and to end; longer than its `graceTimeoutSeconds` of 10 s. In ms. */
const PATIENCE = 15_000
/** Crashes are counted for so long, in ms: each doubles the wait before the next start. */
const MEMORY = 60_000

const { DATABASE_URL = '', WORKERS = availableParallelism(), DRAIN_DELAY = 0 } = process.env
/** What every worker must know alike, and on several machines every machine. */
const { TOKEN = newToken('blog_').token, SECRET = randomBytes(32).toString('base64') } = process.env

/** Those that listen, and haven't been told to end. */
const serving = new Set<Worker>()
/** Those that end because they were told to. */
const told = new WeakSet<Worker>()
let crashes = 0
let isEnding = false
/** Starts and restarts, one behind the other: so that they count the same workers. */
let work = Promise.resolve()

/** The workers that haven't ended. */
function running(): Worker[] {
	const all = Object.values(cluster.workers ?? {})
	return all.flatMap((worker) => (worker === undefined || worker.isDead() ? [] : [worker]))
}

/** Starts a worker. Answers whether it listens: when it does, or when it has ended instead. */
async function start(): Promise<boolean> {
	const worker = cluster.fork({ TOKEN, SECRET })
	const late = setTimeout(() => worker.process.kill('SIGKILL'), PATIENCE)
	const listens = await new Promise<boolean>((resolve) => {
		worker.once('listening', () => resolve(true)).once('exit', () => resolve(false))
	})
	clearTimeout(late)
	if (!listens) return false
	serving.add(worker)
	console.log(`Worker ${worker.process.pid} serves`)
	return true
}

/** Starts as many as there should be. */
async function complete(): Promise<void> {
	const missing = isEnding ? 0 : Math.max(0, Number(WORKERS) - running().length)
	await Promise.all(Array.from({ length: missing }, start))
}

/** A new worker for each old one, which ends once the new one listens. */
async function restart(): Promise<void> {
	for (const old of running()) {
		if (isEnding || old.isDead()) continue
		if (!(await start())) {
			console.error('The new worker did not start: the others stay as they are')
			return
		}
		await end(old)
	}
	await complete()
	if (!isEnding) console.log('All workers are new')
}

/**
 * Ends a worker. It is told by a message, and not by `worker.disconnect()`: that calls node's `server.close()`, which
 * cuts connections with requests that have arrived and haven't been read.
 */
async function end(worker: Worker): Promise<void> {
	const late = setTimeout(() => worker.process.kill('SIGKILL'), PATIENCE)
	told.add(worker)
	await new Promise<void>((resolve) => {
		worker.once('exit', () => resolve())
		if (worker.isDead()) resolve()
		else if (serving.delete(worker)) worker.send('end', () => {})
		else worker.process.kill('SIGKILL') // it has served nobody yet
	})
	clearTimeout(late)
}

/** Whoever asks for it sees that we leave, for DRAIN_DELAY; then all workers end, and this process. */
async function stop(): Promise<void> {
	if (isEnding) return
	isEnding = true
	for (const worker of serving) worker.send('leave', () => {})
	await sleep(Number(DRAIN_DELAY))
	await Promise.all(running().map(end))
	console.log('The blog is closed')
	process.exit()
}

cluster.setupPrimary({ exec: fileURLToPath(new URL('worker.ts', import.meta.url)) })
cluster.on('exit', async (worker, code, signal) => {
	serving.delete(worker)
	if (isEnding || told.has(worker)) return
	const wait = Math.min(100 * 2 ** crashes++, 10_000)
	setTimeout(() => crashes--, MEMORY).unref()
	console.error(`Worker ${worker.process.pid} has ended (${signal ?? code}): the next start is in ${wait} ms`)
	await sleep(wait)
	work = work.then(complete)
})

// The tables are made here: workers would make them all at once.
if (!/^postgres(ql)?:/.test(DATABASE_URL)) throw new TypeError('DATABASE_URL must begin with postgres://')
const database = await connect(DATABASE_URL)
await fill({
	authors: await database.open('authors'),
	articles: await database.open('articles'),
	comments: await database.open('comments'),
})
await database.close()

// The first alone: where it can't start, none can.
if (!(await start())) process.exit(1)
work = work.then(complete)
await work
process.on('SIGINT', stop).on('SIGTERM', stop)
process.on('SIGHUP', () => {
	work = work.then(restart)
})
console.log(`editor: Authorization: Bearer ${TOKEN}`)
console.log(`editor who signs: key id ruth, secret ${SECRET}`)
console.log(`New workers: kill -HUP ${process.pid}`)
