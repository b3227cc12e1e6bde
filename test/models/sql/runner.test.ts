import * as assert from 'uvu/assert'
import { Deadlines } from '../../../lib/base/deadlines.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import type { Driver } from '../../../lib/models/sql/driver.ts'
import { Timeout } from '../../../lib/models/sql/runner.ts'
import { describe } from '../../helpers/describe.ts'
import { stopwatch } from '../../helpers/stalls.ts'
import { stage, turn } from './stage.ts'

const never = new Promise<never>(() => {})

/** A short timeout with a real timer; without other work the program would end before it. */
async function timed<T>(work: (timeout: Timeout) => Promise<T>): Promise<T> {
	const alive = setInterval(() => {}, 1_000)
	try {
		return await work(new Timeout(0.04))
	} finally {
		clearInterval(alive)
	}
}

async function kindOf(work: Promise<unknown>): Promise<unknown> {
	try {
		return await work
	} catch (error) {
		return error instanceof ModelError ? error.kind : error
	}
}

describe('timeout', (test) => {
	test('a result in time is passed on, and so is an error', () =>
		timed(async (timeout) => {
			assert.is(await timeout.wait(Promise.resolve(1), 'unavailable'), 1)
			const error = new Error('its own')
			assert.is(await kindOf(timeout.wait(Promise.reject(error), 'unavailable')), error)
			assert.is(timeout.waiting, 0)
		}))

	for (const silence of ['unavailable', 'outcome_unknown'] as const) {
		test(`no response becomes ${silence}, within the timeout`, () =>
			timed(async (timeout) => {
				const took = stopwatch()
				assert.is(await kindOf(timeout.wait(never, silence)), silence)
				assert.ok(took() < 1_000)
				assert.is(timeout.waiting, 0)
			}))
	}

	test("after an event-loop stall the driver's own error, in the same tick, takes precedence over the timeout", () =>
		timed(async (timeout) => {
			const notSent = new Error('nothing was sent')
			// The driver checks every 100 ms, the model every 5 ms.
			const deadlines = new Deadlines(() => performance.now(), 800)
			const driver = new Promise<never>((_, reject) => {
				deadlines.add({ due: performance.now() + 20, expire: () => reject(notSent) })
			})
			const answer = timeout.wait(driver, 'outcome_unknown')
			// Both timeouts are over then, and the model's is checked first.
			Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
			assert.is(await kindOf(answer), notSent)
		}))

	test('a result or an error that comes too late is dropped', () =>
		timed(async (timeout) => {
			let resolve = (_: number): void => {}
			let reject = (_: Error): void => {}
			const late = new Promise<number>((settle) => {
				resolve = settle
			})
			const failing = new Promise<number>((_, settle) => {
				reject = settle
			})
			const both = [timeout.wait(late, 'unavailable'), timeout.wait(failing, 'unavailable')]
			assert.equal(await Promise.all(both.map(kindOf)), ['unavailable', 'unavailable'])
			const unhandled: unknown[] = []
			const note = (error: unknown): void => void unhandled.push(error)
			process.on('unhandledRejection', note)
			resolve(1)
			reject(new Error('late'))
			await turn()
			process.off('unhandledRejection', note)
			assert.equal(unhandled, [])
		}))

	test('an error that comes too late is not translated', () =>
		timed(async (timeout) => {
			let reject = (_: Error): void => {}
			const failing = new Promise<number>((_, settle) => {
				reject = settle
			})
			let asked = 0
			const meant = () => {
				asked++
				return Promise.reject(new Error('what it means'))
			}
			assert.is(await kindOf(timeout.wait(failing, 'unavailable', meant)), 'unavailable')
			const unhandled: unknown[] = []
			const note = (error: unknown): void => void unhandled.push(error)
			process.on('unhandledRejection', note)
			reject(new Error('late'))
			await turn()
			process.off('unhandledRejection', note)
			assert.equal(unhandled, [])
			assert.is(asked, 0)
		}))

	test('an error is translated within the same timeout, and known to have changed nothing', () =>
		timed(async (timeout) => {
			const answer = timeout.wait(Promise.reject(new Error('refused')), 'outcome_unknown', () => never)
			assert.is(await kindOf(answer), 'unavailable')
			assert.is(timeout.waiting, 0)
		}))

	test('a transaction that begins too late is unavailable, and its work does not run', () =>
		timed(async (timeout) => {
			let begin = (): void => {}
			const begun = new Promise<void>((resolve) => {
				begin = resolve
			})
			let outcome: unknown
			const slow: Driver = {
				query: () => never,
				transaction: async (work) => {
					await begun
					return work(slow).catch((error) => {
						outcome = error
						throw error
					})
				},
			}
			let worked = false
			const answer = timeout.transaction(slow, async () => {
				worked = true
			})
			assert.is(await kindOf(answer), 'unavailable')
			begin()
			await turn()
			assert.is(worked, false)
			assert.instance(outcome, ModelError)
		}))

	test("the timeout does not apply to a transaction's work; a commit without a response has an unknown outcome", () =>
		timed(async (timeout) => {
			const silent: Driver = {
				query: () => never,
				transaction: async (work) => {
					await work(silent)
					return never
				},
			}
			let waited = 0
			const answer = timeout.transaction(silent, async () => {
				await new Promise((resolve) => setTimeout(resolve, 120))
				waited = timeout.waiting
			})
			assert.is(await kindOf(answer), 'outcome_unknown')
			assert.is(waited, 0)
		}))

	test("a failed transaction rejects with its work's error, also when its rollback hangs", () =>
		timed(async (timeout) => {
			const error = new Error('its own')
			const silent: Driver = {
				query: () => never,
				transaction: (work) => work(silent).catch(() => never),
			}
			assert.is(await kindOf(timeout.transaction(silent, () => Promise.reject(error))), error)
		}))

	test('a write of unknown outcome in a rolled-back transaction is known to be undone', () =>
		timed(async (timeout) => {
			const { driver, database } = stage('create table item (id integer primary key)')
			const work = () => Promise.reject(new ModelError('outcome_unknown'))
			assert.is(await kindOf(timeout.transaction(driver, work)), 'unavailable')
			database.close()
		}))
})
