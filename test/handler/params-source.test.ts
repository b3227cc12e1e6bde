import * as assert from 'uvu/assert'
import { createServer, RestHandler } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'

class Search extends RestHandler {
	override specs = {
		get_found: { q: ['required', 'string'], tag: [{ of: ['string'] }] },
		post_found: { n: ['required', 'integer'] },
	}

	get_found() {
		return this.getParams()
	}
	post_found() {
		return this.getParams()
	}
	get_inline() {
		return this.getParams({ n: ['required', 'integer'], tag: [{ of: ['string'] }] })
	}
	async get_async() {
		return this.getParamsAsync({ n: ['required', 'integer'] })
	}
	async post_later() {
		return this.getParamsAsync({ n: ['integer'] })
	}
	async put_found() {
		return this.getParamsAsync()
	}
	post_same() {
		return this.getParams({ n: ['integer'], tag: [{ of: ['string'] }] }, this.post)
	}
}

const server = createServer({ s: Search }, { logger: { info() {}, warn() {}, error() {} } })

describe('handler: what getParams reads', (test) => {
	test('a declared spec of a GET reads the query, with all values of a list', async () => {
		const { body } = await server.inject({ url: '/s/found?q=1&tag=a&tag=b' })
		assert.is(body.toString(), '{"success":true,"data":{"q":"1","tag":["a","b"]}}')
	})

	for (const name of ['inline', 'async']) {
		test(`a spec that a GET gives to getParams reads the query: ${name}`, async () => {
			const url = `/s/${name}?n=5`
			assert.is((await server.inject({ url })).text(), '{"success":true,"data":{"n":5}}')
			assert.is((await server.inject({ method: 'HEAD', url })).status, 200)
			const { status, body } = await server.inject({ url: `/s/${name}?n=x` })
			assert.equal([status, JSON.parse(body.toString()).details[0].field], [422, 'n'])
			assert.is((await server.inject({ method: 'HEAD', url: `/s/${name}` })).status, 422)
		})
	}

	test('a declared spec of a POST reads the body', async () => {
		const { body } = await server.inject({ method: 'POST', url: '/s/found?n=1', body: { n: 2 } })
		assert.is(body.toString(), '{"success":true,"data":{"n":2}}')
	})

	test('JSON that is sent as a form is refused with the Content-Type that it needs', async () => {
		const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
		const { status, body } = await server.inject({
			method: 'POST',
			url: '/s/found',
			body: '{"n":1}',
			headers,
		})
		assert.is(status, 422)
		assert.match(
			body.toString(),
			/"The body is sent as a form: send Content-Type: application\/json for JSON"/,
		)
	})

	test('getParamsAsync() without a declared spec is a programming error', async () => {
		assert.is((await server.inject({ method: 'PUT', url: '/s/found', body: {} })).status, 500)
		const { body } = await server.inject({ method: 'POST', url: '/s/later', body: { n: 2 } })
		assert.is(body.toString(), '{"success":true,"data":{"n":2}}')
	})

	test('with this.post as the source, JSON is not coerced; a form is, and its lists are complete', async () => {
		const json = await server.inject({ method: 'POST', url: '/s/same', body: { n: '5' } })
		assert.is(json.status, 422)
		const headers = { 'content-type': 'application/x-www-form-urlencoded' }
		const form = await server.inject({ method: 'POST', url: '/s/same', headers, body: 'n=5&tag=x&tag=y' })
		assert.is(form.body.toString(), '{"success":true,"data":{"n":5,"tag":["x","y"]}}')
	})
})
