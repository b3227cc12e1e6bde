/**
 * Follows links from records to the related ones, of the same or another `MemoryModel`, and back. Used by conditions and
 * orders.
 */
import type { Link, Model } from '../model.ts'
import { identitiesOf } from './json.ts'
import type { IndexedBy } from './row-index.ts'
import type { Layer, Store } from './store.ts'
import type { Row, Stored } from './stored.ts'

/** The records of a model. */
export interface Records {
	readonly store: Store
	readonly layer: Layer
}

/** Records that a query reads: those of the queried model, or related ones. */
export interface Source extends Records {
	/** The queried model's records: in a transaction, links back to that model must lead to the transaction's records. */
	readonly asked: Records
}

/** The member of a model that has its records, for other models. */
export const RECORDS: unique symbol = Symbol('verbena.records')

/** The records of a model; `undefined` unless it is a `MemoryModel`, or that of a transaction. */
export function recordsOf(model: Model): Records | undefined {
	return Reflect.get(model, RECORDS) as Records | undefined // only these models have this member
}

/** The records of a linked model. @throws TypeError unless it is a `MemoryModel` */
export function linkedTo(model: Model, { asked }: Source): Source {
	const records = recordsOf(model)
	if (records === undefined) throw new TypeError(`${model.name} isn't a MemoryModel, so it can't be joined`)
	const { store, layer } = records
	return { store, layer: layer.transaction === undefined ? asked.layer.of(store) : layer, asked }
}

/** Returns a function that finds the records related to one, of those in `target` that fit; by key. */
export function follow(
	{ fields, to, through }: Link,
	source: Source,
	target: Source,
	fits: (values: readonly Stored[]) => boolean,
): (values: readonly Stored[]) => readonly Row[] {
	const { keyOf } = indexedBy(fields, source.store)
	const targets = lookup(to, target, fits)
	if (through === undefined) return (values) => targets(keyOf(values))
	const { model, from, on } = through
	const between = linkedTo(model, source)
	const ties = lookup(from, between, () => true)
	const { keyOf: onOf } = indexedBy(on, between.store)
	return (values) => {
		// Each key once, because several junction records may lead to a record.
		const keys = new Set(ties(keyOf(values)).map((tie) => onOf(tie.values)))
		return Array.from(keys, targets).flat()
	}
}

/** Returns a function that finds records by the values of some fields, and tests each of them only once. */
function lookup(
	names: readonly string[],
	{ store, layer }: Records,
	fits: (values: readonly Stored[]) => boolean,
): (key: string | undefined) => readonly Row[] {
	const by = indexedBy(names, store)
	const found = new Map<string, readonly Row[]>()
	return (key) => {
		if (key === undefined) return []
		let rows = found.get(key)
		if (rows === undefined) {
			rows = layer.rowsWith(key, by).filter(({ values }) => fits(values))
			found.set(key, rows)
		}
		return rows
	}
}

/** Follows a link backwards: the records that `rows` are related to; `undefined` if they are more than `limit`. */
export function followBack(
	{ fields, to, through }: Link,
	source: Source,
	target: Source,
	rows: readonly Row[],
	limit: number,
): readonly Row[] | undefined {
	if (through === undefined) return rowsLike(rows, to, target, fields, source, limit)
	const between = linkedTo(through.model, source)
	const ties = rowsLike(rows, to, target, through.on, between, limit)
	return ties && rowsLike(ties, through.from, between, fields, source, limit)
}

/** The records of `source` whose fields have the values of one of the rows; in no order. */
function rowsLike(
	rows: readonly Row[],
	names: readonly string[],
	{ store: from }: Records,
	fields: readonly string[],
	{ store, layer }: Records,
	limit: number,
): readonly Row[] | undefined {
	const { keyOf } = indexedBy(names, from)
	const by = indexedBy(fields, store)
	const keys = new Set(rows.map(({ values }) => keyOf(values)))
	return rowsOf(keys, by, layer, limit)
}

/** The records with one of the keys of an index, in no order; `undefined` if they are more than `limit`. */
export function rowsOf(
	keys: Iterable<string | undefined>,
	by: IndexedBy,
	layer: Layer,
	limit: number,
): readonly Row[] | undefined {
	const found: Row[] = []
	for (const key of keys) {
		const some = key === undefined ? [] : layer.rowsWith(key, by)
		if (found.length + some.length > limit) return undefined
		for (const row of some) found.push(row)
	}
	return found
}

/** The key of an index by these fields. */
export function indexedBy(names: readonly string[], store: Store): IndexedBy {
	const fields = store.fieldsAt(names)
	return {
		name: fields.map(({ index }) => index).join(),
		keyOf(values) {
			const texts = identitiesOf(values, fields)
			return texts?.length === 1 ? texts[0] : texts && JSON.stringify(texts)
		},
	}
}
