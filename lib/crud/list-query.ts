/** Makes the query for the model out of a list's parameters: page, order, selection, cursor. */

import type { ListQuery, Order, Selection } from '../models/model.ts'
import { cursorCount, cursorValues, stampOf } from './cursor.ts'
import type { CrudField, FieldMap } from './fields.ts'
import { allOf } from './operator.ts'
import type { CrudPlan } from './plan.ts'
import type { QueryParams } from './query-params.ts'
import { badQuery, unknownName } from './refusal.ts'

/** What `list()` is asked: in the model's words, with field names of the model. */
export interface CrudQuery extends Omit<ListQuery, 'limit' | 'maxBytes'> {
	/** 0 asks for the count alone. */
	readonly limit: number
	/** What the next page's cursor is tied to. */
	readonly stamp: string
}

const WHOLE = /^(?:0|[1-9]\d*)$/

/** The query of a list without parameters. */
export function plainQuery(plan: CrudPlan): CrudQuery {
	const order = orderOf(plan, [])
	return Object.freeze({
		...{ selection: plan.selections.all, where: undefined, order, limit: plan.limit, offset: 0 },
		...{ after: undefined, total: false, stamp: stampOf(order, undefined) },
	})
}

/** The query of which somebody's code says a part. What a request asks is whole already. */
export function wholeQuery(plain: CrudQuery, part: Partial<CrudQuery> = plain): CrudQuery {
	if (isWhole(part)) return part
	const query = { ...plain, ...part }
	return { ...query, stamp: stampOf(query.order, query.where) }
}

function isWhole(query: Partial<CrudQuery>): query is CrudQuery {
	return query.stamp !== undefined
}

/** @throws RestError `bad_request` for a value that can't be, naming its parameter */
export function listQuery(plan: CrudPlan, { settings, terms }: QueryParams): CrudQuery {
	const order = orderOf(plan, settings.has('sort') ? names('sort', settings.get('sort')) : [])
	const where = allOf(...terms)
	const stamp = stampOf(order, where)
	const cursor = settings.get('cursor')
	const offset = settings.has('offset') ? wholeNumber('offset', settings.get('offset')) : 0
	if (!Number.isSafeInteger(offset)) throw badQuery('offset', 'max', 'must be within 9007199254740991')
	if (cursor !== undefined && settings.has('offset'))
		throw badQuery('offset', 'cursor', "can't stand beside cursor: a cursor says where to begin")
	const limit = settings.has('limit') ? wholeNumber('limit', settings.get('limit')) : plan.limit
	return {
		selection: selectionOf(plan, settings.get('fields')),
		...{ where, order, stamp },
		...(cursor === undefined ? { offset, after: undefined } : behind(plan, cursor, stamp, order)),
		limit: Math.min(limit, plan.maxLimit),
		total: isCounted(settings.get('count')) || limit === 0,
	}
}

/** Where a cursor leads. Values of a hidden key are in none: it could be read, and made to find them out. */
function behind(
	plan: CrudPlan,
	cursor: unknown,
	stamp: string,
	order: readonly Order[],
): Pick<CrudQuery, 'offset' | 'after'> {
	if (typeof cursor !== 'string') throw badQuery('cursor', 'string', 'must be a string')
	if (plan.isKeyVisible) return { offset: 0, after: cursorValues(cursor, stamp, order, plan.fields) }
	return { offset: cursorCount(cursor, stamp), after: undefined }
}

/**
 * The fields that are asked for; all visible ones where none are.
 *
 * @throws RestError `bad_request` in the same words for a field that is hidden or unknown
 */
export function selectionOf({ visible, selections }: CrudPlan, given: unknown): Selection {
	if (given === undefined) return selections.all
	const asked = new Set<string>()
	for (const name of names('fields', given)) asked.add(known('fields', name, visible).name)
	if (asked.size === 0) throw badQuery('fields', 'min', 'must name at least one field')
	return selections.of(asked)
}

/** The order ends with the key, in the direction of the term before it: else equal records have none. */
function orderOf({ key, sortable }: CrudPlan, terms: readonly string[]): readonly Order[] {
	const order: Order[] = []
	for (const term of terms) {
		const descending = term.startsWith('-') && !sortable.has(term)
		const { field } = known('sort', descending ? term.slice(1) : term, sortable)
		if (order.some((other) => other.field === field.name))
			throw badQuery('sort', 'repeated', 'names a field more than once')
		order.push({ field: field.name, descending })
	}
	const isUnique = order.findIndex(({ field }) => field === key.field.name)
	if (isUnique !== -1) return order.slice(0, isUnique + 1)
	return [...order, { field: key.field.name, descending: order.at(-1)?.descending ?? false }]
}

function known(place: string, name: string, fields: FieldMap): CrudField {
	const field = fields.get(name)
	if (field !== undefined) return field
	throw unknownName(place, 'may only name', fields.keys())
}

/** Names with commas between, or, in JSON, an array of them. */
function names(place: string, given: unknown): readonly string[] {
	if (typeof given === 'string') return given.split(',')
	if (Array.isArray(given) && given.every((name) => typeof name === 'string')) return given
	throw badQuery(place, 'string', 'must be names with commas between')
}

function wholeNumber(place: string, given: unknown): number {
	if (typeof given === 'string' && WHOLE.test(given)) return Number(given)
	if (Number.isInteger(given) && Number(given) >= 0) return Number(given)
	throw badQuery(place, 'integer', 'must be a whole number from 0 up')
}

function isCounted(given: unknown): boolean {
	if (given === undefined) return false
	if (given === 'exact') return true
	throw badQuery('count', 'in', 'must be exact')
}
