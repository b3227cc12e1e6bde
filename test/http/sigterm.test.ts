import { describe } from '../helpers/describe.ts'
import { endUnderLoad } from './sigterm-trial.ts'

describe('SIGTERM under load', (test) => {
	for (const round of [1, 2, 3]) {
		test(`no request that was accepted is lost, and the program ends (${round})`, () => endUnderLoad(20))
	}
})
