/** The heap of expiry times, against a sorted list. */
import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { type Ending, ExpiryHeap } from '../../lib/cache/expiry-heap.ts'
import { describe } from '../helpers/describe.ts'

describe('ExpiryHeap', (test) => {
	test('an empty heap has no soonest entry', () => {
		assert.is(new ExpiryHeap().soonest, undefined)
	})

	test('entries leave in the order of their ends', () => {
		const heap = heapOf([5, 1, 4, 1, 3, Number.POSITIVE_INFINITY, 2])
		assert.equal(drained(heap), [1, 1, 2, 3, 4, 5, Number.POSITIVE_INFINITY])
	})

	test('whichever entries are removed, the others leave in order', () => {
		const operations = fc.array(fc.tuple(fc.integer({ min: 0, max: 50 }), fc.option(fc.nat())), {
			maxLength: 200,
			size: 'max',
		})
		fc.assert(
			fc.property(operations, (steps) => {
				const heap = new ExpiryHeap<Ending>()
				const held: Ending[] = []
				for (const [endsAt, index] of steps) {
					const gone = index === null ? undefined : held.splice(index % (held.length + 1), 1)[0]
					if (gone !== undefined) heap.remove(gone)
					const entry = { endsAt, place: 0 }
					held.push(entry)
					heap.add(entry)
					assert.is(heap.soonest?.endsAt, Math.min(...held.map((each) => each.endsAt)))
				}
				assert.equal(
					drained(heap),
					held.map((each) => each.endsAt).sort((a, b) => a - b),
				)
			}),
		)
	})
})

function heapOf(ends: readonly number[]): ExpiryHeap<Ending> {
	const heap = new ExpiryHeap<Ending>()
	for (const endsAt of ends) heap.add({ endsAt, place: 0 })
	return heap
}

function drained(heap: ExpiryHeap<Ending>): number[] {
	const ends: number[] = []
	for (let soonest = heap.soonest; soonest !== undefined; soonest = heap.soonest) {
		ends.push(soonest.endsAt)
		heap.remove(soonest)
	}
	return ends
}
