/** `Location` is where the record is, whatever route led to its making. */
import * as assert from 'uvu/assert'
import { CrudHandler, type ServerOptions } from '../../lib/index.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { articleModel, OPTIONS } from './articles.ts'

class Articles extends CrudHandler {
	override customRoutes = { 'POST make/one': 'create', 'POST %s/copy/%d': 'create' }
}

const handlers = () => ({ 'blog/article': new Articles(articleModel(), OPTIONS) })

describe('crud: Location', (test) => {
	const cases: [ServerOptions, string, string][] = [
		[{}, '/blog/article', '/blog/article/6'],
		[{}, '/blog/article/?fields=title', '/blog/article/6'],
		[{}, '/%62log/article', '/blog/article/6'],
		[{}, '/blog/article/make/one', '/blog/article/6'],
		[{}, '/blog/article/1/copy/2/', '/blog/article/6'],
		[{ base: 'api/v1' }, '/api/v1/blog/article', '/api/v1/blog/article/6'],
		[{ base: 'api/v1' }, '/api/v1/blog/article/make/one?fields=title', '/api/v1/blog/article/6'],
	]
	for (const [options, request, location] of cases) {
		test(`POST ${request} makes ${location}, and it is there`, async () => {
			const asked = asking(handlers(), options)
			const made = await asked.ask(`POST ${request}`, { body: { title: 'Made' } })
			assert.equal([made.status, made.headers.location], [201, location])
			assert.match(await asked.said(location), /^200 .*"title":"Made"/)
		})

		test(`and over a socket, POST ${request}`, async () => {
			await listening(handlers(), options, async ({ url }) => {
				const made = await fetch(`${url}${request}`, {
					...{ method: 'POST', headers: { 'Content-Type': 'application/json' } },
					body: '{"title":"Made"}',
				})
				assert.equal([made.status, made.headers.get('location')], [201, location])
				assert.match(await (await fetch(`${url}${location}`)).text(), /"title":"Made"/)
			})
		})
	}

	test('a handler at the root has its records there', async () => {
		const asked = asking({ '': new Articles(articleModel(), OPTIONS) })
		const made = await asked.ask('POST /make/one', { body: { title: 'Made' } })
		assert.is(made.headers.location, '/6')
	})

	test('a factory knows its path too', async () => {
		const model = articleModel()
		const asked = asking({ 'b/c': () => new Articles(model, OPTIONS) })
		const made = await asked.ask('POST /b/c/make/one', { body: { title: 'Made' } })
		assert.is(made.headers.location, '/b/c/6')
	})
})
