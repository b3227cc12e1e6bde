import { describe } from '../../helpers/describe.ts'
import { abortUploads, slowClients } from './crowd.ts'

describe('a crowd', (test) => {
	test('a thousand aborted uploads leave nothing behind', () => abortUploads(1_000))

	test('two hundred slow clients hold up nobody, and are gone in time', () => slowClients(200))
})
