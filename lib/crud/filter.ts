/** `filter`: conditions as JSON, with alternatives. Called by `query-params.ts`. */

import type { Condition } from '../models/model.ts'
import type { Detail } from '../wire/codes.ts'
import type { CrudField, FieldMap } from './fields.ts'
import {
	allOf,
	checkCount,
	compared,
	looksIntoText,
	type Operator,
	operandField,
	operatorOf,
	takesList,
} from './operator.ts'
import type { CrudPlan } from './plan.ts'
import { badQuery, badValue, unknownName } from './refusal.ts'
import { operandFromJson } from './value-from-json.ts'
import type { Given } from './value-from-text.ts'

/** Levels that `and`, `or` and `not` may nest; a filter without them has one. */
const MAX_DEPTH = 5
/** Most comparisons of a query. */
const MAX_TERMS = 100

/** Counts the comparisons of one query, wherever they come from; those of texts once more by themselves. */
export class TermCount {
	readonly #maxTextTerms: number
	/** Most values of one list. */
	readonly maxIn: number
	#count = 0
	#texts = 0

	constructor({ maxTextTerms, maxIn }: Pick<CrudPlan, 'maxTextTerms' | 'maxIn'>) {
		this.#maxTextTerms = maxTextTerms
		this.maxIn = maxIn
	}

	/** @throws RestError `bad_request` when there are too many */
	add(place: string): void {
		if (++this.#count > MAX_TERMS)
			throw badQuery(place, 'max', `is one comparison too many: there may be ${MAX_TERMS}`)
	}

	/**
	 * Counts `times` comparisons that read a text of each record: no index helps with most of them, and a store within
	 * this process does nothing else meanwhile.
	 *
	 * @throws RestError `bad_request` when there are too many
	 */
	addText(place: string, times: number): void {
		this.#texts += times
		const most = this.#maxTextTerms
		if (this.#texts <= most) return
		const why = times > 1 ? `compares each word with ${times} fields, which is` : 'is'
		throw badQuery(place, 'max', `${why} a text comparison too many: there may be ${most} in a request`)
	}
}

/**
 * The condition of a filter:
 *
 *     {"title":"x","age":{"gte":3},"or":[{"tag":["a","b"]},{"not":{"tag":null}}]}
 *
 * @throws RestError `bad_request` naming the place, `filter.or.1.age`, and what is allowed there
 */
export function filterCondition(
	filter: unknown,
	fields: FieldMap,
	count: TermCount,
	place = 'filter',
	depth = 1,
): Condition {
	if (typeof filter !== 'object' || filter === null || Array.isArray(filter))
		throw badQuery(place, 'object', 'must be an object, such as {"field":value} or {"or":[…]}')
	if (depth > MAX_DEPTH)
		throw badQuery(place, 'max', `is nested too deeply: there may be ${MAX_DEPTH} levels`)
	const terms = Object.entries(filter).map(([name, given]): Condition => {
		const at = `${place}.${name}`
		if (name === 'not') return { op: 'not', term: filterCondition(given, fields, count, at, depth + 1) }
		if (name !== 'and' && name !== 'or') return fieldCondition(name, given, fields, count, at)
		if (!Array.isArray(given)) throw badQuery(at, 'array', 'must be an array of filters')
		// An empty one still costs; a hundred thousand of them would be a query of as many words.
		if (given.length === 0) count.add(at)
		const inner = given.map((one, index) => filterCondition(one, fields, count, `${at}.${index}`, depth + 1))
		return { op: name, terms: inner }
	})
	if (terms.length === 0) count.add(place)
	return allOf(...terms) ?? { op: 'and', terms: [] }
}

/** @throws RestError `bad_request` in the same words for a field that is unknown, hidden or not to be filtered by */
function filterField(name: string, fields: FieldMap, place: string): CrudField {
	const field = fields.get(name)
	if (field === undefined) throw unknownName(place, 'is no field to filter by: there are', fields.keys())
	return field
}

/** One field's part of a filter: a value, several, null, or an object of operators. */
export function fieldCondition(
	name: string,
	given: unknown,
	fields: FieldMap,
	count: TermCount,
	place: string,
): Condition {
	const field = filterField(name, fields, place)
	if (Array.isArray(given)) return operation(field, 'in', given, count, place)
	if (typeof given !== 'object' || given === null) return operation(field, 'eq', given, count, place)
	const entries = Object.entries(given)
	if (entries.length === 0) throw badQuery(place, 'required', 'needs an operator, such as {"gte":3}')
	const terms = entries.map(([op, value]) => operation(field, op, value, count, `${place}.${op}`))
	return allOf(...terms) ?? { op: 'and', terms: [] }
}

function operation(
	field: CrudField,
	name: string,
	given: unknown,
	count: TermCount,
	place: string,
): Condition {
	count.add(place)
	const { name: column } = field.field
	// Nothing equals null: whoever writes it means that there is none.
	if (given === null && (name === 'eq' || name === 'ne'))
		return { op: 'null', field: column, value: name === 'eq' }
	const operator = operatorOf(field, name, place)
	if (looksIntoText(operator)) count.addText(place, 1)
	if (operator === 'null') {
		if (typeof given !== 'boolean') throw badQuery(place, 'boolean', 'must be true or false')
		return { op: 'null', field: column, value: given }
	}
	if (!takesList(operator)) return compared(field, operator, [operand(field, operator, given, place)], place)
	if (!Array.isArray(given)) throw badQuery(place, 'array', 'must be an array of values')
	checkCount(operator, given.length, count.maxIn, place)
	const values = given.map((one, index) => operand(field, operator, one, `${place}.${index}`))
	return compared(field, operator, values, place)
}

function operand(field: CrudField, operator: Operator, given: unknown, place: string): Given {
	const problems: Detail[] = []
	const value = operandFromJson(operandField(field, operator), given, problems)
	if (value === undefined) throw badValue(place, problems)
	return value
}
