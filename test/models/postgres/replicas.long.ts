/**
 * A primary and two hot standbys, with HAProxy in front of the primary as docs/models.md says, or a name that leads to it: reads by
 * the standbys, one that lags, one that is killed or falls silent, and failovers under load.
 */

import * as assert from 'uvu/assert'
import { hasProxies } from '../../behaviour/deployment/proxies.ts'
import { describe } from '../../helpers/describe.ts'
import { backWithin, filled, MAX, sameAs } from '../../helpers/failover.ts'
import { hostName } from '../../helpers/host-name.ts'
import { until } from '../../helpers/listening.ts'
import { hasMachines } from '../../helpers/machines.ts'
import { type OwnPostgres, ownPostgresHere } from '../../helpers/postgres.ts'
import { start, typescript } from '../../helpers/program.ts'
import {
	type Address,
	addressOf,
	ask,
	type Cluster,
	LIBRARY_NAMES,
	type Library,
	Load,
	ownCluster,
	type Served,
	served,
} from './replicated.ts'

if ((await ownPostgresHere()) && (hasProxies || process.env.CI === 'true'))
	describe('a PostgreSQL primary with two hot standbys', (test) => {
		let cluster: Cluster
		let address: Awaited<ReturnType<typeof addressOf>>
		/** Leads to the primary as well, without a program in between. */
		let name: ReturnType<typeof hostName>
		test.before(async () => {
			cluster = await ownCluster()
			address = await addressOf(cluster.servers)
			name = hostName(cluster.servers[0].host)
		})
		test.after(async () => {
			name?.remove()
			await address?.close()
			await cluster?.remove()
		})

		/** Under load: both libraries by HAProxy, or those given, each with what leads to the primary. */
		const loaded = async (
			title: string,
			work: (all: readonly { load: Load; served: Served }[]) => Promise<void>,
			sides: readonly (readonly [Library, Address])[] = LIBRARY_NAMES.map((library) => [library, address]),
		) => {
			const [, ...read] = cluster.servers
			const all = await Promise.all(sides.map(([library, write]) => served(library, write, read)))
			const loads = all.map((one, at) => ({ served: one, load: new Load(one, `${title} ${at}`) }))
			try {
				await work(loads)
			} finally {
				await Promise.all(loads.map(({ load }) => load.end()))
				await Promise.all(all.map(({ close }) => close()))
			}
		}
		const eachUsed = (all: readonly { served: Served }[], expected: readonly boolean[]) =>
			Promise.all(all.map((one) => one.served.untilUsed(expected)))

		/** The one that has received more has every acknowledged change. */
		const promoted = async (one: OwnPostgres, other: OwnPostgres) => {
			const received = async (server: OwnPostgres) =>
				BigInt(String((await ask(server, "select (pg_last_wal_receive_lsn() - '0/0')::text at"))[0]?.at))
			const [next, last] = (await received(one)) >= (await received(other)) ? [one, other] : [other, one]
			await next.promote()
			return [next, last] as const
		}
		const isServed = async (all: readonly { served: Served }[]) => {
			const posts = await Promise.all(
				all.flatMap(({ served }) =>
					Array.from({ length: 8 }, (_, at) => served.post('after', `10.2.0.${at}`)),
				),
			)
			return posts.every(({ status }) => status === 201)
		}
		/** What clients on a machine of their own are told, whose TCP gives up connections as docs/deployment.md says. */
		const ofClients = async ({ host, port }: Address) => {
			const { prefix = [] } = cluster.client ?? {}
			const run = (...command: readonly string[]) => {
				const [program = '', ...args] = [...prefix, ...command]
				return start({ program, args })
			}
			assert.is(await run('sh', '-c', 'echo 5 > /proc/sys/net/ipv4/tcp_retries2').ended, 0)
			const file = new URL('silent-client.ts', import.meta.url).pathname
			const { child, ended, output } = run(process.execPath, ...typescript(file, host, String(port)))
			const answers = new Map<string, string>()
			child.on('message', ([title, answer]: [string, string]) => answers.set(title, answer))
			return {
				answers,
				last: () => {
					assert.is(child.exitCode, null, output())
					return [...answers.values()].at(-1)
				},
				leadTo: (address: string) => child.send(address),
				end: async () => {
					child.kill('SIGKILL')
					await ended
				},
			}
		}
		/** Each acknowledged change is there once, and what was refused isn't. */
		const nothingLost = async (all: readonly { load: Load; served: Served }[], primary: OwnPostgres) => {
			await Promise.all(all.map(({ load }) => load.end()))
			const rows = await ask(primary, 'select title, count(*)::int n from article group by title')
			const counts = new Map(rows.map(({ title, n }) => [title, Number(n)]))
			for (const { load, served } of all) {
				sameAs(load.answers, counts)
				console.log(`${served.library}: reads ${JSON.stringify(Object.fromEntries(load.reads))}`)
				for (const answer of load.reads.keys()) assert.ok(['200', '503 unavailable'].includes(answer), answer)
			}
			return counts
		}

		test('a standby that lags is left out until it has caught up, one that is killed until it is back', () =>
			loaded('lag', async (all) => {
				const [, lagging, killed] = cluster.servers
				for (const { served } of all) assert.equal(served.used(), [true, true])
				await ask(lagging, 'select pg_wal_replay_pause()')
				await eachUsed(all, [false, true])
				await ask(lagging, 'select pg_wal_replay_resume()')
				await eachUsed(all, [true, true])
				await killed.kill()
				await eachUsed(all, [true, false])
				await until(
					async () =>
						killed.start().then(
							() => true,
							() => false,
						),
					'the restart',
				)
				await eachUsed(all, [true, true])
				for (const { load } of all) {
					assert.equal([...new Set(load.answers.values())], ['201'])
					assert.equal([...load.reads.keys()], ['200'])
				}
				const one =
					"select 1 from pg_stat_user_tables where relname = 'article' and idx_scan + seq_scan > 100"
				const isRead = () =>
					ask(killed, one).then(
						({ length }) => length === 1,
						() => false,
					)
				await until(isRead, 'reads at a standby')
			}))

		const silently: (title: string, work: () => Promise<void>) => void = hasMachines ? test : test.skip

		silently(
			'a standby that falls silent: reads that are at it are 503 in time, others go on, and it is used again',
			() =>
				loaded('silent standby', async (all) => {
					const [, , standby] = cluster.servers
					const silent = cluster.machineOf(standby)
					await eachUsed(all, [true, true])
					await silent?.cut()
					try {
						await eachUsed(all, [true, false])
						await Promise.all(all.map(({ load }) => load.settled()))
						for (const { load } of all) {
							for (const answer of load.reads.keys())
								assert.ok(['200', '503 unavailable'].includes(answer), answer)
							load.reads.clear()
						}
						await until(() => all.every(({ load }) => (load.reads.get('200') ?? 0) > 100), 'reads')
					} finally {
						await silent?.mend()
					}
					await eachUsed(all, [true, true])
					for (const { load } of all) {
						assert.equal([...new Set(load.answers.values())], ['201'])
						assert.equal([...load.reads.keys()], ['200'])
						assert.is(load.late, 0)
					}
				}),
		)

		silently(
			'a primary that falls silent under load: no acknowledged change is lost, and service within 5 s',
			() => {
				const [old, second, third] = cluster.servers
				const direct = { host: name.name, port: old.port }
				const sides = [
					['pg', address],
					['postgres.js', address],
					['pg', direct],
				] as const
				return loaded(
					'silent',
					async (all) => {
						const idle = await served('pg', direct, [])
						const clients = await ofClients(old)
						try {
							await filled(idle.model)
							await until(() => all.every(({ load }) => load.answers.size >= 50), 'records')
							await until(() => clients.last() === '201', 'a record of the other machine')
							await cluster.machineOf(old)?.cut()
							const cutAt = performance.now()
							const isRefused = ({ load }: { load: Load }) =>
								[...load.answers.values()].some((one) => one !== '201')
							await until(() => all.every(isRefused), 'refusals')
							const [next, other] = await promoted(second, third)
							name.to(next.host)
							clients.leadTo(next.host)
							const promotedAt = performance.now()
							await backWithin(5_000, () => isServed(all))
							console.log(`served again ${Math.round(performance.now() - promotedAt)} ms after the promotion`)
							let refused = 0
							while ((await idle.post('idle', '10.3.0.1')).status === 503) refused++
							assert.ok(refused <= 2, `${refused} refused, of ${MAX} idle connections`)
							await until(() => clients.last() === '201', 'the end of its connections', 60_000)
							console.log(`by postgres.js alone ${Math.round(performance.now() - cutAt)} ms after the cut`)
							await clients.end()
							await other.follow(next)
							await eachUsed(all, [true, true])
							sameAs(clients.answers, await nothingLost(all, next))
							for (const { load } of all) assert.is(load.late, 0)
							await cluster.replaced(next)
						} finally {
							await clients.end()
							await idle.close()
						}
					},
					sides,
				)
			},
		)

		test('failover under load: no acknowledged change is lost, only 503 meanwhile, and service within 5 s', () =>
			loaded('failover', async (all) => {
				const [old, second, third] = cluster.servers
				await until(() => all.every(({ load }) => load.answers.size >= 50), 'records')
				await old.kill()
				await until(
					() => all.every(({ load }) => [...load.answers.values()].some((one) => one !== '201')),
					'refusals',
				)
				for (const { served } of all) {
					const { status } = await served.get('/article?limit=1', '10.9.9.9')
					assert.is(status, 200, 'reads by standbys')
				}
				const [next, other] = await promoted(second, third)
				const promotedAt = performance.now()
				await backWithin(5_000, () => isServed(all))
				console.log(`served again ${Math.round(performance.now() - promotedAt)} ms after the promotion`)
				await other.follow(next)
				await eachUsed(all, [true, true])
				await nothingLost(all, next)
			}))
	})
