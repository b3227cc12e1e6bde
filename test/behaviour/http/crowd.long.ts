import * as assert from 'uvu/assert'
import { RestHandler } from '../../../lib/index.ts'
import { describe } from '../../helpers/describe.ts'
import { listening } from '../../helpers/listening.ts'
import { abortUploads, slowClients } from './crowd.ts'
import { countRecords } from './records.ts'

class Site extends RestHandler {
	async *get_records(count: string) {
		for (let id = 0; id < Number(count); id++) {
			yield { id, title: 'An article of some length', created: '2026-11-20T00:00:00.000Z' }
		}
	}
}

describe('a crowd', (test) => {
	test('ten thousand aborted uploads leave nothing behind', () => abortUploads(10_000))

	test('five hundred slow clients hold up nobody, and are gone in time', () => slowClients(500))

	test('a million records take no more memory than a few', () =>
		listening({ '': Site }, {}, async ({ port }) => {
			await countRecords(port, '/records/50000')
			const { count, growth } = await countRecords(port, '/records/1000000')
			assert.is(count, 1_000_000)
			assert.ok(growth < 64 * 1_048_576, `${growth} bytes`)
		}))
})
