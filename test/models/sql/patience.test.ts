import * as assert from 'uvu/assert'
import { Deadlines } from '../../../lib/base/deadlines.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import type { Driver } from '../../../lib/models/sql/driver.ts'
import { Patience } from '../../../lib/models/sql/patience.ts'
import { describe } from '../../helpers/describe.ts'
import { stopwatch } from '../../helpers/stalls.ts'
import { stage, turn } from './stage.ts'

const never = new Promise<never>(() => {})

/** A short patience, whose timer is real; a program without other work would end before it. */
async function patiently<T>(work: (patience: Patience) => Promise<T>): Promise<T> {
	const alive = setInterval(() => {}, 1_000)
	try {
		return await work(new Patience(0.04))
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

describe('patience', (test) => {
	test('an answer in time is passed on, and so is an error', () =>
		patiently(async (patience) => {
			assert.is(await patience.wait(Promise.resolve(1), 'unavailable'), 1)
			const error = new Error('its own')
			assert.is(await kindOf(patience.wait(Promise.reject(error), 'unavailable')), error)
			assert.is(patience.waiting, 0)
		}))

	for (const silence of ['unavailable', 'outcome_unknown'] as const) {
		test(`silence becomes ${silence}, within the time that was said`, () =>
			patiently(async (patience) => {
				const took = stopwatch()
				assert.is(await kindOf(patience.wait(never, silence)), silence)
				assert.ok(took() < 1_000)
				assert.is(patience.waiting, 0)
			}))
	}

	test('who knows more in the very turn in which it ends is heard: a process that was held up has not asked too late', () =>
		patiently(async (patience) => {
			const notSent = new Error('nothing was sent')
			// Looked after each 100 ms, the model's each 5 ms.
			const deadlines = new Deadlines(() => performance.now(), 800)
			const driver = new Promise<never>((_, reject) => {
				deadlines.add({ due: performance.now() + 20, expire: () => reject(notSent) })
			})
			const answer = patience.wait(driver, 'outcome_unknown')
			// Both times are over then, and the model's is seen to first.
			Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
			assert.is(await kindOf(answer), notSent)
		}))

	test('an answer or an error that comes too late harms nobody', () =>
		patiently(async (patience) => {
			let resolve = (_: number): void => {}
			let reject = (_: Error): void => {}
			const late = new Promise<number>((settle) => {
				resolve = settle
			})
			const failing = new Promise<number>((_, settle) => {
				reject = settle
			})
			const both = [patience.wait(late, 'unavailable'), patience.wait(failing, 'unavailable')]
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

	test('an error that comes too late is not asked what it means', () =>
		patiently(async (patience) => {
			let reject = (_: Error): void => {}
			const failing = new Promise<number>((_, settle) => {
				reject = settle
			})
			let asked = 0
			const meant = () => {
				asked++
				return Promise.reject(new Error('what it means'))
			}
			assert.is(await kindOf(patience.wait(failing, 'unavailable', meant)), 'unavailable')
			const unhandled: unknown[] = []
			const note = (error: unknown): void => void unhandled.push(error)
			process.on('unhandledRejection', note)
			reject(new Error('late'))
			await turn()
			process.off('unhandledRejection', note)
			assert.equal(unhandled, [])
			assert.is(asked, 0)
		}))

	test('what an error means is found out within the same time; nothing was done then', () =>
		patiently(async (patience) => {
			const answer = patience.wait(Promise.reject(new Error('refused')), 'outcome_unknown', () => never)
			assert.is(await kindOf(answer), 'unavailable')
			assert.is(patience.waiting, 0)
		}))

	test('a transaction that never begins is unavailable, and its work is not done when it begins after all', () =>
		patiently(async (patience) => {
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
			const answer = patience.transaction(slow, async () => {
				worked = true
			})
			assert.is(await kindOf(answer), 'unavailable')
			begin()
			await turn()
			assert.is(worked, false)
			assert.instance(outcome, ModelError)
		}))

	test('what the work of a transaction takes is its own time; a silent commit has an unknown outcome', () =>
		patiently(async (patience) => {
			const silent: Driver = {
				query: () => never,
				transaction: async (work) => {
					await work(silent)
					return never
				},
			}
			let waited = 0
			const answer = patience.transaction(silent, async () => {
				await new Promise((resolve) => setTimeout(resolve, 120))
				waited = patience.waiting
			})
			assert.is(await kindOf(answer), 'outcome_unknown')
			assert.is(waited, 0)
		}))

	test('a transaction whose work fails says why, also when its rollback is silent', () =>
		patiently(async (patience) => {
			const error = new Error('its own')
			const silent: Driver = {
				query: () => never,
				transaction: (work) => work(silent).catch(() => never),
			}
			assert.is(await kindOf(patience.transaction(silent, () => Promise.reject(error))), error)
		}))

	test('a write of unknown outcome in a transaction that was given up was not done', () =>
		patiently(async (patience) => {
			const { driver, database } = stage('create table item (id integer primary key)')
			const work = () => Promise.reject(new ModelError('outcome_unknown'))
			assert.is(await kindOf(patience.transaction(driver, work)), 'unavailable')
			database.close()
		}))
})
