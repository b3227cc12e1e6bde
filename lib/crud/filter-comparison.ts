/**
 * Comparisons of a field with a value, in `field[op]=value` and in the JSON of `filter`, and the limits on their number.
 * Called by `filter.ts` and `list-query.ts`.
 */

import type { Condition, Field } from '../models/model.ts'
import type { Detail } from '../wire/codes.ts'
import type { Operator } from '../wire/list.ts'
import type { CrudField } from './fields.ts'
import type { CrudPlan } from './plan.ts'
import { badQuery, badValue, unknownName } from './query-values.ts'
import { operandFromJson } from './value-from-json.ts'
import type { NonNullValue } from './value-from-text.ts'

const EQUALITY: readonly Operator[] = ['eq', 'ne', 'in', 'nin', 'null']
const ORDER: readonly Operator[] = ['gt', 'gte', 'lt', 'lte', 'between']
const SUBSTRING = ['contains', 'startsWith', 'endsWith'] as const
/** Case-insensitive operators, with their case-sensitive equivalents. */
const CASE_INSENSITIVE = {
	ieq: 'eq',
	icontains: 'contains',
	istartsWith: 'startsWith',
	iendsWith: 'endsWith',
} as const
const CASE_INSENSITIVE_SUBSTRING: readonly Operator[] = ['icontains', 'istartsWith', 'iendsWith']

const MAX_TERMS = 100
/** What a text comparison behind two relations counts as: a database may repeat it for each record in front of them. */
const WEIGHT_BEHIND_TWO = 100
const MAX_RELATIONS = 10
/**
 * Maximum length of a substring to search for: databases compare it at each position of each text, which can take
 * minutes.
 */
const MAX_SUBSTRING_LENGTH = 1_000

/** The operators of a type, without operators that some databases lack or interpret differently. */
export function operatorsOf({ type, wholeOnly }: Pick<Field, 'type' | 'wholeOnly'>): readonly Operator[] {
	if (type === 'json' || type === 'bytes') return ['null']
	if (type === 'other') return [...SUBSTRING, ...CASE_INSENSITIVE_SUBSTRING, 'null']
	if (type === 'boolean') return EQUALITY
	if (type !== 'text' || wholeOnly === true) return [...EQUALITY, ...ORDER]
	return [...EQUALITY, ...ORDER, ...SUBSTRING, 'ieq', ...CASE_INSENSITIVE_SUBSTRING]
}

/** @throws RestError `bad_request` for an operator that the field doesn't have */
function operatorOf({ field, name: own }: CrudField, name: string, place: string): Operator {
	const operators = operatorsOf(field)
	const operator = operators.find((one) => one === name)
	if (operator !== undefined) return operator
	if (operators.length === 1)
		throw badQuery(place, 'unknown', `can't be compared with a value: use ${own}[null]`)
	throw unknownName(place, 'is not an operator of this field: use one of', operators)
}

export function takesList(operator: string): operator is 'in' | 'nin' | 'between' {
	return operator === 'in' || operator === 'nin' || operator === 'between'
}

/** The field to check an operand against. Text operators take any text, not only the field's choices. */
export function operandField({ field }: CrudField, operator: Operator): Field {
	return scansText(operator) ? { ...field, choices: undefined } : field
}

/** Whether an operator has to read the text of each record. */
function scansText(operator: Operator): boolean {
	return isSubstring(operator) || isCaseInsensitive(operator)
}

function isSubstring(operator: Operator): operator is (typeof SUBSTRING)[number] {
	return SUBSTRING.some((one) => one === operator)
}

function isCaseInsensitive(operator: Operator): operator is keyof typeof CASE_INSENSITIVE {
	return Object.hasOwn(CASE_INSENSITIVE, operator)
}

/** Limits the number of comparisons in one query, of text comparisons among them, and of relations. */
export class TermCounter {
	readonly #maxTextTerms: number
	/** Maximum number of values in one list. */
	readonly maxIn: number
	readonly #includeDepth: number
	#count = 0
	#textTerms = 0
	#relations = 0
	/** Number of relations in front of the comparisons that are added. */
	behind = 0

	constructor({
		maxTextTerms,
		maxIn,
		includeDepth,
	}: Pick<CrudPlan, 'maxTextTerms' | 'maxIn' | 'includeDepth'>) {
		this.#maxTextTerms = maxTextTerms
		this.maxIn = maxIn
		this.#includeDepth = includeDepth
	}

	/**
	 * Counts a use of a relation.
	 *
	 * @param depth length of the path of relations that it ends
	 * @throws RestError `bad_request` when there are too many
	 */
	addRelation(place: string, depth: number): void {
		if (depth > this.#includeDepth)
			throw badQuery(
				place,
				'max',
				`has too many relations one behind the other: at most ${this.#includeDepth} are allowed`,
			)
		if (++this.#relations > MAX_RELATIONS)
			throw badQuery(place, 'max', `is one relation too many: at most ${MAX_RELATIONS} are allowed`)
	}

	/** How many relations were counted. */
	get relations(): number {
		return this.#relations
	}

	/** Counts relations whose depth was already checked. Returns false, and counts none, if there would be too many. */
	takesRelations(number: number): boolean {
		if (this.#relations + number > MAX_RELATIONS) return false
		this.#relations += number
		return true
	}

	/** @throws RestError `bad_request` when there are too many */
	add(place: string): void {
		if (++this.#count > MAX_TERMS)
			throw badQuery(place, 'max', `is one comparison too many: at most ${MAX_TERMS} are allowed`)
	}

	/**
	 * Counts `times` text comparisons. They are limited because they read the text of each record, rarely with an index,
	 * and an in-process store blocks the event loop meanwhile.
	 *
	 * @throws RestError `bad_request` when there are too many
	 */
	addText(place: string, times: number): void {
		this.#textTerms += times
		const max = this.#maxTextTerms
		if (this.#textTerms <= max) return
		const many =
			this.behind > 1
				? `is behind two relations, and counts as ${WEIGHT_BEHIND_TWO}, which is`
				: `compares each word with ${times} fields, which is`
		const why = times > 1 ? many : 'is'
		throw badQuery(place, 'max', `${why} one text comparison too many: at most ${max} are allowed`)
	}
}

/** Parses an operand. @throws RestError `bad_request` for a value that the field can't be compared with */
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
 * @throws RestError `bad_request` for an operator that the field doesn't have, and for a wrong operand
 */
export function comparison(
	field: CrudField,
	name: string,
	given: unknown,
	count: TermCounter,
	place: string,
	read: ReadOperand = jsonOperand,
): Condition {
	count.add(place)
	const { name: column } = field.field
	// In SQL nothing equals null, so `=` would match no record.
	if (given === null && (name === 'eq' || name === 'ne'))
		return { op: 'null', field: column, value: name === 'eq' }
	const operator = operatorOf(field, name, place)
	if (scansText(operator)) count.addText(place, count.behind > 1 ? WEIGHT_BEHIND_TWO : 1)
	if (operator === 'null') {
		if (typeof given !== 'boolean') throw badQuery(place, 'boolean', 'must be true or false')
		return { op: 'null', field: column, value: given }
	}
	const operand = operandField(field, operator)
	if (!takesList(operator)) return compared(column, operator, read(operand, given, place), place)
	if (!Array.isArray(given)) throw badQuery(place, 'array', 'must be an array of values')
	// The number of values is checked before any is parsed.
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

type ScalarOperator = Exclude<Operator, 'in' | 'nin' | 'between' | 'null'>

function compared(field: string, operator: ScalarOperator, value: NonNullValue, place: string): Condition {
	if (isCaseInsensitive(operator)) {
		const text = boundedSubstring(String(value), place)
		return { op: CASE_INSENSITIVE[operator], field, value: text, ignoreCase: true }
	}
	if (isSubstring(operator)) return { op: operator, field, value: boundedSubstring(String(value), place) }
	return { op: operator, field, value }
}

export function boundedSubstring(text: string, place: string): string {
	if (text.length <= MAX_SUBSTRING_LENGTH) return text
	throw badQuery(place, 'max', `may look for at most ${MAX_SUBSTRING_LENGTH} characters`)
}

function anyOf(field: string, values: readonly NonNullValue[]): Condition {
	const [only] = values
	return values.length === 1 && only !== undefined
		? { op: 'eq', field, value: only }
		: { op: 'in', field, values }
}

/** The conjunction of conditions; `undefined` if there are none. */
export function allOf(...terms: readonly (Condition | undefined)[]): Condition | undefined {
	const conditions = terms.filter((term) => term !== undefined)
	return conditions.length < 2 ? conditions[0] : { op: 'and', terms: conditions }
}

/** The condition of one field in a filter: a value, a list of values, null, or an object of operators. */
export function fieldCondition(
	field: CrudField,
	given: unknown,
	count: TermCounter,
	place: string,
): Condition {
	if (Array.isArray(given)) return comparison(field, 'in', given, count, place)
	if (typeof given !== 'object' || given === null) return comparison(field, 'eq', given, count, place)
	const entries = Object.entries(given)
	if (entries.length === 0) throw badQuery(place, 'required', 'needs an operator, such as {"gte":3}')
	const terms = entries.map(([op, value]) => comparison(field, op, value, count, `${place}.${op}`))
	return allOf(...terms) ?? { op: 'and', terms: [] }
}
