/** `MemoryModel` keeps the model contract; its options, and what it does beyond the contract. */
import * as assert from 'uvu/assert'
import { keyNames } from '../../../lib/models/key.ts'
import { MemoryModel, type MemoryModelOptions } from '../../../lib/models/memory/memory-model.ts'
import { DEFAULT, type Model, type Order, type Selection, type Values } from '../../../lib/models/model.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { modelContract } from '../../../lib/testing/index.ts'
import { RawJson } from '../../../lib/wire/raw-json.ts'
import { growth } from '../../helpers/cost.ts'
import { describe } from '../../helpers/describe.ts'
import { CONTRACT_KEYS, CONTRACT_OPTIONS, relatedModels } from '../../testing/memory-for-contract.ts'

const NO_GUARD = { where: undefined, version: undefined }

describe('MemoryModel keeps the contract:', (test) => {
	const make = () => new MemoryModel('contract', CONTRACT_OPTIONS)
	for (const { name, run } of modelContract({ make, keys: CONTRACT_KEYS, relations: relatedModels }))
		test(name, run)
})

describe('MemoryModel', (test) => {
	test('fields contain the declaration, but not the functions that make defaults', () => {
		const { name, key, readOnly, fields } = new MemoryModel('article', {
			fields: {
				id: 'uuid',
				title: { type: 'text', maxLength: 200 },
				kind: { type: 'text', choices: ['news', 'story'], default: 'news' },
				rank: { type: 'integer', min: 0, max: 9, nullable: true },
				big: { type: 'bigint', asText: true },
				created: { type: 'timestamp', default: () => new Date(), generated: true },
			},
			key: 'id',
		})
		assert.equal({ name, key, readOnly }, { name: 'article', key: ['id'], readOnly: false })
		const plain = { nullable: false, hasDefault: false, generated: false }
		assert.equal(fields, [
			{ ...plain, name: 'id', type: 'uuid', hasDefault: true },
			{ ...plain, name: 'title', type: 'text', maxLength: 200 },
			{ ...plain, name: 'kind', type: 'text', hasDefault: true, choices: ['news', 'story'] },
			{ ...plain, name: 'rank', type: 'integer', nullable: true, min: 0, max: 9 },
			{ ...plain, name: 'big', type: 'bigint', asText: true },
			{ ...plain, name: 'created', type: 'timestamp', hasDefault: true, generated: true },
		])
	})

	test('initial rows may have Dates and plain JSON, are copied, and serial keys continue after theirs', async () => {
		const data = Uint8Array.of(1, 2)
		const extra = { list: [1] }
		const model = new MemoryModel('m', {
			fields: { id: 'integer', at: 'timestamp', day: 'date', price: 'decimal', extra: 'json', data: 'bytes' },
			key: 'id',
			rows: [{ id: 41, at: new Date(0), day: new Date(0), price: 12.5, extra, data }],
		})
		data.fill(9)
		extra.list.push(2)
		assert.equal(await all(model), [
			{
				id: 41,
				at: '1970-01-01T00:00:00.000Z',
				day: '1970-01-01',
				price: '12.5',
				extra: { list: [1] },
				data: 'AQI=',
			},
		])
		const values = {
			at: '2026-11-20T00:00:00Z',
			day: '2026-11-20',
			price: '1',
			extra: new RawJson('1'),
			data,
		}
		assert.is((await model.create(values, selectionOf(model))).id, '42')
	})

	test('a default is a value, or a function called for each new record and by DEFAULT', async () => {
		let count = 0
		const model = new MemoryModel('m', {
			fields: {
				id: 'integer',
				rank: { type: 'integer', default: () => ++count },
				tags: { type: 'json', default: ['a'] },
				note: { type: 'text', nullable: true, default: null },
			},
			key: 'id',
			rows: [{}, { rank: 7 }, {}],
		})
		await model.update('2', { rank: DEFAULT, tags: DEFAULT }, selectionOf(model), NO_GUARD)
		assert.equal(
			(await all(model)).map(({ rank, tags, note }) => [rank, tags, note]),
			[
				[1, ['a'], null],
				[3, ['a'], null],
				[2, ['a'], null],
			],
		)
	})

	test('a text key can be made by a default', async () => {
		const model = new MemoryModel('m', { fields: { id: { type: 'text', default: () => 'made' } }, key: 'id' })
		assert.is((await model.create({}, selectionOf(model))).id, 'made')
	})

	test('choices, bounds and lengths are enforced, in initial and in new records', async () => {
		const model = new MemoryModel('m', {
			fields: {
				id: 'integer',
				kind: { type: 'text', choices: ['a', 'b'], default: 'a' },
				rank: { type: 'integer', min: 0, max: 9, default: 0 },
				name: { type: 'text', maxLength: 2, default: '' },
			},
			key: 'id',
			rows: [{ name: '\u{1f680}\u{1f680}' }],
		})
		const wrong: readonly (readonly [Values, string, string])[] = [
			[{ kind: 'c' }, 'check', 'kind'],
			[{ rank: -1 }, 'invalid', 'rank'],
			[{ rank: 10 }, 'invalid', 'rank'],
			[{ rank: 1.5 }, 'invalid', 'rank'],
			[{ rank: Number.NaN }, 'invalid', 'rank'],
			[{ name: 'abc' }, 'invalid', 'name'],
			[{ name: 'a\0' }, 'invalid', 'name'],
			[{ name: '\ud83d' }, 'invalid', 'name'],
			[{ id: 2 ** 53 }, 'invalid', 'id'],
		]
		for (const [values, kind, field] of wrong) {
			await refuses(() => model.create(values, selectionOf(model)), kind, [field])
			await refuses(() => model.update('1', values, selectionOf(model), NO_GUARD), kind, [field])
		}
		assert.equal(await all(model), [{ id: 1, kind: 'a', rank: 0, name: '\u{1f680}\u{1f680}' }])
	})

	test("values outside their field's type are refused", async () => {
		const types = [
			'boolean',
			'integer',
			'bigint',
			'float',
			'decimal',
			'text',
			'uuid',
			'date',
			'time',
			'timestamp',
			'bytes',
		] as const
		for (const type of types) {
			const model = new MemoryModel('m', { fields: { id: 'integer', it: type }, key: 'id' })
			for (const value of [{}, [], Symbol('s'), () => 1, undefined, 'nothing of the kind\0']) {
				// On purpose: JavaScript has no types to stop it.
				await refuses(() => model.create({ it: value as string }, selectionOf(model)), 'invalid', ['it'])
			}
		}
		const json = new MemoryModel('m', { fields: { id: 'integer', it: 'json' }, key: 'id' })
		await refuses(() => json.create({ it: new RawJson('{"a":') }, selectionOf(json)), 'invalid', ['it'])
	})

	test('unique fields are compared as a group, decimals by value, and records with null in one are exempt', async () => {
		const model = new MemoryModel('m', {
			fields: { id: 'integer', a: 'text', b: { type: 'decimal', nullable: true } },
			key: 'id',
			unique: [['a', 'b']],
			rows: [
				{ a: 'x', b: '1' },
				{ a: 'x', b: '2' },
				{ a: 'y', b: '1' },
				{ a: 'x', b: null },
				{ a: 'x', b: null },
			],
		})
		await refuses(() => model.create({ a: 'x', b: '1.00' }, selectionOf(model)), 'unique', ['a', 'b'])
		await refuses(() => model.update('4', { b: '2.0' }, selectionOf(model), NO_GUARD), 'unique', ['a', 'b'])
		await model.create({ a: 'x,1', b: '1' }, selectionOf(model))
	})

	test('references to another model are enforced on both sides', async () => {
		const authors = new MemoryModel('author', { fields: { id: 'uuid', name: 'text' }, key: 'id' })
		const { id } = await authors.create({ name: 'Ada' }, selectionOf(authors))
		const articles = new MemoryModel('article', {
			fields: { id: 'integer', author: { type: 'uuid', nullable: true } },
			key: 'id',
			references: [{ field: 'author', model: authors }],
			rows: [{ author: id }, { author: null }],
		})
		const nobody = '00000000-0000-0000-0000-000000000000'
		await refuses(() => articles.create({ author: nobody }, selectionOf(articles)), 'foreign_key', ['author'])
		await refuses(() => authors.delete(id, selectionOf(authors), NO_GUARD), 'foreign_key', [])
		await refuses(() => authors.update(id, { id: nobody }, selectionOf(authors), NO_GUARD), 'foreign_key', [])
		await articles.update('1', { author: null }, selectionOf(articles), NO_GUARD)
		assert.type(await authors.delete(id, selectionOf(authors), NO_GUARD), 'object')
	})

	test('a key can be changed to one that is free', async () => {
		const model = new MemoryModel('m', {
			fields: { id: 'text' },
			key: 'id',
			rows: [{ id: 'a' }, { id: 'b' }],
		})
		await refuses(() => model.update('a', { id: 'b' }, selectionOf(model), NO_GUARD), 'unique', ['id'])
		await model.update('a', { id: 'c' }, selectionOf(model), NO_GUARD)
		assert.equal(await all(model), [{ id: 'b' }, { id: 'c' }])
		assert.is(await model.read('a', selectionOf(model), undefined), undefined)
	})

	test('a list stays correct after changes, also in orders it was read in before', async () => {
		const model = new MemoryModel('m', { fields: { id: 'integer', rank: 'integer' }, key: 'id' })
		const selection = selectionOf(model)
		const expected = new Map<number, number>()
		for (let step = 0; step < 400; step++) {
			const id = (step * 37) % 101
			const rank = (step * 53) % 17
			if (step % 4 === 3) {
				await model.delete(String(id), selection, NO_GUARD)
				expected.delete(id)
			} else if (expected.has(id)) {
				await model.update(String(id), { rank }, selection, NO_GUARD)
				expected.set(id, rank)
			} else {
				await model.create({ id, rank }, selection)
				expected.set(id, rank)
			}
			const sorted = [...expected].toSorted(([a], [b]) => a - b)
			assert.equal(await pairs(model), sorted)
			assert.equal(
				await pairs(model, [
					{ field: 'rank', descending: true },
					{ field: 'id', descending: false },
				]),
				sorted.toSorted(([, a], [, b]) => b - a),
			)
		}
	})

	test('a write waits for a running transaction, and a read does not', async () => {
		const model = new MemoryModel('m', { fields: { id: 'text' }, key: 'id' })
		const waiting: Promise<unknown>[] = []
		await model.transaction(async (within) => {
			waiting.push(model.create({ id: 'outside' }, selectionOf(model)))
			await within.create({ id: 'inside' }, selectionOf(model))
			assert.equal(await all(model), [])
			assert.equal(await all(within), [{ id: 'inside' }])
		})
		await Promise.all(waiting)
		assert.equal(await all(model), [{ id: 'inside' }, { id: 'outside' }])
	})

	test('a transaction that waits for its own model is refused as busy', async () => {
		const model = new MemoryModel('m', { fields: { id: 'text' }, key: 'id', timeoutSeconds: 0.02 })
		await refuses(() => model.transaction(() => model.create({ id: 'a' }, selectionOf(model))), 'busy', [])
		await model.create({ id: 'b' }, selectionOf(model))
		assert.equal(await all(model), [{ id: 'b' }])
	})

	test('a failed nested transaction is rolled back alone, and with the outer one', async () => {
		const model = new MemoryModel('m', { fields: { id: 'text' }, key: 'id', rows: [{ id: 'old' }] })
		const selection = selectionOf(model)
		const failing = async (within: Model): Promise<void> => {
			await within.create({ id: 'undone' }, selection)
			await within.delete('old', selection, NO_GUARD)
			throw new Error('no')
		}
		await model.transaction(async (within) => {
			await within.create({ id: 'a' }, selection)
			await within.transaction(failing).catch(() => undefined)
			await within.transaction((inner) => inner.create({ id: 'b' }, selection))
		})
		assert.equal(await all(model), [{ id: 'a' }, { id: 'b' }, { id: 'old' }])
		const outer = model.transaction(async (within) => {
			await within.transaction((inner) => inner.create({ id: 'c' }, selection))
			throw new Error('no')
		})
		assert.is(await outer.catch((error: Error) => error.message), 'no')
		assert.equal(await all(model), [{ id: 'a' }, { id: 'b' }, { id: 'old' }])
	})

	test('a model that joins a transaction later is locked by its first change, and rolled back with it', async () => {
		const options = { fields: { id: 'text' }, key: 'id', timeoutSeconds: 0.5 } as const
		const [model, other] = [new MemoryModel('m', options), new MemoryModel('o', options)]
		const selection = selectionOf(model)
		const waiting: Promise<unknown>[] = []
		await model.transactionWith([], async (within) => {
			const joined = within.of(other)
			await other.create({ id: 'a' }, selection)
			assert.equal(await all(joined), [{ id: 'a' }])
			await joined.create({ id: 'b' }, selection)
			waiting.push(other.create({ id: 'c' }, selection))
			const nested = within.of(model).transactionWith?.([joined], async (inner) => {
				await inner.of(joined).create({ id: 'undone' }, selection)
				throw new Error('no')
			})
			await nested?.catch(() => undefined)
			assert.equal([await all(joined), await all(other)], [[{ id: 'a' }, { id: 'b' }], [{ id: 'a' }]])
		})
		await Promise.all(waiting)
		const kept = [{ id: 'a' }, { id: 'b' }, { id: 'c' }]
		assert.equal(await all(other), kept)
		const failing = model.transactionWith([], async (within) => {
			await within.of(other).create({ id: 'd' }, selection)
			throw new Error('no')
		})
		assert.is(await failing.catch((error: Error) => error.message), 'no')
		assert.equal(await all(other), kept)
		// Each waits for the other: one gives up, and the other one goes on.
		const crossed = [
			[model, other],
			[other, model],
		].map(([one, then], at) =>
			(one as MemoryModel).transactionWith([], async (within) => {
				await within.of(one as Model).create({ id: `e${at}` }, selection)
				await within.of(then as Model).create({ id: `f${at}` }, selection)
			}),
		)
		const ends = await Promise.allSettled(crossed)
		assert.ok(ends.some(({ status }) => status === 'rejected'))
		await other.create({ id: 'free' }, selection)
		await model.create({ id: 'free' }, selection)
	})

	test('the model of a finished transaction is refused', async () => {
		const model = new MemoryModel('m', { fields: { id: 'integer' }, key: 'id' })
		const selection = selectionOf(model)
		const ended = await model.transaction(async (within) => ({ within }))
		const asking = [
			() => ended.within.count(undefined),
			() => ended.within.read('1', selection, undefined),
			() => ended.within.create({}, selection),
			() => ended.within.transaction(async () => 1),
		]
		const message = "MemoryModel 'm': this transaction has ended, use the model itself"
		for (const ask of asking) assert.is(await mistake(ask), message)
	})

	test('a read-only model serves its rows, and refuses every write', async () => {
		const model = new MemoryModel('m', { fields: { id: 'integer' }, key: 'id', rows: [{}], readOnly: true })
		const selection = selectionOf(model)
		assert.is(model.readOnly, true)
		assert.equal(await all(model), [{ id: 1 }])
		const changes = [
			() => model.create({}, selection),
			() => model.update('1', { id: 2 }, selection, NO_GUARD),
			() => model.delete('1', selection, NO_GUARD),
			() => model.transaction((within) => within.create({}, selection)),
		]
		for (const change of changes) assert.is(await mistake(change), "MemoryModel 'm' can only be read")
	})

	test('a condition on a list of values visits each record once, not once per value', async () => {
		const rows = Array.from({ length: 1_000 }, (_, at) => ({
			price: `${at}.50`,
			title: `a long title ${at}`,
		}))
		const fields = { id: 'integer', price: 'decimal', title: 'text' } as const
		const model = new MemoryModel('m', { fields, key: 'id', rows })
		const none = (field: string, count: number) => () => {
			const values = Array.from({ length: count }, (_, at) =>
				field === 'title' ? `a long title x${at}` : -at - 1,
			)
			return model.list({
				selection: { fields: [], names: [], version: undefined },
				where: { op: 'in', field, values },
				order: [{ field: 'id', descending: false }],
				...{ limit: 1, offset: 0, after: undefined, total: false },
			})
		}
		for (const field of Object.keys(fields)) {
			const { ratio } = await growth(none(field, 1), none(field, 1_000))
			assert.ok(ratio < 100, `${field}: ${ratio}`)
		}
	})

	test('programming mistakes in values and conditions throw errors that say what is wrong', async () => {
		const model = new MemoryModel('m', {
			fields: { id: 'integer', title: 'text', made: { type: 'text', default: 'x', generated: true } },
			key: 'id',
		})
		const selection = selectionOf(model)
		const table: readonly (readonly [() => Promise<unknown>, string])[] = [
			[
				() => model.create({ titel: 't' }, selection),
				"MemoryModel 'm' has no field titel: did you mean title?",
			],
			[
				() => model.create({ made: 't' }, selection),
				"MemoryModel 'm': field made is only written by the store",
			],
			[
				() => model.count({ op: 'eq', field: 'constructor', value: 't' }),
				"MemoryModel 'm' has no field constructor",
			],
			[
				() => model.count({ op: 'like' as 'eq', field: 'title', value: 't' }),
				'a condition has no operator like',
			],
			[() => all(model, [{ field: 'titel', descending: true }]), "MemoryModel 'm' has no field titel"],
		]
		for (const [ask, message] of table) assert.is(await mistake(ask), message)
		await refuses(() => model.count({ op: 'gt', field: 'id', value: 'x' }), 'invalid', ['id'])
		await refuses(() => model.count({ op: 'contains', field: 'title', value: 1 as never }), 'invalid', [
			'title',
		])
	})

	test('a default that is not valid for its field is refused when it is made', async () => {
		const model = new MemoryModel('m', {
			fields: { id: 'integer', at: { type: 'timestamp', default: () => 'soon' } },
			key: 'id',
		})
		assert.is(
			await mistake(() => model.create({}, selectionOf(model))),
			"MemoryModel 'm': the default of at is not a valid timestamp",
		)
	})
})

describe('MemoryModel refuses', (test) => {
	const table: readonly (readonly [what: string, options: unknown, message: string | RegExp])[] = [
		[
			'no fields',
			{ key: 'id' },
			"MemoryModel 'm' needs fields: { id: 'integer', title: 'text' }, got undefined",
		],
		[
			'an unknown type',
			{ fields: { id: 'integr' }, key: 'id' },
			"MemoryModel 'm': field id.type must be 'boolean', 'integer', 'bigint', 'float', 'decimal', 'text', 'uuid', 'other', 'date', 'time', 'timestamp', 'json' or 'bytes', got \"integr\"",
		],
		[
			'a field that is nothing',
			{ fields: { id: null }, key: 'id' },
			"MemoryModel 'm': field id must be a type, or an object with one: { type: 'text', maxLength: 200 }, got null",
		],
		[
			'an unknown member',
			{ fields: { id: { type: 'integer', nulable: true } }, key: 'id' },
			"MemoryModel 'm': field id has no option nulable: did you mean nullable?",
		],
		[
			'an unknown option',
			{ fields: { id: 'integer' }, key: 'id', row: [] },
			"MemoryModel 'm' has no option row: did you mean rows?",
		],
		[
			'a key that is no field',
			{ fields: { id: 'integer' }, key: 'ix' },
			"MemoryModel 'm': its key ix is not one of its fields: did you mean id?",
		],
		[
			'no key',
			{ fields: { id: 'integer' } },
			/^MemoryModel 'm': key must be a field or a list of fields, got undefined/,
		],
		[
			'a key of a type that is none',
			{ fields: { id: 'json' }, key: 'id' },
			"MemoryModel 'm': its key id is json; a key must be an integer, a uuid, a text, a date or a timestamp, and not nullable",
		],
		[
			'a key that may be null',
			{ fields: { id: { type: 'text', nullable: true } }, key: 'id' },
			"MemoryModel 'm': its key id is nullable; a key must be an integer, a uuid, a text, a date or a timestamp, and not nullable",
		],
		[
			'a generated field without a default',
			{ fields: { id: 'integer', a: { type: 'text', generated: true } }, key: 'id' },
			"MemoryModel 'm': field a is generated, so it needs a default",
		],
		[
			'a default that does not fit',
			{ fields: { id: 'integer', a: { type: 'text', default: 1 } }, key: 'id' },
			"MemoryModel 'm': field a: its default is not a valid text",
		],
		[
			'a length of what has none',
			{ fields: { id: { type: 'integer', maxLength: 3 } }, key: 'id' },
			"MemoryModel 'm': field id: maxLength is for text, not for integer",
		],
		[
			'bounds of what has none',
			{ fields: { id: 'integer', a: { type: 'text', min: 1 } }, key: 'id' },
			"MemoryModel 'm': field a: min and max are for integer and bigint, not for text",
		],
		[
			'choices of what has none',
			{ fields: { id: 'integer', a: { type: 'float', choices: ['1'] } }, key: 'id' },
			"MemoryModel 'm': field a: choices are for text, not for float",
		],
		[
			'a unique field that there is not',
			{ fields: { id: 'integer' }, key: 'id', unique: [['email']] },
			"MemoryModel 'm' has no field email",
		],
		[
			'a reference to what is no model',
			{ fields: { id: 'integer' }, key: 'id', references: [{ field: 'id', model: 'author' }] },
			"MemoryModel 'm': references of id need model: a MemoryModel, or 'itself'",
		],
		[
			'a reference with an unknown member',
			{ fields: { id: 'integer' }, key: 'id', references: [{ fields: ['id'], model: 'itself' }] },
			"MemoryModel 'm': references[0] has no option fields: did you mean field?",
		],
		[
			'a reference without its field',
			{ fields: { id: 'integer' }, key: 'id', references: [{ model: 'itself' }] },
			"MemoryModel 'm': references[0].field must be a field or a list of fields, got undefined",
		],
		[
			'a reference of another type',
			{ fields: { id: 'integer', a: 'text' }, key: 'id', references: [{ field: 'a', model: 'itself' }] },
			"MemoryModel 'm': a is text, but the key that it refers to is integer",
		],
		[
			'a row that does not fit',
			{ fields: { id: 'integer', a: 'text' }, key: 'id', rows: [{ a: 'x' }, { a: 1 }] },
			"MemoryModel 'm': rows[1] doesn't fit: invalid (a)",
		],
		[
			'a row with an unknown field',
			{ fields: { id: 'integer' }, key: 'id', rows: [{ b: 1 }] },
			"MemoryModel 'm': rows[0] doesn't fit: MemoryModel 'm' has no field b; there are id",
		],
		[
			'rows of the same key',
			{ fields: { id: 'integer' }, key: 'id', rows: [{ id: 1 }, { id: 1 }] },
			"MemoryModel 'm': rows[1] doesn't fit: unique (id)",
		],
		[
			'a time that is none',
			{ fields: { id: 'integer' }, key: 'id', timeoutSeconds: 0 },
			"MemoryModel 'm': timeoutSeconds must be a number above 0 and at most 86400, got 0",
		],
	]
	for (const [what, options, message] of table) {
		test(what, () => {
			assert.throws(
				// On purpose: JavaScript has no types to stop it.
				() => new MemoryModel('m', options as MemoryModelOptions),
				(error: unknown) => {
					assert.ok(error instanceof (what === 'a time that is none' ? RangeError : TypeError), String(error))
					if (typeof message === 'string') assert.is(error.message, message)
					else assert.match(error.message, message)
					return true
				},
			)
		})
	}
})

function selectionOf(model: Model): Selection {
	const names = model.fields.map(({ name }) => name)
	return { fields: names, names, version: undefined }
}

async function all(model: Model, order: readonly Order[] = []): Promise<Record<string, unknown>[]> {
	const { json } = await model.list({
		...{
			selection: selectionOf(model),
			where: undefined,
			limit: 1_000,
			offset: 0,
			after: undefined,
			total: false,
		},
		order: order.length === 0 ? keyNames(model).map((field) => ({ field, descending: false })) : order,
	})
	return JSON.parse(json) as Record<string, unknown>[]
}

async function pairs(model: Model, order?: readonly Order[]): Promise<[unknown, unknown][]> {
	return (await all(model, order)).map(({ id, rank }) => [id, rank])
}

async function refuses(work: () => Promise<unknown>, kind: string, fields: readonly string[]): Promise<void> {
	const error = await work().then(
		() => 'nothing was refused',
		(thrown: unknown) => thrown,
	)
	assert.ok(error instanceof ModelError, String(error))
	assert.equal([error.kind, error.fields], [kind, fields])
}

/** The message of the TypeError that is thrown. */
async function mistake(work: () => Promise<unknown>): Promise<string> {
	const error = await work().then(
		() => 'nothing was refused',
		(thrown: unknown) => thrown,
	)
	return error instanceof TypeError ? error.message : `not a TypeError: ${String(error)}`
}
