/** Lists of records are audited as single ones, in the same transaction. */
import * as assert from 'uvu/assert'
import { CrudHandler, MemoryModel } from '../../../lib/index.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'

describe('an audit of many at once', (test) => {
	test('has each change of a list, and none of a list that fails', async () => {
		const notes = new MemoryModel('note', {
			fields: { id: 'integer', text: 'text' },
			key: 'id',
			unique: [['text']],
		})
		const maybe = <T extends string>(type: T) => ({ type, nullable: true }) as const
		const audit = new MemoryModel('audit', {
			fields: {
				...{ id: 'integer', who: maybe('text'), at: 'timestamp', operation: 'text', record: 'text' },
				...{ before: maybe('text'), after: maybe('text') },
			},
			key: 'id',
		})
		const handler = new CrudHandler(notes, {
			...{ visible: 'all', updatable: ['text'], audit },
			allow: ['createMany', 'updateMany', 'removeMany'],
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
	})
})
