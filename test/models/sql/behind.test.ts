/** Conditions on relations of related records: `in (select …)` finds the same records as `exists`, and is run once. */
import fc from 'fast-check'
import * as assert from 'uvu/assert'
import type { Comparison, Condition, Link, ListQuery, Related, Selection } from '../../../lib/models/model.ts'
import { writeCondition } from '../../../lib/models/sql/condition.ts'
import { Sql } from '../../../lib/models/sql/dialect.ts'
import type { Driver, Statement } from '../../../lib/models/sql/driver.ts'
import { SqlModel } from '../../../lib/models/sql/sql-model.ts'
import { type Columns, columnsOf } from '../../../lib/models/sql/table.ts'
import { findListing, introspect } from '../../../lib/models/sqlite/introspect.ts'
import { describe } from '../../helpers/describe.ts'
import { seedOf } from '../../helpers/seed.ts'
import { stopwatch } from '../../helpers/stalls.ts'
import { trials } from '../../helpers/trials.ts'
import { type Stage, stage } from './stage.ts'

const seed = seedOf('relations behind a relation')

interface Opened {
	readonly model: SqlModel
	readonly columns: Columns
}

/** Opens tables of a stage. */
function opener({ driver, dialect }: Stage, sentBy: Driver = driver): (name: string) => Opened {
	return (name) => {
		const key = name === 'keyless' || name === 'loose' ? [] : undefined
		const table = introspect(driver, findListing(driver, name), { key, bigint: 'number' })
		return { model: new SqlModel(table, sentBy, dialect), columns: columnsOf(table) }
	}
}

describe('relations behind a relation', (test) => {
	// Texts that differ in case, and numbers that are texts, are the same to some columns, and not to others.
	const columns = 'folded text collate nocase, plain text, number integer, any'
	const odd = stage(
		`create table item (id integer primary key, ${columns});
		create table folder (id text collate nocase not null primary key, ${columns});
		create table keyless (id, ${columns});
		create table tie (id integer primary key, ${columns}, unique (folded, plain));
		create table loose (id, ${columns});`,
	)
	test.after(() => void odd.database.close())
	const open = opener(odd)
	const item = open('item')
	const models = [item, open('folder'), open('keyless')].map(({ model }) => model)
	const ties = [open('tie'), open('loose')].map(({ model }) => model)

	const text = fc.constantFrom('a', 'A', '1', '1.0')
	const value = fc.option(fc.oneof(text, fc.constant(1)), { nil: null })
	const rowsOf = (id: fc.Arbitrary<unknown>) =>
		fc.array(fc.tuple(id, value, value, value, value), { minLength: 3, maxLength: 9 })
	const tables = fc.record({
		...{ item: rowsOf(fc.nat(9)), folder: rowsOf(text), keyless: rowsOf(value) },
		...{ tie: rowsOf(fc.nat(9)), loose: rowsOf(value) },
	})
	const fill = (rows: Readonly<Record<string, readonly (readonly unknown[])[]>>) => {
		for (const [table, own] of Object.entries(rows)) {
			odd.database.exec(`delete from ${table}`)
			for (const row of own) {
				const values = row.map((one) => (typeof one === 'string' ? `'${one}'` : String(one)))
				odd.database.exec(`insert or ignore into ${table} values (${values.join(', ')})`)
			}
		}
	}

	const name = fc.constantFrom('id', 'folded', 'plain', 'number', 'any')
	const names = (count: number) => fc.array(name, { minLength: count, maxLength: count })
	const sides = fc.constantFrom(1, 1, 1, 2).chain((count) =>
		fc.record({
			...{ fields: names(count), to: names(count), isUnique: fc.boolean() },
			...{ from: names(count), on: names(count) },
		}),
	)
	const link = fc
		.record({
			...{ model: fc.constantFrom(...models), tie: fc.constantFrom(undefined, ...ties) },
			...{ isMany: fc.boolean(), sides },
		})
		.map(({ model, tie, isMany, sides }): Link => {
			const { fields, to, isUnique, from, on } = sides
			if (tie === undefined) return { model, fields, to, isMany }
			const through = isUnique && fields.length === 1 ? { from: ['folded'], on: ['plain'] } : { from, on }
			return { model, fields, to, isMany: true, through: { model: tie, ...through } }
		})
		.filter(({ fields, to, through }) => {
			// SQLite 3.53 takes `a.x = t.y and b.z = t.y` for `a.x = b.z`, also where the two compare by different collations.
			const isShared = through?.from.some((one) => through.on.includes(one)) === true
			const folds = (one: string) => one === 'folded' || one === 'id'
			return !(isShared && [...fields, ...to, ...through.from].some(folds))
		})
	const compare = fc.constantFrom<Comparison[]>('eq', 'ne', 'gt', 'gte', 'lt', 'lte')
	const { condition } = fc.letrec<{ condition: Condition; leaf: Condition }>((tie) => {
		const maybe = fc.option(tie('condition'), { nil: undefined })
		return {
			condition: fc.oneof(
				{ maxDepth: 4 },
				tie('leaf'),
				fc.record({ op: fc.constant('not' as const), term: tie('condition') }),
				fc.record({
					op: fc.constantFrom('and' as const, 'or' as const),
					terms: fc.array(tie('condition'), { minLength: 1, maxLength: 2 }),
				}),
				fc.record({ op: fc.constant('some' as const), link, where: fc.constant(undefined), fails: maybe }),
				fc.record({ op: fc.constant('some' as const), link, where: tie('condition') }),
				fc.record({
					...{ op: fc.constant('count' as const), link, where: maybe, compare, value: fc.nat(3) },
				}),
			),
			leaf: fc.oneof(
				fc.record({ op: fc.constant('eq' as const), field: fc.constant('plain'), value: text }),
				fc.record({
					op: fc.constant('null' as const),
					field: name,
					value: fc.constantFrom(true, false, false),
				}),
			),
		}
	})
	const first = fc.record({
		...{ op: fc.constant('some' as const), link, selective: fc.boolean() },
		where: fc.record({
			...{ op: fc.constantFrom('and' as const, 'or' as const) },
			terms: fc.array(condition, { minLength: 1, maxLength: 3 }),
		}),
	})
	const filter: fc.Arbitrary<Condition> = fc.oneof(
		first,
		fc.record({ op: fc.constant('not' as const), term: first }),
	)

	const found = async (condition: Condition, repeatsExists: boolean) => {
		const sql = new Sql({ ...odd.dialect, repeatsExists }).add('select b.id from item b where ')
		writeCondition(sql, condition, item.columns, 'b', 'many')
		const { rows } = await odd.driver.query(sql.add(' order by b.id').statement(false))
		return { ids: rows.map(([id]) => Number(id)), text: sql.text }
	}

	test('they find what `exists` finds, whatever the columns compare and hold', async () => {
		await fc.assert(
			fc.asyncProperty(tables, fc.array(filter, { minLength: 5, maxLength: 5 }), async (rows, filters) => {
				fill(rows)
				for (const one of filters) {
					const [nested, once] = [await found(one, true), await found(one, false)]
					assert.equal(nested.ids, once.ids, nested.text)
				}
			}),
			{ seed, numRuns: trials(100) },
		)
	})

	const large = stage(`
		create table item (id integer primary key, title text, author int);
		create table author (id integer primary key, name text);
		create table tag (id integer primary key, word text);
		create table tie (item int, tag int, primary key (item, tag));
		create index item_author on item (author);
		create index tie_tag on tie (tag);
		with recursive n (i) as (select 1 union all select i + 1 from n where i < 20000)
			insert into item select i, 'item ' || i, 1 + i % 200 from n;
		insert into author select id, 'author ' || id from item where id <= 200;
		insert into tag select id, 'tag ' || id from item where id <= 20;
		insert into tie select i.id, 1 + (i.id + t.id) % 20 from item i, tag t where t.id <= 3;
	`)
	test.after(() => void large.database.close())
	const sent: Statement[] = []
	const openLarge = opener(large, {
		query: (statement) => {
			sent.push(statement)
			return large.driver.query(statement)
		},
		transaction: (work) => large.driver.transaction(work),
	})
	const [items, authors, tags, tieds] = ['item', 'author', 'tag', 'tie'].map(
		(table) => openLarge(table).model,
	)
	if (items === undefined || authors === undefined || tags === undefined || tieds === undefined)
		throw new Error('a table is missing')
	const links = {
		author: { model: authors, fields: ['author'], to: ['id'], isMany: false },
		items: { model: items, fields: ['id'], to: ['author'], isMany: true },
		tags: {
			...{ model: tags, fields: ['id'], to: ['id'], isMany: true },
			through: { model: tieds, from: ['item'], on: ['tag'] },
		},
		tagged: {
			...{ model: items, fields: ['id'], to: ['id'], isMany: true },
			through: { model: tieds, from: ['tag'], on: ['item'] },
		},
	} satisfies Record<string, Link>
	const some = (link: Link, where: Condition): Condition => ({ op: 'some', link, where })
	const titled = (value: string): Condition => ({ op: 'eq', field: 'title', value })
	const selection: Selection = { fields: ['id'], names: ['id'], version: undefined }
	const query = (where: Condition): ListQuery => ({
		...{ selection, where, order: [{ field: 'id', descending: false }] },
		...{ limit: 2, offset: 0, after: undefined, total: false },
	})
	/** How SQLite runs a statement. */
	const plan = async ({ text, values }: Statement): Promise<string[]> => {
		const { rows } = await large.driver.query({ text: `explain query plan ${text}`, values, writes: false })
		return rows.map((row) => String(row[3]))
	}
	/** How SQLite runs the subselects of `in`: `CORRELATED LIST SUBQUERY` would be for each record. */
	const lists = async (statement: Statement): Promise<string[]> => {
		const details = (await plan(statement)).map((detail) => detail.replace(/ \d+$/, ''))
		return details.filter((detail) => detail.endsWith('LIST SUBQUERY'))
	}

	const count = (link: Link, compare: Comparison, value: number): Condition => ({
		...{ op: 'count', link, where: undefined, compare, value },
	})
	const cases: readonly [string, Condition, readonly number[]][] = [
		['many to many, there and back', some(links.tags, some(links.tagged, titled('x'))), []],
		['the same that some match', some(links.tags, some(links.tagged, titled('item 40'))), [1, 2]],
		['to one and to many', some(links.author, some(links.items, titled('x'))), []],
		['to one and to many that match', some(links.author, some(links.items, titled('item 300'))), [100, 300]],
		['none behind', some(links.author, { op: 'not', term: some(links.items, titled('x')) }), [1, 2]],
		['a count behind', some(links.author, count(links.items, 'gte', 101)), []],
		['a count behind, not reached', some(links.author, count(links.items, 'lte', 100)), [1, 2]],
		['a count of many to many behind', some(links.tags, count(links.tagged, 'eq', 3_000)), [1, 2]],
	]
	for (const [promise, where, expected] of cases) {
		test(`are searched once, in lists, counts and totals: ${promise}`, async () => {
			sent.length = 0
			const time = stopwatch()
			const { json } = await items.list(query(where))
			assert.equal(
				(JSON.parse(json) as { id: number }[]).map(({ id }) => id),
				expected,
			)
			const number = await items.count(where)
			assert.ok(expected.length === 0 ? number === 0 : number > 1)
			const totals = await items.totals?.({
				...{ by: [], totals: [{ op: 'count' }], where, having: undefined, order: [], limit: 1 },
				timeZone: 'UTC',
			})
			assert.is(totals?.json, `[{"count":${number}}]`)
			// The first one took minutes.
			assert.ok(time() < 60_000)
			assert.is(sent.length, 3)
			for (const statement of sent)
				assert.equal([...new Set(await lists(statement))], ['LIST SUBQUERY'], statement.text)
		})
	}

	test('are searched once, within records that may be in several others', async () => {
		sent.length = 0
		const related = (name: string, link: Link, where?: Condition): Related => ({
			...{ name, link, selection, where },
			list: { order: [{ field: 'id', descending: false }], limit: 3, count: undefined, cursor: () => 'next' },
		})
		const listed = async (...within: Related[]) => {
			const { json } = await items.list({
				...query({ op: 'and', terms: [] }),
				selection: { ...selection, related: within },
			})
			return JSON.stringify(JSON.parse(json)).replace(/,"meta":\{.*?\}/g, '')
		}
		const time = stopwatch()
		const of1999 = some(links.tagged, { op: 'startsWith', field: 'title', value: 'item 1999' })
		assert.is(
			await listed(related('tags', links.tags, of1999)),
			'[{"id":1,"tags":{"data":[{"id":3}]}},{"id":2,"tags":{"data":[]}}]',
		)
		const nested = {
			...related('tags', links.tags),
			selection: {
				...selection,
				related: [related('items', links.tagged, some(links.tags, some(links.tagged, titled('x'))))],
			},
		}
		assert.match(await listed(nested), /^\[\{"id":1,"tags":\{"data":\[\{"id":3,"items":\{"data":\[\]\}\}/)
		assert.ok(time() < 60_000)
		for (const statement of sent)
			assert.equal([...new Set(await lists(statement))], ['LIST SUBQUERY'], statement.text)
	})

	test('within records that are each in one other, related ones are looked up', async () => {
		sent.length = 0
		const tagged = some(links.tags, { op: 'eq', field: 'word', value: 'tag 3' })
		const own: Related = {
			...{ name: 'items', link: links.items, selection, where: tagged },
			list: { order: [{ field: 'id', descending: false }], limit: 1, count: undefined, cursor: () => 'next' },
		}
		const { json } = await authors.list({
			...query({ op: 'and', terms: [] }),
			selection: { ...selection, related: [own] },
			limit: 1,
		})
		assert.match(json, /^\[\{"id":1,"items":\{"data":\[\{"id":200\}\]/)
		for (const statement of sent) assert.equal(await lists(statement), [])
	})

	test('a list begins with the related records that an index finds, and looks at no others', async () => {
		const between: Link = { model: tieds, fields: ['id'], to: ['item'], isMany: true }
		const where: Condition = {
			...{ op: 'some', link: between, selective: true },
			where: { op: 'eq', field: 'tag', value: 5 },
		}
		sent.length = 0
		assert.equal(JSON.parse((await items.list(query(where))).json), [{ id: 1 }, { id: 2 }])
		assert.is(await items.count(where), 3_000)
		const [page] = await items.listEach(query({ op: 'gt', field: 'id', value: 20 }), [where])
		assert.equal(JSON.parse(page?.json ?? ''), [{ id: 21 }, { id: 22 }])
		assert.is(sent.length, 3)
		for (const statement of sent) {
			const tables = (await plan(statement)).filter((detail) => /^(?:SCAN|SEARCH) (?:b|br)\b/.test(detail))
			assert.equal(
				tables,
				['SEARCH b USING INTEGER PRIMARY KEY (rowid=?)', 'SEARCH br USING INDEX tie_tag (tag=?)'],
				statement.text,
			)
		}
	})

	test('a read of one record follows them from there, without reading others', async () => {
		sent.length = 0
		const where = some(links.author, some(links.items, titled('item 300')))
		assert.equal((await items.read('300', selection, where))?.json, '{"id":300}')
		assert.is(await items.read('301', selection, where), undefined)
		for (const statement of sent) assert.equal(await lists(statement), [])
	})
})
