/** Retries of one call, over a socket; delays are recorded, not waited for. */
import { getEventListeners } from 'node:events'
import * as assert from 'uvu/assert'
import type { Call } from '../../lib/client/answer.ts'
import { ApiError } from '../../lib/client/index.ts'
import { PLATFORM, send, type Timing } from '../../lib/client/send.ts'
import { type SendOptions, settingsOf } from '../../lib/client/settings.ts'
import { describe } from '../helpers/describe.ts'
import { stopwatch } from '../helpers/stalls.ts'
import { answering, json, type Site, text } from './answering.ts'

const NOW = Date.UTC(2026, 10, 22, 5, 0, 0)

interface Stage {
	readonly waits: number[]
	readonly timing: Timing
}

/** Random numbers are 0.5, and `sleep` returns at once. */
function stage(): Stage {
	const waits: number[] = []
	const sleep = async (milliseconds: number) => void waits.push(milliseconds)
	return { waits, timing: { now: () => NOW, random: () => 0.5, sleep } }
}

function call(site: Site, more: Partial<Call> = {}): Call {
	return { method: 'GET', url: `${site.origin}/blog/article/5`, ...more }
}

/** `200`, or status and code of the ApiError; any other error is rethrown. */
async function outcome(work: Call, options: SendOptions = {}, { timing }: Stage = stage()): Promise<string> {
	try {
		const { response } = await send(work, settingsOf('a client', options), timing)
		return String(response.status)
	} catch (error) {
		if (error instanceof ApiError) return `${error.status} ${error.code}`
		throw error
	}
}

/** Answers each request with the next of these, and all further ones with the last. */
function inTurn(...answers: Site['answer'][]): Site['answer'] {
	let at = 0
	return (request, response) => answers[Math.min(at++, answers.length - 1)]?.(request, response)
}

const GOOD = json({ success: true, data: { id: 5 } })
const BUSY = json({ success: false, error: 'busy', code: 'unavailable' }, 503)
const CUT: Site['answer'] = (request, response) => {
	response.writeHead(200, { 'Content-Length': 100 }).write('{"success":true,')
	setTimeout(() => request.socket.destroy(), 10)
}
const LOST: Site['answer'] = (request) => request.socket.destroy()

describe('client: retries', (test) => {
	const passing: [string, Site['answer'], string][] = [
		['no answer', LOST, '0 network_error'],
		['an answer that breaks off', CUT, '200 network_error'],
		...([408, 429, 502, 503, 504] as const).map((status): [string, Site['answer'], string] => [
			...([`a ${status}`, text('', status), `${status} http_${status}`] as const),
		]),
	]
	for (const [what, failure, error] of passing) {
		test(`a read with ${what} is retried, twice if need be`, () =>
			answering(async (site) => {
				const { waits, timing } = stage()
				site.answer = inTurn(failure, failure, GOOD)
				assert.is(await outcome(call(site), {}, { waits, timing }), '200')
				assert.equal(waits, [125, 250])
				site.answer = failure
				assert.is(await outcome(call(site)), error)
				assert.is(site.asked.length, 6)
			}))
	}

	test('a QUERY is a read, and is retried with its body', () =>
		answering(async (site) => {
			site.answer = inTurn(BUSY, GOOD)
			assert.is(await outcome(call(site, { method: 'QUERY', body: { limit: 1 } })), '200')
			assert.equal(
				site.asked.map(({ line, body }) => `${line} ${body}`),
				['QUERY /blog/article/5 {"limit":1}', 'QUERY /blog/article/5 {"limit":1}'],
			)
		}))

	for (const method of ['POST', 'PATCH', 'PUT', 'DELETE']) {
		test(`a ${method} is sent once, whatever happens`, () =>
			answering(async (site) => {
				for (const [failure, error] of [
					[LOST, '0 network_error'],
					[CUT, '200 network_error'],
					[BUSY, '503 unavailable'],
				] as const) {
					site.answer = failure
					assert.is(await outcome(call(site, { method })), error)
				}
				assert.is(site.asked.length, 3)
			}))
	}

	for (const status of [400, 401, 403, 404, 405, 409, 410, 412, 422, 428, 500, 501, 505]) {
		test(`a read with ${status} is not retried`, () =>
			answering(async (site) => {
				site.answer = text('', status, { 'Retry-After': '0' })
				assert.is(await outcome(call(site)), `${status} http_${status}`)
				assert.is(site.asked.length, 1)
			}))
	}

	test("outcome_unknown, and responses that are not an API's, are returned at once", () =>
		answering(async (site) => {
			site.answer = json({ success: false, error: 'who knows', code: 'outcome_unknown' }, 503)
			assert.is(await outcome(call(site)), '503 outcome_unknown')
			site.answer = text('<!doctype html>')
			assert.is(await outcome(call(site)), '200 unexpected_answer')
			assert.is(site.asked.length, 2)
		}))

	test('the option retries sets the number: none, or ten', () =>
		answering(async (site) => {
			site.answer = BUSY
			for (const [retries, attempts] of [
				[0, 1],
				[1, 2],
				[10, 11],
			] as const) {
				const before = site.asked.length
				assert.is(await outcome(call(site), { retries }), '503 unavailable')
				assert.is(site.asked.length - before, attempts)
			}
		}))

	test('the last error is thrown', () =>
		answering(async (site) => {
			site.answer = inTurn(LOST, BUSY, text('', 404))
			assert.is(await outcome(call(site)), '404 http_404')
		}))

	test('too many redirects are not retried', () =>
		answering(async (site) => {
			site.answer = text('', 302, { Location: '/blog/article/5' })
			assert.is(await outcome(call(site), { retries: 0 }), '0 network_error')
			// As many as fetch follows, and no retry of the call.
			assert.is(site.asked.length, 21)
			assert.is(await outcome(call(site), { retries: 2 }), '0 network_error')
			assert.is(site.asked.length, 21 + 21 + 2)
		}))
})

describe('client: retry delays', (test) => {
	test('double from a quarter of a second to ten, with full jitter', () =>
		answering(async (site) => {
			const noted = stage()
			site.answer = BUSY
			await outcome(call(site), { retries: 10 }, noted)
			assert.equal(noted.waits, [125, 250, 500, 1000, 2000, 4000, 5000, 5000, 5000, 5000])
			const none = { ...stage(), waits: [] as number[] }
			none.timing.sleep = async (milliseconds) => void none.waits.push(milliseconds)
			none.timing.random = () => 0
			await outcome(call(site), {}, none)
			assert.equal(none.waits, [0, 0])
		}))

	const headers: [string, number[], string][] = [
		['1', [1_125, 1_250], '503 unavailable'],
		['30', [30_125, 30_250], '503 unavailable'],
		['Sun, 22 Nov 2026 05:00:05 GMT', [5_125, 5_250], '503 unavailable'],
		['Sun, 22 Nov 2026 04:00:00 GMT', [125, 250], '503 unavailable'],
		['0', [125, 250], '503 unavailable'],
		['-3', [125, 250], '503 unavailable'],
		['garbage', [125, 250], '503 unavailable'],
		['', [125, 250], '503 unavailable'],
		['31', [], '503 unavailable'],
		['99999999999999999999999', [], '503 unavailable'],
		['Fri, 31 Dec 9999 23:59:59 GMT', [], '503 unavailable'],
	]
	for (const [retryAfter, expected, error] of headers) {
		test(`after Retry-After: ${retryAfter} are ${expected.join(' and ') || 'none: the error is thrown'}`, () =>
			answering(async (site) => {
				const noted = stage()
				site.answer = json({ success: false, error: 'busy', code: 'unavailable' }, 503, {
					'Retry-After': retryAfter,
				})
				assert.is(await outcome(call(site), {}, noted), error)
				assert.equal(noted.waits, expected)
			}))
	}

	test("an error has the server's Retry-After", () =>
		answering(async (site) => {
			site.answer = text('', 429, { 'Retry-After': '3600' })
			const error = await send(call(site), settingsOf('a client', {})).catch((thrown: unknown) => thrown)
			assert.instance(error, ApiError)
			assert.is((error as ApiError).retryAfterSeconds, 3_600)
			site.answer = text('', 404)
			const other = await send(call(site), settingsOf('a client', {})).catch((thrown: unknown) => thrown)
			assert.is((other as ApiError).retryAfterSeconds, undefined)
		}))

	test('leave no timer and no listener when aborted or over', async () => {
		const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
		const before = timers()
		const reason = new Error('the user left')
		const controller = new AbortController()
		await PLATFORM.sleep(1, controller.signal)
		assert.equal(getEventListeners(controller.signal, 'abort'), [])
		const work = PLATFORM.sleep(60_000, controller.signal)
		controller.abort(reason)
		assert.is(await work.catch((error: unknown) => error), reason)
		assert.equal(getEventListeners(controller.signal, 'abort'), [])
		assert.is(timers(), before)
		const late = PLATFORM.sleep(600_000, controller.signal)
		assert.is(await late.catch((error: unknown) => error), reason)
	})

	test('of the real clock end in time', async () => {
		const begun = performance.now()
		await PLATFORM.sleep(20, undefined)
		await PLATFORM.sleep(20, new AbortController().signal)
		assert.ok(performance.now() - begun > 38)
		const [before, now, after] = [Date.now(), PLATFORM.now(), Date.now()]
		assert.ok(before <= now && now <= after)
		assert.ok(PLATFORM.random() < 1)
	})
})

describe('client: aborts between attempts', (test) => {
	test('end the wait at once, with their reason', () =>
		answering(async (site) => {
			const controller = new AbortController()
			const reason = new Error('the user left')
			site.answer = json({ success: false, error: 'busy' }, 503, { 'Retry-After': '30' })
			const took = stopwatch()
			const waiting: Timing = {
				...PLATFORM,
				sleep: (milliseconds, signal) => {
					setTimeout(() => controller.abort(reason), 20)
					return PLATFORM.sleep(milliseconds, signal)
				},
			}
			const work = send(call(site, { signal: controller.signal }), settingsOf('a client', {}), waiting)
			assert.is(await work.catch((error: unknown) => error), reason)
			assert.ok(took() < 5_000)
			assert.is(site.asked.length, 1)
		}))

	test('before or during the wait prevent further attempts', () =>
		answering(async (site) => {
			site.answer = BUSY
			const reason = new Error('the user left')
			const controller = new AbortController()
			const { timing } = stage()
			const late: Timing = {
				...timing,
				sleep: async (milliseconds, signal) => {
					controller.abort(reason)
					await PLATFORM.sleep(milliseconds, signal)
				},
			}
			const work = send(call(site, { signal: controller.signal }), settingsOf('a client', {}), late)
			assert.is(await work.catch((error: unknown) => error), reason)
			const again = send(call(site, { signal: controller.signal }), settingsOf('a client', {}), timing)
			assert.is(await again.catch((error: unknown) => error), reason)
			assert.is(site.asked.length, 1)
		}))

	test('take precedence over any network result', () =>
		answering(async (site) => {
			const controller = new AbortController()
			const reason = new Error('the user left')
			const fetch = async () => {
				controller.abort(reason)
				throw new TypeError('of another kind')
			}
			const work = outcome(call(site, { signal: controller.signal }), { fetch })
			assert.is(await work.catch((error: unknown) => error), reason)
		}))

	test('after the response change nothing', () =>
		answering(async (site) => {
			site.answer = GOOD
			const controller = new AbortController()
			assert.is(await outcome(call(site, { signal: controller.signal })), '200')
			controller.abort()
		}))
})

describe('client: each attempt', (test) => {
	test('has new headers and a new signature, but the same values', () =>
		answering(async (site) => {
			site.answer = inTurn(BUSY, LOST, GOOD)
			const values = { limit: 1 }
			let made = 0
			let signed = 0
			const options: SendOptions = {
				headers: async () => {
					values.limit++
					return { 'X-Made': String(++made) }
				},
				sign: (request) => new Request(request, { headers: { 'X-Signed': String(++signed) } }),
			}
			assert.is(await outcome(call(site, { method: 'QUERY', body: values }), options), '200')
			assert.equal(
				site.asked.map(({ headers, body }) => [headers['x-signed'], body]),
				[
					['1', '{"limit":1}'],
					['2', '{"limit":1}'],
					['3', '{"limit":1}'],
				],
			)
			assert.is(made, 3)
		}))

	for (const [what, thrown] of [
		['an error', new Error('no token')],
		['an ApiError of another call', new ApiError('busy', { status: 503, code: 'unavailable' })],
		['a text', 'no token'],
	] as const) {
		test(`${what} of headers or sign is thrown unchanged, at once`, () =>
			answering(async (site) => {
				for (const name of ['headers', 'sign'] as const) {
					let asked = 0
					const fails = () => {
						asked++
						throw thrown
					}
					const work = send(call(site), settingsOf('a client', { [name]: fails }), stage().timing)
					assert.is(await work.catch((error: unknown) => error), thrown, name)
					assert.is(asked, 1)
				}
				assert.is(site.asked.length, 0)
			}))
	}
})

describe('client: a create with an idempotency key', (test) => {
	const create = (site: Site): Call =>
		call(site, { method: 'POST', body: { title: 'x' }, idempotencyKey: 'order-1' })
	const RUNNING = json({ success: false, error: 'still running', code: 'conflict' }, 409, {
		'Retry-After': '1',
	})
	const CONFLICT = json({ success: false, error: 'taken', code: 'conflict' }, 409)

	test('is retried as a read is, with the same key', () =>
		answering(async (site) => {
			site.answer = inTurn(LOST, CUT, GOOD)
			assert.is(await outcome(create(site)), '200')
			assert.equal(
				site.asked.map(({ line, headers, body }) => `${line} ${headers['idempotency-key']} ${body}`),
				Array(3).fill('POST /blog/article/5 "order-1" {"title":"x"}'),
			)
		}))

	test('waits for the first while that is still running', () =>
		answering(async (site) => {
			const noted = stage()
			site.answer = inTurn(LOST, RUNNING, GOOD)
			assert.is(await outcome(create(site), {}, noted), '200')
			assert.equal(noted.waits, [125, 1_250])
		}))

	test('is a conflict, or an unknown outcome, where the server says so', () =>
		answering(async (site) => {
			site.answer = CONFLICT
			assert.is(await outcome(create(site)), '409 conflict')
			site.answer = json({ success: false, error: 'who knows', code: 'outcome_unknown' }, 503)
			assert.is(await outcome(create(site)), '503 outcome_unknown')
			assert.is(site.asked.length, 2)
		}))

	test('without a key, a 409 with Retry-After is a conflict too', () =>
		answering(async (site) => {
			site.answer = RUNNING
			assert.is(await outcome(call(site)), '409 conflict')
			assert.is(site.asked.length, 1)
		}))
})
