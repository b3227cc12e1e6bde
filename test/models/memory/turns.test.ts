/** Turns: one at a time, in the order they came, and none is waited for without end. */
import * as assert from 'uvu/assert'
import { Turns } from '../../../lib/models/memory/turns.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { describe } from '../../helpers/describe.ts'

describe('turns', (test) => {
	test('work that nobody is before is done at once', () => {
		let isDone = false
		void new Turns(1).take(() => {
			isDone = true
		})
		assert.is(isDone, true)
	})

	test('others wait for their turn in the order they came, whether one before them fails or not', async () => {
		const turns = new Turns(1)
		const done: number[] = []
		const work = (index: number) => async () => {
			await new Promise(setImmediate)
			done.push(index)
			if (index === 2) throw new Error('no')
			return index
		}
		const outcomes = await Promise.allSettled([1, 2, 3, 4].map((index) => turns.take(work(index))))
		assert.equal(done, [1, 2, 3, 4])
		assert.equal(
			outcomes.map(({ status }) => status),
			['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
		)
		assert.is(await turns.take(() => 'free'), 'free')
	})

	test('a turn that does not come in time is refused as busy, and is not taken later', async () => {
		const turns = new Turns(0.01)
		let end = (): void => {}
		const long = turns.take(
			() =>
				new Promise<void>((resolve) => {
					end = resolve
				}),
		)
		let isTaken = false
		const failure = await turns
			.take(() => {
				isTaken = true
			})
			.catch((error: unknown) => error)
		assert.ok(failure instanceof ModelError && failure.kind === 'busy')
		end()
		await long
		assert.is(await turns.take(() => 'free'), 'free')
		assert.is(isTaken, false)
	})
})
