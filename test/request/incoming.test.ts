import { createHash } from 'node:crypto'
import * as assert from 'uvu/assert'
import { type Authenticator, MemoryCache, type Request, RestHandler } from '../../lib/index.ts'
import { fieldLines, traceOf, traceparentOf } from '../../lib/request/incoming.ts'
import { asking, ok } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { appOf, exchangeFor } from '../helpers/exchange.ts'

describe('request/incoming', (test) => {
	const rawHeaders = ['X-A', '1', 'x-b', '2', 'Content-Type', 'a', 'x-a', '3', 'content-type', 'b']

	for (const [name, values] of [
		['x-a', ['1', '3']],
		['x-b', ['2']],
		['content-type', ['a', 'b']],
		['x', []],
		['1', []],
	] as const) {
		test(`the lines of ${name} are ${values}, none dropped`, () => {
			const { incoming, request } = exchangeFor({ rawHeaders, headers: { 'content-type': 'a' } })
			assert.equal(fieldLines(incoming, name), values)
			assert.equal(request.fieldLines(name.toUpperCase()), values)
		})
	}

	test("a request has the method on the wire, its body's presence, and the server's cache", () => {
		const cache = new MemoryCache({ max: 1 })
		const headers = { 'content-length': '5' }
		const exchange = exchangeFor({ method: 'POST', headers }, appOf({ cache }))
		exchange.method = 'DELETE'
		const { request } = exchange
		assert.equal([request.method, request.sentMethod, request.hasBody], ['DELETE', 'POST', true])
		assert.is(request.cache, cache)
		assert.equal(
			[exchangeFor({ method: undefined }).request.sentMethod, exchangeFor().request.hasBody],
			['', false],
		)
	})
})

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'
const WHOLE = `00-${TRACE}-${PARENT}-01`

/** Headers, and what may be passed on. */
const HEADERS: [header: unknown, passed: string | undefined][] = [
	[WHOLE, WHOLE],
	[`00-${TRACE}-${PARENT}-00`, `00-${TRACE}-${PARENT}-00`],
	// Flags that version 00 doesn't know are the sender's (§3.2.2.5).
	[`00-${TRACE}-${PARENT}-ff`, `00-${TRACE}-${PARENT}-ff`],
	// A later version is reduced to version 00 (§4.3).
	[`01-${TRACE}-${PARENT}-01`, WHOLE],
	[`cc-${TRACE}-${PARENT}-ff-what-the-future-is`, WHOLE],
	[`01-${TRACE}-${PARENT}-02`, `00-${TRACE}-${PARENT}-00`],
	[`cc-${TRACE}-${PARENT}-01.what`, undefined],
	[`00-${TRACE}-${PARENT}-01-more`, undefined],
	[`00-${TRACE}-${PARENT}-01-`, undefined],
	[`ff-${TRACE}-${PARENT}-01`, undefined],
	[`00-${'0'.repeat(32)}-${PARENT}-01`, undefined],
	[`00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
	[WHOLE.toUpperCase(), undefined],
	[`00-${TRACE.slice(1)}-${PARENT}-01`, undefined],
	[`00-${TRACE}x-${PARENT}-01`, undefined],
	[`00-${TRACE}-${PARENT}`, undefined],
	[`00-${TRACE}-${PARENT}-1`, undefined],
	[`0-${TRACE}-${PARENT}-01`, undefined],
	[` ${WHOLE}`, undefined],
	[`${WHOLE}\n`, undefined],
	[`${WHOLE}, ${WHOLE}`, undefined],
	['', undefined],
	[undefined, undefined],
	[[WHOLE], undefined],
]

describe('traceparent', (test) => {
	for (const [header, passed] of HEADERS) {
		test(`${JSON.stringify(header)} is passed on as ${passed}`, () =>
			assert.is(traceparentOf(header), passed))
	}

	test('traceOf reads the trace id', () => {
		assert.equal(traceOf(WHOLE), { traceId: TRACE })
		assert.is(traceOf('00-x'), undefined)
	})
})

describe('requireDigest in a custom authenticator', (test) => {
	class Digested implements Authenticator {
		authenticate(request: Request) {
			request.requireDigest()
			return { id: 'ada' }
		}
	}
	class Api extends RestHandler {
		post_a() {
			return this.getRawPostData()
		}
		async post_b() {
			await this.requireAuth(new Digested())
			return this.getRawPostData()
		}
	}
	const digest = `sha-256=:${createHash('sha256').update('abc').digest('base64')}:`
	const none = `sha-256=:${createHash('sha256').digest('base64')}:`
	const table: [string | undefined, string | undefined, boolean][] = [
		[digest, 'abc', true],
		[digest, 'abd', false],
		[undefined, 'abc', false],
		['md5=:AA==:', 'abc', false],
		['sha-256', 'abc', false],
		[undefined, undefined, true],
		[none, undefined, true],
		[digest, undefined, false],
	]
	for (const [header, body, isTaken] of table) {
		test(`${header} of ${body} is ${isTaken ? 'taken' : 'refused'}, declared and in a method`, async () => {
			const headers: Record<string, string> = header === undefined ? {} : { 'Content-Digest': header }
			const sites = [
				['/api/a', asking({ api: new Api() }, { authenticator: new Digested() })],
				['/api/b', asking({ api: new Api() })],
			] as const
			for (const [url, { ask, lines }] of sites) {
				const answer = await ask(`POST ${url}`, { headers, body })
				assert.is(
					`${answer.status} ${answer.text()}`,
					isTaken ? ok(body ?? '') : '401 {"success":false,"error":"Unauthorized","code":"unauthorized"}',
				)
				assert.is(answer.headers['www-authenticate'], isTaken ? undefined : 'Bearer')
				assert.equal(
					lines.map(({ level, message }) => `${level}: ${message}`),
					isTaken ? [] : ['warn: credentials were refused'],
				)
			}
		})
	}
})
