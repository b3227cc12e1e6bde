import { inspect } from 'node:util'
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	type CrudOperation,
	type CrudOptions,
	type CrudValues,
	type MemoryModel,
	type User,
} from '../../lib/index.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { articleModel, articles, dataOf, idsOf, OPTIONS, refusalOf } from './articles.ts'

/** Authenticates the user named in the header `user`. */
const authenticator = {
	authenticate: ({ headers }: { headers: Readonly<Record<string, unknown>> }): User | null =>
		typeof headers.user === 'string' ? { id: headers.user } : null,
}

class Owned extends CrudHandler {
	override scope(): Record<string, unknown> | Promise<Record<string, unknown>> {
		return { owner: this.user?.id }
	}
}

function as(user: string) {
	return { headers: { user } }
}

function owned(options: Partial<CrudOptions> = {}, model: MemoryModel = articleModel()) {
	const handler = new Owned(model, { ...OPTIONS, version: 'revision', ...options })
	return articles(handler, { authenticator })
}

function scoped(scope: unknown, model: MemoryModel = articleModel(), options: Partial<CrudOptions> = {}) {
	class Scoped extends CrudHandler {
		override async scope() {
			return scope as Record<string, unknown>
		}
	}
	return articles(new Scoped(model, { ...OPTIONS, ...options }))
}

describe('crud/scope', (test) => {
	test('each user sees their own records', async () => {
		const asked = owned()
		assert.equal(await idsOf(asked, '/article', as('ann')), [1, 3, 5])
		assert.equal(await idsOf(asked, '/article', as('bob')), [2, 4])
		assert.equal(await idsOf(asked, '/article?id=1&id=2', as('bob')), [2])
		assert.equal(
			await idsOf(asked, 'QUERY /article', {
				...as('bob'),
				body: { filter: { or: [{ id: 1 }, { not: { id: 1 } }] } },
			}),
			[2, 4],
		)
		const counted = await asked.ask('/article?limit=0', as('bob'))
		assert.is(counted.headers['x-total-count'], '2')
	})

	test("another user's record is 404 in every verb, like a missing one, and stays unchanged", async () => {
		const asked = owned()
		for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
			for (const more of [{}, { 'If-Match': '"1"' }, { 'If-Match': '*' }, { 'If-None-Match': '*' }]) {
				const body = method === 'GET' ? undefined : { title: 'Mine now' }
				const headers = { user: 'bob', ...more }
				const other = await asked.ask(`${method} /article/1`, { headers, body })
				const nothing = await asked.ask(`${method} /article/99`, { headers, body })
				assert.is(`${other.status} ${other.text()}`, `${nothing.status} ${nothing.text()}`)
				assert.is(other.status, 404)
			}
		}
		assert.match(await asked.said('/article/1', as('ann')), /"title":"Title 1"/)
	})

	test("a new record gets the scope's values", async () => {
		const asked = owned()
		assert.is((await asked.ask('POST /article', { ...as('bob'), body: { title: 'New' } })).status, 201)
		assert.equal(await idsOf(asked, '/article', as('bob')), [2, 4, 6])
		assert.equal(await idsOf(asked, '/article', as('ann')), [1, 3, 5])
	})

	test('a scope field is never writable, whatever the options say', async () => {
		const hidden = owned({ updatable: ['title', 'owner'] })
		for (const request of ['POST /article', 'PATCH /article/2', 'PUT /article/2'])
			assert.is(
				await refusalOf(hidden, request, { ...as('bob'), body: { title: 'N', owner: 'ann' } }),
				'422 owner is not a field that can be written',
			)
		const visible = owned({
			visible: ['id', 'title', 'owner'],
			updatable: ['title', 'owner'],
			searchable: [],
		})
		assert.match(
			await visible.said('PATCH /article/2', { ...as('bob'), body: { title: 'N', owner: 'ann' } }),
			/^200 .*"title":"N","owner":"bob"/,
		)
	})

	test("a cursor of one user gives another user none of the first one's records", async () => {
		const asked = owned()
		const first = await asked.ask('/article?limit=1', as('ann'))
		const { next } = (first.json() as { meta: { next: string } }).meta
		assert.equal(await idsOf(asked, `/article?cursor=${next}`, as('bob')), [2, 4])
	})

	test('undefined never widens the scope: it is an error, which is logged', async () => {
		const asked = owned()
		for (const request of [
			'/article',
			'/article/1',
			'/article?limit=0',
			'POST /article',
			'PATCH /article/1',
			'PUT /article/1',
			'DELETE /article/1',
		]) {
			const body = request.startsWith('/') ? undefined : { title: 'New' }
			const reply = await asked.ask(request, { body })
			assert.is(reply.status, 500, request)
			assert.is(asked.logged(), 'Owned.scope().owner is undefined: give a value, or null')
		}
		assert.equal(await idsOf(asked, '/article', as('ann')), [1, 3, 5])
	})

	const wrong: [unknown, RegExp][] = [
		[undefined, /scope\(\) must return an object/],
		[null, /scope\(\) must return an object/],
		['ann', /scope\(\) must return an object/],
		[[], /scope\(\) must return an object/],
		[new Map([['owner', 'ann']]), /scope\(\) must return an object/],
		[{ ownr: 'ann' }, /scope\(\)\.ownr is not a field: did you mean owner\?/],
		[{ owner: [undefined] }, /scope\(\)\.owner is undefined/],
		[{ owner: { id: 5 } }, /scope\(\)\.owner\.id is not an operator of this field: use one of eq, ne/],
		[{ id: 'x' }, /scope\(\)\.id is of type integer, which this value \(string\) is not/],
		[{ owner: { eq: undefined } }, /scope\(\)\.owner is undefined: give a value, or null/],
		[{ owner: { ne: undefined } }, /scope\(\)\.owner\.ne is undefined: give a value, or null/],
		[{ owner: { in: ['ann', undefined] } }, /scope\(\)\.owner\.in\.1 is undefined/],
		[{ owner: { gt: null } }, /scope\(\)\.owner\.gt is null, which can only be equal or not/],
		[{ owner: {} }, /scope\(\)\.owner is \{\}: give a value, or an operator/],
		[{ rating: { gt: 'x' } }, /scope\(\)\.rating\.gt is of type float, which this value \(string\) is not/],
		[{ or: undefined }, /scope\(\)\.or must be an array of filters/],
		[{ and: [undefined] }, /scope\(\)\.and\.0 must be an object/],
		[{ or: [{ owner: undefined }, { state: 'public' }] }, /scope\(\)\.or\.0\.owner is undefined/],
		[{ not: { owner: undefined } }, /scope\(\)\.not\.owner is undefined/],
		[{ or: [Promise.resolve({ owner: 'ann' })] }, /scope\(\)\.or\.0 must be an object/],
		[{ and: [{ owner: 'ann' }, Promise.resolve({})] }, /scope\(\)\.and\.1 must be an object/],
		[{ not: new Map([['owner', 'ann']]) }, /scope\(\)\.not must be an object/],
		[{ or: [Object.create({ owner: 'ann' })] }, /scope\(\)\.or\.0 must be an object/],
		[{ or: [new Date(0)] }, /scope\(\)\.or\.0 must be an object/],
		[{ body: Object.assign(new Array(2), { 1: 'x' }) }, /scope\(\)\.body is undefined/],
		[{ or: [{ ownr: 'ann' }] }, /scope\(\)\.or\.0\.ownr is not a field to filter by: use one of id, title/],
	]
	for (const [scope, message] of wrong) {
		test(`the scope ${inspect(scope)} is an error`, async () => {
			const asked = scoped(scope)
			const reply = await asked.ask('/article')
			assert.is(reply.status, 500)
			assert.match(asked.logged(), message)
		})
	}

	const found: [Record<string, unknown>, number[]][] = [
		[{}, [1, 2, 3, 4, 5]],
		[{ owner: 'ann', state: 'public' }, [3, 5]],
		[{ owner: ['ann', 'bob'] }, [1, 2, 3, 4, 5]],
		[{ owner: [] }, []],
		[{ body: null }, [3]],
		[{ body: [null, 'Body of 1'] }, [1, 3]],
		[{ id: '2' }, [2]],
		[{ id: 2n }, [2]],
		[{ published: new Date('2026-11-02T10:00:00Z') }, [2]],
		[{ or: [{ owner: 'ann' }, { state: 'public' }] }, [1, 3, 4, 5]],
		[{ or: [{ owner: 'ANN' }, { owner: { in: ['Bob'] } }, { not: { owner: { ne: 'BOB' } } }] }, []],
		[{ and: [{ owner: 'ann' }, { state: { eq: 'public' } }] }, [3, 5]],
		[{ and: [] }, [1, 2, 3, 4, 5]],
		[{ or: [] }, []],
		[{ not: { owner: ['ann', null] } }, [2, 4]],
		[{ owner: { ne: 'ann' }, rating: { gt: 1 } }, [4]],
		[{ secret: { endsWith: '3' } }, [3]],
		[{ published: { between: [new Date('2026-11-02T10:00:00Z'), '2026-11-03T10:00:00Z'] } }, [2, 3]],
		[{ body: { null: true } }, [3]],
		[{ id: { in: Array.from({ length: 500 }, (_, at) => at + 4) } }, [4, 5]],
	]
	for (const [scope, ids] of found) {
		test(`the scope ${inspect(scope, { depth: 9, breakLength: 200 }).slice(0, 90)} finds ${ids}`, async () =>
			assert.equal(await idsOf(scoped(scope), '/article'), ids))
	}

	test('of several allowed values the client must give one, where the field is writable', async () => {
		const asked = scoped({ owner: ['ann', 'bob'] }, articleModel(), { updatable: ['title', 'owner'] })
		const made = (body: unknown) => asked.ask('POST /article', { body })
		assert.is((await made({ title: 'A', owner: 'bob' })).status, 201)
		assert.is((await made({ title: 'B', owner: 'eve' })).status, 403)
		assert.is((await made({ title: 'C' })).status, 403)
		assert.is((await asked.ask('PATCH /article/1', { body: { owner: 'bob' } })).status, 200)
		assert.is(
			await refusalOf(asked, 'PATCH /article/1', { body: { owner: 'eve' } }),
			'403 owner is outside of what you may change',
		)
	})

	test('a 403 names no field that the client does not know', async () => {
		class Narrowed extends CrudHandler {
			override scope() {
				return { owner: ['ann', 'bob'], body: ['x', 'y'] }
			}
			override fields() {
				return this.request.header('x-hide') === undefined ? {} : { hidden: ['body'] }
			}
		}
		const options = { updatable: ['title', 'owner'], visible: ['id', 'title', 'body'] }
		const article = new Narrowed(articleModel(), { ...options, allow: ['create'] })
		const asked = asking({ article })
		const body = { title: 'A', owner: 'bob' }
		assert.is(await refusalOf(asked, 'POST /article', { body }), '403 body is outside of what you may change')
		assert.is(
			await refusalOf(asked, 'POST /article', { body, headers: { 'x-hide': '1' } }),
			'403 With these values, the record would be outside of what you may change',
		)
	})

	test('setting a scope field to null is 403', async () => {
		const options = { updatable: ['title', 'body'] }
		const asked = scoped({ body: ['Body of 1', 'Body of 2'] }, articleModel(), options)
		for (const method of ['PATCH', 'PUT']) {
			const body = { title: 'N', body: null }
			assert.is(
				await refusalOf(asked, `${method} /article/1`, { body }),
				'403 body is outside of what you may change',
			)
		}
		assert.is((await asked.ask('POST /article', { body: { title: 'N', body: null } })).status, 403)
		assert.match(await asked.said('/article/1'), /"body":"Body of 1"/)
		const nullable = scoped({ body: [null, 'Body of 1'] }, articleModel(), options)
		assert.is((await nullable.ask('PATCH /article/1', { body: { body: null } })).status, 200)
	})

	test('what a condition says by equality is set on a new record, and cannot be written', async () => {
		const scope = { and: [{ owner: 'ann' }, { or: [{ state: 'draft' }, { rating: { gte: 2 } }] }] }
		const asked = scoped(scope, articleModel(), { updatable: ['title', 'state', 'rating', 'owner'] })
		const made = await asked.ask('POST /article', { body: { title: 'A' } })
		assert.is(made.status, 201)
		assert.equal(await idsOf(asked, '/article'), [1, 5, 6])
		assert.is(
			await refusalOf(asked, 'POST /article', { body: { title: 'B', owner: 'bob' } }),
			'422 owner is not a field that can be written',
		)
	})

	test('a write that would leave a condition is undone: 403', async () => {
		const model = articleModel()
		const asked = scoped({ or: [{ state: 'draft' }, { rating: { gte: 2.5 } }] }, model)
		const before = await dataOf(articles(new CrudHandler(model, OPTIONS)), '/article')
		for (const [request, body] of [
			['POST /article', { title: 'N', state: 'public' }],
			['POST /article', { title: 'N', state: 'public', rating: null }],
			['PATCH /article/1', { state: 'public' }],
			['PUT /article/5', { title: 'N', state: 'public', rating: 2 }],
		] as const)
			assert.is(
				await refusalOf(asked, request, { body }),
				'403 With these values, the record would be outside of what you may change',
			)
		assert.is((await asked.ask('PATCH /article/3', { body: { state: 'draft' } })).status, 404)
		assert.equal(await dataOf(articles(new CrudHandler(model, OPTIONS)), '/article'), before)
		assert.is((await asked.ask('PATCH /article/1', { body: { state: 'public', rating: 3 } })).status, 200)
		assert.is((await asked.ask('PATCH /article/1', { body: { title: 'Still' } })).status, 200)
	})

	test('an override cannot move a record out of the scope, nor by null', async () => {
		class Leaving extends CrudHandler {
			override scope() {
				return { owner: 'ann' }
			}
			override update(id: string, values: CrudValues) {
				return super.update(id, { ...values, owner: values.title === 'null' ? null : 'bob' })
			}
		}
		const asked = articles(new Leaving(articleModel(), OPTIONS))
		for (const title of ['null', 'bob'])
			assert.is((await asked.ask('PATCH /article/1', { body: { title } })).status, 403)
		assert.match(await asked.said('/article/1'), /"title":"Title 1"/)
	})

	test('a conflict with a record outside of the scope names its field only if that is writable', async () => {
		assert.is(
			await refusalOf(owned(), 'POST /article', { ...as('bob'), body: { title: 'Title 1' } }),
			'409 title is taken by another record',
		)
	})

	test('scope() is called once per operation, and may be asynchronous', async () => {
		let calls = 0
		class Counted extends CrudHandler {
			override async scope() {
				calls++
				await new Promise(setImmediate)
				return { owner: 'ann' }
			}
		}
		const asked = articles(new Counted(articleModel(), { ...OPTIONS, version: 'revision' }))
		const headers = { 'If-Match': '"1", "2"' }
		for (const request of ['PATCH /article/1', 'PUT /article/1', 'DELETE /article/3', 'POST /article']) {
			calls = 0
			const more = request === 'POST /article' ? {} : { headers }
			assert.ok((await asked.ask(request, { ...more, body: { title: request } })).status < 300, request)
			assert.is(calls, 1, request)
		}
	})
})

describe('crud/scope: by operation', (test) => {
	/** Records the operations that scope() is called with: users read everything, and change their own records. */
	class ByOperation extends CrudHandler {
		readonly told: CrudOperation[] = []

		override scope(operation: CrudOperation): Record<string, unknown> {
			this.told.push(operation)
			return operation === 'list' || operation === 'read' ? {} : { owner: this.user?.id }
		}

		async get_both() {
			return [await this.list({ limit: 0 }), await this.read('1')].length
		}
	}

	/** Looks at the record before each change. */
	class Looking extends ByOperation {
		override async update(id: string, values: CrudValues) {
			await this.read(id)
			return super.update(id, values)
		}
		override async replace(id: string, values: CrudValues) {
			await this.read(id)
			return super.replace(id, values)
		}
		override async remove(id: string) {
			await this.read(id)
			return super.remove(id)
		}
	}

	const told: [string, CrudOperation[]][] = [
		['GET /article', ['list']],
		['GET /article?limit=0', ['list']],
		['QUERY /article', ['list']],
		['GET /article/1', ['read']],
		['HEAD /article/1', ['read']],
		['POST /article', ['create']],
		['PATCH /article/1', ['update']],
		['POST /article/1', ['update']],
		['PUT /article/1', ['replace']],
		['DELETE /article/1', ['remove']],
		['GET /article/both', ['list', 'read']],
	]
	for (const [request, operations] of told) {
		test(`for ${request} scope() is called with ${operations.join(' and ')}`, async () => {
			const handler = new ByOperation(articleModel(), OPTIONS)
			const asked = articles(handler, { authenticator })
			const body = /^(POST|PATCH|PUT)/.test(request) ? { title: 'New' } : undefined
			const reply = await asked.ask(request, { ...as('ann'), body: request.startsWith('Q') ? {} : body })
			assert.ok(reply.status < 300, reply.text())
			assert.equal(handler.told, operations)
		})
	}

	const looked: [string, CrudOperation[]][] = [
		['PATCH /article/1', ['update', 'read', 'update']],
		['POST /article/1', ['update', 'read', 'update']],
		['PUT /article/1', ['replace', 'read', 'replace']],
		['DELETE /article/1', ['remove', 'read', 'remove']],
	]
	for (const [request, operations] of looked) {
		test(`for an overridden ${request}, which reads first, scope() is called with ${operations.join(', ')}`, async () => {
			const handler = new Looking(articleModel(), OPTIONS)
			const asked = articles(handler, { authenticator })
			assert.is((await asked.ask(request, { ...as('ann'), body: { title: 'New' } })).status, 200)
			assert.equal(handler.told, operations)
		})
	}
})
