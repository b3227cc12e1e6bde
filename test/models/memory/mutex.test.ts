/** `Mutex`: one holder at a time, in order of arrival, with a timeout. */
import * as assert from 'uvu/assert'
import { Mutex } from '../../../lib/models/memory/mutex.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { describe } from '../../helpers/describe.ts'

describe('memory/mutex', (test) => {
	test('runs work at once when it is free', () => {
		let isDone = false
		void new Mutex(1).run(() => {
			isDone = true
		})
		assert.is(isDone, true)
	})

	test('runs queued work in order of arrival, also after a failure', async () => {
		const mutex = new Mutex(1)
		const done: number[] = []
		const work = (index: number) => async () => {
			await new Promise(setImmediate)
			done.push(index)
			if (index === 2) throw new Error('no')
			return index
		}
		const outcomes = await Promise.allSettled([1, 2, 3, 4].map((index) => mutex.run(work(index))))
		assert.equal(done, [1, 2, 3, 4])
		assert.equal(
			outcomes.map(({ status }) => status),
			['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
		)
		assert.is(await mutex.run(() => 'free'), 'free')
	})

	test('refuses work as busy after the timeout, and does not run it later', async () => {
		const mutex = new Mutex(0.01)
		let end = (): void => {}
		const long = mutex.run(
			() =>
				new Promise<void>((resolve) => {
					end = resolve
				}),
		)
		let isTaken = false
		const failure = await mutex
			.run(() => {
				isTaken = true
			})
			.catch((error: unknown) => error)
		assert.ok(failure instanceof ModelError && failure.kind === 'busy')
		end()
		await long
		assert.is(await mutex.run(() => 'free'), 'free')
		assert.is(isTaken, false)
	})
})
