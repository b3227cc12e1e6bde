import { describe } from '../../helpers/describe.ts'
import { endUnderLoad, THINK } from './sigterm-trial.ts'

describe('SIGTERM under load', (test) => {
	for (const round of [1, 2]) {
		test(`no request that was accepted is lost, and the program ends (${round})`, () => endUnderLoad(20))
		test(`neither is one of clients that think between two (${round})`, () => endUnderLoad(20, THINK))
	}
})
