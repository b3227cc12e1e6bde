/** Statements that write records: texts are cached by the given fields, values never. */
import * as assert from 'uvu/assert'
import { type Changes, DEFAULT, type Guard, type Values } from '../../../lib/models/model.ts'
import { dialectOf } from '../../../lib/models/postgres/dialect.ts'
import { type Plan, planOf } from '../../../lib/models/sql/plan.ts'
import type { Subject } from '../../../lib/models/sql/subject.ts'
import { type Column, columnOf, columnsOf, type Table } from '../../../lib/models/sql/table.ts'
import { Lru } from '../../../lib/models/sql/text-cache.ts'
import { insertStatement, updateStatement } from '../../../lib/models/sql/writes.ts'
import { messageOf } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'

const RULES = { nullable: true, hasDefault: true, generated: false }
const COLUMNS: readonly Column[] = [
	{ name: 'id', type: 'integer', sqlType: 'int4', ...RULES, nullable: false },
	{ name: 'a', type: 'text', sqlType: 'text', ...RULES },
	{ name: 'b', type: 'integer', sqlType: 'int4', ...RULES },
	{ name: 'v', type: 'integer', sqlType: 'int4', ...RULES, nullable: false },
]
const TABLE: Table = {
	...{ schema: undefined, name: 't', columns: COLUMNS, key: ['id'], constraints: [], isView: false },
}
const ANY: Guard = { where: undefined, version: undefined }

/** A table with empty caches. */
function fresh(storage?: string): { subject: Subject; plan: Plan } {
	const columns = columnsOf(TABLE)
	const key = { ...columnOf(columns, 'id'), storage }
	const dialect = dialectOf(false, [key], new Lru())
	const plan = planOf(TABLE, columns, dialect, { fields: ['a'], names: ['a'], version: 'v' })
	return { subject: { table: TABLE, columns, keys: [key], dialect }, plan }
}

describe('sql/writes', (test) => {
	test('an insert and an update have the expected SQL', () => {
		const { subject, plan } = fresh()
		const insert = insertStatement(subject, { a: 'x', b: 2 }, plan)
		assert.is(
			insert.text.split(' returning ')[0],
			'insert into "t" as b ("a", "b") values ($1::text, $2::int4)',
		)
		assert.equal(insert.values, ['x', '2'])
		const nothing = insertStatement(subject, {}, plan)
		assert.is(nothing.text.split(' returning ')[0], 'insert into "t" as b default values')
		const update = updateStatement(subject, '7', { a: DEFAULT, b: null }, plan, { ...ANY, version: '3' })
		assert.is(
			update.text.split(' returning ')[0],
			'update "t" as b set "a" = default, "b" = $1::int4, "v" = b."v" + 1 where b."id" = $2::int4 and b."v" = $3::int4',
		)
		assert.equal(update.values, [null, '7', '3'])
		assert.is(
			update.ofAll?.()?.split(' returning ')[0],
			'update "t" as b set "a" = default, "b" = v.c1, "v" = b."v" + 1' +
				' from unnest($1::int4[], $2::int4[], $3::int4[]) with ordinality v(c1, c2, c3, n)' +
				' where b."id" = v.c2 and b."v" = v.c3 and (select count(*) from (select' +
				' from unnest($2::int4[]) with ordinality v(c2, n) join "t" as b on b."id" = v.c2' +
				' order by v.n for no key update of b) l) >= 0',
		)
	})

	const inserts: Values[] = [{ a: 'x' }, { a: 'y' }, { b: 1 }, { a: 'x', b: 1 }, { b: 2, a: 'z' }, {}]
	test('a cached insert text equals a newly written one', () => {
		const { subject, plan } = fresh()
		for (const values of [...inserts, ...inserts]) {
			const other = fresh()
			assert.equal(insertStatement(subject, values, plan), insertStatement(other.subject, values, other.plan))
		}
	})

	const where = { op: 'eq', field: 'b', value: 5 } as const
	const changed: Changes[] = [
		{ a: 'x' },
		{ a: DEFAULT },
		{ b: 1 },
		{ a: DEFAULT, b: 2 },
		{ a: null, v: 9 },
		{},
	]
	const updates: [Changes, Guard][] = []
	for (const guard of [
		ANY,
		{ ...ANY, version: '3' },
		{ ...ANY, version: '99999999999' },
		{ ...ANY, where },
		{ where, version: '4' },
	]) {
		for (const changes of changed) updates.push([changes, guard])
	}
	for (const [what, storage] of [
		['a key compared by `=`', undefined],
		['a key that is compared loosely', 'loose'],
	] as const) {
		test(`a cached update text equals a newly written one, with ${what}`, () => {
			const { subject, plan } = fresh(storage)
			for (const [changes, guard] of [...updates, ...updates, ...updates]) {
				const other = fresh(storage)
				const [one, two] = [
					updateStatement(subject, '7', changes, plan, guard),
					updateStatement(other.subject, '7', changes, other.plan, guard),
				].map((statement) => ({ ...statement, ofAll: statement.ofAll?.() }))
				assert.equal(one, two)
			}
		})
	}

	test('a version is refused where the selection has none', () => {
		const { subject } = fresh()
		const plan = planOf(TABLE, subject.columns, subject.dialect, {
			...{ fields: ['a'], names: ['a'], version: undefined },
		})
		assert.match(
			messageOf(() => updateStatement(subject, '7', { a: 'x' }, plan, { ...ANY, version: '3' })),
			'a version is given, but the selection has none',
		)
	})
})
