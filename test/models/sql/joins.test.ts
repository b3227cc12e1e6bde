import * as assert from 'uvu/assert'
import type { Condition, Link, Order } from '../../../lib/models/model.ts'
import { Sql } from '../../../lib/models/sql/dialect.ts'
import { joinedColumns, joinedOrder, orderOfPage, orderTerms } from '../../../lib/models/sql/joins.ts'
import { SqlModel } from '../../../lib/models/sql/sql-model.ts'
import { columnsOf, type Table } from '../../../lib/models/sql/table.ts'
import { describe } from '../../helpers/describe.ts'
import { stage } from './stage.ts'

const { database, driver, dialect } = stage('create table item (id integer primary key)')
const INTEGER = {
	nullable: false,
	hasDefault: false,
	generated: false,
	type: 'integer',
	sqlType: 'integer',
} as const

function tableOf(
	name: string,
	names: readonly string[],
	key: readonly string[],
	unique: string[][] = [],
): Table {
	const columns = names.map((column) => ({ name: column, ...INTEGER }))
	return { ...{ schema: undefined, name, columns, key, unique, constraints: [], isView: false } }
}

const item = tableOf('item', ['id', 'team', 'code'], ['id'])
const team = new SqlModel(tableOf('team', ['id', 'code', 'town'], ['id'], [['code']]), driver, dialect)
const town = new SqlModel(tableOf('town', ['id', 'zip'], ['id']), driver, dialect)
const view = new SqlModel(tableOf('view', ['code', 'n'], []), driver, dialect)

const ofTeam: Link = { model: team, fields: ['team'], to: ['id'], isMany: false }
const byCode: Link = { model: team, fields: ['code'], to: ['code'], isMany: false }
const ofTown: Link = { model: town, fields: ['town'], to: ['id'], isMany: false }
const byZip: Link = { model: town, fields: ['code'], to: ['zip'], isMany: false }
const ofView: Link = { model: view, fields: ['code'], to: ['code'], isMany: false }
const where: Condition = { op: 'gt', field: 'id', value: 5 }

function by(field: string, ...links: readonly (Link | [Link, Condition])[]): Order {
	const via = links.map((link) =>
		Array.isArray(link) ? { link: link[0], where: link[1] } : { link, where: undefined },
	)
	return { field, descending: true, ...(via.length === 0 ? {} : { via }) }
}

function written(order: readonly Order[]): {
	joins: string
	values: unknown[]
	columns: string
	sorted: string
} {
	const { terms, joins } = joinedOrder(order, columnsOf(item), 'b')
	const sql = new Sql(dialect)
	joins?.(sql)
	const sorted = `${orderTerms(dialect, terms, 'b')} | ${orderTerms(dialect, orderOfPage(terms), 'p')}`
	return { joins: sql.text, values: sql.values, columns: joinedColumns(dialect, terms), sorted }
}

describe('joinedOrder', (test) => {
	test('an order by own columns has no joins', () => {
		const { joins, terms } = joinedOrder([by('team'), by('id')], columnsOf(item), 'b')
		assert.equal([joins, terms.map(({ joined }) => joined)], [undefined, [undefined, undefined]])
	})

	test('a joined column is nullable, and a column of its own outside of the page', () => {
		assert.equal(written([by('code', ofTeam), by('id')]), {
			joins: ' left join "team" bj0 on bj0."id" = b."team"',
			values: [],
			columns: ', bj0."code" as "verbena sort 0"',
			sorted: 'bj0."code" desc, b."id" desc | p."verbena sort 0" desc, p."id" desc',
		})
		const { terms } = joinedOrder([by('code', ofTeam), by('id')], columnsOf(item), 'b')
		assert.equal(
			terms.map(({ column }) => column.nullable),
			[true, false],
		)
	})

	const texts: readonly [string, readonly Order[], string, readonly unknown[]][] = [
		[
			'terms share the joins of the links that they have in common',
			[by('code', ofTeam), by('zip', ofTeam, ofTown), by('id', ofTeam, ofTown)],
			' left join "team" bj0 on bj0."id" = b."team" left join "town" bj1 on bj1."id" = bj0."town"',
			[],
		],
		[
			'another condition makes another join',
			[by('code', ofTeam), by('code', [ofTeam, where])],
			' left join "team" bj0 on bj0."id" = b."team" left join "team" bj1 on bj1."id" = b."team" and bj1."id" > ?',
			[5],
		],
		[
			'columns with a unique index are joined directly',
			[by('town', byCode)],
			' left join "team" bj0 on bj0."code" = b."code"',
			[],
		],
		[
			'of several records, the first by the key is joined',
			[by('id', [byZip, where])],
			' left join (select bj0.*, row_number() over (partition by bj0."zip" order by bj0."id") as "verbena first" from "town" bj0 where bj0."id" > ?) bj0 on bj0."zip" = b."code" and bj0."verbena first" = 1',
			[5],
		],
		[
			'of several records without a key, any one',
			[by('n', ofView)],
			' left join (select bj0.*, row_number() over (partition by bj0."code") as "verbena first" from "view" bj0) bj0 on bj0."code" = b."code" and bj0."verbena first" = 1',
			[],
		],
	]
	for (const [promise, order, text, values] of texts) {
		test(promise, () => {
			const { joins, values: bound } = written(order)
			assert.equal([joins, bound], [text, values])
		})
	}

	test.after(() => void database.close())
})
