/** `add` and `increment` across four processes, many times, and with Redis killed meanwhile. */
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { inTimesOf } from '../../helpers/stalls.ts'
import { trials } from '../../helpers/trials.ts'
import { eachCountedOnce, eachWonOnce, race } from './race.ts'
import type { Finish } from './racer.ts'
import { describeRedis, forget, openClient, ownRedis } from './servers.ts'

describeRedis('RedisCache across four processes, many times', (test) => {
	const prefix = `verbena-test:${randomUUID()}:`

	test.after(async () => {
		const client = openClient('ioredis')
		await forget(prefix, client)
		client.close()
	})

	test('each of many keys with 100 concurrent adds is added once', async () => {
		const keys = 10 * trials(20)
		eachWonOnce(await race({ work: 'add', keys, copies: 25, prefix }), keys)
	})

	test('20 counters with many increments each return every number once', async () => {
		const trial = { work: 'increment', keys: 20, copies: 25, rounds: trials(10), prefix } as const
		eachCountedOnce(await race(trial), trial)
	})
})

describeRedis('RedisCache with Redis killed in between', (test) => {
	/** Kills it after a second, with commands in flight, and restarts it two seconds later; returns how long it was down. */
	async function killed(...options: string[]): Promise<{ finishes: Finish[]; down: number }> {
		const redis = await ownRedis()
		await redis.start(...options)
		try {
			// They send requests continuously, and at the end for all keys again: a key added before must
			// still be refused.
			const trial = { work: 'add', keys: 1_000, copies: 25, rounds: 0, prefix: '', port: redis.port } as const
			let down = 0
			const finishes = await race(trial, async () => {
				await setTimeout(1_000)
				const start = performance.now()
				await redis.kill()
				await setTimeout(2_000)
				await redis.start(...options)
				// Until it can write: a busy disk's delay is not the cache's.
				const probe = openClient('iovalkey', redis.port)
				try {
					await probe.command('SET', 'probe', '1')
				} finally {
					probe.close()
				}
				down = performance.now() - start
			})
			return { finishes, down }
		} finally {
			await redis.remove()
		}
	}

	function settled({ finishes, down }: Awaited<ReturnType<typeof killed>>, time: number): void {
		for (const { errors, outage } of finishes) {
			assert.equal(Object.keys(errors), ['CacheUnavailable'])
			assert.ok(outage > 1_500 && outage < down + time, `${outage} ms`)
		}
	}

	// The racers are other processes, which stall like this one.
	test('only CacheUnavailable is thrown, calls succeed again within 5 s, and a Redis with appendfsync always never lets a key be added twice', async () => {
		const wins: (readonly number[])[] = []
		await inTimesOf(5_000, async (time) => {
			const trial = await killed('--appendonly', 'yes', '--appendfsync', 'always')
			wins.push(trial.finishes.flatMap((finish) => finish.won))
			settled(trial, time)
		})
		// Outside of the retries: a key added twice is wrong however slow the trial was.
		for (const won of wins) {
			assert.is(new Set(won).size, won.length)
			assert.ok(won.length > 900, `${won.length} keys`)
		}
	})
})
