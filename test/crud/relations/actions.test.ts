import * as assert from 'uvu/assert'
import { CrudHandler, createServer, MemoryModel } from '../../../lib/index.ts'
import { describe } from '../../helpers/describe.ts'
import { Log } from '../../helpers/listening.ts'

class Comments extends CrudHandler {
	override readonly rateLimits = { create: { limit: 2, windowSeconds: 60 } }
}

function serve() {
	const articleModel = new MemoryModel('article', {
		fields: { id: 'integer', title: 'text' },
		key: 'id',
		rows: [{ title: 'A' }],
	})
	const commentModel = new MemoryModel('comment', {
		fields: { id: 'integer', text: 'text', article_id: 'integer' },
		key: 'id',
		references: [{ field: 'article_id', model: articleModel }],
	})
	const comments = new Comments(commentModel, {
		visible: ['id', 'text'],
		creatable: ['text', 'article_id'],
		allow: ['list', 'read', 'create'],
	})
	const articles = new CrudHandler(articleModel, {
		visible: 'all',
		relations: { comments: { to: comments } },
	})
	const server = createServer({ articles, comments }, { logger: new Log(), logRequests: false })
	return (method: string, url: string, body?: object) =>
		server.inject({
			...{ method, url },
			...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
		})
}

describe('crud/relations/actions', (test) => {
	test('a record created below another has the rate limit of its own handler', async () => {
		const ask = serve()
		const first = await ask('POST', '/articles/1/comments', { text: 'a' })
		assert.is(first.status, 201)
		assert.is(first.headers.location, '/comments/1')
		assert.is((await ask('POST', '/comments', { text: 'b', article_id: 1 })).status, 201)
		assert.is((await ask('POST', '/articles/1/comments', { text: 'c' })).status, 429)
		assert.is((await ask('POST', '/comments', { text: 'd', article_id: 1 })).status, 429)
		assert.is((await ask('GET', '/articles/1/comments')).status, 200)
	})
})
