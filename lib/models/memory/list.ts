/** Lists of a `MemoryModel`: filters, sorts, cuts out the page after a cursor, and makes the next cursor. */
import type { Listed, ListQuery, Order } from '../model.ts'
import { ModelError, refuseLarger } from '../model-error.ts'
import { filterOf } from './condition.ts'
import { exactJson } from './json.ts'
import type { Layer, Store } from './store.ts'
import { comparisonOf, formOf, partitionPoint, type Row, type RowOrder, type Stored } from './stored.ts'

/** Sorted rows. Rows ordered by key are kept in ascending order, and read backwards for descending order. */
interface Ordered {
	readonly rows: readonly Row[]
	readonly isReversed: boolean
}

/** Returns a page. `write` writes a record's JSON. */
export function list(
	query: ListQuery,
	store: Store,
	layer: Layer,
	write: (values: readonly Stored[]) => string,
): Listed {
	const order = rowOrderOf(query.order, store)
	const ordered = orderedRows(query, order, store, layer)
	const { length } = ordered.rows
	const start =
		query.after === undefined ? query.offset : startAfter(ordered, query.after, query.order, order, store)
	const end = Math.min(start + query.limit, length)
	const json = pageOf(ordered, start, end, query, write)
	const follows = start < end && end < length
	const next = follows ? cursorOf(valuesAt(ordered, end - 1), query, store) : undefined
	refuseLarger(json, query.maxBytes, next)
	return { json, next, total: query.total ? length : undefined }
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

function orderedRows({ where, order }: ListQuery, compare: RowOrder, store: Store, layer: Layer): Ordered {
	const [first] = order
	const isByKey =
		first === undefined ||
		(store.keys.length > 0 &&
			store.keys.every(
				({ name }, at) => order[at]?.field === name && order[at]?.descending === first.descending,
			))
	const isReversed = isByKey && first?.descending === true
	const name = order.map(({ field, descending }) => `${descending ? '-' : '+'}${field}`).join()
	const sorted = isByKey ? layer.rows() : layer.sorted(name, where === undefined ? compare : undefined)
	if (where === undefined) return { rows: sorted ?? [], isReversed }
	const fits = filterOf(where, store)
	const found = (sorted ?? layer.rows()).filter(({ values }) => fits(values))
	if (sorted === undefined) found.sort((a, b) => compare(a.values, b.values))
	return { rows: found, isReversed }
}

function valuesAt({ rows, isReversed }: Ordered, at: number): readonly Stored[] {
	return rows[isReversed ? rows.length - 1 - at : at]?.values ?? []
}

/** Index of the first row after a record with these values, whether or not that record still exists. */
function startAfter(
	ordered: Ordered,
	after: readonly unknown[],
	terms: readonly Order[],
	compare: RowOrder,
	store: Store,
): number {
	const values: Stored[] = []
	for (const [at, { field }] of terms.entries()) {
		const value = after[at] ?? null
		values[store.indexOf(field)] = value === null ? null : formOf(value, store.field(field))
	}
	return partitionPoint(ordered.rows.length, (at) => compare(valuesAt(ordered, at), values) <= 0)
}

/** Checks the length of each text before writing it. */
function cursorOf(values: readonly Stored[], { order, maxBytes }: ListQuery, store: Store): string {
	const exact = order.map(({ field }) => {
		const value = values[store.indexOf(field)] ?? null
		if (maxBytes !== undefined && typeof value === 'string' && value.length > maxBytes)
			throw new ModelError('too_large')
		return exactJson(value, store.field(field))
	})
	return `[${exact.join(',')}]`
}

/** Comparator of rows by several terms. Nulls come last in both directions. */
function rowOrderOf(order: readonly Order[], store: Store): RowOrder {
	const terms = order.map(({ field, descending }) => ({
		index: store.indexOf(field),
		compare: comparisonOf(store.field(field).type),
		descending,
	}))
	return (a, b) => {
		for (const { index, descending, compare } of terms) {
			const [left = null, right = null] = [a[index], b[index]]
			if (left === null || right === null) {
				if (left === right) continue
				return left === null ? 1 : -1
			}
			const compared = compare(left, right)
			if (compared !== 0) return descending ? -compared : compared
		}
		return 0
	}
}
