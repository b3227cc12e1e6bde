import * as assert from 'uvu/assert'
import type { Condition } from '../../../lib/models/model.ts'
import { writeCondition } from '../../../lib/models/sql/condition.ts'
import { Sql } from '../../../lib/models/sql/dialect.ts'
import { describe } from '../../helpers/describe.ts'
import { stage } from './stage.ts'

const { database, driver, dialect, columns } = stage(`
	create table item (id integer primary key, n int, title text, "odd ""name""" text);
	insert into item values (1, 1, 'one', 'x'), (2, 2, 'two', null), (3, null, 'Three%', 'y'), (4, -4, null, 'z')
`)

function written(condition: Condition, alias = 'b'): Sql {
	const sql = new Sql(dialect)
	writeCondition(sql, condition, columns, alias)
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

	test('an unknown field is a programming error', () => {
		assert.throws(
			() => written({ op: 'eq', field: 'nope', value: 1 }),
			(error: unknown) => error instanceof TypeError && error.message === 'there is no column "nope"',
		)
	})

	test.after(() => void database.close())
})
