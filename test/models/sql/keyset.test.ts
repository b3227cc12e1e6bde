import * as assert from 'uvu/assert'
import type { Value } from '../../../lib/models/model.ts'
import { type Dialect, Sql } from '../../../lib/models/sql/dialect.ts'
import type { OrderColumn } from '../../../lib/models/sql/embedding.ts'
import { writeAfter } from '../../../lib/models/sql/keyset.ts'
import { columnOf } from '../../../lib/models/sql/table.ts'
import { describe } from '../../helpers/describe.ts'
import { stage } from './stage.ts'

const { database, driver, dialect, columns } = stage(`
	create table item (id integer primary key, a int not null, b int not null, n int, m text);
	insert into item (a, b, n, m) values
		(1, 1, 1, 'x'), (1, 1, null, null), (1, 2, 2, null), (1, 2, null, 'y'), (2, 1, 1, 'x'), (2, 1, 1, 'y'),
		(2, 2, null, null), (2, 2, 3, 'x'), (3, 1, null, 'z'), (3, 1, 1, null), (1, 1, 1, 'x')
`)

/** `-a,b` as columns; the key, in the direction of the last term, at the end. */
function orderOf(text: string): OrderColumn[] {
	const terms = text.split(',')
	terms.push(terms.at(-1)?.startsWith('-') === true ? '-id' : 'id')
	return terms.map((term) => ({
		column: columnOf(columns, term.replace('-', '')),
		descending: term.startsWith('-'),
	}))
}

function after(by: Dialect, order: readonly OrderColumn[], values: readonly Value[]): Sql {
	const sql = new Sql(by)
	writeAfter(sql, order, values, 'b')
	return sql
}

describe('writeAfter', (test) => {
	const expanding = { ...dialect, comparesRows: false }

	for (const [name, by] of [
		['by rows', dialect],
		['expanded', expanding],
	] as const) {
		for (const text of [
			'a',
			'-a',
			'a,b',
			'-a,-b',
			'a,-b',
			'n',
			'-n',
			'a,n',
			'-n,a',
			'n,-m',
			'-m,-n,a',
			'm,-a,n',
		]) {
			test(`after each record of ${text} come those that follow it, ${name}`, async () => {
				const order = orderOf(text)
				const terms = order.map((term) => dialect.orderTerm(term, 'b')).join(', ')
				const names = order.map(({ column }) => column.name).join(', ')
				const all = await driver.query({
					text: `select ${names}, id from item b order by ${terms}`,
					values: [],
					writes: false,
				})
				assert.is(all.rows.length, 11)
				for (const [at, row] of all.rows.entries()) {
					// The drivers return integers as bigint, and texts.
					const sql = after(by, order, row.slice(0, order.length) as Value[])
					const rest = await driver.query({
						text: `select ${names}, id from item b where ${sql.text} order by ${terms}`,
						values: sql.values,
						writes: false,
					})
					assert.equal(rest.rows, all.rows.slice(at + 1))
				}
			})
		}
	}

	test('not-null columns all in one direction are compared as a row', () => {
		const sql = after(dialect, orderOf('-a,-b'), [1, 2, 3])
		assert.equal([sql.text, sql.values], ['(b."a", b."b", b."id") < (?, ?, ?)', [1, 2, 3]])
		assert.is(after(dialect, orderOf('id').slice(1), [3]).text, 'b."id" > ?')
	})

	test('otherwise a range that an index can serve comes first', () => {
		const sql = after(expanding, orderOf('a'), [1, 3])
		assert.equal([sql.text, sql.values], ['(b."a" >= ? and (b."a" > ? or b."id" > ?))', [1, 1, 3]])
	})

	test('after null come only nulls', () => {
		assert.is(after(dialect, orderOf('n'), [null, 3]).text, '(b."n" is null and b."id" > ?)')
	})

	test('a cursor with the wrong number of values is refused', () => {
		const one = 'a cursor needs one value for each of the 2 terms, got 1'
		assert.throws(
			() => after(dialect, orderOf('a'), [1]),
			(error: unknown) => error instanceof TypeError && error.message === one,
		)
		assert.throws(
			() => after(dialect, [], []),
			(error: unknown) => error instanceof TypeError,
		)
	})

	test.after(() => void database.close())
})
