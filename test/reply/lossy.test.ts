import * as assert from 'uvu/assert'
import { createServer, RestError, RestHandler } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'

const silent = { info() {}, warn() {}, error() {} }

async function answered(value: () => unknown): Promise<string> {
	class Values extends RestHandler {
		get_it() {
			return value()
		}
	}
	const { status, body } = await createServer({ v: new Values() }, { logger: silent }).inject({
		url: '/v/it',
	})
	return `${status} ${body.toString().slice(0, 60)}`
}

describe('reply: what JSON would lose', (test) => {
	const lost: [string, () => unknown][] = [
		['a map', () => new Map([['a', 1]])],
		['a set', () => new Set([1])],
		['an error', () => new Error('secret')],
		['a buffer of no bytes', () => new ArrayBuffer(2)],
		['a blob', () => new Blob(['a'])],
		['a generator without async', () => [1, 2].values()],
	]
	for (const [name, value] of lost) {
		test(`${name} is 500 rather than {}`, async () =>
			assert.match(await answered(value), /^500 \{"success":false,"error":"Internal Server Error"/))
	}

	test('a RestError that is returned is answered as if it were thrown', async () => {
		assert.is(
			await answered(() => new RestError('forbidden')),
			'403 {"success":false,"error":"Forbidden","code":"forbidden"}',
		)
	})

	test('an error that knows its JSON is a value', async () => {
		const value = Object.assign(new Error('a'), { toJSON: () => ({ a: 1 }) })
		assert.is(await answered(() => value), '200 {"success":true,"data":{"a":1}}')
	})

	test('records behind a 204 or a 205 are closed and not sent', async () => {
		let closed = 0
		class Values extends RestHandler {
			async *get_none() {
				this.status(205)
				try {
					yield 1
				} finally {
					closed++
				}
			}
		}
		const { status, body, headers } = await createServer({ v: Values }).inject({ url: '/v/none' })
		assert.equal([status, body.length, headers['content-type'], closed], [205, 0, undefined, 1])
	})

	test('outcome_unknown does not invite a client to try again', async () => {
		class Values extends RestHandler {
			get_it() {
				throw new RestError('outcome_unknown')
			}
		}
		const { status, headers } = await createServer({ v: Values }).inject({ url: '/v/it' })
		assert.equal([status, headers['retry-after']], [503, undefined])
	})
})
