/** What overrides are given, what they may answer, and what `super` answers them, types among it. */
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	type CrudPage,
	type CrudQuery,
	type CrudRecord,
	type CrudValues,
	DEFAULT,
	MemoryModel,
	RawJson,
	reply,
} from '../../lib/index.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { type Same, same } from '../helpers/same.ts'
import { articleModel, articles, dataOf, EVERYTHING, OPTIONS } from './articles.ts'

describe('crud: the types of operations', (test) => {
	const handler = new CrudHandler(articleModel(), OPTIONS)

	test('super and callers know exactly what the operations answer', async () => {
		const asked = () => ({
			list: handler.list(),
			read: handler.read('1'),
			create: handler.create({ title: 'N' }),
			update: handler.update('1', {}),
			replace: handler.replace('1', {}),
			remove: handler.remove('1'),
		})
		type Answers = ReturnType<typeof asked>
		same<Same<Answers['list'], Promise<CrudPage>>>()
		same<Same<Answers['read'], Promise<CrudRecord>>>()
		same<Same<Answers['create'], Promise<CrudRecord>>>()
		same<Same<Answers['update'], Promise<CrudRecord>>>()
		same<Same<Answers['replace'], Promise<CrudRecord>>>()
		same<Same<Answers['remove'], Promise<CrudRecord>>>()

		class Typed extends CrudHandler {
			override async read(id: string) {
				const record = await super.read(id)
				same<Same<typeof record, CrudRecord>>()
				// @ts-expect-error: no member of a record
				record.nothing
				// @ts-expect-error: what is awaited doesn't become what it is wished to be
				const wished: number = await super.read(id)
				return { wished }
			}
		}
		const read = await new Typed(articleModel(), OPTIONS).read('1')
		same<Same<typeof read, { wished: number }>>()
		assert.is(Object.keys(read).join(), 'wished')
	})

	test('an override may answer anything, its parameters are those of the operation', async () => {
		class Anything extends CrudHandler {
			override list() {
				return [1, 2]
			}
			override async read(id: string) {
				return id === '1' ? undefined : reply(await super.read(id), { status: 203 })
			}
			override create(): never {
				throw new Error('unmade')
			}
			override update(id: string) {
				return id === '1' ? this.error('No') : super.read(id)
			}
			override remove() {}
		}
		class Further extends Anything {
			override list() {
				return super.list().slice(1)
			}
		}
		class Wrong extends CrudHandler {
			// @ts-expect-error: an id is a text
			override read(id: number) {
				return id
			}
		}
		assert.equal(await dataOf(articles(new Further(articleModel(), OPTIONS)), '/article'), [2])
		assert.is(new Wrong(articleModel(), OPTIONS).read(5), 5)
	})
})

describe('crud: list() of a part of a query', (test) => {
	class Mine extends CrudHandler {
		override scope() {
			return { owner: 'ann' }
		}

		async get_count() {
			const { meta } = await super.list({ limit: 0 })
			return meta
		}

		get_newest() {
			return this.list({ order: [{ field: 'id', descending: true }], limit: 1 })
		}

		async get_first() {
			const { text, meta } = await this.list()
			return { first: JSON.parse(text), meta }
		}
	}
	const mine = () => articles(new Mine(articleModel(), { visible: ['id'] }))

	test('counts within the scope', async () => {
		assert.equal(await dataOf(mine(), '/article/count'), { limit: 0, offset: 0, next: null, total: 3 })
	})

	test('is whole with what a list without parameters has', async () => {
		assert.equal(await dataOf(mine(), '/article/newest'), [{ id: 5 }])
		assert.equal(await dataOf(mine(), '/article/first'), {
			first: [{ id: 1 }, { id: 3 }, { id: 5 }],
			meta: { limit: 25, offset: 0, next: null },
		})
	})

	test('has cursors of its own order', async () => {
		const handler = new CrudHandler(articleModel(), OPTIONS)
		const asked = articles(handler)
		const stamped = async (query: Partial<CrudQuery>) =>
			(await handler.list({ limit: 1, ...query })).meta.next
		const order = [{ field: 'id', descending: true }]
		assert.is((await asked.ask(`/article?cursor=${await stamped({})}`)).status, 200)
		assert.is((await asked.ask(`/article?cursor=${await stamped({ order })}`)).status, 400)
	})
})

describe('crud: the values of an override', (test) => {
	test('are what models are given, by the names of clients', async () => {
		const model = new MemoryModel('t', {
			key: 'id',
			fields: {
				id: 'integer',
				is_on: { type: 'boolean', default: true },
				...{ count: 'integer', big: 'bigint', rate: 'float', price: 'decimal', name: 'text', uid: 'uuid' },
				...{ day: 'date', at: 'timestamp', about: 'json', bytes: 'bytes' },
				note: { type: 'text', nullable: true },
			},
		})
		const seen: CrudValues[] = []
		class Seeing extends CrudHandler {
			override create(values: CrudValues) {
				seen.push(values)
				return super.create(values)
			}
			override replace(id: string, values: CrudValues) {
				seen.push(values)
				return super.replace(id, values)
			}
		}
		const updatable = model.fields.map(({ name }) => name).filter((name) => name !== 'id')
		const isOn = { isOn: 'is_on' }
		const handler = new Seeing(model, {
			...{ visible: 'all', columns: isOn, allow: EVERYTHING },
			updatable: updatable.map((name) => (name === 'is_on' ? 'isOn' : name)),
		})
		const body = {
			...{ count: 1, big: '9007199254740993', rate: 'NaN', price: 12.5, name: 'x' },
			...{ uid: '0F8FAD5B-D9CB-469F-A165-70867728950E', day: '2026-11-20', bytes: 'AQI=' },
			...{ at: '2026-11-20T10:00:00.1234+01:00', about: { a: [1] } },
		}
		const asked = asking({ t: handler })
		await dataOf(asked, 'POST /t', { body })
		await dataOf(asked, 'PUT /t/1', { body })
		const given = {
			...{ count: 1, big: 9007199254740993n, rate: Number.NaN, price: '12.5', name: 'x' },
			...{ uid: '0f8fad5b-d9cb-469f-a165-70867728950e', day: '2026-11-20' },
			...{ at: '2026-11-20T09:00:00.1234Z', about: new RawJson('{"a":[1]}'), bytes: Buffer.from([1, 2]) },
		}
		const [created = {}, replaced = {}] = seen
		for (const [name, value] of Object.entries(given)) assert.equal(created[name], value, name)
		assert.equal(Object.keys(created).sort(), Object.keys(given).sort())
		assert.equal([replaced.isOn, replaced.note], [DEFAULT, null])
	})
})
