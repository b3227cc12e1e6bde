/** `examples/18-cluster` under load: restarts, workers that can't start, connections at the end. */
import * as assert from 'uvu/assert'
import { describe } from '../helpers/describe.ts'
import { driversHere } from '../helpers/postgres.ts'
import { RawClient, requestText } from '../helpers/raw.ts'
import { redisIsHere } from '../helpers/redis.ts'
import { inTimesOf } from '../helpers/stalls.ts'
import { trials } from '../helpers/trials.ts'
import { type Cluster, loadOn, untilSaid, withCluster } from './cluster-running.ts'

/** The load's lanes: half of them keep their connections. */
const LANES = 16
const RESTARTS = trials(2)

if ((await driversHere()).includes('pg') && (await redisIsHere()))
	describe('examples/18-cluster under load', (test) => {
		test('restarts lose no request, and replace every worker', () =>
			withCluster({ WORKERS: '3' }, async (cluster) => {
				const load = await loadOn(cluster, LANES)
				for (let round = 1; round <= RESTARTS; round++) {
					await cluster.restart()
					assert.is(new Set(cluster.started()).size, 3 + 3 * round, 'each was replaced, by one')
				}
				await allAnswered(cluster, await load.end(cluster.started()))
				assert.not.match(cluster.running.output(), 'has ended')
			}))

		test('a version that does not start leaves the old one serving, and is retried with growing delays', () =>
			withCluster({ WORKERS: '2' }, async (cluster) => {
				const { running, database, started } = cluster
				const [first = 0, second = 0] = started()
				const load = await loadOn(cluster, LANES)
				await database.query('alter table authors rename to people')
				running.child.kill('SIGHUP')
				await untilSaid(running, (output) => output.includes('did not start'), 'the failure')
				process.kill(first, 'SIGKILL')
				await untilSaid(running, (output) => output.includes('in 1600 ms'), 'the fifth wait')
				const waits = [...running.output().matchAll(/the next start is in (\d+) ms/g)]
				assert.equal(
					waits.map(([, wait]) => Number(wait)).filter((_, at) => at < 5),
					[100, 200, 400, 800, 1_600],
				)
				assert.equal(started(), [first, second])
				await database.query('alter table people rename to authors')
				await untilSaid(running, () => started().length === 3, 'another worker')
				const { failures, workers } = await load.end([second])
				// Records of a table that isn't there, and what the killed one was answering; nothing else.
				const others = failures.filter((text) => !/\/authors\/|ECONNRESET|hang up/.test(text))
				// Node's primary forgets the connection that it was just handing to it.
				assert.ok(others.length <= 1 && others.every((text) => text.endsWith('no answer')), others.join('\n'))
				assert.ok(workers.includes(second))
			}))

		test('SIGTERM is reported by /ready, and requests are served for DRAIN_DELAY', () =>
			withCluster({ WORKERS: '2', DRAIN_DELAY: '6000' }, async ({ running, port }) => {
				const statusOf = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status
				assert.is(await statusOf('/health/ready'), 200)
				running.child.kill('SIGTERM')
				while ((await statusOf('/health/ready')) !== 503) await statusOf('/health/live')
				assert.is(await statusOf('/blog/api/articles/1'), 200)
				assert.is(await running.ended, 0)
			}))

		for (let round = 1; round <= trials(2); round++)
			test(`SIGTERM: all queued connections are answered (${round})`, () =>
				// A worker accepts queued connections for two seconds at most.
				inTimesOf(2_000, () => withCluster({ WORKERS: '2' }, atTheEnd)))
	})

async function allAnswered(
	{ database, started }: Cluster,
	{
		answers,
		created,
		workers,
		failures,
		excused,
	}: Awaited<ReturnType<Awaited<ReturnType<typeof loadOn>>['end']>>,
): Promise<void> {
	assert.equal(failures, [])
	assert.ok(
		excused < answers / 20,
		`${excused} of ${answers} requests say nothing: the machine stalls all the time`,
	)
	const { rowCount } = await database.query(`select from comments where text like 'load %'`)
	assert.is(rowCount, created, `of ${answers} answers`)
	assert.ok(answers > 400 * RESTARTS, `${answers} answers`)
	assert.ok(
		started().every((pid) => workers.includes(pid)),
		'every worker has answered',
	)
}

/** More than the workers can be handed at once. */
async function atTheEnd({ running, port }: Cluster): Promise<void> {
	const clients = Array.from({ length: 200 }, () => new RawClient(port))
	try {
		await Promise.all(clients.map((client) => client.send(requestText('GET /blog/api/office/worker'))))
		running.child.kill('SIGTERM')
		const answers = await Promise.allSettled(clients.map((client) => client.response()))
		const lost = answers.filter((one) => one.status === 'rejected' || one.value.status !== 200)
		assert.equal(lost, [])
		assert.is(await running.ended, 0)
	} finally {
		for (const client of clients) client.close()
	}
}
