import { describe } from '../../helpers/describe.ts'
import { endUnderLoad } from './sigterm-trial.ts'

describe('SIGTERM under load', (test) => {
	test('twenty times no request that was accepted is lost, and the program ends', async () => {
		for (let round = 0; round < 20; round++) await endUnderLoad(10 + round * 5)
	})
})
