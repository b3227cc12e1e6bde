import { describe } from '../../helpers/describe.ts'
import { trials } from '../../helpers/trials.ts'
import { endUnderLoad } from './sigterm-trial.ts'

const ROUNDS = trials(4)

describe('SIGTERM under load', (test) => {
	test('with 10 to 110 connections no accepted request is lost, and the process exits', async () => {
		for (let round = 1; round <= ROUNDS; round++) await endUnderLoad(10 + Math.round((round * 100) / ROUNDS))
	})
})
