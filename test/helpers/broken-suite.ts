/** A program: a suite whose hooks fail, those that its arguments name. Run by `describe.test.ts`. */
import { describe } from './describe.ts'

const broken = process.argv.slice(2)

describe('a suite', (test) => {
	test.before(() => {
		if (broken.includes('before')) throw new Error('there is no store')
	})
	test.after(() => {
		if (broken.includes('after')) throw new Error('nothing to be closed')
	})
	test('passes', () => {})
})
