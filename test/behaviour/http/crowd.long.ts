import { describe } from '../../helpers/describe.ts'
import { trials } from '../../helpers/trials.ts'
import { abortUploads, slowClients } from './crowd.ts'

describe('many misbehaving clients', (test) => {
	test('thousands of aborted uploads leave nothing behind', () => abortUploads(trials(3_000)))

	test('five hundred slow clients delay no other request, and are disconnected in time', () =>
		slowClients(500))
})
