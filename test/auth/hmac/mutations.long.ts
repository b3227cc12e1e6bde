import { describe } from '../../helpers/describe.ts'
import { trials } from '../../helpers/trials.ts'
import { checkMutations } from './mutations.ts'

describe('hmac', (test) => {
	const seed = Date.now() % 1_000_000
	test(`no mutation is accepted, every control is (seed ${seed})`, () =>
		checkMutations(trials(4_000), trials(400), seed))
})
