/** Parses what `GET /totals` asks for: `by`, the totals, `having`, `sort`, `limit` and `tz`; filters are those of a list. */
import { attempt } from '../../base/attempt.ts'
import type { Condition, TimePart, Total, TotalsKey, TotalsOrder, TotalsQuery } from '../../models/model.ts'
import { badQuery, fieldNamed, names, unknownName, wholeNumber } from '../bad-query.ts'
import type { TermCounter } from '../filter-comparison.ts'
import type { QueryParams } from '../list-query.ts'
import type { CrudPlan } from '../plan.ts'
import { type AskedTotal, havingCondition } from './having.ts'
import { FUNCTIONS, type GroupKey, keyNames, type TotalsPlan, totalsPlan } from './plan.ts'

/** A query for totals, with the model's field names. */
export interface TotalsRequest extends Omit<TotalsQuery, 'limit' | 'maxBytes'> {
	/** The number of groups to return. Without it, more than the handler's `maxGroups` are an error. */
	readonly limit: number | undefined
}

/** Completes a query from code with defaults. */
export function completeTotals(given: Partial<TotalsRequest>): TotalsRequest {
	const { by = [] } = given
	const order = by.map((_, key): TotalsOrder => ({ key, descending: false }))
	return {
		...{ by, totals: [], where: undefined, having: undefined, order, limit: undefined, timeZone: 'UTC' },
		...given,
	}
}

/** @throws RestError `bad_request` for an invalid value, naming its parameter */
export function totalsRequest(plan: CrudPlan, params: QueryParams, where?: Condition): TotalsRequest {
	const totals = totalsPlan(plan)
	const { count } = params
	const by = keysOf(totals, params, count)
	const asked = totalsOf(totals, params, count)
	if (by.length + asked.length === 0)
		throw badQuery('by', 'required', 'or one of count, sum, avg, min and max must be given')
	const having = params.setting('having')
	return {
		by,
		totals: asked.map(({ total }) => total),
		where: where ?? params.condition(),
		having: having === undefined ? undefined : havingCondition(having, asked, count),
		order: orderOf(by, asked, params),
		limit: limitOf(params, totals),
		timeZone: timeZoneOf(params.setting('tz')),
	}
}

function namesOf(params: QueryParams, parameter: string): readonly string[] {
	const given = params.setting(parameter)
	return given === undefined ? [] : names(parameter, given)
}

function keysOf(plan: TotalsPlan, params: QueryParams, count: TermCounter): TotalsKey[] {
	const keys: TotalsKey[] = []
	for (const given of namesOf(params, 'by')) {
		const { key, part } = keyNamed(plan, given)
		count.add('by')
		for (const [at] of key.via?.entries() ?? []) count.addRelation('by', at + 1)
		if (keys.some(({ name }) => name === key.name))
			throw badQuery('by', 'repeated', 'names a field more than once')
		const { name, field, via } = key
		keys.push({ name, field: field.name, ...(via === undefined ? {} : { via }), part })
	}
	return keys
}

/** The key of `status`, or of `created:month`. */
function keyNamed(
	{ keys }: TotalsPlan,
	given: string,
): { readonly key: GroupKey; readonly part: TimePart | undefined } {
	const whole = keys.get(given)
	if (whole !== undefined) return { key: whole, part: undefined }
	const end = given.lastIndexOf(':')
	const key = keys.get(given.slice(0, Math.max(end, 0)))
	if (key === undefined) throw unknownName('by', 'may only name', keyNames(keys))
	const part = key.parts.find((one) => one === given.slice(end + 1))
	if (part !== undefined) return { key, part }
	if (key.parts.length === 0) throw badQuery('by', 'unknown', `may name no part of ${key.name}`)
	throw unknownName('by', `may name these parts of ${key.name}:`, key.parts)
}

function totalsOf(plan: TotalsPlan, params: QueryParams, count: TermCounter): AskedTotal[] {
	const asked: AskedTotal[] = []
	const counted = params.setting('count')
	if (counted !== undefined) {
		if (counted !== 'exact') throw badQuery('count', 'in', 'must be exact')
		asked.push({ name: 'count', total: { op: 'count' }, field: undefined })
	}
	for (const op of FUNCTIONS) {
		for (const given of namesOf(params, op)) {
			const { name, field } = fieldNamed(op, given, plan.of[op])
			count.add(op)
			const total: Total = { op, field: field.name, name }
			if (asked.some((other) => other.name === `${op}.${name}`))
				throw badQuery(op, 'repeated', 'names a field more than once')
			asked.push({ name: `${op}.${name}`, total, field })
		}
	}
	return asked
}

/** The order that is asked for, followed by the keys that it lacks. */
function orderOf(
	by: readonly TotalsKey[],
	asked: readonly AskedTotal[],
	params: QueryParams,
): readonly TotalsOrder[] {
	const order: TotalsOrder[] = []
	const all = [...by, ...asked].map(({ name }) => name)
	const places = new Set<number>()
	for (const term of namesOf(params, 'sort')) {
		const descending = term.startsWith('-') && !all.includes(term)
		const at = all.indexOf(descending ? term.slice(1) : term)
		if (at === -1) throw unknownName('sort', 'may only name what is asked for:', all)
		if (places.has(at)) throw badQuery('sort', 'repeated', 'names a field more than once')
		places.add(at)
		order.push(at < by.length ? { key: at, descending } : { total: at - by.length, descending })
	}
	for (const [key] of by.entries()) if (!places.has(key)) order.push({ key, descending: false })
	return order
}

function limitOf(params: QueryParams, { maxGroups }: TotalsPlan): number | undefined {
	const given = params.setting('limit')
	if (given === undefined) return undefined
	const limit = wholeNumber('limit', given)
	if (limit > 0 && limit <= maxGroups) return limit
	throw badQuery('limit', 'max', `must be from 1 to ${maxGroups}`)
}

/** No names without a slash: `CET` is a zone for some databases, and an offset for others. */
const ZONE = /^[A-Za-z][\w+-]*(?:\/[A-Za-z][\w+-]*){1,2}$/
const MAX_ZONE_LENGTH = 50

function timeZoneOf(given: unknown): string {
	if (given === undefined || given === 'UTC') return 'UTC'
	if (typeof given === 'string' && given.length <= MAX_ZONE_LENGTH && ZONE.test(given) && isZone(given))
		return given
	throw badQuery('tz', 'timezone', 'must be a time zone such as Europe/Berlin, or UTC')
}

function isZone(timeZone: string): boolean {
	return attempt(() => new Intl.DateTimeFormat('en', { timeZone })) !== undefined
}
