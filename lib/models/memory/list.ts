/** Lists of a `MemoryModel`: filters, sorts, cuts out the page after a cursor, and makes the next cursor. */
import type { Field, Listed, ListQuery, Order } from '../model.ts'
import { ModelError, refuseLarger } from '../model-error.ts'
import { candidatesOf, filterOf, matching, relatedBy } from './condition.ts'
import { exactJson } from './json.ts'
import { linkedTo, type Source } from './links.ts'
import type { Layer } from './store.ts'
import { comparisonOf, formOf, partitionPoint, type Row, type RowOrder, type Stored } from './stored.ts'

/** Sorted rows. Rows ordered by key are kept in ascending order, and read backwards for descending order. */
interface Ordered {
	readonly rows: readonly Row[]
	readonly isReversed: boolean
}

export interface Term {
	readonly field: Field
	readonly descending: boolean
	readonly compare: (a: Stored, b: Stored) => number
	valueOf(values: readonly Stored[]): Stored
}

/** Returns a page. `write` writes a record's JSON. */
export function list(query: ListQuery, source: Source, write: (values: readonly Stored[]) => string): Listed {
	const terms = query.order.map((term) => termOf(term, source))
	const ordered = orderedRows(query, terms, source)
	const { length } = ordered.rows
	const start = query.after === undefined ? query.offset : startAfter(ordered, query.after, terms)
	const end = Math.min(start + query.limit, length)
	const json = pageOf(ordered, start, end, query, write)
	const follows = start < end && end < length
	const next = follows ? cursorOf(valuesAt(ordered, end - 1), terms, query) : undefined
	refuseLarger(json, query.maxBytes, next)
	const { maxTotal = length } = query
	return { json, next, total: query.total ? Math.min(length, maxTotal + 1) : undefined }
}

/** Stops as soon as the page is too large. */
function pageOf(
	ordered: Ordered,
	start: number,
	end: number,
	{ maxBytes }: ListQuery,
	write: (values: readonly Stored[]) => string,
): string {
	const parts: string[] = []
	// A lower bound of the page's bytes: each UTF-16 unit takes at least one byte of UTF-8.
	let units = 0
	for (let at = start; at < end; at++) {
		const record = write(valuesAt(ordered, at))
		units += record.length
		if (maxBytes !== undefined && units > maxBytes) throw new ModelError('too_large')
		parts.push(record)
	}
	return `[${parts.join(',')}]`
}

function orderedRows({ where, order }: ListQuery, terms: readonly Term[], source: Source): Ordered {
	const { store, layer } = source
	const [first] = order
	const isByKey =
		first === undefined ||
		(store.keys.length > 0 &&
			store.keys.every(
				({ name }, at) =>
					order[at]?.field === name && !isRelated(order[at]) && order[at]?.descending === first.descending,
			))
	const isReversed = isByKey && first?.descending === true
	if (isByKey) return { rows: matching(where, source), isReversed }
	const compare = rowOrderOf(terms)
	const sorted = sortedRows(order, where === undefined ? compare : undefined, layer)
	if (sorted !== undefined) {
		if (where === undefined) return { rows: sorted, isReversed }
		const fits = filterOf(where, source)
		// Sorting few takes less time than testing all.
		const few = candidatesOf(where, source, sorted.length / 8)
		if (few === undefined) return { rows: sorted.filter(({ values }) => fits(values)), isReversed }
	}
	const rows = matching(where, source).toSorted((a, b) => compare(a.values, b.values))
	return { rows, isReversed }
}

/** All rows in an order, from the layer's cache; `undefined` if they aren't cached and there is no `compare` to sort by. */
function sortedRows(
	order: readonly Order[],
	compare: RowOrder | undefined,
	layer: Layer,
): readonly Row[] | undefined {
	// Changes of other models' records wouldn't clear the cache.
	if (order.some(isRelated)) return undefined
	const name = order.map(({ field, descending }) => `${descending ? '-' : '+'}${field}`).join()
	return layer.sorted(name, compare)
}

function isRelated(term: Order | undefined): boolean {
	return term?.via !== undefined && term.via.length > 0
}

function valuesAt({ rows, isReversed }: Ordered, at: number): readonly Stored[] {
	return rows[isReversed ? rows.length - 1 - at : at]?.values ?? []
}

/** Index of the first row after a record with these values, whether or not that record still exists. */
function startAfter(ordered: Ordered, after: readonly unknown[], terms: readonly Term[]): number {
	const values = terms.map(({ field }, at): Stored => {
		const value = after[at] ?? null
		return value === null ? null : formOf(value, field)
	})
	const isBefore = (row: readonly Stored[]) => {
		for (const [at, term] of terms.entries()) {
			const order = compareBy(term, term.valueOf(row), values[at] ?? null)
			if (order !== 0) return order < 0
		}
		return true
	}
	return partitionPoint(ordered.rows.length, (at) => isBefore(valuesAt(ordered, at)))
}

/** Checks the length of each text before writing it. */
function cursorOf(values: readonly Stored[], terms: readonly Term[], { maxBytes }: ListQuery): string {
	const exact = terms.map((term) => {
		const value = term.valueOf(values)
		if (maxBytes !== undefined && typeof value === 'string' && value.length > maxBytes)
			throw new ModelError('too_large')
		return exactJson(value, term.field)
	})
	return `[${exact.join(',')}]`
}

/** Comparator of rows by several terms. */
function rowOrderOf(terms: readonly Term[]): RowOrder {
	return (a, b) => {
		for (const term of terms) {
			const order = compareBy(term, term.valueOf(a), term.valueOf(b))
			if (order !== 0) return order
		}
		return 0
	}
}

/** Nulls come last in both directions. */
function compareBy({ compare, descending }: Term, left: Stored, right: Stored): number {
	if (left === null || right === null) {
		if (left === right) return 0
		return left === null ? 1 : -1
	}
	const order = compare(left, right)
	return descending ? -order : order
}

export function termOf({ field: name, descending, via = [] }: Order, source: Source): Term {
	const steps: ((values: readonly Stored[]) => readonly Row[])[] = []
	let last = source
	for (const { link, where } of via) {
		steps.push(relatedBy(link, where, last))
		last = linkedTo(link.model, last)
	}
	const index = last.store.indexOf(name)
	const field = last.store.field(name)
	const term = { field, descending, compare: comparisonOf(field.type) }
	if (steps.length === 0) return { ...term, valueOf: (values) => values[index] ?? null }
	const found = new Map<readonly Stored[], Stored>()
	return {
		...term,
		valueOf(values) {
			let value = found.get(values)
			if (value === undefined) {
				let row: readonly Stored[] | undefined = values
				for (const related of steps) row = row && related(row)[0]?.values
				value = row?.[index] ?? null
				found.set(values, value)
			}
			return value
		},
	}
}
