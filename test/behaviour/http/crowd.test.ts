import { describe } from '../../helpers/describe.ts'
import { abortUploads, slowClients } from './crowd.ts'

describe('a crowd', (test) => {
	test('a hundred aborted uploads leave nothing behind', () => abortUploads(100))

	test('sixty slow clients hold up nobody, and are gone in time', () => slowClients(60))
})
