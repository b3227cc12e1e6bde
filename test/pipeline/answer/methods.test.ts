import * as assert from 'uvu/assert'
import { RestHandler } from '../../../lib/index.ts'
import { asking, ok } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { Echo, NOT_ALLOWED, NOT_FOUND } from './echo.ts'

describe('answer: methods', (test) => {
	const { said, ask } = asking({ 'blog/api': new Echo() })

	test('HEAD is GET without a body, and with its headers', async () => {
		const [head, get] = [await ask('HEAD /blog/api/article/5'), await ask('/blog/api/article/5')]
		assert.equal([head.status, head.text()], [200, ''])
		assert.equal({ ...head.headers }, { ...get.headers })
		assert.is(head.headers['content-length'], String(get.body.length))
		assert.is((await ask('HEAD /blog/api/search')).status, 405)
	})

	test('a body is read for all methods but GET and HEAD, also where one method of the class serves all', async () => {
		class Any extends RestHandler {
			override customRoutes = { 'GET|POST|PUT|PATCH|DELETE|QUERY any': 'any' }
			any() {
				this.header('X-Read', this.request.rawBody.toString())
			}
		}
		const { ask } = asking({ any: new Any() })
		for (const method of ['GET', 'POST', 'HEAD', 'PUT', 'PATCH', 'GET', 'DELETE', 'QUERY', 'HEAD']) {
			const { status, headers } = await ask(`${method} /any/any`, { body: 'abc' })
			assert.equal([method, status, headers['x-read']], [method, 200, /GET|HEAD/.test(method) ? '' : 'abc'])
		}
	})

	for (const [request, allow] of [
		['/blog/api/article', 'GET, HEAD, POST, DELETE, OPTIONS'],
		['/blog/api/article/5', 'GET, HEAD, PUT, DELETE, OPTIONS'],
		['/blog/api/ping', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
		['/blog/api/custom/a/page/1', 'GET, HEAD, POST, OPTIONS'],
		['/blog/api/files/a', 'GET, HEAD, PATCH, OPTIONS'],
		['/blog/api/search', 'QUERY, OPTIONS'],
	] as const) {
		test(`OPTIONS ${request} is 204, and names ${allow}`, async () => {
			const { status, headers, text } = await ask(`OPTIONS ${request}`)
			assert.equal([status, headers.allow, text()], [204, allow, ''])
		})
	}

	test('OPTIONS * is 204', async () => {
		const { status, headers } = await ask('OPTIONS *')
		const all = 'GET, HEAD, POST, PUT, PATCH, DELETE, QUERY, OPTIONS'
		assert.equal([status, headers.allow, headers['x-content-type-options']], [204, all, 'nosniff'])
	})

	for (const [request, allow] of [
		['PATCH /blog/api/article/5', 'GET, HEAD, PUT, DELETE, OPTIONS'],
		['PUT /blog/api/article', 'GET, HEAD, POST, DELETE, OPTIONS'],
		['QUERY /blog/api/ping', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
		['GET /blog/api/search', 'QUERY, OPTIONS'],
		['HEAD /blog/api/search', 'QUERY, OPTIONS'],
	] as const) {
		test(`${request} is 405 and allows ${allow}`, async () => {
			const { status, headers } = await ask(request)
			assert.equal([status, headers.allow], [405, allow])
		})
	}

	for (const method of ['TRACE', 'CONNECT', 'PROPFIND', 'get', 'Get', 'TRACK', '', '__proto__']) {
		test(`"${method}" is 501, whatever the path`, async () => {
			for (const url of ['/blog/api/article', '/nowhere', '/%']) {
				const reply = await asking({ 'blog/api': new Echo() }).server.inject({ method, url })
				assert.is(
					`${reply.status} ${reply.text()}`.replace(/,"requestId":"[^"]+"/, ''),
					'501 {"success":false,"error":"This method is not served: use GET, POST, PUT, PATCH, DELETE or QUERY","code":"not_implemented"}',
				)
			}
		})
	}

	const overrides: [string, string, string][] = [
		['POST /blog/api/article/5', 'DELETE', ok(['delete_article', '5'])],
		['POST /blog/api/article/5', 'delete', ok(['delete_article', '5'])],
		['POST /blog/api/article/5', 'PUT', ok(['replace', 5])],
		['POST /blog/api/ping', 'PATCH', ok('ping PATCH')],
		['POST /blog/api/article/5', 'PATCH', NOT_ALLOWED],
		['POST /blog/api/nothing', 'PUT', NOT_FOUND],
	]
	for (const [request, override, answer] of overrides) {
		test(`${request} overridden to ${override} → ${answer}`, async () => {
			assert.is(await said(request, { headers: { 'X-HTTP-Method-Override': override } }), answer)
		})
	}
	for (const [request, override] of [
		['GET /blog/api/article/5', 'DELETE'],
		['POST /blog/api/article', 'GET'],
		['POST /blog/api/article', ''],
		['POST /blog/api/article', ['PUT', 'PUT']],
		['PUT /blog/api/article/5', 'DELETE'],
		['OPTIONS /blog/api/article', 'PUT'],
		['HEAD /blog/api/article', 'PUT'],
	] as const) {
		test(`${request} overridden to ${JSON.stringify(override)} is 400`, async () => {
			const { status } = await ask(request, { headers: { 'X-HTTP-Method-Override': override } })
			assert.is(status, 400)
		})
	}
})
