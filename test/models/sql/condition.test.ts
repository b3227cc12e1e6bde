import * as assert from 'uvu/assert'
import type { Condition, Link } from '../../../lib/models/model.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { writeCondition } from '../../../lib/models/sql/condition.ts'
import { Sql } from '../../../lib/models/sql/dialect.ts'
import { LiveTable } from '../../../lib/models/sql/live-table.ts'
import { SqlModel } from '../../../lib/models/sql/sql-model.ts'
import { LIVE } from '../../../lib/models/sql/subject.ts'
import { columnsOf, type Table } from '../../../lib/models/sql/table.ts'
import { describe } from '../../helpers/describe.ts'
import { stage } from './stage.ts'

const { database, driver, dialect, columns } = stage(`
	create table item (id integer primary key, n int, title text, "odd ""name""" text);
	insert into item values (1, 1, 'one', 'x'), (2, 2, 'two', null), (3, null, 'Three%', 'y'), (4, -4, null, 'z')
`)

function written(condition: Condition, alias = 'b', reads: 'few' | 'many' = 'few'): Sql {
	const sql = new Sql(dialect)
	writeCondition(sql, condition, columns, alias, reads)
	return sql
}

async function ids(condition: Condition): Promise<number[]> {
	const sql = new Sql(dialect).add('select id from item b where ')
	writeCondition(sql, condition, columns, 'b')
	const { rows } = await driver.query(sql.add(' order by id').statement(false))
	return rows.map(([id]) => Number(id))
}

describe('writeCondition', (test) => {
	const eq = (value: number): Condition => ({ op: 'eq', field: 'n', value })
	const texts: readonly [Condition, string, readonly unknown[]][] = [
		[eq(1), 'b."n" = ?', [1]],
		[{ op: 'and', terms: [] }, '1 = 1', []],
		[{ op: 'or', terms: [] }, '1 = 0', []],
		[{ op: 'in', field: 'n', values: [] }, '1 = 0', []],
		[{ op: 'in', field: 'n', values: [1, 2] }, 'b."n" in (?, ?)', [1, 2]],
		[{ op: 'or', terms: [eq(1), eq(2)] }, '(b."n" = ? or b."n" = ?)', [1, 2]],
		[{ op: 'not', term: eq(1) }, 'not (b."n" = ?)', [1]],
		[{ op: 'null', field: 'odd "name"', value: false }, 'b."odd ""name""" is not null', []],
		[{ op: 'contains', field: 'title', value: '%' }, 'instr(b."title", ?) > 0', ['%']],
	]
	for (const [condition, text, values] of texts) {
		test(`${JSON.stringify(condition)} is ${text}`, () => {
			const sql = written(condition)
			assert.equal([sql.text, sql.values], [text, values])
		})
	}

	test('without an alias, column names are not qualified', () => {
		assert.is(written(eq(1), '').text, '"n" = ?')
	})

	test('an unknown operator is refused before the database reads it', () => {
		for (const op of ['equals', undefined])
			assert.throws(
				() => written({ op: op as 'eq', field: 'n', value: 1 }),
				(error: unknown) =>
					error instanceof TypeError && error.message === `a condition has no operator ${op}`,
			)
	})

	const found: readonly [Condition, readonly number[]][] = [
		[{ op: 'ne', field: 'n', value: 1 }, [2, 4]],
		[{ op: 'not', term: eq(1) }, [2, 4]],
		[{ op: 'not', term: { op: 'in', field: 'n', values: [1, 2] } }, [4]],
		[{ op: 'not', term: { op: 'in', field: 'n', values: [] } }, [1, 2, 3, 4]],
		[{ op: 'not', term: { op: 'or', terms: [eq(1), { op: 'null', field: 'n', value: true }] } }, [2, 4]],
		[
			{
				op: 'and',
				terms: [
					{ op: 'or', terms: [eq(1), eq(2)] },
					{ op: 'gt', field: 'id', value: 1 },
				],
			},
			[2],
		],
		[{ op: 'gte', field: 'n', value: 1 }, [1, 2]],
		[{ op: 'lt', field: 'n', value: 1 }, [4]],
		[{ op: 'lte', field: 'n', value: 1 }, [1, 4]],
		[{ op: 'contains', field: 'title', value: 'e%' }, [3]],
		[{ op: 'startsWith', field: 'title', value: 't' }, [2]],
		[{ op: 'endsWith', field: 'title', value: 'e' }, [1]],
		[{ op: 'endsWith', field: 'title', value: 'much longer than any of them' }, []],
		[{ op: 'endsWith', field: 'title', value: '' }, [1, 2, 3]],
		[{ op: 'not', term: { op: 'contains', field: 'title', value: 'o' } }, [3]],
	]
	for (const [condition, expected] of found) {
		test(`${JSON.stringify(condition)} finds ${expected}`, async () => {
			assert.equal(await ids(condition), expected)
		})
	}

	const whole = {
		nullable: true,
		hasDefault: false,
		generated: false,
		type: 'integer',
		sqlType: 'integer',
	} as const
	const tableOf = (name: string, names: readonly string[], key: readonly string[]): Table => ({
		columns: names.map((column) => ({ name: column, ...whole })),
		...{ schema: undefined, name, key, constraints: [], isView: false },
	})
	const modelOf = (table: Table) => new SqlModel(table, driver, dialect)
	const part = modelOf(tableOf('part', ['id', 'item'], ['id']))
	const parts: Link = { model: part, fields: ['id'], to: ['item'], isMany: true }
	const through = (key: readonly string[], partKey: readonly string[] = ['id']): Link => ({
		model: modelOf(tableOf('part', ['id', 'item'], partKey)),
		...{ fields: ['id'], to: ['id'], isMany: true },
		through: { model: modelOf(tableOf('tie', ['item', 'part'], key)), from: ['item'], on: ['part'] },
	})
	const own: Link = { model: part, fields: ['item'], to: ['id'], isMany: false }
	const linked: readonly [string, Condition, string, readonly unknown[]][] = [
		[
			'some',
			{ op: 'some', link: parts, where: undefined },
			'exists (select 1 from "part" br where b."id" = br."item")',
			[],
		],
		[
			'a link within a link has another alias',
			{
				op: 'some',
				link: parts,
				where: { op: 'some', link: own, where: { op: 'eq', field: 'id', value: 2 } },
			},
			'exists (select 1 from "part" br where b."id" = br."item" and exists (select 1 from "part" brr where brr."id" = br."item" and brr."id" = ?))',
			[2],
		],
		[
			'a count reads no more records than it compares with',
			{ op: 'count', link: parts, where: undefined, compare: 'gt', value: 6 },
			'(select 1 from "part" br where b."id" = br."item" limit 1 offset ?) is not null',
			[6],
		],
		[
			'a count of records that are tied once',
			{ op: 'count', link: through(['part', 'item']), where: undefined, compare: 'lt', value: 3 },
			'(select 1 from "part" br, "tie" bt where br."id" = bt."part" and b."id" = bt."item" limit 1 offset ?) is null',
			[2],
		],
		[
			'a count of records that may be tied again',
			{ op: 'count', link: through([]), where: undefined, compare: 'gte', value: 3 },
			'(select 1 from "part" br, "tie" bt where br."id" = bt."part" and b."id" = bt."item" group by br."id" limit 1 offset ?) is not null',
			[2],
		],
		[
			'a count of records without a key that may be tied again',
			{ op: 'count', link: through([], []), where: undefined, compare: 'gte', value: 3 },
			'(select 1 from "part" br where exists (select 1 from "tie" bt where br."id" = bt."part" and b."id" = bt."item") limit 1 offset ?) is not null',
			[2],
		],
	]
	for (const [promise, condition, text, values] of linked) {
		test(promise, () => {
			const sql = written(condition)
			assert.equal([sql.text, sql.values], [text, values])
		})
	}

	const front: Link = { model: part, fields: ['n'], to: ['id'], isMany: false }
	const behind = (where: Condition): Condition => ({ op: 'some', link: front, where })
	const n2: Condition = { op: 'eq', field: 'id', value: 2 }
	const unkeyed: Link = { ...parts, fields: ['item'] }
	const sets: readonly [string, Condition, string, readonly unknown[]][] = [
		[
			'some',
			{ op: 'some', link: parts, where: n2 },
			'(br."id" in (select brr."item" from "part" brr where brr."item" is not null and brr."id" = ?)) is true',
			[2],
		],
		[
			'fewer than one',
			{ op: 'count', link: parts, where: undefined, compare: 'lt', value: 1 },
			'(br."id" in (select brr."item" from "part" brr where brr."item" is not null)) is not true',
			[],
		],
		[
			'a count',
			{ op: 'count', link: parts, where: n2, compare: 'gte', value: 3 },
			'(br."id" in (select bro."id" from "part" bro, "part" brr where bro."id" = brr."item" and brr."id" = ? group by bro."id" having count(*) >= ?)) is true',
			[2, 3],
		],
		[
			'a count by a field that is not unique',
			{ op: 'count', link: unkeyed, where: undefined, compare: 'gt', value: 1 },
			'(br."item" in (select bro."item" from (select distinct "item" from "part") bro, "part" brr where bro."item" = brr."item" group by bro."item" having count(*) >= ?)) is true',
			[2],
		],
		[
			'some of many to many',
			{ op: 'some', link: through([]), where: n2 },
			'(br."id" in (select brt."item" from "part" brr, "tie" brt where brr."id" = brt."part" and brt."item" is not null and brr."id" = ?)) is true',
			[2],
		],
		[
			'several fields',
			{ op: 'some', link: { ...parts, fields: ['id', 'item'], to: ['item', 'id'] }, where: undefined },
			'((br."id", br."item") in (select brr."item", brr."id" from "part" brr where brr."item" is not null and brr."id" is not null)) is true',
			[],
		],
		[
			'records that may be tied again',
			{ op: 'count', link: through([]), where: undefined, compare: 'lt', value: 3 },
			'(br."id" in (select f0 from (select distinct bro."id" as f0, brr."id" as k0 from "part" bro, "part" brr, "tie" brt where brr."id" = brt."part" and bro."id" = brt."item") brd group by f0 having count(*) >= ?)) is not true',
			[3],
		],
		[
			'records without a key that may be tied again are counted for each record',
			{ op: 'count', link: through([], []), where: undefined, compare: 'gte', value: 3 },
			'(select 1 from "part" brr where exists (select 1 from "tie" brt where brr."id" = brt."part" and br."id" = brt."item") limit 1 offset ?) is not null',
			[2],
		],
		[
			'a relation to one is looked up',
			{ op: 'some', link: own, where: n2 },
			'exists (select 1 from "part" brr where brr."id" = br."item" and brr."id" = ?)',
			[2],
		],
	]
	for (const [promise, condition, text, values] of sets) {
		test(`behind a relation, where many records are read: ${promise}`, () => {
			const sql = written(behind(condition), 'b', 'many')
			assert.is(sql.text, `exists (select 1 from "part" br where br."id" = b."n" and ${text})`)
			assert.equal(sql.values, values)
		})
	}

	test('relations of the records themselves are looked up, and all of them where few records are read', () => {
		const some: Condition = { op: 'some', link: parts, where: n2 }
		const first = 'exists (select 1 from "part" br where b."id" = br."item" and br."id" = ?)'
		assert.is(written(some, 'b', 'many').text, first)
		assert.is(
			written(behind(some)).text,
			'exists (select 1 from "part" br where br."id" = b."n" and exists (select 1 from "part" brr where br."id" = brr."item" and brr."id" = ?))',
		)
	})

	test('records that fail a condition: it is false or unknown', () => {
		const fails: Condition = { op: 'gt', field: 'id', value: 2 }
		const sql = written({ op: 'some', link: parts, where: { op: 'eq', field: 'item', value: 1 }, fails })
		assert.is(
			sql.text,
			'exists (select 1 from "part" br where b."id" = br."item" and br."item" = ? and (br."id" > ?) is not true)',
		)
		assert.equal(sql.values, [1, 2])
	})

	test("a link's field that is gone is a ModelError, and a model of no table a TypeError", () => {
		const table = tableOf('part', ['id'], ['id'])
		const live = new LiveTable(table, dialect)
		live.subject = { ...live.subject, columns: columnsOf(table, new Set(['item'])) }
		const model = Object.assign(modelOf(table), { [LIVE]: live })
		const write = (other: typeof model) => () =>
			written({ op: 'some', link: { ...parts, model: other }, where: undefined })
		assert.throws(write(model), (error: unknown) => error instanceof ModelError && error.kind === 'invalid')
		const stranger = Object.assign(Object.create(null), { name: 'stranger' })
		assert.throws(write(stranger), /stranger isn't a table of this database, so it can't be joined/)
	})

	test('an unknown field is a programming error', () => {
		assert.throws(
			() => written({ op: 'eq', field: 'nope', value: 1 }),
			(error: unknown) => error instanceof TypeError && error.message === 'there is no column "nope"',
		)
	})

	test.after(() => void database.close())
})
