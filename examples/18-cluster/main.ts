/**
 * The blog on all cores. This process listens, hands connections to its workers (worker.ts) in turn, and replaces
 * workers that end. Records are in PostgreSQL; state that workers share is in Redis.
 *
 *     DATABASE_URL=postgres://user:password@127.0.0.1:5432/blog node --import tsx examples/18-cluster/main.ts
 *
 * After installing a new version, kill -HUP replaces the workers one after the other, without losing a request. kill -TERM
 * or Ctrl-C ends all workers after their pending requests. Settings are PORT, HOST, WORKERS, REDIS_URL, REDIS_PREFIX, TOKEN,
 * SECRET and DRAIN_DELAY (ms): see docs/scaling.md
 */
import cluster, { type Worker } from 'node:cluster'
import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { newToken } from '../../lib/index.ts' // you write 'verbena'
import { connect } from '../blog/database.ts'
import { fill } from '../blog/fill.ts'

/** Timeout for a worker to listen, and to end, in ms; longer than its `graceTimeoutSeconds` of 10 s. */
const TIMEOUT = 15_000
/** How long a crash counts, in ms: each one doubles the wait before the next start. */
const CRASH_MEMORY = 60_000

const { DATABASE_URL = '', WORKERS = availableParallelism(), DRAIN_DELAY = 0 } = process.env
/** Must be the same for all workers, and on all machines if there are several. */
const { TOKEN = newToken('blog_').token, SECRET = randomBytes(32).toString('base64') } = process.env

/** Workers that listen, and haven't been told to end. */
const serving = new Set<Worker>()
/** Workers that have been told to end. */
const told = new WeakSet<Worker>()
let crashes = 0
let isEnding = false
/** Starts and restarts run one after the other, so that each sees all workers of the one before. */
let work = Promise.resolve()

/** The workers that haven't ended. */
function running(): Worker[] {
	const all = Object.values(cluster.workers ?? {})
	return all.flatMap((worker) => (worker === undefined || worker.isDead() ? [] : [worker]))
}

/** Starts a worker. Resolves with true when it listens, or with false when it has ended instead. */
async function start(): Promise<boolean> {
	const worker = cluster.fork({ TOKEN, SECRET })
	const late = setTimeout(() => worker.process.kill('SIGKILL'), TIMEOUT)
	const listens = await new Promise<boolean>((resolve) => {
		worker.once('listening', () => resolve(true)).once('exit', () => resolve(false))
	})
	clearTimeout(late)
	if (!listens) return false
	serving.add(worker)
	console.log(`Worker ${worker.process.pid} serves`)
	return true
}

/** Starts workers until there are as many as there should be. */
async function complete(): Promise<void> {
	const missing = isEnding ? 0 : Math.max(0, Number(WORKERS) - running().length)
	await Promise.all(Array.from({ length: missing }, start))
}

/** Starts a new worker for each old one, which ends once the new one listens. */
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
 * Ends a worker, by a message. `worker.disconnect()` would call node's `server.close()`, which cuts connections whose
 * requests have arrived but haven't been read.
 */
async function end(worker: Worker): Promise<void> {
	const late = setTimeout(() => worker.process.kill('SIGKILL'), TIMEOUT)
	told.add(worker)
	await new Promise<void>((resolve) => {
		worker.once('exit', () => resolve())
		if (worker.isDead()) resolve()
		else if (serving.delete(worker)) worker.send('end', () => {})
		else worker.process.kill('SIGKILL') // it has served nobody yet
	})
	clearTimeout(late)
}

/** Fails the readiness check for DRAIN_DELAY, so that load balancers notice; then ends all workers, and this process. */
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
	setTimeout(() => crashes--, CRASH_MEMORY).unref()
	console.error(`Worker ${worker.process.pid} has ended (${signal ?? code}): the next start is in ${wait} ms`)
	await sleep(wait)
	work = work.then(complete)
})

// Creates the tables here, as workers would do it concurrently.
if (!/^postgres(ql)?:/.test(DATABASE_URL)) throw new TypeError('DATABASE_URL must begin with postgres://')
const database = await connect(DATABASE_URL)
await fill({
	authors: await database.open('authors'),
	articles: await database.open('articles'),
	comments: await database.open('comments'),
})
await database.close()

// One worker first: if it can't start, none can.
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
