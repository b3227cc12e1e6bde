/** `CrudClient.createMany`, against a server. */
import * as assert from 'uvu/assert'
import { CrudClient } from '../../lib/client/index.ts'
import { CrudHandler, MemoryModel } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'

interface Note {
	readonly id: number
	readonly text: string
}

describe('CrudClient.createMany', (test) => {
	const served = (work: (client: CrudClient<Note>, model: MemoryModel) => Promise<void>) => {
		const model = new MemoryModel('note', {
			fields: { id: 'integer', text: 'text' },
			key: 'id',
			unique: [['text']],
		})
		class Notes extends CrudHandler {
			override idempotencyKeys = 'anyone' as const
		}
		const handler = new Notes(model, { visible: 'all', creatable: ['text'], allow: ['list', 'createMany'] })
		return listening({ note: handler }, {}, ({ url }) => work(new CrudClient<Note>('note', url), model))
	}

	test('returns the records in their order, with the fields asked for, once for a key', () =>
		served(async (notes, model) => {
			const records = await notes.createMany([{ text: 'b' }, { text: 'a' }])
			assert.equal(records, [
				{ id: 1, text: 'b' },
				{ id: 2, text: 'a' },
			])
			const options = { fields: ['id'], idempotencyKey: 'once' } as const
			const [one] = await notes.createMany([{ text: 'c' }], options)
			const [again] = await notes.createMany([{ text: 'c' }], options)
			assert.equal([one, again], [{ id: 3 }, { id: 3 }])
			assert.is(await model.count(undefined), 3)
		}))

	test('rejects with the place of a problem', () =>
		served(async (notes, model) => {
			const error = await notes.createMany([{ text: 'a' }, { text: 'a' }]).catch((one) => one)
			assert.equal([error.status, error.details?.[0]?.field], [409, '1.text'])
			assert.is(await model.count(undefined), 0)
		}))
})
