/** The client's contract in this Node: against the acceptance app and another site, in memory. */
import * as assert from 'uvu/assert'
import { ApiError, CrudClient, etagOf, signRequest } from '../../lib/client/index.ts'
import { withApp } from '../acceptance/running.ts'
import { openStore } from '../crud/over/stores.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { failures, lanes, type Tools } from './contract.ts'
import { siteOf } from './contract-site.ts'

const cases = lanes.flat()

describe("the client's contract", (test) => {
	test('all cases have different names', () => {
		assert.ok(cases.length > 20)
		assert.is(new Set(cases.map(({ name }) => name)).size, cases.length)
	})
})

describe("the client's contract in Node", (test) => {
	test(`${cases.length} cases`, async () => {
		const store = await openStore('memory', 'client')
		let failed = ['nothing was run']
		try {
			await withApp('memory', (port) =>
				listening(siteOf(store.model), {}, async ({ url }) => {
					const endpoints = { blog: `http://127.0.0.1:${port}/blog/api`, site: `${url}/site` }
					const tools: Tools = { CrudClient, ApiError, etagOf, signRequest, ...endpoints }
					failed = await failures(tools)
				}),
			)
		} finally {
			await store.close()
		}
		assert.equal(failed, [])
	})
})
