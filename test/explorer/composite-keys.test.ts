/** What pages know of records with a key of several fields. */
import * as assert from 'uvu/assert'
import { describe } from '../helpers/describe.ts'
import { keyedServer } from './keyed.ts'
import { dataIn, open } from './page-of.ts'

describe('explorer: keys of several fields', (test) => {
	const server = keyedServer()

	async function at(url: string) {
		const reply = await open(server, url)
		return { status: reply.status, ...dataIn(reply) }
	}

	test('a list leads to its records by all fields of the key', async () => {
		assert.is((await at('/tags')).recordPath, '/tags/{article},{tag}')
		assert.is((await at('/mine')).recordPath, '/mine/{article},{tag}')
		assert.is((await at('/narrow')).recordPath, '/narrow/{tag}')
		assert.is((await at('/lines')).recordPath, undefined)
	})

	for (const url of ['/tags/7,herb', '/tags/8,a%2Cb%2Fc', '/mine/herb', '/mine/7,herb'])
		test(`${url} is a record with its forms`, async () => {
			const { status, operations } = await at(url)
			assert.is(status, 200)
			const methods = operations.map(({ method }) => method)
			assert.equal(methods, ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
		})

	test('a record that is missing has no form that needs it', async () => {
		const { status, operations } = await at('/tags/9,herb')
		assert.is(status, 404)
		assert.equal(
			operations.map(({ method }) => method),
			['GET'],
		)
	})

	test('the map says what is typed for an id', async () => {
		const { map } = await at('/')
		const lists = map?.handlers.flatMap(({ routes }) => routes.map(({ path, lists }) => [path, lists]))
		assert.equal(Object.fromEntries(lists ?? []), {
			'/tags': undefined,
			'/tags/{id}': { id: 'article, tag' },
			'/tags/{id}/note': undefined,
			'/mine': undefined,
			'/mine/{id}': { id: 'article, tag (without what is fixed for the caller)' },
			'/narrow': undefined,
			'/narrow/{id}': { id: 'article, tag (without what is fixed for the caller)' },
			'/lines': undefined,
		})
	})

	test('breadcrumbs lead to the record', async () => {
		for (const id of ['7,herb', '8,a%2Cb%2Fc']) {
			const { crumbs } = await at(`/tags/${id}/note`)
			assert.equal(
				crumbs.map(({ url }) => url),
				['/', '/tags', `/tags/${id}`, `/tags/${id}/note`],
			)
		}
	})
})
