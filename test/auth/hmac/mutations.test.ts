import { describe } from '../../helpers/describe.ts'
import { checkMutations } from './mutations.ts'

describe('hmac', (test) => {
	test('none of 300 mutations is accepted, and all of 30 controls are', () => checkMutations(300, 30, 1))
})
