import * as assert from 'uvu/assert'
import { CrudHandler, MemoryModel } from '../../lib/index.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { articleModel, articles, OPTIONS } from './articles.ts'

function versioned() {
	return articles(new CrudHandler(articleModel(), { ...OPTIONS, version: 'revision' }))
}

describe('crud/preconditions: with a version', (test) => {
	test('a record has its version as ETag, which every change raises', async () => {
		const asked = versioned()
		assert.is((await asked.ask('/article/1')).headers.etag, '"1"')
		assert.is((await asked.ask('HEAD /article/1')).headers.etag, '"1"')
		assert.is((await asked.ask('PATCH /article/1', { body: { title: 'A' } })).headers.etag, '"2"')
		assert.is((await asked.ask('PUT /article/1', { body: { title: 'B' } })).headers.etag, '"3"')
		assert.is((await asked.ask('/article/1?fields=title')).headers.etag, '"3"')
		assert.is((await asked.ask('POST /article', { body: { title: 'C' } })).headers.etag, '"1"')
		assert.is((await asked.ask('/article')).headers.etag, undefined)
		assert.is((await asked.ask('DELETE /article/1')).headers.etag, undefined)
	})

	test('no body changes the version', async () => {
		const asked = versioned()
		for (const request of ['PATCH /article/1', 'POST /article'])
			assert.is((await asked.ask(request, { body: { title: 'T', revision: 9 } })).status, 422)
		assert.is((await asked.ask('PATCH /article/1', { body: {} })).headers.etag, '"1"')
	})

	const reads: [string, string, number][] = [
		['If-None-Match', '"1"', 304],
		['If-None-Match', 'W/"1"', 304],
		['If-None-Match', '"9", "1"', 304],
		['If-None-Match', '*', 304],
		['If-None-Match', '"2"', 200],
		['If-None-Match', '1', 200],
		['If-None-Match', '', 200],
		['If-Match', '"1"', 200],
		['If-Match', '*', 200],
		['If-Match', '"2"', 412],
		['If-Match', 'W/"1"', 412],
		['If-Match', '"9" , ,"1"', 200],
		['If-Match', 'garbage"1"more', 412],
		['If-Match', '"1" "1"', 412],
		['If-Match', '*, "1"', 412],
	]
	for (const [name, value, status] of reads) {
		test(`a GET with ${name}: ${value} is ${status}`, async () => {
			const reply = await versioned().ask('/article/1', { headers: { [name]: value } })
			assert.is(reply.status, status)
			if (status === 304) {
				assert.is(reply.text(), '')
				assert.is(reply.headers.etag, '"1"')
			}
		})
	}

	const writes: [string, string, number][] = [
		['If-Match', '"1"', 200],
		['If-Match', '*', 200],
		['If-Match', '"9", "1"', 200],
		['If-Match', '"2"', 412],
		['If-Match', 'W/"1"', 412],
		['If-Match', '"01"', 412],
		['If-Match', '"x"', 412],
		['If-Match', '1', 412],
		['If-Match', '', 412],
		['If-Match', '"99999999999999999999999"', 412],
		['If-None-Match', '*', 412],
		['If-None-Match', '"1"', 412],
		['If-None-Match', '"2"', 200],
	]
	for (const [name, value, status] of writes) {
		for (const request of ['PATCH /article/1', 'POST /article/1', 'PUT /article/1', 'DELETE /article/1']) {
			test(`${request} with ${name}: ${value} is ${status}`, async () => {
				const asked = versioned()
				const reply = await asked.ask(request, { headers: { [name]: value }, body: { title: 'New' } })
				assert.is(reply.status, status, reply.text())
				const title = /"title":"([^"]*)"/.exec((await asked.ask('/article/1')).text())?.[1]
				const changed = request.startsWith('DELETE') ? undefined : 'New'
				assert.is(title, status === 412 ? 'Title 1' : changed)
			})
		}
	}

	test('an update of nothing holds to If-Match too', async () => {
		const headers = { 'If-Match': '"2"' }
		assert.is((await versioned().ask('PATCH /article/1', { headers, body: {} })).status, 412)
	})

	test('what is not there is 404, whatever the conditions', async () => {
		for (const headers of [{ 'If-Match': '"1"' }, { 'If-Match': '*' }, { 'If-None-Match': '*' }])
			for (const method of ['GET', 'PATCH', 'PUT', 'DELETE'])
				assert.is(
					(await versioned().ask(`${method} /article/99`, { headers, body: { title: 'T' } })).status,
					404,
				)
	})

	const stale = [{ 'If-Match': '"2"' }, { 'If-Match': '"2", "3"' }, { 'If-None-Match': '*' }]
	for (const headers of stale) {
		test(`what is wrong without looking at the record is told before ${JSON.stringify(headers)}`, async () => {
			const asked = versioned()
			for (const method of ['PATCH', 'PUT'])
				for (const id of [1, 99]) {
					const invalid = { headers, body: { title: '' } }
					assert.is((await asked.ask(`${method} /article/${id}?fields=no`, invalid)).status, 400)
					assert.is(
						(await asked.ask(`${method} /article/${id}`, { headers, body: { title: 5 } })).status,
						422,
					)
				}
			assert.is((await asked.ask('PATCH /article/1', { headers, body: { title: 'N' } })).status, 412)
			assert.is((await asked.ask('PATCH /article/99', { headers, body: { title: 'N' } })).status, 404)
		})
	}

	test('of two PUTs with the same If-Match one is done', async () => {
		const asked = versioned()
		const put = (title: string) =>
			asked.ask('PUT /article/1', { headers: { 'If-Match': '"1"' }, body: { title } })
		const replies = await Promise.all([put('A'), put('B')])
		assert.equal(replies.map(({ status }) => status).sort(), [200, 412])
	})

	test('a version without a default begins at 1', async () => {
		const model = new MemoryModel('t', { key: 'id', fields: { id: 'integer', v: 'integer' } })
		const asked = asking({ t: new CrudHandler(model, { visible: ['id'], version: 'v', allow: ['create'] }) })
		assert.is((await asked.ask('POST /t', { body: {} })).headers.etag, '"1"')
	})
})

describe('crud/preconditions: without a version', (test) => {
	const rows: [string, string, number][] = [
		['If-Match', '"1"', 412],
		['If-Match', '*', 200],
		['If-None-Match', '*', 412],
		['If-None-Match', '"1"', 200],
	]
	for (const [name, value, status] of rows) {
		test(`a change with ${name}: ${value} is ${status}, as no record has an ETag`, async () => {
			const asked = articles()
			const reply = await asked.ask('PATCH /article/1', {
				headers: { [name]: value },
				body: { title: 'New' },
			})
			assert.is(reply.status, status)
			assert.is(reply.headers.etag, undefined)
		})
	}

	test('a GET is answered whatever its conditions', async () => {
		for (const headers of [{ 'If-None-Match': '"1"' }, { 'If-None-Match': '*' }])
			assert.is((await articles().ask('/article/1', { headers })).status, 200)
	})
})

describe('crud/preconditions: create', (test) => {
	const fields = { code: 'text', name: { type: 'text', nullable: true } } as const
	const countries = () =>
		asking({
			country: new CrudHandler(
				new MemoryModel('country', { key: 'code', fields, rows: [{ code: 'de' }], unique: [['name']] }),
				{ visible: 'all', updatable: ['name'], allow: ['create'] },
			),
		})

	test('If-None-Match: * makes a record only where there is none with its key', async () => {
		const headers = { 'If-None-Match': '*' }
		assert.is((await countries().ask('POST /country', { headers, body: { code: 'fr' } })).status, 201)
		assert.is((await countries().ask('POST /country', { headers, body: { code: 'de' } })).status, 412)
		assert.is((await countries().ask('POST /country', { body: { code: 'de' } })).status, 409)
	})

	test('the collection has no ETag that If-Match could name', async () => {
		const ask = (tag: string) =>
			countries().ask('POST /country', { headers: { 'If-Match': tag }, body: { code: 'fr' } })
		assert.is((await ask('"1"')).status, 412)
		assert.is((await ask('*')).status, 201)
	})
})
