import { describe } from '../../helpers/describe.ts'
import { checkMutations } from './mutations.ts'

describe('hmac', (test) => {
	const seed = Date.now() % 1_000_000
	test(`of 10,000 mutations none is accepted, of 1,000 controls all are (seed ${seed})`, () =>
		checkMutations(10_000, 1_000, seed))
})
