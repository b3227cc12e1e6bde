/** Galera, MariaDB's cluster: a node that loses quorum or falls silent, and writers on two nodes. */

import mysql, { type Connection, type RowDataPacket } from 'mysql2/promise'
import * as assert from 'uvu/assert'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { describe } from '../../helpers/describe.ts'
import { backWithin, balancerTo, filled, MAX, sameAs, serving, writing } from '../../helpers/failover.ts'
import { type GaleraNode, galeraIsHere, ownCluster } from '../../helpers/galera.ts'
import { hostName } from '../../helpers/host-name.ts'
import { until } from '../../helpers/listening.ts'
import { hasMachines } from '../../helpers/machines.ts'
import { select } from './types.ts'

const TABLE = 'create table article (id int primary key auto_increment, title varchar(20) not null)'
/** A new connection is made at once; the pause between two renewals of a pool must be over. */
const BACK = 1_000
/** Connections to a silent node are waited for, `connectTimeout`. */
const BACK_FROM_SILENCE = 5_000

async function found(connection: Connection, sql: string): Promise<RowDataPacket[]> {
	const [rows] = await connection.query<RowDataPacket[]>(sql)
	return rows
}

/** Where it connects to: by default to the node itself. */
interface Opening {
	readonly host?: string
	readonly port?: number
	readonly timeoutSeconds?: number
	readonly connectTimeout?: number
}

async function opened({ options }: GaleraNode, { timeoutSeconds = 30, ...address }: Opening = {}) {
	const pool = mysql.createPool({ ...options, user: 'app', ...address, connectionLimit: MAX })
	const model = await MysqlModel.open(pool, 'article', { timeoutSeconds })
	await filled(model)
	return { pool, model, ...serving(model) }
}

type Served = Awaited<ReturnType<typeof opened>>

async function counts(connection: Connection): Promise<Map<unknown, number>> {
	const rows = await found(connection, 'select title, count(*) n from article group by title')
	return new Map(rows.map(({ title, n }) => [title, Number(n)]))
}

async function refuses({ post, get, ready, readerReady }: Served): Promise<void> {
	for (let tries = 0; tries < MAX + 2; tries++) {
		const refused = await post('refused')
		assert.is(refused.status, 503)
		assert.is(JSON.parse(refused.text()).code, 'unavailable')
		assert.is(refused.headers['retry-after'], '5')
		assert.is(await get(), 503)
	}
	assert.equal([await ready(), await readerReady()], [503, 503])
}

async function serves({ post, get, ready, readerReady }: Served): Promise<void> {
	const answers = await Promise.all(Array.from({ length: MAX * 2 }, () => post()))
	for (const { status } of answers) assert.is(status, 201)
	assert.equal([await get(), await ready(), await readerReady()], [200, 200, 200])
}

if (galeraIsHere())
	describe('Galera nodes', (test) => {
		let cluster: Awaited<ReturnType<typeof ownCluster>>
		test.before(async () => {
			cluster = await ownCluster()
			const [{ admin }, ...others] = cluster.nodes
			await admin.query("create user app identified by ''")
			await admin.query('grant all on test.* to app')
			await admin.query(TABLE)
			for (const other of others)
				await until(
					async () => (await found(other.admin, "show tables like 'article'")).length === 1,
					'the table and the user at the other nodes',
				)
		})
		test.after(() => cluster?.remove())

		test('a node without quorum: 503, also from /ready, and the next node behind the balancer within a second', async () => {
			const [bad, good] = cluster.nodes
			const balancer = await balancerTo(bad.port, bad.options.host)
			const served = await opened(bad, { host: '127.0.0.1', port: balancer.port })
			try {
				await serves(served)
				let isOver = false
				const answers = new Map<string, string>()
				const written = writing(served, answers, () => isOver)
				await until(() => answers.size >= 20, 'records')
				await bad.isolate(true)
				await refuses(served)
				isOver = true
				await written
				balancer.to(good.port, good.options.host)
				await backWithin(BACK, async () => (await served.post()).status === 201)
				await serves(served)
				const left = await found(bad.admin, 'show processlist')
				assert.equal(
					left.filter(({ User }) => User === 'app'),
					[],
				)
				await bad.isolate(false)
				const kinds = new Set(answers.values())
				assert.ok(kinds.has('201') && kinds.has('503 unavailable'), [...kinds].join())
				sameAs(answers, await counts(good.admin))
				sameAs(answers, await counts(bad.admin))
			} finally {
				await served.pool.end()
				await balancer.close()
				await bad.isolate(false)
			}
		})

		const silently: (title: string, work: () => Promise<void>) => void = hasMachines ? test : test.skip

		silently(
			'a node that falls silent: no acknowledged change is lost, and the next node serves within 5 s',
			async () => {
				const [silent, good] = cluster.nodes
				const name = hostName(silent.options.host)
				// As docs/deployment.md says.
				const opening = { host: name.name, connectTimeout: 2_000, timeoutSeconds: 5 }
				const [served, idle] = [await opened(silent, opening), await opened(silent, opening)]
				let isOver = false
				const answers = new Map<string, string>()
				const written = writing(served, answers, () => isOver, 'silent ')
				try {
					await until(() => answers.size >= 20, 'records')
					await silent.machine?.cut()
					await until(() => [...answers.values()].some((one) => one !== '201'), 'refusals')
					const size = async () =>
						(await found(good.admin, "show status like 'wsrep_cluster_size'"))[0]?.Value
					await until(async () => (await size()) === '2', 'the majority without it')
					name.to(good.options.host)
					await backWithin(BACK_FROM_SILENCE, async () => (await served.post('after')).status === 201)
					let refused = 0
					while ((await idle.post('idle')).status === 503) refused++
					assert.ok(refused <= 2, `${refused} refused, of ${MAX} idle connections`)
					for (const one of [served, idle]) await serves(one)
					isOver = true
					await written
					sameAs(answers, await counts(good.admin))
				} finally {
					isOver = true
					await written
					name.remove()
					await silent.machine?.mend()
					await Promise.all([served, idle].map(({ pool }) => pool.end()))
					await until(() => silent.isReady(), 'the return to the majority')
				}
				sameAs(answers, await counts(silent.admin))
			},
		)

		test('a node that has rejoined the quorum is used again within a second, under the same address', async () => {
			const [, , node] = cluster.nodes
			const served = await opened(node)
			try {
				await serves(served)
				await node.isolate(true)
				await refuses(served)
				await node.isolate(false)
				await backWithin(BACK, async () => (await served.post()).status === 201)
				await serves(served)
			} finally {
				await served.pool.end()
				await node.isolate(false)
			}
		})

		test('writers of one record on two nodes get 200, or 503 with Retry-After', async () => {
			const [first, second] = cluster.nodes
			await first.admin.query("insert into article (id, title) values (900000, 'x')")
			await until(
				async () => (await found(second.admin, 'select 1 from article where id = 900000')).length === 1,
				'the record at the other node',
			)
			const sides = await Promise.all([first, second].map((node) => opened(node)))
			try {
				const statuses = new Map<string, number>()
				await Promise.all(
					sides.flatMap(({ patch }, side) =>
						Array.from({ length: MAX }, async (_, writer) => {
							for (let count = 0; count < 50; count++) {
								const { status, text, headers } = await patch('900000', `${side} ${writer} ${count}`)
								const answer =
									status === 200 ? '200' : `${status} ${JSON.parse(text()).code} ${headers['retry-after']}`
								statuses.set(answer, (statuses.get(answer) ?? 0) + 1)
							}
						}),
					),
				)
				assert.ok((statuses.get('200') ?? 0) > 0)
				for (const answer of statuses.keys()) assert.ok(['200', '503 unavailable 1'].includes(answer), answer)
			} finally {
				for (const { pool } of sides) await pool.end()
			}
		})

		for (const [when, isSeen] of [
			['its commit', false],
			['a later statement', true],
		] as const)
			test(`a certification conflict is busy at ${when}, and the transaction is rolled back`, async () => {
				const [first, second] = cluster.nodes
				const id = isSeen ? 900_001 : 900_002
				await second.admin.query(`insert into article (id, title) values (${id}, 'x')`)
				const title = async () =>
					(await found(first.admin, `select title from article where id = ${id}`))[0]?.title
				await until(async () => (await title()) === 'x', 'the record at the other node')
				const { model, pool } = await opened(first)
				try {
					const error: unknown = await model
						.transaction(async (inner) => {
							await inner.create({ title: 'undone' }, select('id'))
							await inner.update(`${id}`, { title: 'ours' }, select('id'), {
								where: undefined,
								version: undefined,
							})
							await second.admin.query(`update article set title = 'theirs' where id = ${id}`)
							await until(async () => (await title()) === 'theirs', 'the other change')
							if (isSeen) await inner.count(undefined)
						})
						.catch((error: unknown) => error)
					assert.is(error instanceof Error && Reflect.get(error, 'kind'), 'busy', String(error))
					assert.is(await title(), 'theirs')
					assert.equal(await found(first.admin, "select 1 from article where title = 'undone'"), [])
				} finally {
					await pool.end()
				}
			})
	})
