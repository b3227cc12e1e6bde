/**
 * `removeMany`: deletes the records that match a condition in the URL of a DELETE, each as by a single `remove`, all in one
 * transaction. Called by `operations.ts`, and by the handler's method.
 */
import { isRestError, RestError } from '../../base/error.ts'
import { exchangeOf } from '../../handler/view.ts'
import type { Condition } from '../../models/model.ts'
import { RawJson } from '../../wire/raw-json.ts'
import { removeWithin } from '../changes.ts'
import { NOTHING } from '../fields.ts'
import { allOf } from '../filter-comparison.ts'
import type { CrudQuery } from '../list-query.ts'
import type { CrudPlan } from '../plan.ts'
import { badQuery } from '../query-values.ts'
import { modelOf, resolveScope, translateModelErrors, withNeeded } from '../reads.ts'
import { idSegment, namingKeys, shownId } from '../record-id.ts'
import { idsOf } from '../relations/records.ts'
import { related } from '../relations/related.ts'
import { relationsOf } from '../relations/scoping.ts'
import type { Scope } from '../scope.ts'
import { deletion } from '../stamps.ts'
import { together } from '../transaction.ts'
import { type CrudView, FACTS } from '../view.ts'
import { refuseTags } from './check-list.ts'

/** Parameters of a list that a deletion refuses: it would seem to be limited to a page. */
export const OF_PAGES: readonly string[] = [
	...['limit', 'offset', 'cursor', 'sort', 'fields', 'count', 'include', 'deleted'],
]

/** Serves a `removeMany` request. @param query its URL, parsed as that of a list */
export async function removeMany(view: CrudView, query: CrudQuery): Promise<unknown> {
	const exchange = exchangeOf(view, 'removeMany')
	const { plan, overridden } = view[FACTS]
	const { where } = query
	// Checked here, because `fields()` may hide the key: the answer would show the ids.
	const scope = await resolveScope(view, 'remove')
	namingKeys(plan, scope)
	refuseTags(exchange)
	const wrong = OF_PAGES.find((name) => Object.hasOwn(exchange.query().last, name))
	if (wrong !== undefined && plan.parameters.some((name) => name === wrong))
		throw badQuery(wrong, 'unknown', 'is not a parameter of a deletion: it takes conditions')
	if (where === undefined || isConstant(where, true))
		throw new RestError('bad_request', `A condition is required, such as ${plan.keys[0]?.name}[in]=1,2,3`)
	const ids = await (overridden.has('removeMany')
		? translateModelErrors(view, 'removeMany', () => view.removeMany(where))
		: removeMatching(view, query, scope))
	if (!Array.isArray(ids)) return ids
	return new RawJson(`[${ids.map((id) => idJson(plan, shownId(plan, String(id), scope))).join()}]`)
}

/** Whether a condition is `value` for all records, because it compares nothing: `{ or: [{}, …] }`, `{ nin: [] }`. */
function isConstant(where: Condition, value: boolean): boolean {
	switch (where.op) {
		case 'not':
			return isConstant(where.term, !value)
		case 'and':
		case 'or': {
			const terms = where.terms.map((term) => isConstant(term, value))
			return (where.op === 'and') === value ? terms.every(Boolean) : terms.some(Boolean)
		}
		case 'in':
			return !value && where.values.length === 0
		case 'contains':
		case 'startsWith':
		case 'endsWith':
			return value && where.value === ''
		case 'some': {
			const { where: matches, fails } = where
			const isNever = (matches && isConstant(matches, false)) || (fails && isConstant(fails, true))
			return !value && isNever === true
		}
		case 'count':
			return isConstantCount(where, value)
		default:
			return false
	}
}

/** Whether the comparison is `value` for every count; counts are never below 0. */
function isConstantCount(
	{ compare, value: bound }: Extract<Condition, { op: 'count' }>,
	value: boolean,
): boolean {
	const isBelow = bound < 0
	if (compare === 'gte' || compare === 'lt') return (compare === 'gte') === value && (isBelow || bound === 0)
	return (compare === 'gt' || compare === 'ne') === value && isBelow
}

/** An id as JSON: a number if the record's field is one, else a text. */
function idJson({ keys }: CrudPlan, id: string): string {
	const field = keys.length === 1 ? keys[0]?.field : undefined
	const isNumber = field?.type === 'integer' || (field?.type === 'bigint' && field.asText !== true)
	return isNumber && /^-?\d+$/.test(id) ? id : JSON.stringify(id)
}

/** The handler's method. @throws TypeError without a condition: it would delete all records */
export async function removeManyRecords(view: CrudView, where: Condition): Promise<readonly string[]> {
	const given: unknown = where
	if (typeof given !== 'object' || given === null || !('op' in given) || isConstant(where, true))
		throw new TypeError(`${view[FACTS].plan.owner}.removeMany() needs a condition`)
	return removeMatching(view, { where, order: [] }, await resolveScope(view, 'remove'))
}

async function removeMatching(
	view: CrudView,
	query: Pick<CrudQuery, 'where' | 'order'>,
	scope: Scope,
): Promise<readonly string[]> {
	const { plan } = view[FACTS]
	const relations = relationsOf(plan, query)
	const limits = relations ? await related(view, query, relations, withNeeded(view), false) : query
	const where = allOf(scope.where, limits.where)
	return together(view, async (within) => {
		const find = () => idsOf(within[FACTS].plan, where, plan.maxBatch + 1)
		const found = await translateModelErrors(view, 'list', find, undefined, {}, query)
		if (found.length > plan.maxBatch)
			throw new RestError('conflict', `More than ${plan.maxBatch} records match: narrow the condition`)
		// Before the first deletion, which may change what matches.
		const matching = await lockMatching(within, found, where)
		const removed: string[] = []
		for (const id of matching) if (await removeOne(within, scope, id)) removed.push(id)
		return removed
	})
}

/** Locks the records, and returns those that still match: they may have been changed since they were found. */
async function lockMatching(
	view: CrudView,
	ids: readonly string[],
	where: Condition | undefined,
): Promise<readonly string[]> {
	const model = await modelOf(view)
	const lock = model.lock?.bind(model) ?? model.read.bind(model)
	const deletes = deletion(view[FACTS].plan) === undefined
	const matching: string[] = []
	for (const id of ids)
		if (await translateModelErrors(view, 'list', () => lock(id, NOTHING, where, deletes))) matching.push(id)
	return matching
}

/** Deletes a record, by an overridden `remove()`, which a condition must not get around. False if it is gone already. */
async function removeOne(view: CrudView, scope: Scope, id: string): Promise<boolean> {
	const { plan, overridden } = view[FACTS]
	const segment = plan.keys.length === 1 ? id : idSegment(plan, id, [scope])
	try {
		if (overridden.has('remove')) await translateModelErrors(view, 'remove', () => view.remove(segment))
		else await removeWithin(view, segment, scope)
		return true
	} catch (error) {
		if (isRestError(error) && error.code === 'not_found') return false
		throw placedById(error, shownId(plan, id, scope))
	}
}

/** The place of a record that can't be deleted is its id. */
function placedById(error: unknown, id: string): unknown {
	if (!isRestError(error) || error.code !== 'conflict' || (error.details ?? []).length > 0) return error
	return new RestError('conflict', `${id}: ${error.message}`, {
		cause: error.cause ?? error,
		details: [{ field: id, code: 'conflict', message: error.message }],
	})
}
