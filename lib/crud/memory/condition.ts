/** Conditions of `MemoryModel`, in SQL's logic: a comparison with null is neither true nor false. */
import type { Comparison, Condition } from '../model.ts'
import { ModelError } from '../model-error.ts'
import { comparisonOf } from './compare.ts'
import type { Store } from './store.ts'
import { formOf, type Stored } from './stored.ts'

/** What a condition says of a record; `undefined` where nobody knows. */
type Test = (values: readonly Stored[]) => boolean | undefined

/** What each comparison asks of the order of two values. */
const ORDERED: Readonly<Record<Comparison, (order: number) => boolean>> = {
	eq: (order) => order === 0,
	ne: (order) => order !== 0,
	gt: (order) => order > 0,
	gte: (order) => order >= 0,
	lt: (order) => order < 0,
	lte: (order) => order <= 0,
}

const MATCHES = {
	eq: (text: string, other: string) => text === other,
	contains: (text: string, part: string) => text.includes(part),
	startsWith: (text: string, part: string) => text.startsWith(part),
	endsWith: (text: string, part: string) => text.endsWith(part),
}

/**
 * Whether a record fits a condition; all do where there is none.
 *
 * @throws TypeError for a field or an operator that there isn't
 * @throws ModelError `invalid` for a value that its field's type can't hold
 */
export function filterOf(
	condition: Condition | undefined,
	store: Store,
): (values: readonly Stored[]) => boolean {
	if (condition === undefined) return () => true
	const test = testOf(condition, store)
	return (values) => test(values) === true
}

function testOf(condition: Condition, store: Store): Test {
	switch (condition.op) {
		case 'and':
			return allOf(condition.terms.map((term) => testOf(term, store)))
		case 'or':
			return anyOf(condition.terms.map((term) => testOf(term, store)))
		case 'not':
			return not(testOf(condition.term, store))
		case 'null': {
			const index = store.indexOf(condition.field)
			return (values) => (values[index] === null) === condition.value
		}
		case 'in':
			return anyOf(condition.values.map((value) => compared('eq', condition.field, value, store)))
		case 'contains':
		case 'startsWith':
		case 'endsWith':
			return matches(condition.op, condition, store)
		case 'eq':
			if (condition.ignoreCase === true) return matches('eq', condition, store)
			return compared('eq', condition.field, condition.value, store)
		default:
			return compared(condition.op, condition.field, condition.value, store)
	}
}

function allOf(tests: readonly Test[]): Test {
	return (values) => {
		let answer: boolean | undefined = true
		for (const test of tests) {
			const found = test(values)
			if (found === false) return false
			if (found === undefined) answer = undefined
		}
		return answer
	}
}

function anyOf(tests: readonly Test[]): Test {
	return (values) => {
		let answer: boolean | undefined = false
		for (const test of tests) {
			const found = test(values)
			if (found === true) return true
			if (found === undefined) answer = undefined
		}
		return answer
	}
}

function not(test: Test): Test {
	return (values) => {
		const found = test(values)
		return found === undefined ? undefined : !found
	}
}

function compared(op: Comparison, name: string, given: unknown, store: Store): Test {
	const index = store.indexOf(name)
	const field = store.field(name)
	const holds = ORDERED[op]
	if (holds === undefined) throw new TypeError(`a condition has no operator ${String(op)}`)
	const compare = comparisonOf(field.type)
	const operand = formOf(given, field)
	return (values) => {
		const value = values[index] ?? null
		return value === null ? undefined : holds(compare(value, operand))
	}
}

function matches(
	op: keyof typeof MATCHES,
	{ field: name, value: given, ignoreCase }: { field: string; value: unknown; ignoreCase?: boolean },
	store: Store,
): Test {
	const index = store.indexOf(name)
	if (typeof given !== 'string') throw new ModelError('invalid', [name])
	const fits = MATCHES[op]
	const part = ignoreCase === true ? given.toLowerCase() : given
	return (values) => {
		const value = values[index] ?? null
		if (value === null) return undefined
		const text = String(value)
		return fits(ignoreCase === true ? text.toLowerCase() : text, part)
	}
}
