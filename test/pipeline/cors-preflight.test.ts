/** CORS preflights: an OPTIONS of browsers before a cross-origin request. */
import * as assert from 'uvu/assert'
import { CrudHandler, MemoryModel } from '../../lib/index.ts'
import { ALLOWED, APP, Api, CORS, corsOf, EVIL, linesOf, onSite, preflight, VARY } from '../cors/site.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { ask, requestText } from '../helpers/raw.ts'

const PREFLIGHT_VARY = {
	vary: 'Access-Control-Request-Method, Access-Control-Request-Headers, Origin',
}

describe('preflights', (test) => {
	test('are answered with the available methods, and the requested headers', () =>
		onSite(async (send, api) => {
			const names = 'authorization,content-type, x-own'
			const answer = await send('OPTIONS /article/5', preflight(APP, 'PUT', names))
			assert.is(answer.status, 204)
			assert.is(answer.body.length, 0)
			assert.is(answer.headers.allow, undefined)
			assert.equal(corsOf(answer), {
				...ALLOWED,
				'max-age': '600',
				'allow-methods': 'GET, HEAD, PUT, DELETE, OPTIONS',
				'allow-headers': 'authorization, content-type, x-own',
				...PREFLIGHT_VARY,
			})
			assert.equal(api.calls, [])
		}))

	test('of a refused origin are answered like any OPTIONS', () =>
		onSite(async (send) => {
			const answer = await send('OPTIONS /article/5', preflight(EVIL, 'PUT', 'authorization'))
			assert.is(answer.status, 204)
			assert.is(answer.headers.allow, 'GET, HEAD, PUT, DELETE, OPTIONS')
			assert.equal(corsOf(answer), VARY)
		}))

	test('without an origin or a method are answered like any OPTIONS', () =>
		onSite(async (send) => {
			const { Origin: _origin, ...noOrigin } = preflight(APP, 'PUT')
			assert.equal(corsOf(await send('OPTIONS /article/5', noOrigin)), VARY)
			const { 'allow-methods': methods } = corsOf(await send('OPTIONS /article/5', { Origin: APP }))
			assert.is(methods, undefined)
			// A method other than OPTIONS is no preflight, whatever its headers.
			const get = await send('GET /article/5', preflight(APP, 'PUT'))
			assert.is(get.status, 200)
			assert.equal(corsOf(get), { ...ALLOWED, ...VARY })
		}))

	test('need no credentials, though the path does, and bad ones are ignored', () =>
		onSite(async (send) => {
			for (const headers of [{}, { Authorization: 'Bearer wrong' }]) {
				const asked = { ...preflight(APP, 'PUT', 'authorization'), ...headers }
				const answer = await send('OPTIONS /secret', asked)
				assert.is(answer.status, 204)
				assert.is(corsOf(answer)['allow-methods'], 'GET, HEAD, PUT, OPTIONS')
			}
		}))

	test('do not count against rate limits', () =>
		onSite(async (send) => {
			for (let count = 0; count < 5; count++) {
				const { status, headers } = await send('OPTIONS /limited', preflight(APP, 'GET', 'authorization'))
				assert.equal([status, headers.ratelimit], [204, undefined])
			}
			assert.is((await send('GET /limited', { Origin: APP })).status, 200)
		}))

	const headers: [line: string, asked: string | undefined, allowed: string | undefined][] = [
		['/article/5', undefined, undefined],
		['/article/5', '', undefined],
		['/article/5', 'content-type', 'content-type'],
		['/article/5', 'content-type,x-http-method-override', 'content-type, x-http-method-override'],
		['/article', 'content-type,X-HTTP-Method-Override', 'content-type, X-HTTP-Method-Override'],
		['/form', 'content-type,x-http-method-override', 'content-type'],
		['/form', 'x-http-method-override', undefined],
		['/bytes', 'x-http-method-override,authorization', 'authorization'],
		['/nothing', 'x-http-method-override,authorization', 'authorization'],
		['/article/5', 'a b', undefined],
		['/article/5', 'content-type,,x', undefined],
		['/article/5', 'content-type;x', undefined],
		['/article/5', '"x"', undefined],
		['/article/5', '*', '*'],
	]
	for (const [path, asked, allowed] of headers) {
		test(`${asked} to ${path}: ${allowed} may be sent`, () =>
			onSite(async (send) => {
				const answer = await send(`OPTIONS ${path}`, preflight(APP, 'POST', asked))
				assert.is(answer.status, 204)
				assert.is(corsOf(answer)['allow-headers'], allowed)
			}))
	}

	const methods: [line: string, method: string, allowed: string | undefined][] = [
		['/article/5', 'PATCH', 'GET, HEAD, PUT, DELETE, OPTIONS'],
		['/form', 'PUT', 'POST, OPTIONS'],
		['/nothing', 'PUT', 'PUT'],
		['/nothing', 'QUERY', 'QUERY'],
		['/nothing', 'BREW', undefined],
		['/nothing', 'put', undefined],
		['/nothing', 'PUT, DELETE', undefined],
	]
	for (const [path, method, allowed] of methods) {
		test(`${method} to ${path}: ${allowed} is allowed`, () =>
			onSite(async (send) => {
				const answer = await send(`OPTIONS ${path}`, preflight(APP, method))
				assert.is(answer.status, 204)
				assert.is(corsOf(answer)['allow-methods'], allowed)
			}))
	}

	test('to a path without a handler allow the request, so that its 404 can be read', () =>
		listening({ 'blog/v1': new Api() }, { cors: CORS }, async ({ port }) => {
			const asked = linesOf(preflight(APP, 'PATCH', 'content-type'))
			const before = await ask(port, requestText('OPTIONS /blog/v9/article/5', asked))
			assert.is(corsOf(before)['allow-methods'], 'PATCH')
			const answer = await ask(port, requestText('PATCH /blog/v9/article/5', [`Origin: ${APP}`], '{}'))
			assert.is(answer.status, 404)
			assert.is(corsOf(answer)['allow-origin'], APP)
			assert.match(answer.body.toString(), 'There is no version v9 here: v1')
		}))

	test('do not open an API in a private network to the public one', () =>
		onSite(async (send) => {
			const asked = { ...preflight(APP, 'PUT'), 'Access-Control-Request-Private-Network': 'true' }
			assert.is(corsOf(await send('OPTIONS /article/5', asked))['allow-private-network'], undefined)
		}))

	test("with credentials, maxAgeSeconds, and origins '*'", async () => {
		const asked = preflight(APP, 'PUT')
		await onSite(
			async (send) => {
				const answer = corsOf(await send('OPTIONS /article/5', asked))
				assert.equal([answer['allow-credentials'], answer['max-age']], ['true', '0'])
			},
			{ ...CORS, credentials: true, maxAgeSeconds: 0 },
		)
		await onSite(
			async (send) => {
				const answer = corsOf(await send('OPTIONS /article/5', asked))
				assert.equal([answer['allow-origin'], answer['max-age']], ['*', '86400'])
				assert.is(answer.vary, 'Access-Control-Request-Method, Access-Control-Request-Headers')
			},
			{ origins: '*', maxAgeSeconds: 86_400 },
		)
	})

	test("are answered for a table's records", async () => {
		const model = new MemoryModel('note', { fields: { id: 'integer', text: 'text' }, key: 'id' })
		const notes = new CrudHandler(model, { visible: 'all', allow: ['list', 'read', 'update', 'remove'] })
		const { ask } = asking({ note: notes }, { cors: CORS })
		const names = 'if-match,content-type,x-http-method-override'
		const { headers } = await ask('OPTIONS /note/5', { headers: preflight(APP, 'PATCH', names) })
		assert.is(headers['access-control-allow-methods'], 'GET, HEAD, POST, PATCH, DELETE, OPTIONS')
		assert.is(headers['access-control-allow-headers'], 'if-match, content-type, x-http-method-override')
	})

	test("are answered during a handler's init, and after it failed", async () => {
		let fail = (): void => {}
		class Slow extends Api {
			override init() {
				return new Promise<void>((_, reject) => {
					fail = () => reject(new Error('no database'))
				})
			}
		}
		const { ask } = asking({ '': new Slow() }, { cors: CORS })
		const asked = { headers: preflight(APP, 'PUT') }
		assert.is((await ask('OPTIONS /article/5', asked)).status, 204)
		fail()
		assert.is((await ask('OPTIONS /article/5', asked)).status, 204)
		const { status, headers } = await ask('PUT /article/5', { headers: { Origin: APP } })
		assert.is(status, 500)
		assert.is(headers['access-control-allow-origin'], APP)
	})
})
