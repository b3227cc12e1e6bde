import { describe } from '../../helpers/describe.ts'
import { endUnderLoad, THINK } from './sigterm-trial.ts'

describe('SIGTERM under load', (test) => {
	test('no accepted request is lost, and the process exits', () => endUnderLoad(20))

	test('no accepted request is lost with clients that pause between requests', () => endUnderLoad(20, THINK))
})
