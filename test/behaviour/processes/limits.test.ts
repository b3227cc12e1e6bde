/** Rate limits and idempotency keys across four processes with one Redis. */
import * as assert from 'uvu/assert'
import { describe } from '../../helpers/describe.ts'
import { until } from '../../helpers/listening.ts'
import { redisIsHere } from '../../helpers/redis.ts'
import { type Members, withMembers } from './members.ts'

interface Body {
	readonly data?: unknown
}

/** Sends `count` concurrent requests to the members in turn; returns status, body and milliseconds. */
function askAll(
	{ urls }: Members,
	path: string,
	count: number,
	init: RequestInit = {},
): Promise<readonly (readonly [status: number, body: Body, took: number])[]> {
	return Promise.all(
		Array.from({ length: count }, async (_, at) => {
			const sent = performance.now()
			const response = await fetch(`${urls[at % urls.length]}${path}`, init)
			const body = (await response.json()) as Body
			return [response.status, body, performance.now() - sent] as const
		}),
	)
}

if (await redisIsHere())
	describe('limits across four processes', (test) => {
		test('rate limits are never exceeded, each idempotency key runs once, and guesses stay limited', async () => {
			await withMembers(4, async (members) => {
				for (const path of ['/api/fixed', '/api/sliding']) {
					// Every member serves some requests before the limit is exceeded.
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
				await guesses(members)
				assert.is(members.output(), '')
			})
		})
	})

/** A window of two seconds: no span of two seconds has more than five. */
async function slides(members: Members): Promise<void> {
	// When each was sent and answered: it was counted in between.
	const served: { readonly sent: number; readonly answered: number }[] = []
	const begun = performance.now()
	const one = async () => {
		const sent = performance.now()
		const [[status] = []] = await askAll(members, '/api/short', 1)
		if (status === 200) served.push({ sent, answered: performance.now() })
	}
	// For three seconds, so that a second window begins even after a stall.
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

/** Of concurrent guesses at all processes only as many as the limit are checked; good credentials give theirs back. */
async function guesses(members: Members): Promise<void> {
	const good = await askAll(members, '/guarded/secret', 5, { headers: { 'X-User': 'ann' } })
	assert.equal(new Set(good.map(([status]) => status)), new Set([200]))
	const answers = await askAll(members, '/guarded/secret', 400, { headers: { 'X-User': 'guess' } })
	assert.is(answers.filter(([status]) => status === 401).length, 5)
	assert.ok(answers.every(([status]) => status === 401 || status === 429))
	assert.is(Number(await members.redis.command('GET', `${members.prefix}guesses`)), 5)
}

async function runsOnce(members: Members): Promise<void> {
	const keys = Array.from({ length: 10 }, (_, number) => `order-${number}`)
	const ask = (key: string, count: number) =>
		askAll(members, '/api/order', count, {
			method: 'POST',
			body: '{"amount":5}',
			headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
		})
	// A key whose lock could not be written within a second, as during a stall, is not run: 503, and not sooner.
	const isHeldUp = (status: number, took: number) => status === 503 && took > 950
	const atOnce = await Promise.all(keys.map((key) => ask(key, 8)))
	const made = (answers: Awaited<ReturnType<typeof ask>>) => answers.filter(([status]) => status === 201)
	for (const answers of atOnce) {
		assert.ok(made(answers).length >= 1 || answers.some(([status, , took]) => isHeldUp(status, took)))
		for (const [status, , took] of answers)
			assert.ok(status === 201 || status === 409 || isHeldUp(status, took), `${status} after ${took} ms`)
	}
	for (const [at, key] of keys.entries()) {
		let again: Awaited<ReturnType<typeof ask>> = []
		const isAnswered = async () => {
			again = await ask(key, 4)
			return !again.some(([status, , took]) => isHeldUp(status, took))
		}
		await until(isAnswered, `answers to ${key}`)
		// If nothing was served before, these are the first.
		if (made(atOnce[at] ?? []).length === 0) await until(isAnswered, `answers to ${key}, once more`)
		assert.ok(again.every(([status]) => status === 201))
		const bodies = [...made(atOnce[at] ?? []), ...again].map(([, body]) => JSON.stringify(body))
		assert.is(new Set(bodies).size, 1, key)
	}
	assert.is(Number(await members.redis.command('GET', `${members.prefix}runs`)), keys.length)
}
