import * as assert from 'uvu/assert'
import type { Condition, Model, Selection } from '../../../lib/models/model.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import type { Dialect } from '../../../lib/models/sql/dialect.ts'
import { SqlModel } from '../../../lib/models/sql/sql-model.ts'
import { columnName } from '../../../lib/models/sql/table.ts'
import { describe } from '../../helpers/describe.ts'
import { HeldDriver, type Stage, stage, turn } from './stage.ts'

const TABLE = `
	create table item (id integer primary key, title text not null, owner int, v int not null default 1);
	insert into item (id, title, owner) values (1, 'one', 1), (2, 'two', 2), (3, 'three', 1), (4, 'four', 2)
`
const ALL: Selection = { fields: ['id', 'title'], names: ['id', 'title'], version: undefined }
const VERSIONED: Selection = { fields: ['title', 'v'], names: ['title', 'v'], version: 'v' }
const owned = (value: number): Condition => ({ op: 'eq', field: 'owner', value })

/** A model with gathered reads, over a driver that is held. */
function gathering(timeoutSeconds = 5): Stage & { held: HeldDriver; model: SqlModel } {
	const all = stage(TABLE)
	const held = new HeldDriver(all.driver)
	const dialect: Dialect = {
		...all.dialect,
		keyIn: (sql, [key], alias, ids) => {
			if (key === undefined) return
			sql.values.push(`[${ids.join()}]`)
			sql.add(`${columnName(all.dialect, key, alias)} in (select value from json_each(?))`)
		},
	}
	return { ...all, held, model: new SqlModel(all.table, held, dialect, timeoutSeconds) }
}

async function titles(reads: readonly Promise<{ json: string } | undefined>[]): Promise<unknown[]> {
	const found = await Promise.all(reads)
	return found.map((record) =>
		record === undefined ? undefined : (JSON.parse(record.json) as { title: string }).title,
	)
}

async function kindOf(work: Promise<unknown>): Promise<unknown> {
	try {
		return await work
	} catch (error) {
		return error instanceof ModelError ? error.kind : error
	}
}

describe('gathered reads of a model', (test) => {
	test('a read never joins a query sent before it, nor one from before a write', async () => {
		const { model, held, database } = gathering()
		const early = ['1', '2', '3'].map((id) => model.read(id, ALL, undefined))
		await turn()
		assert.is(held.sent.length, 2)
		database.exec("update item set title = 'new'")
		const late = ['1', '2', '3'].map((id) => model.read(id, ALL, undefined))
		await turn()
		held.release(true)
		assert.equal(await titles(early), ['one', 'two', 'three'])
		assert.equal(await titles(late), ['new', 'new', 'new'])
		database.close()
	})

	test('only reads with an equal condition are gathered', async () => {
		const { model, held, database } = gathering()
		const reads = ['1', '2', '3', '4'].flatMap((id) =>
			[1, 2].map((owner) => model.read(id, ALL, owned(owner))),
		)
		await turn()
		held.release(true)
		assert.equal(await titles(reads), [
			'one',
			undefined,
			undefined,
			'two',
			'three',
			undefined,
			undefined,
			'four',
		])
		const joint = held.sent.filter(({ text }) => text.includes('json_each'))
		assert.equal(
			joint.map(({ values }) => values),
			[
				['[2,3,4]', 1],
				['[2,3,4]', 2],
			],
		)
		database.close()
	})

	test('a number and a text are not equal conditions', async () => {
		const { model, held, database } = gathering()
		const text: Condition = { op: 'eq', field: 'title', value: '1' }
		const number: Condition = { op: 'eq', field: 'title', value: 1 }
		const reads = [text, number, text, number].map((where) => model.read('1', ALL, where))
		await turn()
		held.release(true)
		await Promise.all(reads)
		assert.equal(
			held.sent.map(({ values }) => values),
			[
				[1, '1'],
				[1, 1],
				[1, '1'],
				[1, 1],
			],
		)
		database.close()
	})

	test('different selections are separate queries', async () => {
		const { model, held, database } = gathering()
		const reads = [ALL, VERSIONED].flatMap((selection) => [
			model.read('1', selection, undefined),
			model.read('2', selection, undefined),
		])
		await turn()
		held.release(true)
		const found = await Promise.all(reads)
		assert.equal(
			found.map((record) => record?.json),
			[
				...['{"id":1,"title":"one"}', '{"id":2,"title":"two"}'],
				...['{"title":"one","v":1}', '{"title":"two","v":1}'],
			],
		)
		assert.equal(
			found.map((record) => record?.version),
			[undefined, undefined, '1', '1'],
		)
		database.close()
	})

	test("one id for which the query fails doesn't fail the others", async () => {
		const { model, held, database } = gathering()
		held.check = ({ values }) => {
			if (/\b3\b/.test(String(values[0]))) throw new Error('not this one')
		}
		const reads = ['1', '2', '3', '4'].map((id) => kindOf(model.read(id, ALL, undefined)))
		await turn()
		held.release(true)
		const [one, two, three, four] = (await Promise.all(reads)) as { json: string }[]
		assert.equal(await titles([one, two, four].map(async (each) => each)), ['one', 'two', 'four'])
		assert.is(String(three), 'Error: not this one')
		database.close()
	})

	test('within a transaction nothing is gathered', async () => {
		const { model, held, database } = gathering()
		held.release(true)
		await model.transaction(async (within) => {
			const reads = ['1', '2', '3'].map((id) => within.read(id, ALL, undefined))
			assert.equal(await titles(reads), ['one', 'two', 'three'])
		})
		assert.equal(
			held.sent.filter(({ text }) => text.includes('json_each')),
			[],
		)
		database.close()
	})

	test('when a database hangs all waiting reads fail in time, and later ones are sent again', async () => {
		const { model, held, database } = gathering(0.04)
		const alive = setInterval(() => {}, 1_000)
		const reads = Array.from({ length: 1_000 }, (_, id) => kindOf(model.read(`${id}`, ALL, undefined)))
		assert.equal([...new Set(await Promise.all(reads))], ['unavailable'])
		clearInterval(alive)
		held.release(true)
		assert.equal(await titles([model.read('1', ALL, undefined)]), ['one'])
		database.close()
	})
})

describe('SqlModel', (test) => {
	/** The model with and without `returning` of inserts and updates. */
	function each(promise: string, work: (model: Model, database: Stage['database']) => Promise<void>): void {
		for (const returns of [true, false]) {
			test(`${promise}${returns ? '' : ', without returning'}`, async () => {
				const { table, driver, dialect, database } = stage(TABLE)
				const returning = { insert: returns, update: returns, delete: true }
				await work(new SqlModel(table, driver, { ...dialect, returning }), database)
				database.close()
			})
		}
	}

	each('every update raises the version, whatever value is given', async (model) => {
		const guard = { where: undefined, version: undefined }
		assert.equal(await model.update('1', { title: 'a' }, VERSIONED, guard), {
			json: '{"title":"a","v":2}',
			version: '2',
		})
		assert.equal(await model.update('1', { v: 77 }, VERSIONED, guard), {
			json: '{"title":"a","v":3}',
			version: '3',
		})
		assert.equal(await model.update('1', { title: 'b' }, VERSIONED, { ...guard, version: '3' }), {
			...{ json: '{"title":"b","v":4}', version: '4' },
		})
	})

	each('a record with another version is stale; one outside the condition is missing', async (model) => {
		const outcomes: readonly [
			id: string,
			version: string | undefined,
			owner: number | undefined,
			expected: string,
		][] = [
			['1', '2', undefined, 'stale'],
			['1', '2', 1, 'stale'],
			['1', '1', 2, 'missing'],
			['1', '2', 2, 'missing'],
			['1', undefined, 2, 'missing'],
			['9', '1', undefined, 'missing'],
			['9', undefined, undefined, 'missing'],
			['1', 'abc', undefined, 'stale'],
			['1', '', undefined, 'stale'],
			['1', '1 or 1 = 1', undefined, 'stale'],
			['1', '99999999999999999999999', undefined, 'stale'],
			['1', '9223372036854775808', undefined, 'stale'],
		]
		for (const [id, version, owner, expected] of outcomes) {
			const guard = { where: owner === undefined ? undefined : owned(owner), version }
			assert.is(await model.update(id, { title: 'lost' }, VERSIONED, guard), expected, JSON.stringify(guard))
			assert.is(await model.delete(id, VERSIONED, guard), expected, JSON.stringify(guard))
		}
		assert.is(await model.count({ op: 'eq', field: 'title', value: 'lost' }), 0)
		assert.is(await model.count(undefined), 4)
	})

	each('a given or changed key is returned', async (model) => {
		assert.is((await model.create({ id: 50, title: 't' }, ALL)).id, '50')
		const moved = await model.update('50', { id: 60 }, ALL, { where: undefined, version: undefined })
		assert.equal(moved, { json: '{"id":60,"title":"t"}', version: undefined })
	})

	test('a lost connection leaves only writes with an unknown outcome', async () => {
		const { table, driver, dialect, database } = stage(TABLE)
		const lost = new HeldDriver(driver)
		lost.release(true)
		lost.check = () => {
			throw new Error('lost')
		}
		const model = new SqlModel(table, lost, { ...dialect, failure: () => new ModelError('outcome_unknown') })
		assert.is(await kindOf(model.create({ title: 't' }, ALL)), 'outcome_unknown')
		assert.is(await kindOf(model.count(undefined)), 'unavailable')
		assert.is(await kindOf(model.read('1', ALL, undefined)), 'unavailable')
		database.close()
	})

	test("no response makes a read unavailable, and a write's outcome unknown", async () => {
		const { table, driver, dialect, database } = stage(TABLE)
		const held = new HeldDriver(driver)
		const model = new SqlModel(table, held, dialect, 0.04)
		const alive = setInterval(() => {}, 1_000)
		assert.is(await kindOf(model.read('1', ALL, undefined)), 'unavailable')
		assert.is(await kindOf(model.create({ title: 't' }, ALL)), 'outcome_unknown')
		clearInterval(alive)
		held.release(true)
		await turn()
		database.close()
	})

	test('reads by id send the same text each time', async () => {
		const { table, driver, dialect, database } = stage(TABLE)
		const held = new HeldDriver(driver)
		held.release(true)
		const model = new SqlModel(table, held, dialect)
		await model.read('1', ALL, undefined)
		await model.read('9007199254740993', ALL, undefined)
		assert.equal(held.sent, [
			{
				text: `select json_object('id', ${guarded('id')}, 'title', ${guarded('title')}), b."id" from "item" b where b."id" = ?`,
				values: [1],
				writes: false,
			},
			{ text: held.sent[0]?.text, values: [9007199254740993n], writes: false },
		])
		database.close()
	})

	test('unknown fields, and a version without a version field, are programming errors', async () => {
		const { table, driver, dialect, database } = stage(TABLE)
		const model = new SqlModel(table, driver, dialect)
		const nope: Selection = { fields: ['nope'], names: ['nope'], version: undefined }
		assert.is(
			String(await kindOf(model.create({ nope: 1, title: 't' }, ALL))),
			'TypeError: there is no column "nope"',
		)
		assert.is(
			String(await kindOf(model.delete('1', ALL, { where: undefined, version: '1' }))),
			'TypeError: a version is given, but the selection has none',
		)
		assert.is(
			String(await kindOf(Promise.resolve().then(() => model.read('1', nope, undefined)))),
			'TypeError: there is no column "nope"',
		)
		database.close()
	})
})

/** Conditions needed for other columns, but not for the column `id`. */
function guarded(column: string): string {
	return column === 'id'
		? 'b."id"'
		: `case when typeof(b."${column}") = 'blob' then hex(b."${column}") else b."${column}" end`
}

describe('lists of a model', (test) => {
	for (const count of [Number.POSITIVE_INFINITY, Number.NaN, 1.5, -1, 2 ** 53])
		test(`a limit or an offset of ${count} is refused before any statement is written`, async () => {
			const { model, held, database } = gathering()
			const order = [{ field: 'id', descending: false }]
			const query = {
				selection: ALL,
				where: undefined,
				order,
				limit: 1,
				offset: 0,
				after: undefined,
				total: false,
			}
			for (const part of [{ limit: count }, { offset: count }]) {
				const error = await kindOf(model.list({ ...query, ...part }))
				assert.instance(error, RangeError)
				assert.match(String(error), /must be whole numbers from 0 on, got /)
			}
			assert.is(held.sent.length, 0)
			database.close()
		})
})
