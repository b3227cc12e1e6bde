/** Rate limits and idempotency keys over four processes with one Redis. */
import * as assert from 'uvu/assert'
import { describe } from '../helpers/describe.ts'
import { redisIsHere } from '../helpers/redis.ts'
import { type Members, withMembers } from './members.ts'

/** Asks all members in turn, `count` times at once; answers status and body. */
function askAll(
	{ urls }: Members,
	path: string,
	count: number,
	init: RequestInit = {},
): Promise<readonly (readonly [status: number, body: { data?: unknown }])[]> {
	return Promise.all(
		Array.from({ length: count }, async (_, at) => {
			const response = await fetch(`${urls[at % urls.length]}${path}`, init)
			return [response.status, (await response.json()) as { data?: unknown }] as const
		}),
	)
}

if (await redisIsHere())
	describe('limits over four processes', (test) => {
		test('rate limits are never passed, and keys run once', async () => {
			await withMembers(4, async (members) => {
				for (const path of ['/api/fixed', '/api/sliding']) {
					// Every member lets some in, before all are asked for more than there is.
					const first = []
					for (const url of members.urls) first.push(...(await askAll({ ...members, urls: [url] }, path, 5)))
					const answers = [...first, ...(await askAll(members, path, 160))]
					const served = answers.filter(([status]) => status === 200)
					assert.is(served.length, 50, path)
					assert.ok(answers.every(([status]) => status === 200 || status === 429))
					assert.is(new Set(served.map(([, { data }]) => data)).size, 4, 'all have served some')
				}
				await slides(members)
				await runsOnce(members)
				assert.is(members.output(), '')
			})
		})
	})

/** A window of two seconds: in none, wherever it begins, are more served than five. */
async function slides(members: Members): Promise<void> {
	// When each was sent and answered: it was counted in between, however long it took.
	const served: { readonly sent: number; readonly answered: number }[] = []
	const begun = performance.now()
	const one = async () => {
		const sent = performance.now()
		const [[status] = []] = await askAll(members, '/api/short', 1)
		if (status === 200) served.push({ sent, answered: performance.now() })
	}
	// For three seconds, and into a second window on a machine that has stalled in them.
	while (performance.now() < begun + 3_000 || (served.length <= 5 && performance.now() < begun + 60_000)) {
		await Promise.all(Array.from({ length: 8 }, one))
		await new Promise((resolve) => setTimeout(resolve, 50))
	}
	for (const { sent: from } of served) {
		const within = served.filter(({ sent, answered }) => sent >= from && answered < from + 1_900)
		assert.ok(within.length <= 5, `${within.length} from ${from}`)
	}
	assert.ok(served.length > 5, `${served.length} in more than a window`)
}

async function runsOnce(members: Members): Promise<void> {
	const keys = Array.from({ length: 10 }, (_, number) => `order-${number}`)
	const ask = (key: string, count: number) =>
		askAll(members, '/api/order', count, {
			method: 'POST',
			body: '{"amount":5}',
			headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
		})
	const atOnce = await Promise.all(keys.map((key) => ask(key, 8)))
	for (const answers of atOnce) {
		const created = answers.filter(([status]) => status === 201)
		assert.ok(created.length >= 1)
		assert.ok(answers.every(([status]) => status === 201 || status === 409))
	}
	const again = await Promise.all(keys.map((key) => ask(key, 4)))
	for (const answers of again) {
		assert.ok(answers.every(([status]) => status === 201))
		assert.is(new Set(answers.map(([, body]) => JSON.stringify(body))).size, 1)
	}
	assert.is(Number(await members.redis.command('GET', `${members.prefix}runs`)), keys.length)
}
