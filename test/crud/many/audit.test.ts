/** Lists of records are audited as single ones, in the same transaction. */
import * as assert from 'uvu/assert'
import { CrudHandler, MemoryModel } from '../../../lib/index.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'

const maybe = <T extends string>(type: T) => ({ type, nullable: true }) as const

function open() {
	const notes = new MemoryModel('note', {
		fields: { id: 'integer', text: 'text', stars: maybe('integer'), above: maybe('integer') },
		key: 'id',
		unique: [['text']],
	})
	const audit = new MemoryModel('audit', {
		fields: {
			...{ id: 'integer', who: maybe('text'), at: 'timestamp', operation: 'text', record: 'text' },
			...{ before: maybe('text'), after: maybe('text') },
		},
		key: 'id',
	})
	return { notes, audit }
}

describe('an audit of many at once', (test) => {
	test('has each change of a list, and none of a list that fails', async () => {
		const { notes, audit } = open()
		const handler = new CrudHandler(notes, {
			...{
				visible: ['id', 'text', 'stars'],
				creatable: ['text', 'stars'],
				updatable: ['text', 'stars'],
				upsertOn: ['text'],
				audit,
			},
			allow: ['createMany', 'updateMany', 'removeMany', 'upsert'],
		})
		const { ask } = asking({ note: handler })
		const count = (operation: string) => audit.count({ op: 'eq', field: 'operation', value: operation })
		assert.is((await ask('POST /note', { body: [{ text: 'a' }, { text: 'b' }] })).status, 201)
		assert.is((await ask('POST /note', { body: [{ text: 'c' }, { text: 'a' }] })).status, 409)
		assert.equal([await notes.count(undefined), await count('create')], [2, 2])
		const changes = [
			{ id: 1, text: 'A' },
			{ id: 2, text: 'B' },
		]
		assert.is((await ask('PATCH /note', { body: changes })).status, 200)
		assert.is(
			(
				await ask('PATCH /note', {
					body: [
						{ id: 1, text: 'x' },
						{ id: 9, text: 'y' },
					],
				})
			).status,
			404,
		)
		assert.is(await count('update'), 2)
		assert.is((await ask('DELETE /note?id[in]=1,2')).status, 200)
		assert.equal([await notes.count(undefined), await count('remove')], [0, 2])
		const upserts = [
			{ text: 'c', stars: 1 },
			{ text: 'd', stars: 1 },
			{ text: 'c', stars: 2 },
		]
		assert.is((await ask('PUT /note?on=text', { body: upserts })).status, 200)
		const names = ['record', 'before', 'after']
		const { json } = await audit.list({
			...{ selection: { fields: names, names, version: undefined }, after: undefined, total: false },
			...{ where: { op: 'eq', field: 'operation', value: 'upsert' }, limit: 9, offset: 0 },
			order: [{ field: 'id', descending: false }],
		})
		assert.equal(JSON.parse(json), [
			{ record: '5', before: null, after: '{"id":5,"text":"c","stars":1}' },
			{ record: '5', before: '{"stars":1}', after: '{"stars":2}' },
			{ record: '6', before: null, after: '{"id":6,"text":"d","stars":1}' },
		])
		assert.is((await ask('PUT /note?on=text', { body: { text: 'd', stars: 5 } })).status, 200)
		assert.is(await count('upsert'), 4)
	})

	test('has a record and those that were created with it, each by the user of its handler', async () => {
		const { notes, audit } = open()
		const options = { visible: 'all', creatable: ['text', 'above'], allow: ['create'], audit } as const
		class Above extends CrudHandler {
			override authenticator = { authenticate: () => ({ id: 'above' }) }
		}
		class Below extends CrudHandler {
			override authenticator = { authenticate: () => ({ id: 'below' }) }
		}
		const below = new Below(notes, options)
		const handler = new Above(notes, {
			...options,
			relations: { below: { to: below, by: 'above', many: true, writable: ['create'] } },
		})
		const { said } = asking({ note: handler, below })
		const post = (text: string) =>
			said('POST /note', { body: { text: 'a', below: [{ text: 'b' }, { text }] } })
		assert.match(await post('a'), /^409/)
		assert.equal([await notes.count(undefined), await audit.count(undefined)], [0, 0])
		assert.match(await post('c'), /^201/)
		const by = (who: string) => audit.count({ op: 'eq', field: 'who', value: who })
		assert.equal([await notes.count(undefined), await by('above'), await by('below')], [3, 1, 2])
	})
})
