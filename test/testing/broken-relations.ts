/** Models that join others, each of which violates one promise, for the test of the model contract. */

import { RECORDS } from '../../lib/models/memory/links.ts'
import type { MemoryModel } from '../../lib/models/memory/memory-model.ts'
import type {
	Condition,
	Guard,
	Listed,
	ListQuery,
	Model,
	Reference,
	Selection,
} from '../../lib/models/model.ts'
import type { RelatedModels } from '../../lib/testing/index.ts'
import { everywhere, Passing } from './broken-models.ts'
import { relatedModels } from './memory-for-contract.ts'

/** What a model changes of what it is asked, and of what it answers. */
interface Faults {
	readonly where?: (where: Condition) => Condition
	readonly guard?: (guard: Guard) => Guard
	readonly query?: (query: ListQuery) => ListQuery
	readonly listed?: (listed: Listed, query: ListQuery) => Listed
	readonly references?: (references: readonly Reference[]) => readonly Reference[]
}

class Linked extends Passing {
	readonly [RECORDS]: unknown
	readonly #model: MemoryModel
	readonly #faults: Faults

	constructor(model: MemoryModel, faults: Faults) {
		super(model)
		this[RECORDS] = model[RECORDS]
		this.#model = model
		this.#faults = faults
	}

	references(other: Model): readonly Reference[] {
		const found = this.#model.references(other)
		return this.#faults.references?.(found) ?? found
	}

	joins(other: Model): boolean {
		return this.#model.joins(other)
	}

	override async list(given: ListQuery): Promise<Listed> {
		const { query, listed } = this.#faults
		const changed = { ...given, where: this.#changed(given.where) }
		const found = await super.list(query?.(changed) ?? changed)
		return listed?.(found, given) ?? found
	}

	override count(where: Condition | undefined): Promise<number> {
		return super.count(this.#changed(where))
	}

	override read(id: string, selection: Selection, where: Condition | undefined) {
		return super.read(id, selection, this.#changed(where))
	}

	override update(...[id, changes, selection, guard]: Parameters<Model['update']>) {
		return super.update(id, changes, selection, this.#faults.guard?.(guard) ?? guard)
	}

	#changed(where: Condition | undefined): Condition | undefined {
		const { where: change } = this.#faults
		return where && change ? everywhere(where, change) : where
	}
}

/** Models that all have these faults. */
export function linked(faults: Faults): RelatedModels {
	const models = Object.entries(relatedModels()).map(([name, model]) => [name, new Linked(model, faults)])
	return Object.fromEntries(models) as RelatedModels // the same names
}

type Some = Extract<Condition, { op: 'some' }>
type Count = Extract<Condition, { op: 'count' }>

const ofSome = (change: (where: Some) => Condition) => (where: Condition) =>
	where.op === 'some' ? change(where) : where
const ofCount = (change: (where: Count) => Condition) => (where: Condition) =>
	where.op === 'count' ? change(where) : where
const ofOrder =
	(change: (term: ListQuery['order'][number]) => ListQuery['order'][number]) => (query: ListQuery) => ({
		...query,
		order: query.order.map(change),
	})

const SOME = 'some finds records with a related record that matches, or fails a condition'
const THROUGH = 'some follows links through records in between'
const COUNT = 'count compares the number of related records'
const ONCE = 'count counts a related record once, however many records in between lead to it'
const ORDER = 'orders through links sort by the related record, nulls last both ways, on all pages'

export const BROKEN_RELATIONS: readonly (readonly [what: string, faults: Faults, found: string])[] = [
	[
		'has foreign keys the wrong way round',
		{ references: (found) => found.map(({ fields, to }) => ({ fields: to, to: fields })) },
		'foreign keys are found, with their fields in order',
	],
	[
		'has only one foreign key to a model',
		{ references: (found) => found.slice(0, 1) },
		'foreign keys are found, with their fields in order',
	],
	['looks at no condition of a link', { where: ofSome((one) => ({ ...one, where: undefined })) }, SOME],
	['looks for no failure', { where: ofSome(({ fails: _, ...one }) => one) }, SOME],
	[
		'takes the unknown for no failure',
		{
			where: ofSome(({ fails, ...one }) =>
				fails === undefined
					? one
					: { ...one, where: { op: 'and', terms: [one.where ?? ALL, { op: 'not', term: fails }] } },
			),
		},
		SOME,
	],
	[
		'compares the first field of a link only',
		{
			where: ofSome((one) => ({
				...one,
				link: { ...one.link, fields: one.link.fields.slice(0, 1), to: one.link.to.slice(0, 1) },
			})),
		},
		SOME,
	],
	[
		'takes the records in between for the related ones',
		{ where: ofSome((one) => ({ ...one, ...(one.link.through ? { where: undefined } : {}) })) },
		THROUGH,
	],
	['counts whatever the condition says', { where: ofCount((one) => ({ ...one, where: undefined })) }, COUNT],
	[
		'takes a count for existence',
		{ where: ofCount(({ link, where }) => ({ op: 'some', link, where })) },
		COUNT,
	],
	[
		'counts the records in between',
		{
			where: ofCount(({ link: { through, ...link }, ...one }) => ({
				...one,
				link: through ? { ...link, model: through.model, to: through.from } : link,
				where: through ? undefined : one.where,
			})),
		},
		ONCE,
	],
	[
		'looks at no link when it changes',
		{ guard: ({ version }) => ({ where: undefined, version }) },
		'changes and deletions respect conditions through links',
	],
	[
		'orders through the first link only',
		{ query: ofOrder((term) => ({ ...term, via: term.via?.slice(0, 1) })) },
		ORDER,
	],
	[
		'orders by records that do not match',
		{
			query: ofOrder((term) => ({
				...term,
				via: term.via?.map(({ link }) => ({ link, where: undefined })),
			})),
		},
		ORDER,
	],
	[
		'orders through links in one direction',
		{ query: ofOrder((term) => (term.via?.length ? { ...term, descending: false } : term)) },
		ORDER,
	],
	[
		'says that no more than maxTotal match',
		{
			listed: (listed, { maxTotal }) => ({
				...listed,
				total: listed.total === undefined ? undefined : Math.min(listed.total, maxTotal ?? Infinity),
			}),
		},
		'maxTotal bounds what is counted',
	],
]

const ALL: Condition = { op: 'and', terms: [] }
