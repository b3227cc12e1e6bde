/** Lists of records by a `CrudClient`, against a server. */
import * as assert from 'uvu/assert'
import { ApiError, CrudClient } from '../../lib/client/index.ts'
import { CrudHandler, MemoryModel } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'

interface Note {
	readonly id: number
	readonly text: string
	readonly stars: number | null
}

describe('CrudClient: many at once', (test) => {
	const served = (work: (client: CrudClient<Note>, model: MemoryModel) => Promise<void>) => {
		const model = new MemoryModel('note', {
			fields: { id: 'integer', text: 'text', stars: { type: 'integer', nullable: true } },
			key: 'id',
			unique: [['text']],
		})
		class Notes extends CrudHandler {
			override idempotencyKeys = 'anyone' as const
		}
		const handler = new Notes(model, {
			...{ visible: 'all', creatable: ['text', 'stars'], updatable: ['stars'], upsertOn: ['text'] },
			allow: ['list', 'createMany', 'updateMany', 'removeMany', 'upsert'],
		})
		return listening({ note: handler }, {}, ({ url }) => work(new CrudClient<Note>('note', url), model))
	}

	test('returns the records in their order, with the requested fields, once per key', () =>
		served(async (notes, model) => {
			const records = await notes.createMany([{ text: 'b' }, { text: 'a' }])
			assert.equal(records, [
				{ id: 1, text: 'b', stars: null },
				{ id: 2, text: 'a', stars: null },
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

	test('updateMany changes each, and removeMany what matches', () =>
		served(async (notes, model) => {
			await notes.createMany([{ text: 'a' }, { text: 'b' }, { text: 'c' }])
			const changed = await notes.updateMany(
				[
					{ id: 3, stars: 5 },
					{ id: 1, stars: 4 },
				],
				{ fields: ['id', 'stars'] },
			)
			assert.equal(changed, [
				{ id: 3, stars: 5 },
				{ id: 1, stars: 4 },
			])
			const missing = await notes.updateMany([{ id: 9, stars: 1 }]).catch((one) => one)
			assert.equal([missing.status, missing.details?.[0]?.field], [404, '0'])
			assert.equal(await notes.removeMany({ where: { stars: { gte: 4 } } }), [1, 3])
			assert.is((await notes.removeMany({}).catch((one) => one)).status, 400)
			const long = { where: { text: Array.from({ length: 99 }, () => 'x'.repeat(99)) } }
			assert.match((await notes.removeMany(long).catch((one) => one)).message, 'too long for a URL')
			assert.is(await model.count(undefined), 1)
		}))

	test('removeMany deletes once for a key', () =>
		served(async (notes, model) => {
			await notes.createMany([
				{ text: 'a', stars: 1 },
				{ text: 'b', stars: 2 },
			])
			const where = { stars: 1 }
			assert.equal(await notes.removeMany({ where }, { idempotencyKey: 'k' }), [1])
			await notes.updateMany([{ id: 2, stars: 1 }])
			assert.equal(await notes.removeMany({ where }, { idempotencyKey: 'k' }), [1])
			assert.is(await model.count(undefined), 1)
		}))

	test('upsert creates and changes, once for a key', () =>
		served(async (notes, model) => {
			await notes.createMany([{ text: 'a', stars: 1 }])
			const both = [
				{ text: 'b', stars: 2 },
				{ text: 'a', stars: 3 },
			]
			assert.equal(await notes.upsert(both, 'text', { fields: ['id', 'stars'], idempotencyKey: 'k' }), [
				{ id: 2, stars: 2 },
				{ id: 1, stars: 3 },
			])
			await notes.updateMany([{ id: 1, stars: 9 }])
			await notes.upsert(both, ['text'], { fields: ['id', 'stars'], idempotencyKey: 'k' })
			assert.is(await model.count({ op: 'eq', field: 'stars', value: 9 }), 1)
			const error = await notes.upsert(both, 'stars').catch((one) => one)
			assert.equal([error.status, error.message], [400, 'on must be text'])
		}))

	test('a single record is refused before it is sent', () =>
		served(async (notes, model) => {
			// A program without types may pass anything.
			const one = { id: 1, text: 'a' } as unknown as Note[]
			const calls = [
				['POST', notes.createMany(one)],
				['PATCH', notes.updateMany(one)],
				['PUT', notes.upsert(one, 'text')],
			] as const
			for (const [method, call] of calls) {
				const error = await call.catch((error) => error)
				assert.is(String(error), `TypeError: ${method} ${notes.url}: the records must be an array`)
			}
			assert.is(await model.count(undefined), 0)
		}))

	test('an answer that is no list is an ApiError', async () => {
		for (const data of [{}, null, 'x']) {
			const fetch = async () => Response.json({ success: true, data })
			const notes = new CrudClient<Note>('note', '/api', { fetch })
			const calls = [
				['POST /api/note', notes.createMany([{ text: 'a' }])],
				['PATCH /api/note', notes.updateMany([{ id: 1, stars: 1 }])],
				['PUT /api/note', notes.upsert([{ text: 'a' }], 'text')],
			] as const
			for (const [title, call] of calls) {
				const error = await call.catch((one) => one)
				assert.instance(error, ApiError)
				assert.equal([error.code, error.message], ['unexpected_answer', `${title}: the answer is not a list`])
			}
		}
	})

	test('removeMany with a key is retried', async () => {
		let calls = 0
		const fetch = async () =>
			calls++ === 0 ? new Response('', { status: 503 }) : Response.json({ success: true, data: [] })
		const notes = new CrudClient<Note>('note', '/api', { fetch })
		const query = { where: { stars: 1 } }
		assert.is((await notes.removeMany(query).catch((one) => one)).status, 503)
		calls = 0
		assert.equal(await notes.removeMany(query, { idempotencyKey: 'k' }), [])
	})

	test('upsert with a key is retried', async () => {
		let calls = 0
		const fetch = async () =>
			calls++ === 0 ? new Response('', { status: 503 }) : Response.json({ success: true, data: [] })
		const notes = new CrudClient<Note>('note', '/api', { fetch })
		assert.is((await notes.upsert([], 'text').catch((one) => one)).status, 503)
		calls = 0
		assert.equal(await notes.upsert([], 'text', { idempotencyKey: 'k' }), [])
	})
})
