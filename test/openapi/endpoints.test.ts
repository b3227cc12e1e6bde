import * as assert from 'uvu/assert'
import { Controller } from '../../lib/handler/controller.ts'
import { CrudHandler, MemoryModel, RestHandler } from '../../lib/index.ts'
import { type Endpoint, endpointsOf } from '../../lib/openapi/endpoints.ts'
import { pathOfMount } from '../../lib/routing/endpoints.ts'
import { type Mount, MountTree } from '../../lib/routing/routing.ts'
import { describe } from '../helpers/describe.ts'
import { appOf } from '../helpers/exchange.ts'

class Blog extends RestHandler {
	override customRoutes = { 'GET page-%d': 'page' }
	override specs = {
		get_search: { term: ['required', 'string'] },
		post_article: { title: ['required', 'string'] },
	}

	get_search() {
		return null
	}

	post_article() {
		return null
	}

	get_tags(...names: string[]) {
		return names
	}

	page(number: number) {
		return number
	}
}

function mounted(path: string, handler: RestHandler, base = ''): Mount {
	const tree = new MountTree()
	new Controller(appOf(), tree, base, { authenticator: undefined, acl: undefined }).service(path, handler)
	const [mount] = tree.all
	if (mount === undefined) throw new Error('nothing was mounted')
	return mount
}

/** `GET /blog/tags name` */
function said({ method, path, by, action }: Endpoint): string {
	return `${method} ${path} ${by} ${action.name}`
}

describe('endpoints', (test) => {
	test("are all ways to an action, from the server's root", () => {
		assert.equal(endpointsOf(mounted('blög', new Blog(), 'v1')).map(said), [
			'GET /v1/bl%C3%B6g/search name get_search',
			'POST /v1/bl%C3%B6g/article name post_article',
			'GET /v1/bl%C3%B6g/tags name get_tags',
			'GET /v1/bl%C3%B6g/tags/{names} name get_tags',
			'GET /v1/bl%C3%B6g/page-{number} route page',
		])
	})

	test('of CRUD handlers are the allowed operations', () => {
		const model = new MemoryModel('article', { key: 'id', fields: { id: 'uuid', title: 'text' } })
		const handler = new CrudHandler(model, {
			visible: 'all',
			updatable: ['title'],
			allow: ['list', 'update'],
		})
		const endpoints = endpointsOf(mounted('', handler))
		assert.equal(endpoints.map(said), [
			'GET / own list',
			'QUERY / own list',
			'PATCH /{id} own update',
			'POST /{id} own update',
		])
		assert.equal(endpoints[2]?.params, [
			{ name: 'id', schema: { type: 'string', format: 'uuid' }, required: true },
		])
		assert.is(endpoints[2]?.shape.body?.schema.title, 'ArticleUpdate')
	})

	test('of custom routes to records name the id as such', () => {
		class Articles extends CrudHandler {
			override customRoutes = { 'GET one/%s': 'read' }
		}
		const model = new MemoryModel('article', { key: 'id', fields: { id: 'uuid', title: 'text' } })
		const handler = new Articles(model, { visible: 'all', allow: ['read'] })
		assert.equal(endpointsOf(mounted('article', handler)).map(said), [
			'GET /article/{id} own read',
			'GET /article/one/{id} route read',
		])
	})

	test('take query or body specs, by method', () => {
		const [search, article, , tags, page] = endpointsOf(mounted('', new Blog()))
		assert.equal(search?.shape.query, [{ name: 'term', schema: { type: 'string' }, required: true }])
		assert.is(search?.shape.body, undefined)
		assert.equal(search?.shape.refusals, [422])
		assert.equal(article?.shape.query, [])
		assert.equal(article?.shape.body?.schema.required, ['title'])
		assert.equal(tags?.params, [
			{
				name: 'names',
				schema: { type: 'string' },
				required: true,
				description: 'The first of any number of segments',
			},
		])
		assert.equal(page?.params, [{ name: 'number', schema: { type: 'integer' }, required: true }])
		assert.is(page?.shape.answer.isOpen, true)
	})

	test('use docs, and otherwise what is known', () => {
		class Told extends Blog {
			override docs = {
				get_search: { summary: 'Finds', answer: 'text/csv' },
				post_article: { status: 201, description: 'At length' },
			}
		}
		const [search, article, tags] = endpointsOf(mounted('', new Told()))
		const known = endpointsOf(mounted('', new Blog()))
		assert.is(search?.shape.summary, 'Finds')
		assert.equal(search?.shape.answer, {
			...{ status: 200, schema: {}, type: 'text/csv', isPage: false, headers: [], isOpen: false },
		})
		assert.equal(search?.shape.query, known[0]?.shape.query)
		assert.equal(article?.docs, { status: 201, description: 'At length' })
		assert.equal(article?.shape.answer, {
			...{ status: 201, schema: {}, isPage: false, headers: [], isOpen: false },
		})
		assert.equal([tags?.docs, tags?.shape], [{}, known[2]?.shape])
	})

	test('are computed once', () => {
		const mount = mounted('', new Blog())
		assert.is(endpointsOf(mount), endpointsOf(mount))
	})

	test('are below their mount path', () => {
		assert.is(pathOfMount(mounted('', new Blog())), '')
		assert.is(pathOfMount(mounted('a/ü', new Blog(), 'b')), '/b/a/%C3%BC')
	})
})
