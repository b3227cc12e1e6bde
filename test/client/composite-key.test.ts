/** `CrudClient` over a handler whose records have a key of several fields. */
import * as assert from 'uvu/assert'
import { CrudClient } from '../../lib/client/index.ts'
import { CrudHandler, createServer, MemoryModel } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { Log } from '../helpers/listening.ts'

interface Tag {
	article: number
	tag: string
	note: string | null
	v: number
	deleted: string | null
}

function tags(options: { visible?: readonly string[] } = {}) {
	const model = new MemoryModel('tag', {
		fields: {
			article: 'integer',
			tag: 'text',
			note: { type: 'text', nullable: true },
			v: { type: 'integer', default: 1 },
			deleted: { type: 'timestamp', nullable: true },
		},
		key: ['article', 'tag'],
		rows: [
			{ article: 7, tag: 'a,b', note: 'first' },
			{ article: 7, tag: '', note: 'second' },
		],
	})
	const handler = new CrudHandler(model, {
		...{ visible: 'all', updatable: ['note'], version: 'v', ...options },
		...{ allow: ['list', 'read', 'create', 'update', 'replace', 'remove', 'removeMany', 'restore'] },
		softDelete: 'deleted',
	})
	const server = createServer({ tags: handler }, { logger: new Log() })
	return new CrudClient<Tag>('tags', 'http://localhost', {
		key: ['article', 'tag'],
		fetch: async (url, init) => server.fetch(new Request(url, init)),
	})
}

describe('client: a key of several fields', (test) => {
	test('an id is a list of values, in the order of the key', async () => {
		const client = tags()
		assert.is((await client.get([7, 'a,b'])).note, 'first')
		assert.is((await client.get([7n, ''])).note, 'second')
		assert.is((await client.update([7, 'a,b'], { note: 'changed' })).note, 'changed')
		assert.is((await client.delete([7, ''])).note, 'second')
		assert.is(await client.count(), 1)
	})

	test('a record is its own id, also one that was created, and without the fields of its key', async () => {
		const client = tags()
		const made = await client.create({ article: 8, tag: '../x', note: 'new' })
		assert.is((await client.update(made, { note: 'changed' })).note, 'changed')
		const bare = await client.create({ article: 8, tag: 'y,z', note: 'bare' }, { fields: ['note'] })
		assert.equal({ ...bare }, { note: 'bare' })
		assert.is((await client.delete(bare)).tag, 'y,z')
		const { data } = await client.list({ sort: '-tag' })
		assert.is((await client.get(data[0] ?? [])).tag, data[0]?.tag)
	})

	test('the ids of deleted records are lists of values, by which they can be restored', async () => {
		const client = tags()
		const ids = await client.removeMany<readonly string[]>({ where: { article: 7 } })
		assert.equal(ids, [
			['7', ''],
			['7', 'a,b'],
		])
		const restored = await Promise.all(ids.map((id) => client.restore(id)))
		assert.equal(
			restored.map(({ note }) => note),
			['second', 'first'],
		)
	})

	test('a list without values, a value that is none, and a record without its key are refused', async () => {
		const client = tags()
		for (const id of [[], [7, {}], [7, 1.5], [undefined, 'a']]) {
			// A program without types may pass anything.
			const error: unknown = await client.get(id as number[]).catch((error: unknown) => error)
			assert.match(String(error), /^TypeError: an id must be text other than/)
		}
		const error: unknown = await client.get({ article: 7 }).catch((error: unknown) => error)
		assert.match(String(error), /^TypeError: the record has no article,tag, so its id isn't known/)
	})
})
