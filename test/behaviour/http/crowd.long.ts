import { describe } from '../../helpers/describe.ts'
import { trials } from '../../helpers/trials.ts'
import { abortUploads, slowClients } from './crowd.ts'

describe('a crowd', (test) => {
	test('thousands of aborted uploads leave nothing behind', () => abortUploads(trials(3_000)))

	test('five hundred slow clients hold up nobody, and are gone in time', () => slowClients(500))
})
