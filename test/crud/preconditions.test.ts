import * as assert from 'uvu/assert'
import { firstVersion } from '../../lib/crud/changes.ts'
import { CrudHandler, type CrudValues, type Field, MemoryModel } from '../../lib/index.ts'
import { ModelError } from '../../lib/models/model-error.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { articleModel, articles, OPTIONS } from './articles.ts'

function versioned() {
	return articles(new CrudHandler(articleModel(), { ...OPTIONS, version: 'revision' }))
}

describe('crud/preconditions: with a version', (test) => {
	test("a record's ETag is its version, which every update raises", async () => {
		const asked = versioned()
		assert.is((await asked.ask('/article/1')).headers.etag, '"1"')
		assert.is((await asked.ask('HEAD /article/1')).headers.etag, '"1"')
		assert.is((await asked.ask('PATCH /article/1', { body: { title: 'A' } })).headers.etag, '"2"')
		assert.is((await asked.ask('PUT /article/1', { body: { title: 'B' } })).headers.etag, '"3"')
		assert.is((await asked.ask('/article/1?fields=title')).headers.etag, '"3"')
		assert.is((await asked.ask('/article')).headers.etag, undefined)
		assert.is((await asked.ask('DELETE /article/1')).headers.etag, undefined)
	})

	test('no body can change the version', async () => {
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
	const both: [string, string, number][] = [
		['"1"', '"1"', 412],
		['"1"', '*', 412],
		['*', '"1"', 412],
		['"1"', '"2"', 200],
		['"2"', '"2"', 412],
	]
	for (const [match, noneMatch, status] of both) {
		for (const method of ['GET', 'PATCH', 'PUT', 'DELETE']) {
			const expected = method === 'GET' && status === 412 && match !== '"2"' ? 304 : status
			test(`${method} with If-Match: ${match} and If-None-Match: ${noneMatch} is ${expected}`, async () => {
				const headers = { 'If-Match': match, 'If-None-Match': noneMatch }
				const body = method === 'GET' ? undefined : { title: 'New' }
				assert.is((await versioned().ask(`${method} /article/1`, { headers, body })).status, expected)
			})
		}
	}

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

	test('an empty update also checks If-Match', async () => {
		const headers = { 'If-Match': '"2"' }
		assert.is((await versioned().ask('PATCH /article/1', { headers, body: {} })).status, 412)
	})

	test('a missing record is 404, whatever the conditions', async () => {
		for (const headers of [{ 'If-Match': '"1"' }, { 'If-Match': '*' }, { 'If-None-Match': '*' }])
			for (const method of ['GET', 'PATCH', 'PUT', 'DELETE'])
				assert.is(
					(await versioned().ask(`${method} /article/99`, { headers, body: { title: 'T' } })).status,
					404,
				)
	})

	const stale = [{ 'If-Match': '"2"' }, { 'If-Match': '"2", "3"' }, { 'If-None-Match': '*' }]
	for (const headers of stale) {
		test(`errors of the request itself take precedence over ${JSON.stringify(headers)}`, async () => {
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

	test('a recreated record gets a version its key never had, whatever the default is', async () => {
		for (const own of ['integer', { type: 'integer', default: 1 }] as const) {
			const model = new MemoryModel('t', { key: 'id', fields: { id: 'text', v: own } })
			const allow = ['create', 'read', 'update', 'remove'] as const
			const asked = asking({ t: new CrudHandler(model, { visible: ['id'], version: 'v', allow }) })
			const made = async () => (await asked.ask('POST /t', { body: { id: 'a' } })).headers.etag
			const tag = String(await made())
			assert.match(tag, /^"\d{16}"$/)
			assert.is((await asked.ask('DELETE /t/a')).status, 200)
			assert.is.not(await made(), tag)
			assert.is((await asked.ask('/t/a', { headers: { 'If-None-Match': tag } })).status, 200)
			assert.is((await asked.ask('PATCH /t/a', { headers: { 'If-Match': tag }, body: {} })).status, 412)
		}
	})

	test('an override can set the first version', async () => {
		class Counting extends CrudHandler {
			override create(values: CrudValues) {
				return super.create({ ...values, revision: 1 })
			}
		}
		const asked = articles(new Counting(articleModel(), { ...OPTIONS, version: 'revision' }))
		assert.is((await asked.ask('POST /article', { body: { title: 'C' } })).headers.etag, '"1"')
	})

	const fields: [Partial<Field>, least: number, greatest: number][] = [
		[{ min: -32_768, max: 32_767 }, 256, 16_383],
		[{ min: 0, max: 65_535 }, 512, 32_767],
		[{ min: -8_388_608, max: 8_388_607 }, 65_536, 4_194_303],
		[{ min: -2_147_483_648, max: 2_147_483_647 }, 16_777_216, 1_073_741_823],
		[{ type: 'bigint' }, 1_795_000_000_000_000, 1_795_000_000_000_999],
		[{ type: 'bigint', max: 2n ** 63n - 1n }, 1_795_000_000_000_000, 1_795_000_000_000_999],
		[{}, 1_795_000_000_000_000, 1_795_000_000_000_999],
	]
	for (const [more, least, greatest] of fields) {
		test(`a first version of a field up to ${more.max ?? '2^53'} is within ${least} and ${greatest}`, () => {
			const field: Field = {
				...{ name: 'v', type: 'integer', nullable: false, hasDefault: true, generated: false, ...more },
			}
			const made = Array.from({ length: 2_000 }, () => firstVersion(field, 1_795_000_000_000))
			assert.ok(made.every((one) => Number.isInteger(one) && one >= least && one <= greatest))
			assert.ok(new Set(made).size > 100)
		})
	}
})

describe('crud/preconditions: without a version', (test) => {
	const rows: [string, string, number][] = [
		['If-Match', '"1"', 412],
		['If-Match', '*', 200],
		['If-None-Match', '*', 412],
		['If-None-Match', '"1"', 200],
	]
	for (const [name, value, status] of rows) {
		test(`an update with ${name}: ${value} is ${status}, as no record has an ETag`, async () => {
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

	test('If-None-Match: * creates a record only if its key is free', async () => {
		const headers = { 'If-None-Match': '*' }
		assert.is((await countries().ask('POST /country', { headers, body: { code: 'fr' } })).status, 201)
		assert.is((await countries().ask('POST /country', { headers, body: { code: 'de' } })).status, 412)
		assert.is((await countries().ask('POST /country', { body: { code: 'de' } })).status, 409)
	})

	test('a conflict of another field stays 409, whatever If-None-Match says', async () => {
		const asked = countries()
		const headers = { 'If-None-Match': '*' }
		const body = { code: 'fr', name: 'France' }
		assert.is((await asked.ask('POST /country', { headers, body })).status, 201)
		const again = await asked.said('POST /country', { headers, body: { ...body, code: 'gf' } })
		assert.match(again, /^409 .*"error":"name is taken by another record"/)
	})

	test('another error about the key is unchanged, whatever If-None-Match says', async () => {
		/** As if the key referred to a missing record. */
		class Referring extends MemoryModel {
			override create(): Promise<never> {
				return Promise.reject(new ModelError('foreign_key', ['code']))
			}
		}
		const { ask } = asking({
			country: new CrudHandler(new Referring('country', { key: 'code', fields }), {
				visible: 'all',
				updatable: ['name'],
				allow: ['create'],
			}),
		})
		const body = { code: 'fr' }
		const { status } = await ask('POST /country', { headers: { 'If-None-Match': '*' }, body })
		assert.is(status, (await ask('POST /country', { body })).status)
		assert.is(status, 409)
	})

	test('the collection has no ETag for If-Match to match', async () => {
		const ask = (tag: string) =>
			countries().ask('POST /country', { headers: { 'If-Match': tag }, body: { code: 'fr' } })
		assert.is((await ask('"1"')).status, 412)
		assert.is((await ask('*')).status, 201)
	})
})
