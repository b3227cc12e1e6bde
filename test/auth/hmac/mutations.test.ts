import { describe } from '../../helpers/describe.ts'
import { checkMutations } from './mutations.ts'

describe('hmac', (test) => {
	test('of 1,000 mutations none is accepted, of 100 controls all are', () => checkMutations(1_000, 100, 1))
})
