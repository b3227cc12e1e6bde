/** Compiles conditions to predicates, with SQL's three-valued logic: a comparison with null is neither true nor false. */
import { HOLDS, joined, not, type Test } from '../logic.ts'
import type { Comparison, Condition, FieldType, Link } from '../model.ts'
import { ModelError } from '../model-error.ts'
import { identityOf } from './json.ts'
import { follow, followBack, indexedBy, linkedTo, rowsOf, type Source } from './links.ts'
import type { Store } from './store.ts'
import { comparisonOf, formOf, type Row, type Stored } from './stored.ts'

type RowTest = Test<readonly Stored[]>

type Ordered = Exclude<Comparison, 'eq' | 'ne'>

const MATCHES = {
	eq: (text: string, other: string) => text === other,
	contains: (text: string, part: string) => text.includes(part),
	startsWith: (text: string, part: string) => text.startsWith(part),
	endsWith: (text: string, part: string) => text.endsWith(part),
}

/**
 * The predicate of a condition; without a condition, all records match.
 *
 * @throws TypeError for an unknown field or operator
 * @throws ModelError `invalid` for a value that its field's type can't hold
 */
export function filterOf(
	condition: Condition | undefined,
	source: Source,
): (values: readonly Stored[]) => boolean {
	if (condition === undefined) return () => true
	const test = testOf(condition, source)
	return (values) => test(values) === true
}

/** Returns a function that finds a record's related ones, by key. @throws as `filterOf` */
export function relatedBy(
	link: Link,
	where: Condition | undefined,
	source: Source,
): (values: readonly Stored[]) => readonly Row[] {
	const target = linkedTo(link.model, source)
	return follow(link, source, target, filterOf(where, target))
}

/**
 * A superset of the records that match a condition, found by indexes, in no order; `undefined` if it has more than `limit`
 * records, or no index can be used. The condition has been compiled, so its fields and values are valid.
 */
export function candidatesOf(
	condition: Condition,
	source: Source,
	limit: number,
): readonly Row[] | undefined {
	switch (condition.op) {
		case 'and': {
			let best: readonly Row[] | undefined
			for (const term of condition.terms) best = candidatesOf(term, source, best?.length ?? limit) ?? best
			return best
		}
		case 'eq':
			if (condition.ignoreCase === true) return undefined
			return equalTo(condition.field, [condition.value], source, limit)
		case 'in':
			return equalTo(condition.field, condition.values, source, limit)
		case 'some': {
			const { link, where } = condition
			if (where === undefined) return undefined
			const target = linkedTo(link.model, source)
			const rows = candidatesOf(where, target, limit)
			return rows && followBack(link, source, target, rows, limit)
		}
		default:
			return undefined
	}
}

function equalTo(
	name: string,
	values: readonly unknown[],
	{ store, layer }: Source,
	limit: number,
): readonly Row[] | undefined {
	const field = store.field(name)
	const keys = new Set(values.map((value) => identityOf(formOf(value, field), field)))
	return rowsOf(keys, indexedBy([name], store), layer, limit)
}

/** The records that match a condition, by key. */
export function matching(where: Condition | undefined, source: Source): readonly Row[] {
	const { store, layer } = source
	if (where === undefined) return layer.rows()
	const fits = filterOf(where, source)
	// Without a key, only `rows()` has the order.
	const candidates = store.keys.length > 0 ? candidatesOf(where, source, layer.size) : undefined
	if (candidates === undefined) return layer.rows().filter(({ values }) => fits(values))
	return layer.inOrder(candidates.filter(({ values }) => fits(values)))
}

function testOf(condition: Condition, source: Source): RowTest {
	const { store } = source
	switch (condition.op) {
		case 'and':
		case 'or':
			return joined(condition.op, condition.terms, (term) => testOf(term, source))
		case 'not':
			return not(testOf(condition.term, source))
		case 'null': {
			const index = store.indexOf(condition.field)
			return (values) => (values[index] === null) === condition.value
		}
		case 'in':
			return oneOf(condition.field, condition.values, store)
		case 'contains':
		case 'startsWith':
		case 'endsWith':
			return matches(condition.op, condition, store)
		case 'eq':
			if (condition.ignoreCase === true) return matches('eq', condition, store)
			return oneOf(condition.field, [condition.value], store)
		case 'ne':
			return not(oneOf(condition.field, [condition.value], store))
		case 'some':
			return someOf(condition, source)
		case 'count':
			return countOf(condition, source)
		default:
			return compared(condition.op, condition.field, condition.value, store)
	}
}

function someOf({ link, where, fails }: Extract<Condition, { op: 'some' }>, source: Source): RowTest {
	const related = relatedBy(link, where, source)
	if (fails === undefined) return (values) => related(values).length > 0
	const holds = filterOf(fails, linkedTo(link.model, source))
	return (values) => related(values).some((row) => !holds(row.values))
}

function countOf(
	{ link, where, compare, value }: Extract<Condition, { op: 'count' }>,
	source: Source,
): RowTest {
	const related = relatedBy(link, where, source)
	const holds = HOLDS[compare]
	return (values) => holds(related(values).length - value)
}

function compared(op: Ordered, name: string, given: unknown, store: Store): RowTest {
	const index = store.indexOf(name)
	const field = store.field(name)
	const holds = HOLDS[op]
	if (holds === undefined) throw new TypeError(`a condition has no operator ${String(op)}`)
	const compare = comparisonOf(field.type)
	const operand = formOf(given, field)
	return (values) => {
		const value = values[index] ?? null
		return value === null ? undefined : holds(compare(value, operand))
	}
}

/** Types whose equal values may be stored in several forms, or as objects, so that they are compared by `identityOf`. */
const BY_IDENTITY: ReadonlySet<FieldType> = new Set(['decimal', 'bytes'])

/** Uses a Set instead of comparing each value: a request may have 100 lists of 100 values. */
function oneOf(name: string, given: readonly unknown[], store: Store): RowTest {
	if (given.length === 0) return () => false
	const index = store.indexOf(name)
	const field = store.field(name)
	const isByIdentity = BY_IDENTITY.has(field.type)
	const keyOf = (form: Exclude<Stored, null>): Stored => (isByIdentity ? identityOf(form, field) : form)
	const keys = new Set(given.map((value) => keyOf(formOf(value, field))))
	return (values) => {
		const value = values[index] ?? null
		return value === null ? undefined : keys.has(keyOf(value))
	}
}

function matches(
	op: keyof typeof MATCHES,
	{ field: name, value: given, ignoreCase }: { field: string; value: unknown; ignoreCase?: boolean },
	store: Store,
): RowTest {
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
