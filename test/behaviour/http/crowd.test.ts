import { describe } from '../../helpers/describe.ts'
import { abortUploads, slowClients } from './crowd.ts'

describe('many misbehaving clients', (test) => {
	test('a hundred aborted uploads leave nothing behind', () => abortUploads(100))

	test('twenty-four slow clients delay no other request, and are disconnected in time', () => slowClients(24))
})
