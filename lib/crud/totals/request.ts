/** Parses what `GET /totals` asks for: `by`, the totals, `having`, `sort`, `limit` and `tz`; filters are those of a list. */
import { attempt } from '../../base/attempt.ts'
import type {
	Field,
	TimePart,
	Total,
	TotalsCondition,
	TotalsKey,
	TotalsOrder,
	TotalsQuery,
} from '../../models/model.ts'
import type { Detail } from '../../wire/codes.ts'
import { COMPARISONS, MAX_DEPTH } from '../filter.ts'
import type { TermCounter } from '../filter-comparison.ts'
import type { QueryParams } from '../list-query.ts'
import type { CrudPlan } from '../plan.ts'
import { badQuery, badValue, fieldNamed, names, unknownName, wholeNumber } from '../query-values.ts'
import { operandFromJson } from '../value-from-json.ts'
import { FUNCTIONS, type GroupKey, keyNames, type TotalsPlan, totalsPlan } from './plan.ts'

/** A query for totals, with the model's field names. */
export interface TotalsRequest extends Omit<TotalsQuery, 'limit' | 'maxBytes'> {
	/** The number of groups to return. Without it, more than the handler's `maxGroups` are an error. */
	readonly limit: number | undefined
}

/** A total that is asked for: `sum.amount`. */
interface AskedTotal {
	readonly name: string
	readonly total: Total
	/** `undefined` for `count`. */
	readonly field: Field | undefined
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
export function totalsRequest(plan: CrudPlan, params: QueryParams): TotalsRequest {
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
		where: params.condition(),
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

/**
 * The conditions on groups: `{"sum.amount":{"gt":"100"},"or":[{"count":1},{"not":{"avg.amount":null}}]}`.
 *
 * @throws RestError `bad_request` naming the place, `having.or.1.count`, and what is allowed there
 */
function havingCondition(
	given: unknown,
	asked: readonly AskedTotal[],
	count: TermCounter,
	place = 'having',
	depth = 1,
): TotalsCondition {
	if (typeof given !== 'object' || given === null || Array.isArray(given))
		throw badQuery(place, 'object', 'must be an object, such as {"count":{"gt":1}} or {"or":[…]}')
	if (depth > MAX_DEPTH)
		throw badQuery(place, 'max', `is nested too deeply: at most ${MAX_DEPTH} levels are allowed`)
	const terms = Object.entries(given).map(([name, value]: [string, unknown]): TotalsCondition => {
		const at = `${place}.${name}`
		if (name === 'not') return { op: 'not', term: havingCondition(value, asked, count, at, depth + 1) }
		if (name === 'and' || name === 'or') {
			if (!Array.isArray(value)) throw badQuery(at, 'array', 'must be an array of conditions')
			if (value.length === 0) count.add(at)
			const each = value.map((one, index) => havingCondition(one, asked, count, `${at}.${index}`, depth + 1))
			return { op: name, terms: each }
		}
		const known = asked.map((one) => one.name)
		const total = known.indexOf(name)
		const found = asked[total]
		if (found === undefined) throw unknownName(at, 'is not one of the totals that are asked for:', known)
		return comparisons(value, { total, field: operandField(found), count }, at)
	})
	if (terms.length === 0) count.add(place)
	return allOf(terms)
}

function allOf(terms: readonly TotalsCondition[]): TotalsCondition {
	const [only] = terms
	return terms.length === 1 && only !== undefined ? only : { op: 'and', terms }
}

interface Compared {
	/** Its index among the totals. */
	readonly total: number
	readonly field: Field
	readonly count: TermCounter
}

/** A value, null, or an object of operators. */
function comparisons(given: unknown, compared: Compared, place: string): TotalsCondition {
	if (typeof given !== 'object' || given === null) return comparison('eq', given, compared, place)
	const entries = Object.entries(given)
	if (entries.length === 0 || Array.isArray(given))
		throw badQuery(place, 'required', 'needs an operator, such as {"gte":3}')
	return allOf(entries.map(([op, value]) => comparison(op, value, compared, `${place}.${op}`)))
}

function comparison(
	name: string,
	given: unknown,
	{ total, field, count }: Compared,
	place: string,
): TotalsCondition {
	count.add(place)
	if (given === null && (name === 'eq' || name === 'ne')) return { op: 'null', total, value: name === 'eq' }
	if (name === 'null') {
		if (typeof given !== 'boolean') throw badQuery(place, 'boolean', 'must be true or false')
		return { op: 'null', total, value: given }
	}
	const op = COMPARISONS.find((one) => one === name)
	if (op === undefined)
		throw unknownName(place, 'is not an operator of totals: use one of', [...COMPARISONS, 'null'])
	const problems: Detail[] = []
	const value = operandFromJson(field, given, problems)
	if (value === undefined) throw badValue(place, problems)
	return { op, total, value }
}

/** A field whose values the total is compared with. */
function operandField({ total, field }: AskedTotal): Field {
	const plain = { name: '', nullable: true, hasDefault: false, generated: false }
	if (total.op === 'count' || field === undefined) return { ...plain, type: 'integer' }
	if (total.op === 'min' || total.op === 'max') return { ...field, choices: undefined }
	return { ...plain, type: field.type === 'float' ? 'float' : 'decimal' }
}
