import { EventEmitter } from 'node:events'
import * as assert from 'uvu/assert'
import { RestError } from '../../lib/base/error.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { appOf, exchangeFor } from '../helpers/exchange.ts'
import { Log } from '../helpers/listening.ts'

describe('exchange: timeouts', (test) => {
	test('no deadline applies until one is set', () => {
		const exchange = exchangeFor()
		assert.is(exchange.due, Number.POSITIVE_INFINITY)
		exchange.setDeadline(500, 'request_timeout')
		assert.equal([exchange.due, exchange.timeoutCode], [500, 'request_timeout'])
		exchange.setDeadline(Number.POSITIVE_INFINITY, 'unavailable')
		assert.is(exchange.due, Number.POSITIVE_INFINITY)
	})

	for (const [late, status, message] of [
		['request_timeout', 408, 'Request Timeout'],
		['unavailable', 503, 'The answer took too long'],
	] as const) {
		test(`when the timeout of ${late} is over, ${status} is answered and the signal aborted`, () => {
			const exchange = exchangeFor()
			const errors: RestError[] = []
			exchange.interrupt = (error) => void errors.push(error)
			const { signal } = exchange.request
			assert.not(signal.aborted)
			exchange.setDeadline(5, late)
			exchange.expire()
			assert.equal(
				errors.map((error) => [error.status, error.message]),
				[[status, message]],
			)
			assert.is(signal.reason, errors[0])
			assert.is(exchange.due, Number.NEGATIVE_INFINITY)
		})
	}

	test('a signal first read after the deadline is already aborted', () => {
		const exchange = exchangeFor()
		exchange.cancel(new RestError('unavailable'))
		assert.ok(exchange.request.signal.aborted)
	})
})

describe('exchange: a client that leaves', (test) => {
	function connected(destroyed = false): {
		exchange: ReturnType<typeof exchangeFor>
		connection: EventEmitter
	} {
		const exchange = exchangeFor()
		const connection = Object.assign(new EventEmitter(), { destroyed })
		exchange.connection = connection
		return { exchange, connection }
	}

	test('the signal is aborted, and is the same at each call', () => {
		const { exchange, connection } = connected()
		const { signal } = exchange.request
		assert.is(exchange.request.signal, signal)
		connection.emit('close')
		assert.ok(signal.aborted)
		assert.is((signal.reason as Error).name, 'AbortError')
	})

	test('the signal is not aborted by a connection closed after the response', () => {
		const { exchange, connection } = connected()
		const { signal } = exchange.request
		exchange.isReplied = true
		connection.emit('close')
		assert.not(signal.aborted)
	})

	test('a signal first read after the client left is aborted', () => {
		assert.ok(connected(true).exchange.request.signal.aborted)
	})

	test('it is aborted when the client leaves during the response, too', () => {
		const { exchange } = connected()
		exchange.abort()
		const { signal } = exchange.request
		exchange.abort()
		assert.ok(signal.aborted)
	})
})

describe('exchange: body and query', (test) => {
	test('they are decoded once', () => {
		const exchange = exchangeFor({ headers: { 'content-type': 'application/json' } })
		exchange.body.bytes = Buffer.from('{"a":1}')
		exchange.queryText = 'a=1'
		assert.is(exchange.body.decoded(), exchange.body.decoded())
		assert.is(exchange.query(), exchange.query())
	})

	test('the result of a parser in front is used as the body; text and bytes are decoded', () => {
		const headers = { 'content-type': 'application/json' }
		const parsed = { a: 1 }
		assert.is(exchangeFor({ headers, body: parsed }).body.decoded().value, parsed)
		assert.equal(exchangeFor({ headers, body: '{"a":1}' }).body.decoded().value, { a: 1 })
		assert.equal(exchangeFor({ headers, body: Buffer.from('[1]') }).body.decoded().value, [1])
		assert.is(exchangeFor({ headers, body: null }).body.decoded().value, undefined)
	})

	for (const [type, isText] of [
		['application/json', false],
		['application/x-www-form-urlencoded', true],
		['application/x-www-form-urlencoded; charset=utf-8', true],
		['Multipart/Form-Data; boundary=X', true],
		['multipart/form-data-like', false],
		[undefined, false],
	] as const) {
		test(`what a parser in front made of ${type} ${isText ? 'is' : "isn't"} text`, () => {
			const headers = type === undefined ? {} : { 'content-type': type }
			assert.is(exchangeFor({ headers, body: { a: '1' } }).body.isText(), isText)
		})
	}

	test('fields come from an object only', () => {
		assert.equal(exchangeFor().body.fields(), {})
		assert.equal(exchangeFor({ body: { a: 1 } }).body.fields(), { a: 1 })
		assert.is(
			messageOf(() => exchangeFor({ body: [1] }).body.fields()),
			'The body must be an object with named fields',
		)
	})

	test('repeated names become lists in the query and in forms only', () => {
		const headers = { 'content-type': 'application/x-www-form-urlencoded' }
		const exchange = exchangeFor({ headers })
		exchange.queryText = 'a=1&a=2&b=3'
		exchange.body.bytes = Buffer.from('c=1&c=2')
		const other = { a: '1' }
		assert.is(exchange.withLists(other), other)
		assert.equal({ ...exchange.withLists(exchange.query().last) }, { a: ['1', '2'], b: '3' })
		assert.equal({ ...exchange.withLists(exchange.body.fields()) }, { c: ['1', '2'] })
	})
})

describe('exchange: checks', (test) => {
	test('without checks nothing is awaited', () => {
		assert.is(exchangeFor().pendingChecks(), undefined)
	})

	test('all pending checks must pass, and a refusal is no unhandled rejection', async () => {
		const exchange = exchangeFor()
		exchange.addCheck(Promise.resolve())
		await exchange.pendingChecks()
		exchange.addCheck(Promise.reject(new RestError('forbidden')))
		await new Promise(setImmediate)
		const refusal = await exchange.pendingChecks()?.catch((reason: unknown) => reason)
		assert.is(String(refusal), 'RestError: Forbidden')
	})

	test('two authenticators are each called once', async () => {
		let asked = 0
		const make = (id: string) => ({
			authenticate: () => {
				asked++
				return { id }
			},
		})
		const [a, b] = [make('a'), make('b')]
		const exchange = exchangeFor()
		assert.equal(await Promise.all([a, b, a].map((one) => exchange.credentials.ask(one, exchange.request))), [
			{ id: 'a' },
			{ id: 'b' },
			{ id: 'a' },
		])
		assert.is(asked, 2)
	})
})

describe('exchange: log', (test) => {
	test('a line identifies its request, without the query', () => {
		const logger = new Log()
		const exchange = exchangeFor({ method: 'POST', url: '/a?b' }, appOf({ logger }))
		exchange.method = 'POST'
		const error = new Error('x')
		exchange.log('error', 'failed', error)
		exchange.log('info', 'done')
		const fields = {
			requestId: exchange.id(),
			method: 'POST',
			url: '/a',
			handler: undefined,
			action: undefined,
		}
		assert.equal(logger.lines, [
			{ level: 'error', message: 'failed', fields: { ...fields, err: error } },
			{ level: 'info', message: 'done', fields },
		])
	})
})
