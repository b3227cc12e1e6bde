/** `add` and `increment` over four processes: of all who ask, one is told true, and every number is told once. */
import { randomUUID } from 'node:crypto'
import { eachCountedOnce, eachWonOnce, race } from './race.ts'
import { describeRedis, forget, openClient } from './servers.ts'

describeRedis('RedisCache over four processes', (test) => {
	const prefix = `verbena-test:${randomUUID()}:`

	test.after(async () => {
		const client = openClient('ioredis')
		await forget(prefix, client)
		client.close()
	})

	// Both at once: most of the time goes by while programs start.
	test('each of 20 keys that each process adds 50 times at once is added once, and counters answer 1 to 200, each once', async () => {
		const trial = { work: 'both', keys: 20, copies: 50, prefix } as const
		const finishes = await race(trial)
		eachWonOnce(finishes, trial.keys)
		eachCountedOnce(finishes, trial)
	})
})
