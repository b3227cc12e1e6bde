/** What memory models know about each other: foreign keys, links within a transaction, and values of several types. */
import * as assert from 'uvu/assert'
import { MemoryModel, type MemoryModelOptions } from '../../../lib/models/memory/memory-model.ts'
import type { Condition, Link, Model, Order } from '../../../lib/models/model.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { describe } from '../../helpers/describe.ts'
import { opened, sqliteDrivers } from '../../helpers/sqlite.ts'

const ALL = { where: undefined, limit: 1_000, offset: 0, after: undefined, total: false }

async function ids(
	model: Model,
	where: Condition | undefined,
	order: readonly Order[] = [],
): Promise<unknown[]> {
	const selection = { fields: ['id'], names: ['id'], version: undefined }
	const terms = [...order, { field: 'id', descending: false }]
	const { json } = await model.list({ ...ALL, selection, where, order: terms })
	return (JSON.parse(json) as { id: unknown }[]).map(({ id }) => id)
}

const select = (...fields: string[]) => ({ fields, names: fields, version: undefined })
const is = (field: string, value: string | number): Condition => ({ op: 'eq', field, value })
const some = (link: Link, where?: Condition): Condition => ({ op: 'some', link, where })

function blog() {
	const authors = new MemoryModel('author', {
		fields: { id: 'integer', name: 'text' },
		key: 'id',
		rows: [{ name: 'Ada' }, { name: 'Bob' }],
	})
	const articles = new MemoryModel('article', {
		fields: {
			id: 'integer',
			title: 'text',
			authorId: { type: 'integer', nullable: true },
			parent: { type: 'integer', nullable: true },
		},
		key: 'id',
		references: [
			{ field: 'authorId', model: authors },
			{ field: 'parent', model: 'itself' },
		],
		rows: [
			{ title: 'a', authorId: 2, parent: null },
			{ title: 'b', authorId: 1, parent: 1 },
			{ title: 'c', authorId: null, parent: 1 },
			{ title: 'd', authorId: 2, parent: 2 },
		],
	})
	const author: Link = { model: authors, fields: ['authorId'], to: ['id'], isMany: false }
	const written: Link = { model: articles, fields: ['id'], to: ['authorId'], isMany: true }
	const parent: Link = { model: articles, fields: ['parent'], to: ['id'], isMany: false }
	return { authors, articles, author, written, parent }
}

describe('links between memory models', (test) => {
	test('foreign keys are those of the option references', async () => {
		const { authors, articles } = blog()
		assert.equal(articles.references(authors), [{ fields: ['authorId'], to: ['id'] }])
		assert.equal(articles.references(articles), [{ fields: ['parent'], to: ['id'] }])
		assert.equal(authors.references(articles), [])
		await articles.transaction(async (within) => {
			assert.equal(within.references?.(authors), articles.references(authors))
			assert.equal(within.references?.(articles), articles.references(articles))
			assert.equal(articles.references(within), articles.references(articles))
		})
		const tags = new MemoryModel('tag', { fields: { day: 'date', name: 'text' }, key: ['name', 'day'] })
		const uses = new MemoryModel('use', {
			fields: { id: 'integer', on: 'date', tag: 'text' },
			key: 'id',
			references: [{ field: ['tag', 'on'], model: tags }],
		})
		assert.equal(uses.references(tags), [{ fields: ['tag', 'on'], to: ['name', 'day'] }])
	})

	test('only memory models are joined, and each of them', async () => {
		const { authors, articles, author } = blog()
		const open = sqliteDrivers.find((driver) => driver.open !== undefined)?.open
		const database = opened(open)
		database.exec('create table author (id integer primary key, name text)')
		const other = await SqliteModel.open(database, 'author')
		assert.equal(
			[articles.joins(authors), articles.joins(articles), articles.joins(other)],
			[true, true, false],
		)
		assert.equal([articles.references(other), other.references(authors)], [[], []])
		assert.is(await articles.transaction(async (within) => within.joins?.(authors)), true)
		const error = await ids(articles, some({ ...author, model: other })).catch((reason: Error) => reason)
		assert.instance(error, TypeError)
		assert.match(String(error), "author isn't a MemoryModel, so it can't be joined")
		database.close()
	})

	test('a transaction sees its own changes through links too, and nobody else sees them', async () => {
		const { authors, articles, author, written, parent } = blog()
		const ofBob = some(author, is('name', 'Bob'))
		const wrote = some(written, is('title', 'new'))
		await articles.transaction(async (within) => {
			await within.create({ title: 'new', authorId: 1, parent: 4 }, select('id'))
			await within.update('4', { title: 'changed' }, select('id'), { where: undefined, version: undefined })
			assert.equal(await ids(within, some(parent, is('title', 'changed'))), [5])
			assert.equal(await ids(within, some(parent, is('title', 'd'))), [])
			// Back to its own records by way of the authors.
			assert.equal(await ids(within, some(author, wrote)), [2, 5])
			assert.equal(await ids(within, ofBob), [1, 4])
			const order = { field: 'title', descending: true, via: [{ link: parent, where: undefined }] }
			assert.equal(await ids(within, undefined, [order]), [5, 4, 2, 3, 1])
			assert.equal(await ids(authors, wrote), [])
			assert.equal(await ids(articles, some(parent, is('title', 'changed'))), [])
			assert.equal(await ids(authors, some({ ...written, model: within }, is('title', 'new'))), [1])
		})
		assert.equal(await ids(authors, wrote), [1])
	})

	test('an order by related records follows their changes', async () => {
		const { authors, articles, author } = blog()
		const order = [{ field: 'name', descending: false, via: [{ link: author, where: undefined }] }]
		assert.equal(await ids(articles, undefined, order), [2, 1, 4, 3])
		await authors.update('1', { name: 'Zoe' }, select('id'), { where: undefined, version: undefined })
		assert.equal(await ids(articles, undefined, order), [1, 4, 2, 3])
	})

	test('conditions of reads, changes and counts may have links', async () => {
		const { articles, author } = blog()
		const where = some(author, is('name', 'Ada'))
		assert.is(await articles.count(where), 1)
		assert.is(await articles.read('1', select('id'), where), undefined)
		assert.is((await articles.read('2', select('id'), where))?.json, '{"id":2}')
		const guard = { where, version: undefined }
		assert.is(await articles.update('1', { title: 'x' }, select('id'), guard), 'missing')
		assert.is(await articles.delete('3', select('id'), guard), 'missing')
	})

	test('link values are compared as the types do', async () => {
		const types: readonly (readonly [MemoryModelOptions['fields'][string], unknown, unknown, unknown])[] = [
			['decimal', '1.50', '1.5', '1.51'],
			['bytes', Uint8Array.of(1, 2), Uint8Array.of(1, 2), Uint8Array.of(2)],
			['float', -0, 0, 1],
			['float', Number.NaN, Number.NaN, 1],
			['bigint', 2n ** 62n, 2n ** 62n, 2n ** 62n + 1n],
			['timestamp', '2026-01-01T00:00:00.100Z', '2026-01-01T01:00:00.1+01:00', '2026-01-01T00:00:00.1001Z'],
			['uuid', '0F8FAD5B-D9CB-469F-A165-70867728950E', '0f8fad5b-d9cb-469f-a165-70867728950e', null],
			['text', 'a', 'a', 'A'],
		]
		for (const [type, left, equal, different] of types) {
			const value = typeof type === 'string' ? ({ type, nullable: true } as const) : type
			const fields = { id: 'integer', value } as const
			const make = (...values: unknown[]) =>
				new MemoryModel('thing', { fields, key: 'id', rows: values.map((value) => ({ value })) })
			const model = make(left, different, null)
			const link: Link = { model: make(equal, null), fields: ['value'], to: ['value'], isMany: true }
			assert.equal(await ids(model, some(link)), [1], String(left))
		}
	})
})
