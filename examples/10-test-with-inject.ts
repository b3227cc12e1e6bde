/**
 * A test without a port: `inject` runs the same code as any other request. It works with every test runner.
 *
 *     npx tsx examples/10-test-with-inject.ts
 */
import { deepEqual, equal } from 'node:assert/strict'
import { createServer, RestHandler } from '../lib/index.ts' // you write 'verbena'

class Sums extends RestHandler {
	post_sum() {
		const { numbers } = this.getParams({ numbers: ['required', { of: ['number'], max: 1_000 }] })
		return numbers.reduce((sum, number) => sum + number, 0)
	}
}

const server = createServer({ api: new Sums() })

const good = await server.inject({ method: 'POST', url: '/api/sum', body: { numbers: [1, 2, 3] } })
equal(good.status, 200)
deepEqual(good.json(), { success: true, data: 6 })

const bad = await server.inject({ method: 'POST', url: '/api/sum', body: { numbers: [1, 'two'] } })
equal(bad.status, 422)
console.log(bad.text())
console.log('all is well')

/*
{"success":false,"error":"numbers.1 must be a number, not a text","code":"invalid","details":[{"field":"numbers.1","code":"number","message":"must be a number, not a text"}]}
all is well
*/
