/**
 * The conditions of a list: the operators that compare a field, both in `field[op]=value` and in the JSON of `filter`,
 * and the words of `search`. Called by `list-query.ts`.
 */

import type { Condition, Field } from '../models/model.ts'
import type { Detail } from '../wire/codes.ts'
import { badQuery, badValue, unknownName } from './bad-query.ts'
import type { CrudField, FieldMap } from './fields.ts'
import type { CrudPlan } from './plan.ts'
import { operandFromJson } from './value-from-json.ts'
import type { NonNullValue } from './value-from-text.ts'

export type Operator =
	| ('eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte')
	| ('in' | 'nin' | 'between')
	| ('contains' | 'startsWith' | 'endsWith')
	| ('ieq' | 'icontains' | 'istartsWith' | 'iendsWith')
	| 'null'

const EQUALITY: readonly Operator[] = ['eq', 'ne', 'in', 'nin', 'null']
const ORDER: readonly Operator[] = ['gt', 'gte', 'lt', 'lte', 'between']
const TEXT = ['contains', 'startsWith', 'endsWith'] as const
/** Operators that ignore case, with those that don't. */
const IGNORING = {
	ieq: 'eq',
	icontains: 'contains',
	istartsWith: 'startsWith',
	iendsWith: 'endsWith',
} as const
const PARTS_IGNORING: readonly Operator[] = ['icontains', 'istartsWith', 'iendsWith']

/** Levels that `and`, `or` and `not` may nest; a filter without them has one. */
const MAX_DEPTH = 5
/** Most comparisons of a query. */
const MAX_TERMS = 100
/** Most words of a search. */
const MAX_WORDS = 20
/**
 * Longest text that is looked for within others: databases compare it at each position of each text, and two long ones
 * would keep them busy for minutes.
 */
const MAX_PART = 1_000

/** The operators of a type. What databases can't compare, or compare differently, isn't offered. */
export function operatorsOf({ type, wholeOnly }: Pick<Field, 'type' | 'wholeOnly'>): readonly Operator[] {
	if (type === 'json' || type === 'bytes') return ['null']
	if (type === 'other') return [...TEXT, ...PARTS_IGNORING, 'null']
	if (type === 'boolean') return EQUALITY
	if (type !== 'text' || wholeOnly === true) return [...EQUALITY, ...ORDER]
	return [...EQUALITY, ...ORDER, ...TEXT, 'ieq', ...PARTS_IGNORING]
}

/** @throws RestError `bad_request` for an operator that the field doesn't have */
function operatorOf({ field, name: own }: CrudField, name: string, place: string): Operator {
	const known = operatorsOf(field)
	const operator = known.find((one) => one === name)
	if (operator !== undefined) return operator
	if (known.length === 1) throw badQuery(place, 'unknown', `can't be compared with a value: use ${own}[null]`)
	throw unknownName(place, 'is not an operator of this field: use one of', known)
}

/** Whether an operator takes a list of values. */
export function takesList(operator: string): operator is 'in' | 'nin' | 'between' {
	return operator === 'in' || operator === 'nin' || operator === 'between'
}

/** What an operand must be: a text operator looks for any text, whatever choices its field has. */
export function operandField({ field }: CrudField, operator: Operator): Field {
	return comparesText(operator) ? { ...field, choices: undefined } : field
}

/** Whether an operator reads the text of each record. */
function comparesText(operator: Operator): boolean {
	return comparesPart(operator) || ignoresCase(operator)
}

function comparesPart(operator: Operator): operator is (typeof TEXT)[number] {
	return TEXT.some((one) => one === operator)
}

function ignoresCase(operator: Operator): operator is keyof typeof IGNORING {
	return Object.hasOwn(IGNORING, operator)
}

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
			throw badQuery(place, 'max', `is one comparison too many: at most ${MAX_TERMS} are allowed`)
	}

	/**
	 * Counts `times` comparisons that read a text of each record: mostly no index helps with them, and a store within this
	 * process does nothing else meanwhile.
	 *
	 * @throws RestError `bad_request` when there are too many
	 */
	addText(place: string, times: number): void {
		this.#texts += times
		const most = this.#maxTextTerms
		if (this.#texts <= most) return
		const why = times > 1 ? `compares each word with ${times} fields, which is` : 'is'
		throw badQuery(place, 'max', `${why} one text comparison too many: at most ${most} are allowed`)
	}
}

/** Reads an operand. @throws RestError `bad_request` for what the field can't be compared with */
type ReadOperand = (field: Field, given: unknown, place: string) => NonNullValue

function jsonOperand(field: Field, given: unknown, place: string): NonNullValue {
	const problems: Detail[] = []
	const value = operandFromJson(field, given, problems)
	if (value === undefined) throw badValue(place, problems)
	return value
}

/**
 * The condition of one comparison.
 *
 * @param given the operand, a list for operators that take one
 * @throws RestError `bad_request` for an operator that the field doesn't have, and for what it can't be compared with
 */
export function comparison(
	field: CrudField,
	name: string,
	given: unknown,
	count: TermCount,
	place: string,
	read: ReadOperand = jsonOperand,
): Condition {
	count.add(place)
	const { name: column } = field.field
	// Nothing equals null: the client means records without a value.
	if (given === null && (name === 'eq' || name === 'ne'))
		return { op: 'null', field: column, value: name === 'eq' }
	const operator = operatorOf(field, name, place)
	if (comparesText(operator)) count.addText(place, 1)
	if (operator === 'null') {
		if (typeof given !== 'boolean') throw badQuery(place, 'boolean', 'must be true or false')
		return { op: 'null', field: column, value: given }
	}
	const operand = operandField(field, operator)
	if (!takesList(operator)) return compared(column, operator, read(operand, given, place), place)
	if (!Array.isArray(given)) throw badQuery(place, 'array', 'must be an array of values')
	// Counted before any of them is read.
	if (operator === 'between' && given.length !== 2) throw badQuery(place, 'between', 'needs two values')
	if (given.length > count.maxIn && operator !== 'between')
		throw badQuery(place, 'max', `may have at most ${count.maxIn} values`)
	const values = given.map((one, index) => read(operand, one, `${place}.${index}`))
	if (operator === 'between') {
		const terms = values.map((value, at) => ({ op: at === 0 ? 'gte' : 'lte', field: column, value }) as const)
		return { op: 'and', terms }
	}
	return operator === 'in' ? anyOf(column, values) : { op: 'not', term: anyOf(column, values) }
}

type OneValued = Exclude<Operator, 'in' | 'nin' | 'between' | 'null'>

function compared(field: string, operator: OneValued, value: NonNullValue, place: string): Condition {
	if (ignoresCase(operator))
		return { op: IGNORING[operator], field, value: partOf(String(value), place), ignoreCase: true }
	if (comparesPart(operator)) return { op: operator, field, value: partOf(String(value), place) }
	return { op: operator, field, value }
}

function partOf(text: string, place: string): string {
	if (text.length <= MAX_PART) return text
	throw badQuery(place, 'max', `may look for at most ${MAX_PART} characters`)
}

function anyOf(field: string, values: readonly NonNullValue[]): Condition {
	const [only] = values
	return values.length === 1 && only !== undefined
		? { op: 'eq', field, value: only }
		: { op: 'in', field, values }
}

/** All of these hold; `undefined` for none at all. */
export function allOf(...terms: readonly (Condition | undefined)[]): Condition | undefined {
	const given = terms.filter((term) => term !== undefined)
	return given.length < 2 ? given[0] : { op: 'and', terms: given }
}

/**
 * The condition of a filter:
 *
 *     {"title":"x","age":{"gte":3},"or":[{"tag":["a","b"]},{"not":{"tag":null}}]}
 *
 * @throws RestError `bad_request` naming the place, `filter.or.1.age`, and what is allowed there; in the same words for a
 *   field that is unknown, hidden or not filterable
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
		throw badQuery(place, 'max', `is nested too deeply: at most ${MAX_DEPTH} levels are allowed`)
	const terms = Object.entries(filter).map(([name, given]): Condition => {
		const at = `${place}.${name}`
		if (name === 'not') return { op: 'not', term: filterCondition(given, fields, count, at, depth + 1) }
		if (name !== 'and' && name !== 'or') {
			const field = fields.get(name)
			if (field === undefined) throw unknownName(at, 'is not a field to filter by: use one of', fields.keys())
			return fieldCondition(field, given, count, at)
		}
		if (!Array.isArray(given)) throw badQuery(at, 'array', 'must be an array of filters')
		// An empty one is counted too: else a hundred thousand of them would be a query of as many words.
		if (given.length === 0) count.add(at)
		const inner = given.map((one, index) => filterCondition(one, fields, count, `${at}.${index}`, depth + 1))
		return { op: name, terms: inner }
	})
	if (terms.length === 0) count.add(place)
	return allOf(...terms) ?? { op: 'and', terms: [] }
}

/** One field's part of a filter: a value, several, null, or an object of operators. */
export function fieldCondition(field: CrudField, given: unknown, count: TermCount, place: string): Condition {
	if (Array.isArray(given)) return comparison(field, 'in', given, count, place)
	if (typeof given !== 'object' || given === null) return comparison(field, 'eq', given, count, place)
	const entries = Object.entries(given)
	if (entries.length === 0) throw badQuery(place, 'required', 'needs an operator, such as {"gte":3}')
	const terms = entries.map(([op, value]) => comparison(field, op, value, count, `${place}.${op}`))
	return allOf(...terms) ?? { op: 'and', terms: [] }
}

/**
 * The condition of a search, every word in at least one of the fields; `undefined` for a text without words.
 *
 * @throws RestError `bad_request` for too many words, and for what no text can hold
 */
export function searchCondition(text: string, fields: FieldMap, count: TermCount): Condition | undefined {
	if (/[\0\p{Surrogate}]/u.test(text))
		throw badQuery('search', 'text', 'must be well-formed Unicode without U+0000')
	const words = [...new Set(text.split(/\s+/).filter((word) => word !== ''))]
	if (words.length > MAX_WORDS) throw badQuery('search', 'max', `may have at most ${MAX_WORDS} words`)
	const terms = words.map((word): Condition => {
		const value = partOf(word, 'search')
		count.add('search')
		count.addText('search', fields.size)
		const contained = [...fields.values()].map(
			({ field }): Condition => ({ op: 'contains', field: field.name, value, ignoreCase: true }),
		)
		return { op: 'or', terms: contained }
	})
	return allOf(...terms)
}
