/** The model contract: several records at once, and upserts, for models that have them. */
import { deepStrictEqual, fail, match, ok, rejects, strictEqual } from 'node:assert/strict'
import type { Changes, Condition, Created, Selection, Upserted, Value, Values } from '../../models/model.ts'
import { NOW } from '../../models/model.ts'
import { ModelError } from '../../models/model-error.ts'
import { atOnce } from '../case.ts'
import { type ModelFixture, type ModelTest, parsed, tests, testsFor } from './fixture.ts'

const FIELDS = ['title', 'note', 'order', 'status', 'email']

/** Creates several records and returns them parsed. @throws AssertionError if an id isn't that of its record */
async function createAll(
	fixture: ModelFixture,
	values: readonly Values[],
	fields = FIELDS,
): Promise<unknown[]> {
	const created = (await fixture.model.createMany?.(values, fixture.select(fields))) ?? []
	const records = created.map(parsed)
	for (const [at, { id }] of created.entries()) deepStrictEqual(await fixture.read(id, fields), records[at])
	return records
}

/** The index of the record that an error is about. */
async function indexOf(fixture: ModelFixture, values: readonly Values[]): Promise<readonly unknown[]> {
	try {
		await fixture.model.createMany?.(values, fixture.select(['id']))
	} catch (error) {
		if (error instanceof ModelError) return [error.kind, error.index]
		throw error
	}
	return ['created']
}

const CREATE_MANY: readonly ModelTest[] = tests({
	async 'createMany creates all in the order given, each with its own id'(fixture) {
		if (fixture.model.createMany === undefined) return
		deepStrictEqual(await createAll(fixture, []), [])
		for (const count of [1, 2, 30, 3]) {
			const values = Array.from({ length: count }, (_, at) => ({
				...{ title: `t${count - at} "\\{},'`, note: at % 3 === 0 ? null : `n${at}`, order: at },
			}))
			const expected = values.map((one) => ({ ...one, status: 'draft', email: null }))
			deepStrictEqual(await createAll(fixture, values), expected)
		}
		strictEqual(await fixture.model.count(undefined), 36)
	},
	async 'createMany gives each record the defaults of the fields that it lacks'(fixture) {
		if (fixture.model.createMany === undefined) return
		const values: readonly Values[] = [
			{ title: 'a' },
			{ status: 'done', title: 'b', note: 'n' },
			{ title: 'c', order: 3, note: null },
			{ title: 'd', status: 'done' },
		]
		const rest = { note: null, order: null, status: 'draft', email: null }
		deepStrictEqual(
			await createAll(fixture, values),
			values.map((one) => ({ ...rest, ...one })),
		)
	},
	async 'createMany stores each type as create does'(fixture) {
		if (fixture.model.createMany === undefined) return
		const all: Record<string, Value> = {
			...{ title: 'a', note: 'NULL', order: -5, big: 9_007_199_254_740_993n, ratio: -0.5, price: '12.5000' },
			...{ done: true, day: '2026-11-20', clock: '13:45:00', at: '2026-11-20T13:45:00.123Z' },
			...{ token: '0b0e7a3c-1111-4222-8333-444455556666', data: Buffer.from('\0\x01"\\{}ÿ', 'latin1') },
		}
		const names = Object.keys(all).filter((name) => fixture.has(name))
		const values = Object.fromEntries(names.map((name) => [name, all[name] ?? null]))
		const nothing = Object.fromEntries(names.map((name) => [name, name === 'title' ? 'b' : null]))
		const one = await fixture.model.create(values, fixture.select(names))
		const expected = [parsed(one), nothing, parsed(one)]
		deepStrictEqual(await createAll(fixture, [values, nothing, values], names), expected)
	},
	async 'createMany takes the time of the store, in all records or in some'(fixture) {
		if (fixture.model.createMany === undefined || fixture.model.setsNow !== true || !fixture.has('at')) return
		const lists: readonly (readonly Values[])[] = [
			[
				{ title: 'a', at: NOW },
				{ title: 'b', at: NOW },
			],
			[{ title: 'c', at: NOW }, { title: 'd' }, { title: 'e', at: '2026-11-20T13:45:00.123Z' }],
			[{ title: 'f', at: NOW, note: 'n' }, { title: 'g' }],
		]
		for (const values of lists) {
			const created: readonly Created[] = await fixture.model.createMany(
				values,
				fixture.select(['title', 'at']),
			)
			for (const [index, record] of created.map(parsed).entries()) {
				const { title, at } = values[index] ?? {}
				strictEqual(record.title, title)
				if (at === NOW) match(String(record.at), /^20\d\d-\d\d-\d\dT.*Z$/)
				else strictEqual(record.at, at ?? null)
			}
		}
	},
	async 'createMany returns versions, and takes keys'(fixture) {
		if (fixture.model.createMany === undefined) return
		const ids = [7001, 7003, 7002]
		const selection = fixture.select(['id', 'title'], 'version')
		const created = await fixture.model.createMany(
			ids.map((id) => ({ id, title: `t${id}`, version: id - 7000 })),
			selection,
		)
		deepStrictEqual(
			created.map(({ id, version }) => [id, version]),
			[
				['7001', '1'],
				['7003', '3'],
				['7002', '2'],
			],
		)
	},
	async 'createMany creates nothing if one record is refused, and names it'(fixture) {
		if (fixture.model.createMany === undefined) return
		await fixture.add({ email: 'taken' })
		const good = { title: 'good' }
		const cases: readonly (readonly [readonly Values[], string, number])[] = [
			[[good, good, { title: 'x', email: 'taken' }], 'unique', 2],
			[[{ title: 'x', email: 'twice' }, good, { title: 'y', email: 'twice' }], 'unique', 2],
			[[{ title: null }, good], 'not_null', 0],
		]
		for (const [values, kind, index] of cases) {
			deepStrictEqual(await indexOf(fixture, values), [kind, index])
			strictEqual(await fixture.model.count(undefined), 1)
		}
	},
	async 'createMany in a transaction belongs to it, and its failure leaves the rest'(fixture) {
		if (fixture.model.createMany === undefined) return
		await fixture.transaction(async (within) => {
			await within.add({ title: 'before', email: 'taken' })
			const values: readonly Values[] = [{ title: 'a' }, { title: 'b', email: 'taken' }]
			deepStrictEqual(await indexOf(within, values), ['unique', 1])
			strictEqual((await createAll(within, [{ title: 'c' }, { title: 'd' }])).length, 2)
		})
		deepStrictEqual(await fixture.column(), ['before', 'c', 'd'])
		const failed = fixture.transaction(async (within) => {
			await createAll(within, [{ title: 'e' }, { title: 'f' }])
			throw new Error('no')
		})
		await rejects(failed, /^Error: no$/)
		strictEqual(await fixture.model.count(undefined), 3)
	},
	async 'createMany creates thousands'(fixture) {
		if (fixture.model.createMany === undefined) return
		const values = Array.from({ length: 5_000 }, (_, order) => ({ title: `t${order}`, order, note: 'n' }))
		const created = await fixture.model.createMany(values, fixture.select(['order']))
		deepStrictEqual(
			created.map((one) => parsed(one).order),
			values.map(({ order }) => order),
		)
		strictEqual(new Set(created.map(({ id }) => id)).size, 5_000)
	},
})

/** `model.upsert` on `email`. */
function upsert(
	{ model }: ModelFixture,
	values: Values,
	changes: Changes,
	selection: Selection,
	where?: Condition,
): Promise<Upserted> {
	ok(model.upsert !== undefined)
	return model.upsert({ values, on: ['email'], changes, where }, selection)
}

/** Whether the model takes upserts: it says what is unique. */
function upserts({ model }: ModelFixture): boolean {
	return model.upsert !== undefined && (model.unique ?? []).length > 0
}

const UPSERT: readonly ModelTest[] = tests({
	async 'unique has the key, and every unique constraint'(fixture) {
		if (!upserts(fixture)) return
		const { model } = fixture
		const names = (model.unique ?? []).map((one) => one.join())
		ok(names.includes('id') && names.includes('email'), `unique is ${names.join('; ')}`)
	},
	async 'an upsert creates a record, and changes it when it is there'(fixture) {
		if (!upserts(fixture)) return
		const selection = fixture.select(['title', 'note', 'status', 'version'], 'version')
		const values = { email: 'a', title: 'new', version: 4 }
		const first = await upsert(fixture, values, { title: 'changed' }, selection)
		deepStrictEqual([first.isNew, first.version], [true, '4'])
		deepStrictEqual(parsed(first), { title: 'new', note: null, status: 'draft', version: 4 })
		await fixture.update(first.id, { note: 'kept' })
		const second = await upsert(fixture, values, { title: 'changed' }, selection)
		deepStrictEqual([second.isNew, second.id, second.version], [false, first.id, '5'])
		deepStrictEqual(parsed(second), { title: 'changed', note: 'kept', status: 'draft', version: 5 })
		deepStrictEqual(await fixture.read(first.id, ['title', 'email']), { title: 'changed', email: 'a' })
		strictEqual(await fixture.model.count(undefined), 1)
	},
	async 'an upsert without changes leaves the record as it is'(fixture) {
		if (!upserts(fixture)) return
		const selection = fixture.select(['title', 'version'], 'version')
		const first = await upsert(fixture, { email: 'a', title: 'one' }, {}, selection)
		const second = await upsert(fixture, { email: 'a', title: 'two' }, {}, selection)
		deepStrictEqual(second, { ...first, isNew: false })
	},
	async 'an upsert on the key takes records by it'(fixture) {
		if (!upserts(fixture)) return
		const one = (title: string) =>
			fixture.model.upsert?.(
				{ values: { id: 81, title }, on: ['id'], changes: { title }, where: undefined },
				fixture.select(['id', 'title']),
			)
		strictEqual((await one('a'))?.isNew, true)
		const changed = await one('b')
		deepStrictEqual([changed?.isNew, changed?.id, changed?.json], [false, '81', '{"id":81,"title":"b"}'])
	},
	async 'an upsert neither changes nor returns a record outside of its condition'(fixture) {
		if (!upserts(fixture)) return
		await fixture.add({ email: 'a', status: 'theirs', title: 'kept' })
		const where = { op: 'eq', field: 'status', value: 'mine', exact: true } as const
		const values = { email: 'a', status: 'mine', title: 'x' }
		const all: readonly Changes[] = [{ title: 'x' }, {}]
		for (const changes of all) {
			const selection = fixture.select(['title'])
			await fixture.refuses(() => upsert(fixture, values, changes, selection, where), 'unique', ['email'])
			deepStrictEqual(await fixture.column(), ['kept'])
		}
		await upsert(fixture, { ...values, email: 'b' }, { title: 'y' }, fixture.select(['title']), where)
		await upsert(fixture, { ...values, email: 'b' }, { title: 'y' }, fixture.select(['title']), where)
		deepStrictEqual(await fixture.column(), ['kept', 'y'])
	},
	async 'an upsert that conflicts in another field is refused'(fixture) {
		if (!upserts(fixture)) return
		await fixture.add({ id: 5, email: 'a', title: 'kept' })
		const given = { values: { id: 6, email: 'a', title: 'x' }, on: ['id'], changes: { title: 'x' } }
		const selection = fixture.select(['id'])
		await fixture.refuses(
			async () => fixture.model.upsert?.({ ...given, where: undefined }, selection),
			'unique',
			['email'],
		)
		deepStrictEqual(await fixture.column(), ['kept'])
	},
	async 'an upsert needs unique fields, a value for each, and changes neither those nor the key'(fixture) {
		const { model } = fixture
		if (!upserts(fixture)) return
		const selection = fixture.select(['id'])
		const one = async (on: readonly string[], values: Values, changes: Changes = {}) =>
			model.upsert?.({ values: { title: 'x', ...values }, on, changes, where: undefined }, selection)
		for (const [on, values, changes] of [
			[['title'], {}, {}],
			[['email', 'title'], { email: 'a' }, {}],
			[[], {}, {}],
			[['email'], { email: 'a' }, { email: 'b' }],
			[['email'], { email: 'a' }, { id: 5 }],
		] as const)
			await rejects(one(on, values, changes), TypeError)
		await fixture.refuses(() => one(['email'], {}), 'not_null', ['email'])
		await fixture.refuses(() => one(['email'], { email: null }), 'not_null', ['email'])
		strictEqual(await model.count(undefined), 0)
	},
	async 'an upsert in a transaction belongs to it'(fixture) {
		if (!upserts(fixture)) return
		const selection = fixture.select(['title'])
		const both = async (within: ModelFixture): Promise<void> => {
			for (const isNew of [true, false]) {
				const made = await upsert(within, { email: 'a', title: 'x' }, { title: 'y' }, selection)
				strictEqual(made.isNew, isNew)
				await upsert(within, { email: 'b', title: 'z' }, {}, selection)
			}
		}
		const failed = fixture.transaction(async (within) => {
			await both(within)
			throw new Error('no')
		})
		await rejects(failed, /^Error: no$/)
		strictEqual(await fixture.model.count(undefined), 0)
		await fixture.transaction(both)
		deepStrictEqual(await fixture.column(), ['y', 'z'])
	},
	async 'of many upserts of a record at the same time one creates it, and none is lost'(fixture) {
		if (!upserts(fixture)) return
		const selection = fixture.select(['id'], 'version')
		for (let round = 0; round < 5; round++) {
			const values = { email: `r${round}`, title: 'new', version: 1 }
			const made = await atOnce(30, () =>
				upsert(fixture, values, { title: 'changed' }, selection).catch((error) =>
					fail(`an upsert is refused: ${String(error)}`),
				),
			)
			strictEqual(made.filter(({ isNew }) => isNew).length, 1)
			deepStrictEqual(
				made.map(({ version }) => Number(version)).toSorted((a, b) => a - b),
				made.map((_, at) => at + 1),
			)
			strictEqual(new Set(made.map(({ id }) => id)).size, 1)
		}
		strictEqual(await fixture.model.count(undefined), 5)
	},
})

const REFERRING: readonly ModelTest[] = testsFor(['foreign_key'], {
	async 'createMany names the record that refers to a missing one, and takes references among its own'(
		fixture,
	) {
		if (fixture.model.createMany === undefined) return
		const missing: readonly Values[] = [{ title: 'a' }, { title: 'b', parent: 987_654 }]
		deepStrictEqual(await indexOf(fixture, missing), ['foreign_key', 1])
		const own: readonly Values[] = [
			{ id: 901, title: 'a' },
			{ id: 902, title: 'b', parent: 901 },
		]
		deepStrictEqual(await createAll(fixture, own, ['id', 'parent']), [
			{ id: 901, parent: null },
			{ id: 902, parent: 901 },
		])
		strictEqual(await fixture.model.count(undefined), 2)
	},
})

export const MANY_TESTS: readonly ModelTest[] = [...CREATE_MANY, ...REFERRING, ...UPSERT]
