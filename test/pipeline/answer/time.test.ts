import { setTimeout } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { RestHandler } from '../../../lib/index.ts'
import { asking, ok } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'

const TOO_LATE =
	/^503 \{"success":false,"error":"The answer took too long","code":"unavailable","requestId":"/

/** Keeps the process alive until a deadline: the timer of the deadlines doesn't. */
async function meanwhile<T>(work: Promise<T>): Promise<T> {
	const alive = setInterval(() => {}, 1_000)
	try {
		return await work
	} finally {
		clearInterval(alive)
	}
}

describe('answer: timeouts', (test) => {
	test('a method that takes too long is 503, and its signal is aborted', async () => {
		let reason: unknown
		class Slow extends RestHandler {
			async get_a() {
				const { signal } = this.request
				await new Promise((resolve) => signal.addEventListener('abort', resolve))
				reason = signal.reason
			}
		}
		const { ask } = asking({ s: new Slow() }, { handlerTimeoutSeconds: 0.02 })
		const { status, headers, text } = await meanwhile(ask('/s/a'))
		assert.match(`${status} ${text()}`, TOO_LATE)
		assert.is(headers['retry-after'], '1')
		assert.is(String(reason), 'RestError: The answer took too long')
	})

	test('nothing runs after a 503 for credentials that took too long', async () => {
		const did: string[] = []
		class Closed extends RestHandler {
			post_a() {
				did.push('post_a')
			}
		}
		let letIn = (): void => {}
		const authenticator = {
			authenticate: () =>
				new Promise<{ id: string }>((resolve) => {
					letIn = () => resolve({ id: 'late' })
				}),
		}
		const { said } = asking({ c: new Closed() }, { authenticator, handlerTimeoutSeconds: 0.02 })
		assert.match(await meanwhile(said('POST /c/a', { body: { a: 1 } })), TOO_LATE)
		letIn()
		await setTimeout(5)
		assert.equal(did, [])
	})

	test('an un-awaited check has the same timeout', async () => {
		class Closed extends RestHandler {
			get_a() {
				this.requireAuth({ authenticate: () => new Promise(() => {}) })
				return 'secret'
			}
		}
		const { said } = asking({ c: new Closed() }, { handlerTimeoutSeconds: 0.02 })
		assert.match(await meanwhile(said('/c/a')), TOO_LATE)
	})

	test('a streaming method has its own timeout', async () => {
		class Upload extends RestHandler {
			override streaming = { post_a: { handlerTimeoutSeconds: 0.02 }, post_b: {} }
			async post_a() {
				await setTimeout(60_000, undefined, { ref: false })
			}
			async post_b() {
				await setTimeout(60)
				return 'done'
			}
		}
		const { said } = asking({ u: new Upload() }, { handlerTimeoutSeconds: 0.03 })
		assert.match(await meanwhile(said('POST /u/a')), TOO_LATE)
		assert.is(await meanwhile(said('POST /u/b')), ok('done'))
	})

	test('Infinity means no timeout', async () => {
		class Slow extends RestHandler {
			async get_a() {
				await setTimeout(20)
				return 'done'
			}
		}
		const { said } = asking(
			{ s: new Slow() },
			{ handlerTimeoutSeconds: Number.POSITIVE_INFINITY, bodyTimeoutSeconds: 0.008 },
		)
		assert.is(await said('/s/a'), ok('done'))
	})
})
