/** `examples/18-cluster` on PostgreSQL and Redis: what its workers agree on, a restart, a crash, and the end. */
import * as assert from 'uvu/assert'
import { signRequest } from '../../lib/client/index.ts'
import { describe } from '../helpers/describe.ts'
import { until } from '../helpers/listening.ts'
import { driversHere } from '../helpers/postgres.ts'
import { redisIsHere } from '../helpers/redis.ts'
import { type Cluster, loadOn, untilSaid, withCluster } from './cluster-running.ts'

if ((await driversHere()).includes('pg') && (await redisIsHere()))
	describe('examples/18-cluster', (test) => {
		test('limits, keys and nonces hold across workers; a restart, a crash and the shutdown lose nothing', () =>
			withCluster({ WORKERS: '2' }, async (cluster) => {
				await limits(cluster)
				await keys(cluster)
				await nonces(cluster)
				await restarts(cluster)
				await crashes(cluster)
				const { child, ended, output } = cluster.running
				child.kill('SIGTERM')
				assert.is(await ended, 0)
				assert.match(output(), /\nThe blog is closed\n$/)
			}))
	})

/**
 * Sends a request so many times at once; each on a connection of its own, which isn't kept: workers end those that nothing
 * comes on for five seconds, maybe just when the next request does.
 */
function copies(count: number, url: string | Request, init: RequestInit = {}): Promise<Response[]> {
	return Promise.all(
		Array.from({ length: count }, () => {
			const request = new Request(url instanceof Request ? url.clone() : url, init)
			const headers = new Headers(request.headers)
			headers.set('Connection', 'close')
			return fetch(request, { headers })
		}),
	)
}

function statusesOf(responses: readonly Response[]): number[] {
	return responses.map(({ status }) => status).sort()
}

async function limits({ port, started }: Cluster): Promise<void> {
	const office = `http://127.0.0.1:${port}/blog/api/office`
	const asked = await Promise.all((await copies(12, `${office}/worker`)).map((answer) => answer.json()))
	const workers = new Set(asked.map((answer) => (answer as { data: { pid: number } }).data.pid))
	assert.equal([...workers].sort(), started().sort(), 'both workers answer')
	const letters = await copies(12, `${office}/letter`, { method: 'POST' })
	assert.equal(statusesOf(letters), [...Array(5).fill(200), ...Array(7).fill(429)])
}

async function keys({ port, token, database }: Cluster): Promise<void> {
	const ask = (count: number) =>
		copies(count, `http://127.0.0.1:${port}/blog/api/comments`, {
			method: 'POST',
			body: '{"articleId":2,"text":"said once"}',
			headers: {
				Authorization: `Bearer ${token}`,
				'Content-Type': 'application/json',
				'Idempotency-Key': 'once',
			},
		})
	const begun = performance.now()
	const statuses = statusesOf(await ask(10))
	// A key that could not be marked within a second, as on a machine that stalls, is not run: 503, and no sooner.
	const wasHeldUp = statuses.includes(503) && performance.now() - begun > 950
	if (wasHeldUp) await until(async () => (await ask(1))[0]?.status === 201, 'an answer that is kept')
	else assert.is(statuses[0], 201)
	assert.ok(statuses.every((status) => status === 201 || status === 409 || (wasHeldUp && status === 503)))
	let again: Response[] = []
	const isAnswered = async () => {
		const sent = performance.now()
		again = await ask(4)
		return again.every(({ status }) => status !== 503) || performance.now() - sent < 950
	}
	await until(isAnswered, 'the same answers')
	assert.equal(
		again.map(({ status, headers }) => [status, headers.get('Idempotent-Replayed')]),
		Array(4).fill([201, 'true']),
	)
	const { rowCount } = await database.query(`select from comments where text = 'said once'`)
	assert.is(rowCount, 1)
}

async function nonces({ port, secret }: Cluster): Promise<void> {
	const request = new Request(`http://127.0.0.1:${port}/blog/api/office/worker`)
	const answers = await copies(8, await signRequest(request, { id: 'ruth', secret }))
	assert.equal(statusesOf(answers), [200, ...Array(7).fill(401)])
}

async function restarts(cluster: Cluster): Promise<void> {
	const load = await loadOn(cluster, 4)
	await cluster.restart()
	const started = cluster.started()
	const [, , ...fresh] = started
	const { answers, created, workers, failures } = await load.end(fresh)
	assert.equal(failures, [])
	assert.is(new Set(started).size, 4)
	assert.ok(
		fresh.every((pid) => workers.includes(pid)),
		'both new workers have answered',
	)
	const { rowCount } = await cluster.database.query(`select from comments where text like 'load %'`)
	assert.is(rowCount, created, `of ${answers} answers`)
}

async function crashes({ running, port, started }: Cluster): Promise<void> {
	const before = started()
	const last = before.at(-1) ?? 0
	process.kill(last, 'SIGKILL')
	await untilSaid(running, () => started().length > before.length, 'another worker')
	assert.match(running.output(), `Worker ${last} has ended (SIGKILL): the next start is in 100 ms\n`)
	const statuses = statusesOf(await copies(10, `http://127.0.0.1:${port}/blog/api/articles/1`))
	assert.equal(statuses, Array(10).fill(200))
}
