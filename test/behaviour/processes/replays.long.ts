/** Nonces across four processes with one Redis, many times, and with Redis killed meanwhile. */
import * as assert from 'uvu/assert'
import { ownRedis } from '../../cache/redis/servers.ts'
import { describe } from '../../helpers/describe.ts'
import { redisIsHere } from '../../helpers/redis.ts'
import { trials } from '../../helpers/trials.ts'
import { withMembers } from './members.ts'
import { eachOnce, replay, signedRequests } from './replays.ts'

if (await redisIsHere())
	describe('nonces across four processes, many times', (test) => {
		test('a request sent 100 times at once is accepted once', async () => {
			await withMembers(4, async (members) => {
				const requests = await signedRequests(trials(50))
				eachOnce(await replay(members, requests, 100), 100)
			})
		})

		test('across a Redis restart no nonce is accepted twice, and requests succeed again', async () => {
			const redis = await ownRedis()
			const durable = ['--appendonly', 'yes', '--appendfsync', 'always']
			await redis.start(...durable)
			let restarting: Promise<void> | undefined
			const restart = async (): Promise<void> => {
				await redis.kill()
				await new Promise((resolve) => setTimeout(resolve, 1_000))
				await redis.start(...durable)
			}
			try {
				await withMembers(
					4,
					async (members) => {
						const requests = await signedRequests(600)
						const first = await replay(members, requests, 20, (done) => {
							if (done === 200) restarting = restart()
						})
						await restarting
						const again = await replay(members, requests, 4)
						const statuses = new Set<number>()
						let served = 0
						for (const [at, found] of first.entries()) {
							for (const status of found.keys()) statuses.add(status)
							const times = (found.get(200) ?? 0) + (again[at]?.get(200) ?? 0)
							assert.ok(times <= 1, `request ${at} was let in ${times} times`)
							served += times
						}
						assert.equal([...statuses].sort(), [200, 401, 503], 'only these, and there was an outage')
						assert.ok(served > 400, `${served} of 600 were let in`)
						// All later requests are served.
						eachOnce(await replay(members, await signedRequests(20), 20), 20)
					},
					redis.port,
				)
			} finally {
				await restarting
				await redis.remove()
			}
		})
	})
