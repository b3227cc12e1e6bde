/** The model contract's tables that refer to each other: their records, the links between them, and a fixture. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { keyNames } from '../../models/key.ts'
import type { Condition, Link, ListQuery, Model, Order, Value, Values } from '../../models/model.ts'
import type { Case } from '../case.ts'
import type { Feature, RelatedModels } from './fields.ts'
import { type ModelContractOptions, operandOf, recordsOf } from './fixture.ts'

/** A case for related models. */
export interface RelationTest {
	readonly name: string
	readonly needs?: readonly Feature[]
	run(fixture: RelatedFixture): Promise<void>
}

const PLACES: readonly Values[] = [
	{ country: 'at', region: 'w', note: 'x' },
	{ country: 'ch', region: 'z', note: null },
	{ country: 'fr', region: 'p', note: 'y' },
]

const PERSONS: readonly Values[] = [
	{ id: 1, name: 'ada', boss: null, country: 'at', region: 'w' },
	{ id: 2, name: 'bob', boss: 1, country: 'ch', region: 'z' },
	{ id: 3, name: null, boss: 1, country: 'ch', region: null },
	{ id: 4, name: 'dan', boss: 2, country: null, region: null },
	{ id: 5, name: 'eve', boss: 3, country: 'fr', region: 'p' },
]

const POSTS: readonly Values[] = [
	{ id: 1, title: 'a', n: 5, author: 1, editor: 2 },
	{ id: 2, title: 'b', n: null, author: 1, editor: null },
	{ id: 3, title: 'c', n: 7, author: 1, editor: 1 },
	{ id: 4, title: 'd', n: 7, author: 2, editor: 3 },
	{ id: 5, title: 'e', n: 8, author: 2, editor: null },
	{ id: 6, title: 'f', n: null, author: 3, editor: 2 },
	{ id: 7, title: 'g', n: 5, author: null, editor: 1 },
	{ id: 8, title: 'h', n: 9, author: 1, editor: 2 },
]

const TAGS: readonly Values[] = [
	{ id: 1, word: 'red' },
	{ id: 2, word: 'blue' },
	{ id: 3, word: null },
]

const TIES: readonly Values[] = [
	{ post: 1, tag: 1 },
	{ post: 1, tag: 2 },
	{ post: 3, tag: 1 },
	{ post: 4, tag: 3 },
	{ post: 5, tag: 1 },
]

const NAMES = ['boss', 'staff', 'place', 'posts', 'editors', 'author', 'tags', 'tagged'] as const

type Links = Readonly<Record<(typeof NAMES)[number], Link>>

function linksOf({ place, person, post, tag, tie }: RelatedModels): Links {
	return {
		boss: { model: person, fields: ['boss'], to: ['id'], isMany: false },
		staff: { model: person, fields: ['id'], to: ['boss'], isMany: true },
		place: { model: place, fields: ['country', 'region'], to: ['country', 'region'], isMany: false },
		posts: { model: post, fields: ['id'], to: ['author'], isMany: true },
		// Several posts of an author may have the same editor.
		editors: {
			...{ model: person, fields: ['id'], to: ['id'], isMany: true },
			through: { model: post, from: ['author'], on: ['editor'] },
		},
		author: { model: person, fields: ['author'], to: ['id'], isMany: false },
		tags: {
			...{ model: tag, fields: ['id'], to: ['id'], isMany: true },
			through: { model: tie, from: ['post'], on: ['tag'] },
		},
		tagged: {
			...{ model: post, fields: ['id'], to: ['id'], isMany: true },
			through: { model: tie, from: ['tag'], on: ['post'] },
		},
	}
}

/** Converts a test to a case; `undefined` if the options omit it. */
export function toRelationCase(
	test: RelationTest,
	{ relations, skip = [], close }: ModelContractOptions,
): Case | undefined {
	if (relations === undefined || test.needs?.some((feature) => skip.includes(feature)) === true)
		return undefined
	return {
		name: test.name,
		async run() {
			const models = await relations()
			try {
				const fixture = new RelatedFixture(models)
				await fixture.fill()
				await test.run(fixture)
			} finally {
				for (const model of Object.values<Model>({ ...models })) await close?.(model)
			}
		},
	}
}

interface RelatedQuery extends Partial<Omit<ListQuery, 'selection' | 'order'>> {
	/** The key is appended. */
	readonly order?: readonly Order[]
}

export class RelatedFixture {
	readonly models: RelatedModels
	readonly links: Links

	constructor(models: RelatedModels) {
		this.models = models
		this.links = linksOf(models)
	}

	/** Creates all records, those that others refer to first. */
	async fill(): Promise<void> {
		const { place, person, post, tag, tie } = this.models
		const all = [
			[place, PLACES],
			[person, PERSONS],
			[post, POSTS],
			[tag, TAGS],
			[tie, TIES],
		] as const
		for (const [model, records] of all) {
			const [name = ''] = keyNames(model)
			const selection = { fields: [name], names: [name], version: undefined }
			for (const values of records) await model.create(values, selection)
		}
	}

	/** The ids of the records that a list finds, page by page, in its order. */
	async ids(model: Model, { order = [], ...options }: RelatedQuery = {}): Promise<unknown[]> {
		const keys = keyNames(model)
		const selection = { fields: keys, names: keys, version: undefined }
		const terms = [...order, ...keys.map((field) => ({ field, descending: false }))]
		const query = { where: undefined, limit: 100, offset: 0, total: false, ...options }
		const ids: unknown[] = []
		for (let after: readonly Value[] | undefined; ; ) {
			const listed = await model.list({ ...query, selection, order: terms, after })
			const found = recordsOf(listed).map((record) => keys.map((key) => record[key]))
			ids.push(...found.map((key) => (key.length === 1 ? key[0] : key)))
			if (listed.next === undefined) return ids
			strictEqual(found.length, query.limit, 'a page that others follow is full')
			const values = JSON.parse(listed.next) as readonly unknown[]
			strictEqual(values.length, terms.length, 'next has a value for each term')
			after = terms.map((term, at) => operandOf(values[at], fieldOf(model, term)))
		}
	}

	/** Asserts that a condition finds the records with these ids: by lists and their total, by `count` and by reads. */
	async finds(model: Model, where: Condition, ids: readonly number[]): Promise<void> {
		deepStrictEqual(await this.ids(model, { where }), ids, 'list')
		deepStrictEqual(await this.ids(model, { where, limit: 2 }), ids, 'pages')
		strictEqual(await model.count(where), ids.length, 'count')
		const selection = { fields: ['id'], names: ['id'], version: undefined }
		const order = [{ field: 'id', descending: true }]
		const query = { selection, where, order, limit: 1, offset: 0, after: undefined, total: true }
		strictEqual((await model.list(query)).total, ids.length, 'total')
		const all = Array.from({ length: await model.count(undefined) }, (_, at) => at + 1)
		const read = await Promise.all(all.map((id) => model.read(String(id), selection, where)))
		deepStrictEqual(
			all.filter((_, at) => read[at] !== undefined),
			ids,
			'reads',
		)
	}
}

function fieldOf(model: Model, { field: name, via = [] }: Order) {
	const last = via.at(-1)?.link.model ?? model
	const field = last.fields.find((each) => each.name === name)
	if (field === undefined) throw new TypeError(`${last.name} has no field ${name}`)
	return field
}
