/** The plot: valid XML with all measured series. */
import * as assert from 'uvu/assert'
import { ticks } from '../../../bench/soak/plot/scale.ts'
import { plot } from '../../../bench/soak/plot.ts'
import { describe } from '../../helpers/describe.ts'
import { aRun } from './a-run.ts'
import { elementsOf } from './xml.ts'

describe('the plot of a soak', (test) => {
	test('is valid XML, whatever its title, and has a line for each series', () => {
		const elements = elementsOf(plot(aRun()))
		assert.is(elements[0]?.name, 'svg')
		const lines = elements.filter(
			({ name, text }) => name === 'path' && /class="line/.test(text) && /L/.test(text),
		)
		// Of two servers objects, slope, heap, what is outside, and loop; requests; two of latency.
		assert.is(lines.length, 5 * 2 + 1 + 2)
		assert.ok(!lines.some(({ text }) => text.includes('NaN')))
	})

	test('of a run too short for a sample is valid XML, too', () => {
		assert.is(elementsOf(plot(aRun({ moments: [], rests: [] })))[0]?.name, 'svg')
	})

	test('has round ticks that span all values', () => {
		assert.equal(ticks(0, 93, 4), [0, 50, 100])
		assert.equal(ticks(15.1, 16.4, 4), [15, 15.5, 16, 16.5])
		assert.equal(ticks(0, 0.33, 4), [0, 0.1, 0.2, 0.3, 0.4])
	})
})
