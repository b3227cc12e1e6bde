/**
 * Adds related records to records that a model has returned, where the model can't embed them itself: it is of another
 * store, doesn't know relations, or the other handler overrides the operation. The number of statements doesn't depend on
 * the number of records: for a relation to one, one list of all related records; for one to many, one `listEach`, or
 * without that, one list for each record, a few at a time.
 */
import type { Bytes } from '../../base/time.ts'
import { idOfKey, keyNames } from '../../models/key.ts'
import type { Condition, Listed, ListQuery, Model } from '../../models/model.ts'
import { ModelError } from '../../models/model-error.ts'
import { stripRecords } from '../answers.ts'
import { restErrorOf, tooLarge } from '../database-errors.ts'
import type { CrudField } from '../fields.ts'
import { allOf } from '../filter-comparison.ts'
import { withMembers } from '../json-text.ts'
import type { CrudPlan } from '../plan.ts'
import type { NonNullValue } from '../value-from-text.ts'
import type { CrudView } from '../view.ts'
import { cursorOf, embedded, whereOf } from './embed.ts'
import { type Asking, eachOf, overriddenTexts } from './overridden.ts'
import type { Include } from './parse-include.ts'
import { fieldsNamed, isOneOf, isRelated, type Records, recordsIn, relatableBy, valuesOf } from './records.ts'
import type { Scoping } from './scoping.ts'

/** Maximum number of values in one list of a relation to one. */
const MAX_VALUES = 1_000

/** What attaching needs of the request. */
export interface Attaching extends Asking {
	readonly scoping: Scoping
	/** How many bytes related records may still take. */
	bytesLeft: number
	/** Maximum size of records with their related ones. */
	readonly maxBytes: Bytes
}

/** The fields of records that `attach` needs to find what is related to them. */
export function linkFields(plan: CrudPlan, include: readonly Include[]): CrudField[] {
	const columns = new Set(include.flatMap(({ relation }) => relation.link.fields))
	return fieldsNamed(plan, [...columns])
}

/**
 * The texts of records, each with its related records.
 *
 * @param records with the {@link linkFields}
 * @throws RestError as a request for the related records; `too_large`, with the place
 */
export async function attach(
	given: Attaching,
	records: Records,
	include: readonly Include[],
): Promise<readonly string[]> {
	const members = await Promise.all(include.map((one) => relatedTexts(given, one, records)))
	// A related record may be repeated in all records, and the text become too long for a string.
	let left = given.maxBytes
	for (const [at, one] of include.entries())
		for (const { length } of members[at] ?? []) {
			left -= length
			if (left < 0) throw tooLarge(new ModelError('too_large'), given.maxBytes, [one])
		}
	return records.texts.map(({ json }, at) =>
		withMembers(
			json,
			include.map(({ relation }, index) => [relation.name, members[index]?.[at] ?? 'null']),
		),
	)
}

/** The related records of each record, as JSON. */
function relatedTexts(given: Attaching, include: Include, records: Records): Promise<readonly string[]> {
	const { relation } = include
	const { link } = relation
	const relatable = relatableBy(relation)
	const values = records.texts.map((text) => relatable(valuesOf(text, link.fields, records.fields)))
	if (relation.isOverridden) return overriddenTexts(given, include, values, (text) => spend(given, text))
	return link.isMany ? manyOfEach(given, include, values) : oneOfEach(given, include, values)
}

async function oneOfEach(
	given: Attaching,
	include: Include,
	values: readonly (readonly NonNullValue[] | undefined)[],
): Promise<readonly string[]> {
	const { to, link } = include.relation
	const fields = fieldsNamed(to, link.to)
	const types = link.to.flatMap((name) => fields.find(({ field }) => field.name === name)?.field ?? [])
	const distinct = new Map<string, readonly NonNullValue[]>()
	for (const one of values) if (one !== undefined) distinct.set(idOfKey(one, types), one)
	const all = [...distinct.values()]
	const found = new Map<string, string>()
	for (let from = 0; from < all.length; from += MAX_VALUES) {
		const some = all.slice(from, from + MAX_VALUES)
		const query = { ...firstOf(to.model), limit: some.length, where: isOneOf(link.to, some) }
		const [page] = await pagesOf(given, include, query, undefined, fields)
		for (const text of page?.texts ?? []) {
			const key = valuesOf(text, link.to, page?.fields ?? [])
			const identity = key && idOfKey(key, types)
			if (identity !== undefined && !found.has(identity)) found.set(identity, text.json)
		}
	}
	await addAlike(given, include, distinct, found)
	return values.map((one) => (one === undefined ? 'null' : (found.get(idOfKey(one, types)) ?? 'null')))
}

/**
 * Adds related records for the values that no record found so far has exactly: the database may consider different texts equal,
 * such as with a case-insensitive collation. Models without `listEach` compare exactly.
 */
async function addAlike(
	given: Attaching,
	include: Include,
	distinct: ReadonlyMap<string, readonly NonNullValue[]>,
	found: Map<string, string>,
): Promise<void> {
	const { to, link, comparing } = include.relation
	const isText = fieldsNamed(to, link.to).some(({ field }) => field.type === 'text')
	if (!isText || given.modelOf(to).listEach === undefined) return
	// The first query has compared by the same collation, and found none.
	if (found.size === 0 && comparing === undefined) return
	const others = [...distinct].filter(([identity]) => !found.has(identity))
	if (others.length === 0) return
	const query = { ...firstOf(to.model), limit: 1, where: undefined }
	const conditions = others.map(([, one]) => isRelated(include.relation, one))
	const pages = await pagesOf(given, include, query, conditions, [])
	for (const [at, [identity]] of others.entries()) {
		const [text] = pages[at]?.texts ?? []
		if (text !== undefined) found.set(identity, text.json)
	}
}

function firstOf(model: Model) {
	return { ...FIRST, order: keyNames(model).map((field) => ({ field, descending: false })) }
}

const FIRST = { offset: 0, after: undefined, total: false }

async function manyOfEach(
	given: Attaching,
	include: Include,
	values: readonly (readonly NonNullValue[] | undefined)[],
): Promise<readonly string[]> {
	const { relation, limit, count } = include
	const order = given.scoping.order(include.order)
	// Records with the same values, such as copies of one record within others, have the same related records.
	const identityOf = (one: readonly NonNullValue[]) => JSON.stringify(one.map(String))
	const distinct = new Map<string, readonly NonNullValue[]>()
	for (const one of values) if (one !== undefined) distinct.set(identityOf(one), one)
	const conditions = [...distinct.values()].map((one) => isRelated(relation, one))
	const isBounded = count !== undefined && count !== Number.POSITIVE_INFINITY
	const query = {
		...{ ...FIRST, where: undefined, order, limit, total: count !== undefined },
		...(isBounded ? { maxTotal: count } : {}),
	}
	const pages = conditions.length === 0 ? [] : await pagesOf(given, include, query, conditions, [])
	const texts = new Map(
		Array.from(distinct.keys(), (identity, at) => [identity, manyText(include, pages[at])]),
	)
	const empty = manyText(include, undefined)
	return values.map((one) => (one === undefined ? empty : (texts.get(identityOf(one)) ?? empty)))
}

/** A list within a record: `{"data":[…],"meta":{"limit":5,"next":null}}`. */
function manyText(include: Include, page: TextPage | undefined): string {
	const { limit, count } = include
	const next = page?.next === undefined ? null : cursorOf(include, page.next)
	const found = page?.total ?? 0
	const isMore = count !== undefined && found > count
	const meta = {
		...{ limit, next },
		...(count === undefined ? {} : { total: isMore ? count : found }),
		...(isMore ? { more: true } : {}),
	}
	const records = page?.texts.map(({ json }) => json).join() ?? ''
	return `{"data":[${records}],"meta":${JSON.stringify(meta)}}`
}

interface TextPage extends Records {
	readonly next: string | undefined
	readonly total: number | undefined
}

type PageQuery = Omit<ListQuery, 'selection'>

/**
 * The pages of a query of related records, one for each condition, or one without conditions; with their own related records.
 *
 * @param fields whose values are needed
 */
async function pagesOf(
	given: Attaching,
	include: Include,
	query: PageQuery,
	conditions: readonly Condition[] | undefined,
	fields: readonly CrudField[],
): Promise<readonly TextPage[]> {
	const { access, scoping } = given
	const { relation } = include
	const { to } = relation
	const limit = query.limit * (conditions?.length ?? 1)
	const { selection, rest } = embedded(to, include.selection, include.include, scoping, limit)
	const needed = [...new Set([...fields, ...linkFields(to, rest)])]
	const full = {
		...query,
		selection: to.selections.extended(selection, needed),
		where: allOf(whereOf(include, scoping), query.where),
	}
	const listed = await translated(given, include, () => listAll(given, given.modelOf(to), full, conditions))
	const pages = listed.map(({ json, next, total }) => ({
		...recordsIn(json, selection, needed),
		next,
		total,
	}))
	const view = relation.isStripped ? await access.view(relation) : undefined
	if (rest.length === 0 && view === undefined) return pages
	const all = { fields: needed, texts: pages.flatMap(({ texts }) => texts) }
	const texts = await attach(given, all, rest)
	let at = 0
	return pages.map((page) => ({
		...page,
		texts: page.texts.map(({ values }) => ({ json: shown(view, texts[at++] ?? 'null'), values })),
	}))
}

/** A record as the other handler's `stripObject` shows it. */
function shown(view: CrudView | undefined, json: string): string {
	return view === undefined ? json : JSON.stringify(stripRecords(view, JSON.parse(json)) ?? null)
}

/** Lists records of a model: a page for each condition. */
async function listAll(
	given: Attaching,
	model: Model,
	query: ListQuery,
	conditions: readonly Condition[] | undefined,
): Promise<readonly Listed[]> {
	if (query.limit === 0) return countAll(model, query, conditions ?? [])
	const one = async (where: Condition | undefined) => {
		const page = await model.list({ ...query, where, maxBytes: given.bytesLeft })
		spend(given, page.json)
		return page
	}
	if (conditions === undefined) return [await one(query.where)]
	if (model.listEach !== undefined) {
		const pages = await model.listEach({ ...query, maxBytes: given.bytesLeft }, conditions)
		for (const page of pages) spend(given, page.json)
		return pages
	}
	return eachOf(conditions, (condition) => one(allOf(query.where, condition)))
}

function countAll(
	model: Model,
	{ where, total }: ListQuery,
	conditions: readonly Condition[],
): Promise<readonly Listed[]> {
	return eachOf(conditions, async (condition) => {
		const count = total ? await model.count(allOf(where, condition)) : undefined
		return { json: '[]', next: undefined, total: count }
	})
}

/** @throws ModelError `too_large` */
function spend(given: Attaching, json: string): void {
	given.bytesLeft -= Buffer.byteLength(json)
	if (given.bytesLeft <= 0) throw new ModelError('too_large')
}

/** Awaits `run`, which calls the model of a relation. @throws RestError for a ModelError */
async function translated<T>(given: Attaching, include: Include, run: () => Promise<T>): Promise<T> {
	try {
		return await run()
	} catch (error) {
		if (error instanceof ModelError && error.kind === 'too_large')
			throw tooLarge(error, given.maxBytes, [include])
		const { relation, where } = include
		throw restErrorOf(error, relation.to, 'list', undefined, {}, { where })
	}
}
