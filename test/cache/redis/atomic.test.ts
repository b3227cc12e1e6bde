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

	test('each of 50 keys that each process adds 25 times at once is added once', async () => {
		eachWonOnce(await race({ work: 'add', keys: 50, copies: 25, prefix }), 50)
	})

	test('10 counters that each process increments 100 times at once answer 1 to 400, each once', async () => {
		const trial = { work: 'increment', keys: 10, copies: 100, prefix } as const
		eachCountedOnce(await race(trial), trial)
	})
})
