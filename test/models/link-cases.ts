/** Conditions and orders through links, on the tables of any database. */
import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import type {
	Condition,
	Link,
	Listed,
	ListQuery,
	Model,
	Order,
	Selection,
	Value,
} from '../../lib/models/model.ts'
import { ModelError } from '../../lib/models/model-error.ts'

/** Statements that create the tables and their records, in SQL that all databases understand. */
export const LINK_TABLES: readonly string[] = [
	'create table cond_person (id int primary key, name varchar(50), boss int, lang varchar(5), region varchar(5), born timestamp(6) null)',
	`insert into cond_person values (1, 'Ada', null, 'de', 'AT', '2026-01-02 10:00:00.000002'),
		(2, 'Bob', 1, 'de', 'CH', '2026-01-02 10:00:00.000001'), (3, 'Cyd', 1, 'de', null, null),
		(4, 'Dan', 2, 'fr', 'CH', null), (5, null, 9, null, 'CH', null)`,
	'create table cond_place (lang varchar(5) not null, region varchar(5) not null, note varchar(50), primary key (lang, region))',
	`insert into cond_place values ('de', 'AT', 'x'), ('de', 'CH', null), ('fr', 'CH', 'y'), ('fr', 'FR', 'x')`,
	'create table cond_item (id int primary key, person int, n int)',
	`insert into cond_item values (1, 1, 5), (2, 1, null), (3, 1, 7), (4, 2, 7), (5, 2, 8), (6, 3, null), (7, null, 5)`,
	'create table cond_tag (id int primary key, word varchar(20))',
	`insert into cond_tag values (1, 'red'), (2, 'blue'), (3, null)`,
	'create table cond_tie (person int not null, tag int not null, primary key (person, tag))',
	'insert into cond_tie values (1, 1), (1, 2), (2, 1), (3, 3), (4, 9)',
	'create table cond_loose_tie (id int primary key, person int, tag int)',
	'insert into cond_loose_tie values (1, 1, 1), (2, 1, 1), (3, 1, 1), (4, 2, 1), (5, 2, 2), (6, 2, null), (7, null, 2)',
]

export const LINK_TABLE_NAMES: readonly string[] = [
	...['cond_person', 'cond_place', 'cond_item', 'cond_tag', 'cond_tie', 'cond_loose_tie'],
]

const SELECTION = { fields: ['id'], names: ['id'], version: undefined }

export interface LinkModels {
	readonly person: Model
	readonly place: Model
	readonly item: Model
	readonly tag: Model
	readonly tie: Model
	readonly looseTie: Model
}

/** Opens each of {@link LINK_TABLE_NAMES}. */
export async function openLinkModels(open: (table: string) => Model | Promise<Model>): Promise<LinkModels> {
	return {
		person: await open('cond_person'),
		place: await open('cond_place'),
		item: await open('cond_item'),
		tag: await open('cond_tag'),
		tie: await open('cond_tie'),
		looseTie: await open('cond_loose_tie'),
	}
}

export function linksOf({ person, place, item, tag, tie, looseTie }: LinkModels): Record<string, Link> {
	const via = { from: ['person'], on: ['tag'] }
	return {
		boss: { model: person, fields: ['boss'], to: ['id'], isMany: false },
		staff: { model: person, fields: ['id'], to: ['boss'], isMany: true },
		place: { model: place, fields: ['lang', 'region'], to: ['lang', 'region'], isMany: false },
		items: { model: item, fields: ['id'], to: ['person'], isMany: true },
		language: { model: place, fields: ['lang'], to: ['lang'], isMany: false },
		tags: { model: tag, fields: ['id'], to: ['id'], isMany: true, through: { model: tie, ...via } },
		loose: { model: tag, fields: ['id'], to: ['id'], isMany: true, through: { model: looseTie, ...via } },
		people: {
			...{ model: person, fields: ['id'], to: ['id'], isMany: true },
			through: { model: tie, from: ['tag'], on: ['person'] },
		},
		inhabitants: { model: person, fields: ['lang', 'region'], to: ['lang', 'region'], isMany: true },
		siblings: { model: item, fields: ['person'], to: ['person'], isMany: true },
	}
}

export async function idsOf(model: Model, where: Condition | undefined): Promise<number[]> {
	const order = [{ field: 'id', descending: false }]
	const query = { selection: SELECTION, where, order, limit: 100, offset: 0, after: undefined, total: true }
	const { json, total } = await model.list(query)
	const found = (JSON.parse(json) as { id: number }[]).map(({ id }) => id)
	assert.is(total, found.length)
	assert.is(await model.count(where), found.length)
	return found
}

/** Declares the tests; `models` is called when they run. */
export function linkTests(test: Test, models: () => LinkModels): void {
	const n = (op: 'eq' | 'gt' | 'ne', value: number): Condition => ({ op, field: 'n', value })
	const word = (value: string): Condition => ({ op: 'eq', field: 'word', value })
	const name = (value: string): Condition => ({ op: 'eq', field: 'name', value })
	const note = (value: string): Condition => ({ op: 'eq', field: 'note', value })
	type Build = (links: Record<string, Link>) => Condition
	const some =
		(link: string, where?: Condition, fails?: Condition): Build =>
		(links) => ({ op: 'some', link: links[link] as Link, where, ...(fails === undefined ? {} : { fails }) })
	const count =
		(
			link: string,
			compare: 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte',
			value: number,
			where?: Condition,
		): Build =>
		(links) => ({ op: 'count', link: links[link] as Link, where, compare, value })
	const not =
		(build: Build): Build =>
		(links) => ({ op: 'not', term: build(links) })
	const within =
		(link: string, inner: Build): Build =>
		(links) => ({ op: 'some', link: links[link] as Link, where: inner(links) })

	const cases: readonly [string, Build, readonly number[]][] = [
		['some record of a to-one link', some('boss'), [2, 3, 4]],
		['some record of a to-one link that matches', some('boss', name('Ada')), [2, 3]],
		['no record of a to-one link', not(some('boss', name('Ada'))), [1, 4, 5]],
		['a link to itself, in itself', within('boss', some('boss', name('Ada'))), [4]],
		['a link there and back', within('staff', some('boss', name('Bob'))), [2]],
		['links of several fields', some('place'), [1, 2, 4]],
		['links of several fields that match', some('place', { op: 'null', field: 'note', value: true }), [2]],
		['some of many', some('items', n('eq', 7)), [1, 2]],
		['none of many', not(some('items', n('eq', 7))), [3, 4, 5]],
		['some for which a condition is false or unknown', some('items', undefined, n('eq', 7)), [1, 2, 3]],
		['some that match one condition, and fail another', some('items', n('gt', 4), n('eq', 7)), [1, 2]],
		['every one', not(some('items', undefined, n('gt', 6))), [2, 4, 5]],
		['every one, or a null', not(some('items', undefined, { op: 'not', term: n('eq', 5) })), [2, 4, 5]],
		['some of many to many', some('tags', word('red')), [1, 2]],
		['some of many to many that fails', some('tags', undefined, word('red')), [1, 3]],
		['none of many to many', not(some('tags')), [4, 5]],
		['some of many to many, with repeated ties', some('loose', word('blue')), [2]],
		['count = 0', count('items', 'eq', 0), [4, 5]],
		['count <> 0', count('items', 'ne', 0), [1, 2, 3]],
		['count = 2', count('items', 'eq', 2), [2]],
		['count <> 2', count('items', 'ne', 2), [1, 3, 4, 5]],
		['count > 1', count('items', 'gt', 1), [1, 2]],
		['count >= 0', count('items', 'gte', 0), [1, 2, 3, 4, 5]],
		['count >= 1', count('items', 'gte', 1), [1, 2, 3]],
		['count >= 3', count('items', 'gte', 3), [1]],
		['count < 0', count('items', 'lt', 0), []],
		['count < 1', count('items', 'lt', 1), [4, 5]],
		['count < 3', count('items', 'lt', 3), [2, 3, 4, 5]],
		['count <= 0', count('items', 'lte', 0), [4, 5]],
		['count <= 2', count('items', 'lte', 2), [2, 3, 4, 5]],
		['count <= 2^53 - 2', count('items', 'lte', Number.MAX_SAFE_INTEGER - 1), [1, 2, 3, 4, 5]],
		['count >= 2^53 - 2', count('items', 'gte', Number.MAX_SAFE_INTEGER - 1), []],
		['not count > 1', not(count('items', 'gt', 1)), [3, 4, 5]],
		['a count of those that match', count('items', 'gte', 2, n('gt', 4)), [1, 2]],
		['a count of a to-one link', count('boss', 'eq', 1), [2, 3, 4]],
		['a count of many to many', count('tags', 'gte', 2), [1]],
		['a count of many to many that match', count('tags', 'eq', 1, word('red')), [1, 2]],
		['repeated ties count once', count('loose', 'gte', 2), [2]],
		['repeated ties count once, exactly', count('loose', 'eq', 1), [1]],
		['a count within', within('staff', count('items', 'eq', 2)), [1]],
		['a count within that is not reached', within('staff', count('items', 'lt', 2)), [1, 2]],
		['a count of zero within', within('boss', count('items', 'eq', 0)), []],
		['none within', within('staff', not(some('items'))), [2]],
		['every one within', within('boss', not(some('items', undefined, n('ne', 6)))), [4]],
		['none of those within', not(within('boss', some('items', n('eq', 5)))), [1, 4, 5]],
		['many of many within', within('boss', within('staff', some('items', n('eq', 8)))), [2, 3]],
		['many to many within', within('boss', some('tags', word('blue'))), [2, 3]],
		['a count of many to many within', within('boss', count('tags', 'lte', 1)), [4]],
		['repeated ties within count once', within('boss', count('loose', 'gte', 2)), [4]],
		['repeated ties within count once, exactly', within('boss', count('loose', 'ne', 2)), [2, 3]],
		['a link there and back, by a link within', within('tags', some('people', name('Bob'))), [1, 2]],
		['a count of a link there and back', within('tags', count('people', 'gte', 2)), [1, 2]],
		['a link of several fields, there and back', within('place', some('inhabitants', name('Bob'))), [2]],
		['a count by several fields within', within('place', count('inhabitants', 'eq', 1)), [1, 2, 4]],
		['none by a field that is not unique', within('items', not(some('siblings', n('eq', 7)))), [3]],
		['a count by a field that is not unique', within('items', count('siblings', 'eq', 3)), [1]],
		['a smaller count by a field that is not unique', within('items', count('siblings', 'lt', 2)), [3]],
		['the first of several within', within('boss', some('language', note('x'))), [2, 3, 4]],
		[
			'counts and links in and, or and not',
			(links) => ({
				op: 'or',
				terms: [
					{ op: 'and', terms: [some('boss', name('Ada'))(links), count('items', 'eq', 1)(links)] },
					not(some('place'))(links),
					{ op: 'eq', field: 'id', value: 4 },
				],
			}),
			[3, 4, 5],
		],
	]
	for (const [promise, build, expected] of cases) {
		test(promise, async () => {
			const { person } = models()
			assert.equal(await idsOf(person, build(linksOf(models()))), expected)
		})
	}

	test('reads at the same time have a link in their condition', async () => {
		const { person } = models()
		const where = some('items', n('eq', 7))(linksOf(models()))
		const found = await Promise.all(['1', '2', '3', '4'].map((id) => person.read(id, SELECTION, where)))
		assert.equal(
			found.map((one) => one?.json),
			['{"id":1}', '{"id":2}', undefined, undefined],
		)
		assert.is(await person.read('3', SELECTION, where), undefined)
		assert.is((await person.read('2', SELECTION, where))?.json, '{"id":2}')
	})

	test('changes and deletions have a link in their condition', async () => {
		const { person, item } = models()
		const links = linksOf(models())
		const selection = { fields: ['id', 'name'], names: ['id', 'name'], version: undefined }
		await person.create({ id: 20, name: 'Zoe', boss: 1 }, selection)
		await person.create({ id: 21, name: 'Yan', boss: 20 }, selection)
		await item.create({ id: 20, person: 20, n: 40 }, SELECTION)
		const update = (where: Condition, value: string) =>
			person.update('20', { name: value }, selection, { where, version: undefined })
		const remove = (where: Condition) => person.delete('20', selection, { where, version: undefined })
		assert.is(await update(some('items', n('eq', 41))(links), 'no'), 'missing')
		assert.is(await update(some('boss', name('Bob'))(links), 'no'), 'missing')
		assert.is(await update(within('staff', some('boss', name('Bob')))(links), 'no'), 'missing')
		assert.equal(await update(some('items', n('eq', 40))(links), 'one'), {
			json: '{"id":20,"name":"one"}',
			version: undefined,
		})
		assert.equal(await update(some('staff', name('Yan'))(links), 'two'), {
			json: '{"id":20,"name":"two"}',
			version: undefined,
		})
		assert.is(await remove(some('items', n('eq', 41))(links)), 'missing')
		assert.is(await remove(not(some('staff'))(links)), 'missing')
		assert.equal(await remove(within('boss', some('staff', name('two')))(links)), {
			json: '{"id":20,"name":"two"}',
			version: undefined,
		})
		const guard = { where: undefined, version: undefined }
		assert.not.type(await person.delete('21', SELECTION, guard), 'string')
		assert.not.type(await item.delete('20', SELECTION, guard), 'string')
	})

	test('within a transaction, too', async () => {
		const { person } = models()
		const { staff } = linksOf(models())
		await person.transaction(async (inner) => {
			const where: Condition = { op: 'some', link: staff as Link, where: name('Dan') }
			const selection = { fields: ['name'], names: ['name'], version: undefined }
			const guard = { where, version: undefined }
			assert.is(await inner.update('1', { name: 'Ada' }, selection, guard), 'missing')
			assert.not.type(await inner.update('2', { name: 'Bob' }, selection, guard), 'string')
			assert.equal(await idsOf(inner, where), [2])
		})
	})

	type Term = readonly [path: string, field: string, descending?: boolean, where?: Build]
	const id: Term = ['', 'id']
	const orders: readonly [string, readonly Term[], readonly number[]][] = [
		['a field of a to-one link', [['boss', 'name'], id], [2, 3, 4, 1, 5]],
		['a field of a to-one link, descending', [['boss', 'name', true], id], [4, 2, 3, 1, 5]],
		['a field of a link of a link', [['boss.boss', 'name'], id], [4, 1, 2, 3, 5]],
		['two links', [['boss', 'name'], ['boss.boss', 'name'], ['place', 'note', true], id], [2, 3, 4, 1, 5]],
		['a link and own fields', [['boss', 'name'], ['', 'name', true], id], [3, 2, 4, 1, 5]],
		['own fields and a link', [['', 'lang', true], ['boss', 'name'], id], [4, 2, 3, 1, 5]],
		['a link of several fields', [['place', 'note'], id], [1, 4, 2, 3, 5]],
		['a link with a condition', [['boss', 'id', true, () => name('Bob')], id], [4, 1, 2, 3, 5]],
		[
			'two conditions of one link',
			[['boss', 'id', false, () => name('Ada')], ['boss', 'id', false, () => name('Bob')], id],
			[2, 3, 4, 1, 5],
		],
		['a condition with a link', [['boss', 'id', true, some('boss')], id], [4, 1, 2, 3, 5]],
		['times with all their digits', [['boss', 'born'], id], [4, 2, 3, 1, 5]],
		['the first of several related records', [['language', 'note'], id], [1, 2, 3, 4, 5]],
		['the first of several, descending', [['language', 'note', true], id], [4, 1, 2, 3, 5]],
		[
			'the first that matches of several',
			[['language', 'note', true, () => ({ op: 'eq', field: 'region', value: 'CH' })], id],
			[4, 1, 2, 3, 5],
		],
	]
	const orderOf = (terms: readonly Term[]): Order[] => {
		const links = linksOf(models())
		return terms.map(([path, field, descending = false, where]) => ({
			...{ field, descending },
			...(path === ''
				? {}
				: { via: path.split('.').map((one) => ({ link: links[one] as Link, where: where?.(links) })) }),
		}))
	}
	for (const [promise, terms, expected] of orders) {
		test(`sorted by ${promise}`, async () => {
			const { person } = models()
			const order = orderOf(terms)
			const base = { selection: SELECTION, where: undefined, order, offset: 0, after: undefined, total: true }
			const idsIn = ({ json }: Listed) => (JSON.parse(json) as { id: number }[]).map(({ id }) => id)
			const all = await person.list({ ...base, limit: 100 })
			assert.equal([idsIn(all), all.next, all.total], [expected, undefined, 5])
			assert.equal(
				idsIn(await person.list({ ...base, limit: 2, offset: 2, total: false })),
				expected.slice(2, 4),
			)
			for (const limit of [1, 2, 3]) {
				const found: number[] = []
				let after: Value[] | undefined
				do {
					const page: Listed = await person.list({ ...base, limit, after, total: limit === 3 })
					assert.is(page.total, limit === 3 ? 5 : undefined)
					found.push(...idsIn(page))
					after = page.next === undefined ? undefined : (JSON.parse(page.next) as Value[])
				} while (after !== undefined)
				assert.equal(found, expected)
			}
			const conditions = [2, 4, 9].map((value): Condition => ({ op: 'lte', field: 'id', value }))
			for (const total of [false, true]) {
				const pages = await person.listEach?.({ ...base, limit: 3, total }, conditions)
				for (const [at, where] of conditions.entries())
					assert.equal(pages?.[at], await person.list({ ...base, limit: 3, total, where }))
			}
		})
	}

	test('lists for each of several conditions are those of each alone', async () => {
		const { item, tag, looseTie } = models()
		const fields = (...names: string[]) => ({ fields: names, names, version: undefined })
		const base = { selection: fields('n', 'id'), where: undefined, offset: 0, after: undefined, total: false }
		const asc = (field: string) => ({ field, descending: false })
		const desc = (field: string) => ({ field, descending: true })
		const people: Condition[] = [1, 2, 3, 4, 9].map((value) => ({ op: 'eq', field: 'person', value }))
		people.push({ op: 'null', field: 'person', value: true }, { op: 'gte', field: 'id', value: 2 })
		const many = Array.from({ length: 230 }, (_, value): Condition => ({ op: 'eq', field: 'person', value }))
		const words: Condition[] = [{ op: 'null', field: 'word', value: true }, word('red'), word('none')]
		const tagged: Link = { model: tag, fields: ['tag'], to: ['id'], isMany: false }
		const tied: Condition[] = [
			{ op: 'some', link: tagged, where: word('red') },
			{ op: 'eq', field: 'tag', value: 2 },
		]
		const queries: readonly [Model, ListQuery, readonly Condition[]][] = [
			[item, { ...base, order: [desc('id')], limit: 2 }, people],
			[item, { ...base, order: [asc('n'), asc('id')], limit: 2 }, people],
			[item, { ...base, order: [desc('n'), asc('id')], limit: 2, total: true }, people],
			[item, { ...base, order: [asc('id')], limit: 2, offset: 1, total: true }, people],
			[item, { ...base, order: [asc('id')], limit: 1, after: [1], total: true }, people],
			[item, { ...base, order: [asc('n'), asc('id')], limit: 2, after: [null, 2] }, people],
			[item, { ...base, order: [asc('id')], limit: 3, where: n('gt', 5), total: true }, people],
			[item, { ...base, order: [asc('id')], limit: 2 }, many],
			[tag, { ...base, selection: fields('word'), order: [asc('word'), asc('id')], limit: 2 }, words],
			[looseTie, { ...base, selection: fields('id'), order: [asc('id')], limit: 2 }, tied],
			[item, { ...base, order: [asc('id')], limit: 2 }, []],
			[item, { ...base, order: [asc('id')], limit: 2 }, people.slice(0, 1)],
		]
		for (const [model, query, conditions] of queries) {
			const expected: Listed[] = []
			for (const condition of conditions) {
				const where: Condition =
					query.where === undefined ? condition : { op: 'and', terms: [query.where, condition] }
				expected.push(await model.list({ ...query, where }))
			}
			assert.equal(await model.listEach?.(query, conditions), expected)
		}
	})

	test('a total may stop at the first record beyond a number', async () => {
		const { person } = models()
		const order = [{ field: 'id', descending: false }]
		const base = { selection: SELECTION, order, limit: 2, offset: 0, after: undefined, total: true }
		const where = not(some('place'))(linksOf(models()))
		for (const more of [{}, { offset: 1 }, { offset: 1000 }, { after: [3] }])
			for (const [condition, total] of [
				[undefined, 5],
				[where, 2],
				[name('none'), 0],
			] as const)
				for (const maxTotal of [
					0,
					1,
					2,
					4,
					5,
					6,
					1000,
					Number.MAX_SAFE_INTEGER - 1,
					Number.POSITIVE_INFINITY,
				]) {
					const query = { ...base, ...more, where: condition }
					const exact = await person.list(query)
					assert.is(exact.total, total)
					const bounded = { ...exact, total: Math.min(total, maxTotal + 1) }
					// Twice, because texts are cached from the second time on.
					assert.equal(await person.list({ ...query, maxTotal }), bounded)
					assert.equal(await person.list({ ...query, maxTotal }), bounded)
					const all: Condition = { op: 'and', terms: [] }
					assert.equal(await person.listEach?.({ ...query, maxTotal }, [all, all]), [bounded, bounded])
				}
	})

	test('the bytes of all lists count together', async () => {
		const { item } = models()
		const [first, second]: Condition[] = [1, 2].map((value) => ({ op: 'eq', field: 'person', value }))
		const query = {
			...{ selection: SELECTION, where: undefined, order: [{ field: 'id', descending: false }], limit: 3 },
			...{ offset: 0, after: undefined, total: false },
		}
		const conditions = [first, second] as Condition[]
		const pages = (await item.listEach?.(query, conditions)) ?? []
		const maxBytes = pages.reduce((sum, { json }) => sum + json.length, 0)
		assert.equal(await item.listEach?.({ ...query, maxBytes }, conditions), pages)
		try {
			await item.listEach?.({ ...query, maxBytes: maxBytes - 1 }, conditions)
			assert.unreachable()
		} catch (error) {
			assert.is(error instanceof ModelError && error.kind, 'too_large')
		}
	})
}

/** Drops a column of a table to which another table's lists and records have links. */
export async function dropsLinkedColumn(
	open: (table: string) => Model | Promise<Model>,
	exec: (sql: string) => unknown,
): Promise<void> {
	const tables = ['cond_book', 'cond_writer', 'cond_town']
	for (const table of tables) await exec(`drop table if exists ${table}`)
	await exec('create table cond_town (id int primary key, name varchar(20), size int)')
	await exec('create table cond_writer (id int primary key, name varchar(20), town int)')
	await exec('create table cond_book (id int primary key, writer int)')
	await exec(`insert into cond_town values (1, 'x', 5)`)
	await exec(`insert into cond_writer values (1, 'Ada', 1)`)
	await exec('insert into cond_book values (1, 1)')
	try {
		const [book, writer, town] = [await open('cond_book'), await open('cond_writer'), await open('cond_town')]
		const toWriter: Link = { model: writer, fields: ['writer'], to: ['id'], isMany: false }
		const toTown: Link = { model: town, fields: ['town'], to: ['id'], isMany: false }
		assert.equal([book.joins?.(writer), writer.joins?.(town)], [true, true])
		const ofTown = { fields: ['id', 'size'], names: ['id', 'size'], version: undefined }
		const within = (name: string, link: Link, selection: Selection): Selection => ({
			...{ fields: ['id'], names: ['id'], version: undefined },
			related: [{ name, link, selection, where: undefined }],
		})
		const isEmbedded = book.embeds?.(writer) === true
		const selection = isEmbedded ? within('writer', toWriter, within('town', toTown, ofTown)) : SELECTION
		const town5 = (size: string) =>
			isEmbedded ? `{"id":1,"writer":{"id":1,"town":{"id":1${size}}}}` : '{"id":1}'
		const order = [{ field: 'id', descending: false }]
		const list = (where: Condition | undefined) =>
			book
				.list({ selection, where, order, limit: 5, offset: 0, after: undefined, total: false })
				.then(({ json }) => json, kindOf)
		const read = () => book.read('1', selection, undefined).then((found) => found?.json, kindOf)
		const inTown = (where: Condition): Condition => ({
			...{ op: 'some', link: toWriter },
			where: { op: 'some', link: toTown, where },
		})
		const isLarge = inTown({ op: 'gt', field: 'size', value: 1 })
		for (let times = 0; times < 3; times++) {
			assert.is(await list(isLarge), `[${town5(',"size":5')}]`)
			assert.is(await read(), town5(',"size":5'))
		}
		await exec('alter table cond_town drop column size')
		assert.is(await list(isLarge), 'busy')
		assert.is(await list(isLarge), 'invalid')
		for (let times = 0; times < 3; times++) {
			assert.is(await list(inTown({ op: 'eq', field: 'name', value: 'x' })), `[${town5('')}]`)
			assert.is(await read(), town5(''))
		}
	} finally {
		for (const table of tables) await exec(`drop table if exists ${table}`)
	}
}

function kindOf(error: unknown): string {
	if (error instanceof ModelError) return error.kind
	throw error
}
