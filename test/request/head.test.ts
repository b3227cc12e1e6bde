import { createHash } from 'node:crypto'
import * as assert from 'uvu/assert'
import { type Authenticator, MemoryCache, type Request, RestHandler } from '../../lib/index.ts'
import { fieldLines } from '../../lib/request/head.ts'
import { asking, ok } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { appOf, exchangeFor } from '../helpers/exchange.ts'

describe('request head', (test) => {
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

	test('a request tells the method on the wire, whether a body follows, and the cache of its server', () => {
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

describe("requireDigest of an authenticator of one's own", (test) => {
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
