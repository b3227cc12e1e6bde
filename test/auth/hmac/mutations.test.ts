import { describe } from '../../helpers/describe.ts'
import { checkMutations } from './mutations.ts'

describe('hmac', (test) => {
	test('none of 1,000 mutations is accepted, and all of 100 controls are', () =>
		checkMutations(1_000, 100, 1))
})
