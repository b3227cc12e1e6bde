/** The model contract: related records within each record. Its cases check models that implement `embeds`. */
import { deepStrictEqual, ok } from 'node:assert/strict'
import { keyNames } from '../../models/key.ts'
import type { Condition, ListQuery, Model, Order, Related, Selection } from '../../models/model.ts'
import { recordsOf } from './fixture.ts'
import type { RelatedFixture, RelationTest } from './related-models.ts'

type LinkName = keyof RelatedFixture['links']

/** Some of the members of `Related`; a list's `order` is that of the key unless given. */
interface Embedding {
	readonly fields: readonly string[]
	readonly where?: Condition
	readonly related?: readonly Related[]
	readonly order?: readonly Order[]
	readonly limit?: number
	readonly count?: number
}

const up = (field: string): Order => ({ field, descending: false })
const down = (field: string): Order => ({ field, descending: true })
/** Shows the sort values in the JSON; a bigint may be a number or a text among them. */
const cursor = (next: string) => (JSON.parse(next) as unknown[]).join(' ')

const selectionOf = (fields: readonly string[], related?: readonly Related[]): Selection => ({
	...{ fields, names: fields, version: undefined },
	...(related === undefined ? {} : { related }),
})

function embed(
	{ links }: RelatedFixture,
	name: LinkName,
	{ fields, where, related, order, limit = 10, count }: Embedding,
): Related {
	const link = links[name]
	const one: Related = { name, link, selection: selectionOf(fields, related), where }
	if (!link.isMany) return one
	return { ...one, list: { order: order ?? keyNames(link.model).map(up), limit, count, cursor } }
}

/** The records of a list by key. Asserts that reading them one by one gives the same. */
async function recordsWith(
	model: Model,
	fields: readonly string[],
	related: readonly Related[],
	options: Partial<ListQuery> = {},
): Promise<unknown[]> {
	const selection = selectionOf(fields, related)
	const query = { where: undefined, limit: 100, offset: 0, after: undefined, total: false, ...options }
	const listed = recordsOf(await model.list({ order: [up('id')], ...query, selection }))
	const ids = recordsOf(
		await model.list({ order: [up('id')], ...query, selection: selectionOf(['id']) }),
	).map(({ id }) => String(id))
	const read = await Promise.all(ids.map((id) => model.read(id, selection, undefined)))
	deepStrictEqual(
		read.map((found) => found && JSON.parse(found.json)),
		listed,
		'what is read is what is listed',
	)
	return listed
}

const list = (data: readonly unknown[], limit = 10, next: string | null = null, counted: object = {}) => ({
	data,
	meta: { limit, next, ...counted },
})
const ids = (...numbers: readonly number[]) => numbers.map((id) => ({ id }))

type Run = RelationTest['run']

/** Skips the case for models that don't embed. */
const ifEmbedding =
	(run: Run): Run =>
	async (fixture) => {
		const { person, post } = fixture.models
		if (person.embeds?.(post) === true) await run(fixture)
	}

const RUNS: Readonly<Record<string, Run>> = {
	async 'a record has its related one as an object, or null'(fixture) {
		const boss = embed(fixture, 'boss', { fields: ['name', 'id'] })
		const place = embed(fixture, 'place', { fields: ['note'] })
		deepStrictEqual(await recordsWith(fixture.models.person, ['id'], [boss, place]), [
			{ id: 1, boss: null, place: { note: 'x' } },
			{ id: 2, boss: { name: 'ada', id: 1 }, place: { note: null } },
			{ id: 3, boss: { name: 'ada', id: 1 }, place: null },
			{ id: 4, boss: { name: 'bob', id: 2 }, place: null },
			{ id: 5, boss: { name: null, id: 3 }, place: { note: 'y' } },
		])
	},
	async 'a record has its related ones as a list, with a cursor where more follow'(fixture) {
		const posts = embed(fixture, 'posts', { fields: ['id'], order: [down('n'), up('id')], limit: 2 })
		deepStrictEqual(await recordsWith(fixture.models.person, ['id'], [posts]), [
			{ id: 1, posts: list(ids(8, 3), 2, '7 3') },
			{ id: 2, posts: list(ids(5, 4), 2) },
			{ id: 3, posts: list(ids(6), 2) },
			{ id: 4, posts: list([], 2) },
			{ id: 5, posts: list([], 2) },
		])
		const nulls = embed(fixture, 'posts', { fields: ['n'], order: [up('n'), down('id')], limit: 4 })
		const [ada] = await recordsWith(fixture.models.person, ['name'], [nulls], { limit: 1 })
		deepStrictEqual(ada, { name: 'ada', posts: list([{ n: 5 }, { n: 7 }, { n: 9 }, { n: null }], 4) })
	},
	async 'a limit of 0 has no records, but their number'(fixture) {
		const posts = embed(fixture, 'posts', { fields: ['id'], limit: 0, count: Number.POSITIVE_INFINITY })
		const found = await recordsWith(fixture.models.person, ['id'], [posts])
		deepStrictEqual(
			found,
			[4, 2, 1, 0, 0].map((total, at) => ({ id: at + 1, posts: list([], 0, null, { total }) })),
		)
	},
	async 'the number of related records is counted up to a bound'(fixture) {
		const totals = async (count: number) => {
			const posts = embed(fixture, 'posts', { fields: ['id'], limit: 1, count })
			const found = await recordsWith(fixture.models.person, ['id'], [posts])
			return found.map((record) => {
				const { limit: _, next: __, ...counted } = (record as { posts: ReturnType<typeof list> }).posts.meta
				return counted
			})
		}
		const all = [4, 2, 1, 0, 0].map((total) => ({ total }))
		deepStrictEqual(await totals(Number.POSITIVE_INFINITY), all)
		deepStrictEqual(await totals(4), all)
		deepStrictEqual(await totals(2), [{ total: 2, more: true }, ...all.slice(1)])
		deepStrictEqual((await totals(1)).slice(0, 3), [
			{ total: 1, more: true },
			{ total: 1, more: true },
			{ total: 1 },
		])
	},
	async 'related records match their condition, which may have links'(fixture) {
		const { links, models } = fixture
		const where: Condition = { op: 'eq', field: 'n', value: 7 }
		const posts = embed(fixture, 'posts', { fields: ['id'], where, count: 100 })
		const found = await recordsWith(models.person, ['id'], [posts])
		deepStrictEqual(found.slice(0, 3), [
			{ id: 1, posts: list(ids(3), 10, null, { total: 1 }) },
			{ id: 2, posts: list(ids(4), 10, null, { total: 1 }) },
			{ id: 3, posts: list([], 10, null, { total: 0 }) },
		])
		const red: Condition = {
			...{ op: 'some', link: links.tags },
			where: { op: 'eq', field: 'word', value: 'red' },
		}
		const tagged = embed(fixture, 'posts', { fields: ['id'], where: red })
		const boss = embed(fixture, 'boss', {
			fields: ['id'],
			where: { op: 'some', link: links.posts, where: red },
		})
		deepStrictEqual(await recordsWith(models.person, ['id'], [tagged, boss]), [
			{ id: 1, posts: list(ids(1, 3)), boss: null },
			{ id: 2, posts: list(ids(5)), boss: { id: 1 } },
			{ id: 3, posts: list([]), boss: { id: 1 } },
			{ id: 4, posts: list([]), boss: { id: 2 } },
			{ id: 5, posts: list([]), boss: null },
		])
	},
	async 'records in between lead to each related record once'(fixture) {
		const tags = embed(fixture, 'tags', { fields: ['word'], limit: 1, count: 10 })
		const found = await recordsWith(fixture.models.post, ['id'], [tags], { limit: 3 })
		deepStrictEqual(found, [
			{ id: 1, tags: list([{ word: 'red' }], 1, '1', { total: 2 }) },
			{ id: 2, tags: list([], 1, null, { total: 0 }) },
			{ id: 3, tags: list([{ word: 'red' }], 1, null, { total: 1 }) },
		])
		const editors = embed(fixture, 'editors', { fields: ['id'], order: [down('id')], count: 10 })
		deepStrictEqual(await recordsWith(fixture.models.person, ['id'], [editors]), [
			{ id: 1, editors: list(ids(2, 1), 10, null, { total: 2 }) },
			{ id: 2, editors: list(ids(3), 10, null, { total: 1 }) },
			{ id: 3, editors: list(ids(2), 10, null, { total: 1 }) },
			{ id: 4, editors: list([], 10, null, { total: 0 }) },
			{ id: 5, editors: list([], 10, null, { total: 0 }) },
		])
	},
	async 'related records have related ones themselves'(fixture) {
		const author = embed(fixture, 'author', {
			fields: ['name'],
			related: [
				embed(fixture, 'boss', { fields: ['name'] }),
				embed(fixture, 'posts', {
					...{ fields: ['id'], limit: 1 },
					related: [embed(fixture, 'tags', { fields: ['id'] })],
				}),
			],
		})
		const found = await recordsWith(fixture.models.post, ['title'], [author], { offset: 4, limit: 3 })
		deepStrictEqual(found, [
			{
				title: 'e',
				author: {
					name: 'bob',
					boss: { name: 'ada' },
					posts: list([{ id: 4, tags: list(ids(3)) }], 1, '4'),
				},
			},
			{
				title: 'f',
				author: { name: null, boss: { name: 'ada' }, posts: list([{ id: 6, tags: list([]) }], 1) },
			},
			{ title: 'g', author: null },
		])
	},
	async 'related records go with pages, cursors and totals'(fixture) {
		const { person } = fixture.models
		const boss = embed(fixture, 'boss', { fields: ['id'] })
		const query = {
			...{ selection: selectionOf(['id'], [boss]), where: undefined, order: [down('id')] },
			...{ limit: 2, offset: 0, after: undefined, total: true },
		}
		const first = await person.list(query)
		deepStrictEqual(
			[recordsOf(first), first.total],
			[
				[
					{ id: 5, boss: { id: 3 } },
					{ id: 4, boss: { id: 2 } },
				],
				5,
			],
		)
		ok(first.next !== undefined)
		const second = await person.list({ ...query, after: [4] })
		deepStrictEqual(recordsOf(second), [
			{ id: 3, boss: { id: 1 } },
			{ id: 2, boss: { id: 1 } },
		])
	},
}

export const EMBEDDED_TESTS: readonly RelationTest[] = Object.entries(RUNS).map(([name, run]) => ({
	name,
	run: ifEmbedding(run),
}))
