/** Records, pages and other JSON texts within another value: serialized as their values, without hidden fields. */
import { inspect } from 'node:util'
import * as assert from 'uvu/assert'
import { CrudHandler, MemoryCache, RawJson, RestHandler, remember } from '../../lib/index.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { articleModel, articles } from './articles.ts'

const options = { visible: ['id', 'title'] }
const cache = new MemoryCache({ max: 10 })

class Nesting extends CrudHandler {
	override list() {
		this.needs('secret')
		return super.list({ limit: 1 })
	}
	override read(id: string) {
		this.needs('secret')
		return super.read(id)
	}
	async get_dash() {
		return { team: await this.read('1'), all: await this.list() }
	}
	async get_array() {
		return [await this.read('1')]
	}
	async get_spread() {
		return { ...(await this.read('1')), ...(await this.list()), extra: 1 }
	}
	async *get_feed() {
		yield await this.read('1')
	}
	async get_with() {
		const record = await this.read('1')
		return record.with({ of: record })
	}
	get_remembered() {
		// @ts-expect-error: a record has methods, and what is kept is its value
		return remember(cache, 'record', 60, () => this.read('1'))
	}
	async get_shown() {
		const record = await this.read('1')
		return [inspect(record), Object.keys(record), record.id]
	}
}

class Stripping extends Nesting {
	override stripObject({ id }: Record<string, unknown>) {
		return { no: id }
	}
}

const RECORD = '{"id":1,"title":"Title 1"}'
const rows: [method: string, plain: string, stripped: string][] = [
	['dash', `{"team":${RECORD},"all":[${RECORD}]}`, '{"team":{"no":1},"all":[{"no":1}]}'],
	['array', `[${RECORD}]`, '[{"no":1}]'],
	['feed', `[${RECORD}]`, '[{"no":1}]'],
	['with', `{"of":${RECORD}}`, '{}'],
	['remembered', RECORD, '{"no":1}'],
]

describe('crud: a record within another value', (test) => {
	test.before.each(() => void cache.delete('record'))

	for (const [method, plain, stripped] of rows) {
		test(`is serialized as its value, without needed fields: ${method}`, async () => {
			const asked = articles(new Nesting(articleModel(), options))
			assert.is(await asked.said(`/article/${method}`), `200 {"success":true,"data":${plain}}`)
			assert.is(await asked.said(`/article/${method}`), `200 {"success":true,"data":${plain}}`)
		})
		test(`is serialized as stripObject returns it: ${method}`, async () => {
			const asked = articles(new Stripping(articleModel(), options))
			assert.is(await asked.said(`/article/${method}`), `200 {"success":true,"data":${stripped}}`)
		})
	}

	test('exposes no internals when spread or printed', async () => {
		const asked = articles(new Nesting(articleModel(), options))
		assert.is(await asked.said('/article/spread'), '200 {"success":true,"data":{"extra":1}}')
		const shown = JSON.stringify([`CrudRecord { text: '${RECORD}' }`, [], '1'])
		assert.is(await asked.said('/article/shown'), `200 {"success":true,"data":${shown}}`)
	})

	test('is serialized as its value in what a hook returns', async () => {
		const after = (_view: unknown, value: unknown) => ({ value })
		const asked = articles(new Nesting(articleModel(), options), { after })
		assert.is(await asked.said('/article/1'), `200 {"success":true,"data":{"value":${RECORD}}}`)
		assert.match(await asked.said('/article'), `{"success":true,"data":{"value":[${RECORD}]},"meta":{`)
	})
})

describe('JSON text within another value', (test) => {
	test('is serialized as the value it describes', async () => {
		class Raw extends RestHandler {
			get_raw() {
				return { raw: new RawJson('{"a":[1,{}]}'), list: [new RawJson('2')] }
			}
		}
		const said = await asking({ api: Raw }).said('/api/raw')
		assert.is(said, '200 {"success":true,"data":{"raw":{"a":[1,{}]},"list":[2]}}')
	})
})
