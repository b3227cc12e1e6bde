/** The model contract: foreign keys, and conditions and orders through links. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import type { Comparison, Condition, Model, Order } from '../../models/model.ts'
import type { RelatedModels } from './fields.ts'
import { not, tests } from './fixture.ts'
import type { RelatedFixture, RelationTest } from './related-models.ts'

type LinkName = keyof RelatedFixture['links']
type Build = (links: RelatedFixture['links']) => Condition
type Expected = readonly [what: string, build: Build, ids: readonly number[]]

const some =
	(link: LinkName, where?: Condition | Build, fails?: Condition): Build =>
	(links) => ({
		...{ op: 'some', link: links[link], where: typeof where === 'function' ? where(links) : where },
		...(fails === undefined ? {} : { fails }),
	})
const none =
	(...of: Parameters<typeof some>): Build =>
	(links) =>
		not(some(...of)(links))
const count =
	(link: LinkName, compare: Comparison, value: number, where?: Condition): Build =>
	(links) => ({ op: 'count', link: links[link], where, compare, value })
const is = (field: string, value: string | number): Condition => ({ op: 'eq', field, value })
const n = (op: Comparison, value: number): Condition => ({ op, field: 'n', value })

const EVERYBODY = [1, 2, 3, 4, 5]

const OF_PERSONS: readonly Expected[] = [
	['a boss', some('boss'), [2, 3, 4, 5]],
	['no boss', none('boss'), [1]],
	['ada as boss', some('boss', is('name', 'ada')), [2, 3]],
	['ada not as boss', none('boss', is('name', 'ada')), [1, 4, 5]],
	['a boss who is known not to be ada', some('boss', not(is('name', 'ada'))), [4]],
	['a boss who may not be ada', some('boss', undefined, is('name', 'ada')), [4, 5]],
	['a boss without a name', some('boss', { op: 'null', field: 'name', value: true }), [5]],
	['a boss of the boss', some('boss', some('boss', is('name', 'ada'))), [4, 5]],
	['staff whose boss is bob', some('staff', some('boss', is('name', 'bob'))), [2]],
	['staff without posts', some('staff', none('posts')), [2, 3]],
	['staff with posts', some('staff', count('posts', 'gte', 1)), [1]],
	['a place', some('place'), [1, 2, 5]],
	['no place', none('place'), [3, 4]],
	['a place without a note', some('place', { op: 'null', field: 'note', value: true }), [2]],
	['a place that may not have the note x', some('place', undefined, is('note', 'x')), [2, 5]],
	['some post with 7', some('posts', n('eq', 7)), [1, 2]],
	['no post with 7', none('posts', n('eq', 7)), [3, 4, 5]],
	['some post that may not have 7', some('posts', undefined, n('eq', 7)), [1, 2, 3]],
	['some post above 4 that may not have 7', some('posts', n('gt', 4), n('eq', 7)), [1, 2]],
	['only posts above 6', none('posts', undefined, n('gt', 6)), [2, 4, 5]],
	['some of no terms', some('posts', { op: 'or', terms: [] }), []],
	['some of all', some('posts', { op: 'and', terms: [] }), [1, 2, 3]],
	['an editor called bob', some('editors', is('name', 'bob')), [1, 3]],
	['no editor', none('editors'), [4, 5]],
	['an editor known not to be bob', some('editors', not(is('name', 'bob'))), [1]],
	['an editor who may not be bob', some('editors', undefined, is('name', 'bob')), [1, 2]],
	[
		'terms of and, or and not',
		(links) => ({
			op: 'or',
			terms: [
				{ op: 'and', terms: [some('boss', is('name', 'ada'))(links), count('posts', 'eq', 1)(links)] },
				none('boss')(links),
				is('id', 4),
			],
		}),
		[1, 3, 4],
	],
]

const OF_OTHERS: Readonly<Record<'post' | 'tag', readonly Expected[]>> = {
	post: [
		['ada as author', some('author', is('name', 'ada')), [1, 2, 3, 8]],
		['ada not as author', none('author', is('name', 'ada')), [4, 5, 6, 7]],
		['the tag red', some('tags', is('word', 'red')), [1, 3, 5]],
		['a tag', some('tags'), [1, 3, 4, 5]],
		['no tag', none('tags'), [2, 6, 7, 8]],
		['a tag that may not be red', some('tags', undefined, is('word', 'red')), [1, 4]],
		['two tags', count('tags', 'gte', 2), [1]],
		['one red tag', count('tags', 'eq', 1, is('word', 'red')), [1, 3, 5]],
	],
	tag: [
		['posts of bob', some('tagged', some('author', is('name', 'bob'))), [1, 3]],
		['posts by way of posts', some('tagged', some('tags', is('word', 'blue'))), [1, 2]],
		['three posts', count('tagged', 'gte', 3), [1]],
	],
}

const COUNTS: readonly (readonly [compare: Comparison, value: number, ids: readonly number[]])[] = [
	['eq', 0, [4, 5]],
	['eq', 2, [2]],
	['ne', 0, [1, 2, 3]],
	['ne', 2, [1, 3, 4, 5]],
	['gt', 0, [1, 2, 3]],
	['gt', 1, [1, 2]],
	['gte', 0, EVERYBODY],
	['gte', 1, [1, 2, 3]],
	['gte', 4, [1]],
	['lt', 0, []],
	['lt', 1, [4, 5]],
	['lt', 3, [2, 3, 4, 5]],
	['lte', 0, [4, 5]],
	['lte', 2, [2, 3, 4, 5]],
	['lte', Number.MAX_SAFE_INTEGER - 1, EVERYBODY],
	['gte', Number.MAX_SAFE_INTEGER - 1, []],
]

type Term = (links: RelatedFixture['links']) => Order
type Step = LinkName | readonly [LinkName, Condition]

const by =
	(name: string, via: readonly Step[] = []): Term =>
	(links) => ({
		field: name.replace(/^-/, ''),
		descending: name.startsWith('-'),
		via: via.map((step) => {
			const [link, where] = typeof step === 'string' ? [step] : step
			return { link: links[link], where }
		}),
	})

const BOB = is('name', 'bob')

const ORDERS: readonly (readonly [model: 'person' | 'post', ids: readonly number[], ...terms: Term[]])[] = [
	['post', [1, 2, 3, 8, 4, 5, 6, 7], by('name', ['author'])],
	['post', [4, 5, 1, 2, 3, 8, 6, 7], by('-name', ['author'])],
	['post', [1, 3, 8, 2, 4, 5, 7, 6], by('name', ['author']), by('n')],
	['post', [5, 4, 8, 3, 1, 2, 7, 6], by('-name', ['author']), by('-n')],
	['post', [6, 4, 5, 1, 3, 8, 2, 7], by('-id', ['author']), by('n')],
	// Those whose author isn't bob have a null there.
	['post', [4, 5, 1, 2, 3, 6, 7, 8], by('name', [['author', BOB]])],
	['post', [4, 5, 6, 1, 2, 3, 7, 8], by('name', ['author', 'boss'])],
	['post', [6, 4, 5, 1, 2, 3, 8, 7], by('-id', ['author']), by('name', ['author', 'boss'])],
	['post', [4, 5, 1, 2, 3, 6, 7, 8], by('-name', [['author', BOB], 'boss'])],
	['person', [1, 5, 2, 3, 4], by('note', ['place'])],
	['person', [5, 1, 2, 3, 4], by('-note', ['place'])],
	['person', [2, 3, 4, 5, 1], by('id', ['boss'])],
	['person', [5, 4, 2, 3, 1], by('id', ['boss', 'boss']), by('-id', ['boss']), by('name')],
]

/** Finds no record before the change of a case. */
const DANS_STAFF = some('boss', is('name', 'dan'))

export const RELATION_TESTS: readonly RelationTest[] = [
	{
		name: 'foreign keys are found, with their fields in order',
		needs: ['foreign_key'],
		async run({ models }) {
			const { place, person, post, tag, tie } = models
			const found = (from: Model, to: Model) =>
				(from.references?.(to) ?? []).map(({ fields, to }) => `${fields} → ${to}`).sort()
			deepStrictEqual(found(person, person), ['boss → id'])
			deepStrictEqual(found(person, place), ['country,region → country,region'])
			deepStrictEqual(found(post, person), ['author → id', 'editor → id'])
			deepStrictEqual([found(tie, post), found(tie, tag)], [['post → id'], ['tag → id']])
			deepStrictEqual([found(person, post), found(post, tag), found(post, post)], [[], [], []])
		},
	},
	...tests<RelatedFixture>({
		async 'each model joins each of the same store, and itself'({ models }) {
			const all = Object.values<Model>({ ...models })
			for (const model of all)
				for (const other of all) strictEqual(model.joins?.(other), true, `${model.name} ${other.name}`)
		},
		async 'some finds records with a related record that matches, or fails a condition'(fixture) {
			await expectEach(fixture, 'person', OF_PERSONS)
		},
		async 'some follows links through records in between'(fixture) {
			await expectEach(fixture, 'post', OF_OTHERS.post)
			await expectEach(fixture, 'tag', OF_OTHERS.tag)
		},
		async 'count compares the number of related records'(fixture) {
			const cases = COUNTS.map(
				([compare, value, ids]): Expected => [
					`posts ${compare} ${value}`,
					count('posts', compare, value),
					ids,
				],
			)
			await expectEach(fixture, 'person', [
				...cases,
				['two posts above 4', count('posts', 'gte', 2, n('gt', 4)), [1, 2]],
				['one post with 7', count('posts', 'eq', 1, n('eq', 7)), [1, 2]],
				['a boss', count('boss', 'eq', 1), [2, 3, 4, 5]],
				['not more than one post', (links) => not(count('posts', 'gt', 1)(links)), [3, 4, 5]],
				['one of staff with two posts', some('staff', count('posts', 'eq', 2)), [1]],
			])
		},
		async 'count counts a related record once, however many records in between lead to it'(fixture) {
			await expectEach(fixture, 'person', [
				['two editors', count('editors', 'eq', 2), [1]],
				['more editors', count('editors', 'gt', 2), []],
				['one editor', count('editors', 'eq', 1), [2, 3]],
				['one editor called bob', count('editors', 'eq', 1, is('name', 'bob')), [1, 3]],
			])
		},
		async 'changes and deletions respect conditions through links'({ models, links }) {
			const { post } = models
			const selection = { fields: ['id', 'title'], names: ['id', 'title'], version: undefined }
			const guard = (build: Build) => ({ where: build(links), version: undefined })
			const outside = [some('author', is('name', 'bob')), none('tags'), count('tags', 'eq', 2)]
			for (const build of outside) {
				strictEqual(await post.update('3', { title: 'x' }, selection, guard(build)), 'missing')
				strictEqual(await post.delete('3', selection, guard(build)), 'missing')
			}
			const updated = await post.update(
				'3',
				{ title: 'x' },
				selection,
				guard(some('tags', is('word', 'red'))),
			)
			ok(typeof updated === 'object')
			deepStrictEqual(JSON.parse(updated.json), { id: 3, title: 'x' })
			const deleted = await post.delete('7', selection, guard(none('author')))
			ok(typeof deleted === 'object')
			deepStrictEqual(JSON.parse(deleted.json), { id: 7, title: 'g' })
		},
		async 'a transaction sees its own changes through links to the same model'({ models, links }) {
			const { person } = models
			const selection = { fields: ['id'], names: ['id'], version: undefined }
			const where = DANS_STAFF(links)
			const undo = new Error('undo')
			const work = person.transaction(async (within) => {
				strictEqual(await within.count(where), 0)
				await within.create({ id: 6, name: 'flo', boss: 4 }, selection)
				strictEqual(await within.count(where), 1)
				throw undo
			})
			strictEqual(await work.catch((error: unknown) => error), undo)
			strictEqual(await person.count(where), 0)
		},
		async 'orders through links sort by the related record, nulls last both ways, on all pages'(fixture) {
			for (const [name, ids, ...terms] of ORDERS) {
				const order = terms.map((term) => term(fixture.links))
				const model = fixture.models[name]
				for (const limit of [100, 1, 2, 3])
					deepStrictEqual(await fixture.ids(model, { order, limit }), ids, `${ids} by ${limit}`)
				deepStrictEqual(await fixture.ids(model, { order, offset: 2 }), ids.slice(2))
			}
		},
		async 'orders and conditions through links go together'(fixture) {
			const { models, links } = fixture
			const order = [by('-name', ['author'])(links)]
			const where = some('author', some('boss'))(links)
			for (const limit of [100, 1, 2])
				deepStrictEqual(await fixture.ids(models.post, { where, order, limit }), [4, 5, 6])
		},
		async 'maxTotal bounds what is counted'({ models, links }) {
			const wheres: readonly (readonly [Condition | undefined, total: number])[] = [
				[undefined, 8],
				[some('author')(links), 7],
				[is('n', 7), 2],
				[is('n', 100), 0],
			]
			const selection = { fields: ['id'], names: ['id'], version: undefined }
			const order = [{ field: 'id', descending: false }]
			for (const [where, total] of wheres) {
				for (const maxTotal of [0, 1, total - 1, total, total + 1].filter((bound) => bound >= 0)) {
					const query = { selection, where, order, limit: 1, offset: 0, after: undefined, total: true }
					const counted = (await models.post.list({ ...query, maxTotal })).total ?? -1
					if (total <= maxTotal) strictEqual(counted, total)
					else ok(counted > maxTotal, `${total} records, at most ${maxTotal} counted: ${counted}`)
				}
			}
		},
	}),
]

async function expectEach(
	fixture: RelatedFixture,
	name: keyof RelatedModels,
	cases: readonly Expected[],
): Promise<void> {
	for (const [what, build, ids] of cases) {
		try {
			await fixture.finds(fixture.models[name], build(fixture.links), ids)
		} catch (error) {
			if (error instanceof Error) error.message = `${name}s with ${what}: ${error.message}`
			throw error
		}
	}
}
