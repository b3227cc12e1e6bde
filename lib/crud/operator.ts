/** The operators by which a field is compared, as conditions. Used by `field[op]=value` and by `filter` alike. */

import type { Condition, Field } from '../models/model.ts'
import type { CrudField } from './fields.ts'
import { badQuery, unknownName } from './refusal.ts'
import type { Given } from './value-from-text.ts'

export type Operator =
	| ('eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte')
	| ('in' | 'nin' | 'between')
	| ('contains' | 'startsWith' | 'endsWith')
	| ('ieq' | 'icontains' | 'istartsWith' | 'iendsWith')
	| 'null'

const EQUALITY: readonly Operator[] = ['eq', 'ne', 'in', 'nin', 'null']
const ORDER: readonly Operator[] = ['gt', 'gte', 'lt', 'lte', 'between']
const TEXT = ['contains', 'startsWith', 'endsWith'] as const
/** Operators that ignore case, and those that they are without it. */
const IGNORING = {
	ieq: 'eq',
	icontains: 'contains',
	istartsWith: 'startsWith',
	iendsWith: 'endsWith',
} as const
const PARTS_IGNORING: readonly Operator[] = ['icontains', 'istartsWith', 'iendsWith']
/** Operators that take a list of values. */
const LISTS: ReadonlySet<Operator> = new Set(['in', 'nin', 'between'])
/**
 * Longest text that is looked for within others: databases compare it at each place of each of them, and so would be
 * busy for minutes with two long ones.
 */
const LONGEST_PART = 1_000

/** The operators of a type. What databases can't compare, or each in its own way, isn't offered. */
export function operatorsOf({ type, wholeOnly }: Pick<Field, 'type' | 'wholeOnly'>): readonly Operator[] {
	if (type === 'json' || type === 'bytes') return ['null']
	if (type === 'other') return [...TEXT, ...PARTS_IGNORING, 'null']
	if (type === 'boolean') return EQUALITY
	if (type !== 'text' || wholeOnly === true) return [...EQUALITY, ...ORDER]
	return [...EQUALITY, ...ORDER, ...TEXT, 'ieq', ...PARTS_IGNORING]
}

/**
 * The operator of that name.
 *
 * @throws RestError `bad_request` for one that the field doesn't have
 */
export function operatorOf({ field, name: own }: CrudField, name: string, place: string): Operator {
	const known = operatorsOf(field)
	const operator = known.find((one) => one === name)
	if (operator !== undefined) return operator
	if (known.length === 1)
		throw badQuery(place, 'unknown', `can't be compared with a value: there is ${own}[null] alone`)
	throw unknownName(place, 'is no operator of this field: there are', known)
}

/** Whether an operator takes a list. */
export function takesList(operator: Operator): boolean {
	return LISTS.has(operator)
}

/** What an operand must be: a text operator looks for any text, whatever choices its field has. */
export function operandField({ field }: CrudField, operator: Operator): Field {
	return looksIntoText(operator) ? { ...field, choices: undefined } : field
}

/** Whether an operator looks into texts. */
export function looksIntoText(operator: Operator): boolean {
	return looksForPart(operator) || ignoresCase(operator)
}

function looksForPart(operator: Operator): operator is (typeof TEXT)[number] {
	return TEXT.some((one) => one === operator)
}

function ignoresCase(operator: Operator): operator is keyof typeof IGNORING {
	return Object.hasOwn(IGNORING, operator)
}

/**
 * A field compared with values: one, or a list's, which have been counted.
 *
 * @throws RestError `bad_request` for no value, and for a text to look for that is too long
 */
export function compared(
	{ field }: CrudField,
	operator: Exclude<Operator, 'null'>,
	values: readonly Given[],
	place: string,
): Condition {
	const { name } = field
	const [first, second] = values
	if (operator === 'in') return anyOf(name, values)
	if (operator === 'nin') return { op: 'not', term: anyOf(name, values) }
	if (first === undefined) throw badQuery(place, 'required', 'needs a value')
	if (operator === 'between') {
		if (second === undefined) throw badQuery(place, 'between', 'needs two values')
		return {
			op: 'and',
			terms: [
				{ op: 'gte', field: name, value: first },
				{ op: 'lte', field: name, value: second },
			],
		}
	}
	if (ignoresCase(operator)) {
		const value = partOf(String(first), place)
		return { op: IGNORING[operator], field: name, value, ignoreCase: true }
	}
	if (looksForPart(operator)) return { op: operator, field: name, value: partOf(String(first), place) }
	return { op: operator, field: name, value: first }
}

/**
 * How many values a list may have, looked at before any of them is.
 *
 * @throws RestError `bad_request` for a list that is too long, and for a `between` that isn't of two
 */
export function checkCount(operator: Operator, count: number, maxIn: number, place: string): void {
	if (operator === 'between' && count !== 2) throw badQuery(place, 'between', 'needs two values')
	if (count > maxIn && operator !== 'between')
		throw badQuery(place, 'max', `may have at most ${maxIn} values`)
}

/** A text that is looked for in others. @throws RestError `bad_request` for one that is too long */
export function partOf(text: string, place: string): string {
	if (text.length <= LONGEST_PART) return text
	throw badQuery(place, 'max', `may look for at most ${LONGEST_PART} characters`)
}

function anyOf(field: string, values: readonly Given[]): Condition {
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
