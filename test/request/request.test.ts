import * as assert from 'uvu/assert'
import type { Incoming } from '../../lib/request/incoming.ts'
import type { Request } from '../../lib/request/request.ts'
import { proxiesOf } from '../../lib/transport/proxies.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { appOf, exchangeFor } from '../helpers/exchange.ts'

function requestOf(facts: Partial<Incoming>, trust?: number): Request {
	return exchangeFor(facts, appOf({ proxies: proxiesOf(trust) })).request
}

const FORWARDED = {
	host: 'inner:80',
	'x-forwarded-for': '198.51.100.7',
	'x-forwarded-host': 'example.org',
	'x-forwarded-proto': 'HTTPS',
}
const socket = { remoteAddress: '10.0.0.1' }

describe('request', (test) => {
	test('an exchange creates one request object, on first use', () => {
		const exchange = exchangeFor()
		assert.is(exchange.request, exchange.request)
	})

	test('its method is the effective one', () => {
		const exchange = exchangeFor({ method: 'POST' })
		exchange.method = 'DELETE'
		assert.is(exchange.request.method, 'DELETE')
	})

	const urls: [Partial<Incoming>, string][] = [
		[{ url: '/a%20b?c=1' }, '/a%20b?c=1'],
		[{ url: '/cut', originalUrl: '/api/cut' }, '/api/cut'],
		[{ url: '/a', originalUrl: 5 }, '/a'],
		[{ url: undefined }, '/'],
	]
	for (const [facts, url] of urls) {
		test(`its url for ${JSON.stringify(facts)} is ${url}`, () => assert.is(requestOf(facts).url, url))
	}

	test('a header is found by its name in any case; repeated lines are joined', () => {
		const request = requestOf({ headers: { 'x-a': 'b', 'set-cookie': ['a=1', 'b=2'] } })
		assert.equal([request.header('X-A'), request.header('x-a')], ['b', 'b'])
		assert.is(request.header('Set-Cookie'), 'a=1, b=2')
		assert.is(request.header('X-B'), undefined)
		assert.is(request.headers['x-a'], 'b')
	})

	test('without trustProxy, X-Forwarded-* is ignored', () => {
		const request = requestOf({ headers: FORWARDED, socket })
		assert.equal([request.ip, request.host, request.protocol], ['10.0.0.1', 'inner:80', 'http'])
	})

	test('with a trusted proxy, X-Forwarded-* is used', () => {
		const request = requestOf({ headers: FORWARDED, socket }, 1)
		assert.equal([request.ip, request.host, request.protocol], ['198.51.100.7', 'example.org', 'https'])
	})

	test('a forwarded protocol is http or https', () => {
		for (const [proto, protocol] of [
			['http', 'http'],
			['wss', 'http'],
		] as const) {
			assert.is(requestOf({ headers: { 'x-forwarded-proto': proto }, socket }, 1).protocol, protocol)
		}
	})

	test('on TLS the protocol is https', () => {
		assert.is(requestOf({ socket: { encrypted: true } }).protocol, 'https')
	})

	test('the host comes from an absolute target, else from HTTP/2, else from Host, else is undefined', () => {
		const exchange = exchangeFor({ headers: { host: 'a', ':authority': 'b' } })
		assert.is(exchange.request.host, 'b')
		exchange.authority = 'c:80'
		assert.is(exchange.request.host, 'c:80')
		assert.is(requestOf({ headers: { host: 'a' } }).host, 'a')
		assert.is(requestOf({}).host, '')
	})

	test('on a Unix socket there is no address', () => assert.is(requestOf({ socket: {} }).ip, ''))

	test('it has one id', () => {
		const request = requestOf({})
		assert.match(request.id, /^[\da-f-]{36}$/)
		assert.is(request.id, request.id)
	})

	test('without a streaming method there is no stream', () => {
		assert.is(
			messageOf(() => requestOf({}).stream),
			'list the method in `streaming` to read its body as a stream',
		)
	})

	test('rawBody is what a parser in front left of the bytes', () => {
		assert.is(requestOf({ body: Buffer.from('a') }).rawBody.toString(), 'a')
		assert.is(requestOf({ body: 'é' }).rawBody.toString(), 'é')
		assert.is(requestOf({ body: null }).rawBody.length, 0)
		assert.is(
			messageOf(() => requestOf({ body: { a: 1 } }).rawBody),
			'a parser in front has taken the bytes of the body: mount Verbena before it',
		)
	})
})
