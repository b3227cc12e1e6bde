/** Nonces over four processes with one Redis, and without one. */
import { describe } from '../../helpers/describe.ts'
import { redisIsHere } from '../../helpers/redis.ts'
import { withMembers } from './members.ts'
import { eachOnce, replay, signedRequests } from './replays.ts'

if (await redisIsHere())
	describe('nonces over four processes', (test) => {
		test('each of 20 requests, sent 20 times at once, is let in once', async () => {
			await withMembers(4, async (members) => {
				const requests = await signedRequests(20)
				eachOnce(await replay(members, requests, 20), 20)
			})
		})
	})
