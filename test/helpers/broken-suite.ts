/**
 * A program run by `describe.test.ts`: a suite that fails in the ways its arguments name. `before` and `after`: that hook
 * throws. `stray`, `strays`, `late`: unhandled rejections. `hang`: a test never ends. `details`, `nothing`: a test throws what
 * uvu can't print.
 */
import { RestError } from '../../lib/base/error.ts'
import { describe } from './describe.ts'

const broken = process.argv.slice(2)

describe('a suite', (test) => {
	test.before(() => {
		if (broken.includes('before')) throw new Error('there is no store')
	})
	test.after(() => {
		if (broken.includes('after')) throw new Error('nothing to be closed')
	})
	test('passes', () => {
		if (broken.includes('stray')) Promise.reject(new Error('nobody listens'))
		// The second one is rejected while the first is being reported.
		if (broken.includes('strays')) {
			Promise.reject(new Error('nobody listens'))
			setImmediate(() => setImmediate(() => Promise.reject(new Error('nor here'))))
		}
	})
	test('passes too', () => {
		// uvu can't print an error whose `details` is an array, nor a thrown value that is not an Error.
		if (broken.includes('details')) throw new RestError('bad_request')
		if (broken.includes('nothing')) throw undefined
		return broken.includes('hang') ? new Promise<void>(() => {}) : undefined
	})
	test('is the last', () => {
		// Node reports it after all promises of the turn have been handled; this one is rejected after the last test.
		if (broken.includes('late')) setTimeout(() => Promise.reject(new Error('nobody listens')), 50)
	})
})
