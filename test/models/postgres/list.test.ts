/** SQL texts of PostgreSQL's lists and gathered reads; their results are in contract.test.ts. */
import * as assert from 'uvu/assert'
import { dialectOf } from '../../../lib/models/postgres/dialect.ts'
import { type Dialect, type ListParts, Sql } from '../../../lib/models/sql/dialect.ts'
import type { Statement } from '../../../lib/models/sql/driver.ts'
import type { Selected } from '../../../lib/models/sql/embedding.ts'
import type { Column, Table } from '../../../lib/models/sql/table.ts'
import { Lru } from '../../../lib/models/sql/text-cache.ts'
import { describe } from '../../helpers/describe.ts'

const RULES = { nullable: false, hasDefault: true, generated: false }
const ID: Column = { name: 'id', type: 'integer', sqlType: 'int4', ...RULES }
const NAME: Column = { name: 'name', type: 'text', sqlType: 'text', ...RULES, nullable: true }
const TABLE: Table = {
	...{ schema: undefined, name: 't', columns: [ID, NAME], key: ['id'], constraints: [], isView: false },
}
const SELECTED: readonly Selected[] = [{ column: ID, as: 'id' }]
const FIRST: ListParts = {
	...{ table: TABLE, selected: SELECTED, order: [{ column: ID, descending: false }], limit: 10, offset: 0 },
	...{ where: undefined, after: undefined, total: false, maxBytes: 1_000, looksBeyond: true },
}
const BY_NAME = { column: NAME, descending: true }
const isNamed = (sql: Sql): void => {
	sql.add('b."name" = ').value('x', NAME)
}

function listOf(dialect: Dialect, parts: ListParts): Statement {
	const sql = new Sql(dialect)
	dialect.list(sql, parts)
	return sql.statement(false)
}

describe('postgres: SQL texts of lists', (test) => {
	const all: ListParts[] = [
		FIRST,
		{ ...FIRST, limit: 20 },
		{ ...FIRST, offset: 5 },
		{ ...FIRST, offset: 500 },
		{ ...FIRST, offset: Number.MAX_SAFE_INTEGER },
		{ ...FIRST, total: true },
		{ ...FIRST, total: true, offset: 5 },
		{ ...FIRST, order: [{ column: ID, descending: true }] },
		{ ...FIRST, order: [BY_NAME, { column: ID, descending: true }] },
		{ ...FIRST, where: isNamed },
		{ ...FIRST, after: isNamed },
		{ ...FIRST, selected: [{ column: NAME, as: 'name' }] },
	]
	test('a cached text equals a newly written one', () => {
		const dialect = dialectOf(false, [ID], new Lru())
		for (const parts of [...all, ...all, ...all])
			assert.equal(listOf(dialect, parts), listOf(dialectOf(false, [ID], new Lru()), parts))
	})

	const reaches: [limit: number, offset: number, reach: string][] = [
		[10, 0, '128'],
		[127, 0, '128'],
		[128, 0, '256'],
		[100, 1_999, '4096'],
		[100, 2 ** 52 - 101, '4503599627370496'],
		[100, 2 ** 52 - 100, '9007199254740992'],
		[100, Number.MAX_SAFE_INTEGER, '18014398509481984'],
	]
	for (const [limit, offset, reach] of reaches) {
		test(`a page of ${limit} from ${offset} on reaches ${reach}`, () => {
			const { text } = listOf(dialectOf(false, [ID], new Lru()), { ...FIRST, limit, offset })
			assert.match(text, `order by b."id" limit ${reach}) b limit`)
		})
	}

	test('the length of the gathered result is hidden from the planner', () => {
		const dialect = dialectOf(false, [ID], new Lru())
		const sql = new Sql(dialect)
		dialect.keyIn?.(sql, [ID], 'b', ['1', '2'])
		assert.is(sql.text, 'b."id" = any((select $1::int4[])::int4[])')
		assert.equal(sql.values, ['{1,2}'])
	})
})
