/** The command line of the soak. */
import * as assert from 'uvu/assert'
import { parseOptions } from '../../../bench/soak/options.ts'
import { describe } from '../../helpers/describe.ts'

describe('the options of a soak', (test) => {
	test('have defaults', () => {
		const { minutes, seed, svg, json } = parseOptions([])
		assert.equal(
			{ minutes, seed, svg, json },
			{ minutes: 20, seed: 1, svg: 'bench/results/soak.svg', json: undefined },
		)
	})

	test('are parsed', () => {
		const words = '--minutes 0.5 --rate 80 --seed 7 --svg a.svg --json a.json'.split(' ')
		assert.equal(parseOptions(words), { minutes: 0.5, rate: 80, seed: 7, svg: 'a.svg', json: 'a.json' })
	})

	const refused: [words: string, message: string][] = [
		['--minutes x', '--minutes must be a number from 0.1 to 10080, got "x"'],
		['--minutes 0', '--minutes must be a number from 0.1 to 10080, got "0"'],
		['--minutes=', '--minutes must be a number from 0.1 to 10080, got ""'],
		['--rate 5', '--rate must be a number from 10 to 10000, got "5"'],
		['--seed 1.5', '--seed must be a whole number, got "1.5"'],
		['--svg=', '--svg must name a file, got nothing'],
	]
	for (const [words, message] of refused) {
		test(`${words} is refused`, () => {
			assert.throws(
				() => parseOptions(words.split(' ')),
				(error: Error) => error.message === message,
			)
		})
	}

	test('an unknown option is refused', () => {
		assert.throws(() => parseOptions(['--hours', '1']), /--hours/)
	})
})
