/**
 * Follows links from records to the related ones, of the same or another `MemoryModel`. Used by conditions and orders; what
 * they read is indexed once per query.
 */
import type { Link, Model } from '../model.ts'
import { identityOf } from './json.ts'
import type { Layer, Store } from './store.ts'
import type { Row, Stored } from './stored.ts'

/** The records of a model. */
export interface Records {
	readonly store: Store
	readonly layer: Layer
}

/** Records that a query reads: those of the model that was asked, or related ones. */
export interface Source extends Records {
	/** Those of the model that was asked; in a transaction, links back to it must lead to the transaction's records. */
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
	const keyOf = keyBy(fields, source.store)
	const targets = once(() => rowsBy(to, target, fits))
	if (through === undefined) return (values) => get(targets(), keyOf(values))
	const { model, from, on } = through
	const between = linkedTo(model, source)
	const ties = once(() => rowsBy(from, between, () => true))
	const onOf = keyBy(on, between.store)
	return (values) => {
		// Each key once, because several records in between may lead to a record.
		const keys = new Set(get(ties(), keyOf(values)).map((tie) => onOf(tie.values)))
		return Array.from(keys, (key) => get(targets(), key)).flat()
	}
}

/** An index of the records that fit, without those that have a null. */
function rowsBy(
	names: readonly string[],
	{ store, layer }: Records,
	fits: (values: readonly Stored[]) => boolean,
): ReadonlyMap<string, readonly Row[]> {
	const keyOf = keyBy(names, store)
	const index = new Map<string, Row[]>()
	for (const row of layer.rows()) {
		const key = keyOf(row.values)
		if (key === undefined || !fits(row.values)) continue
		const rows = index.get(key)
		if (rows === undefined) index.set(key, [row])
		else rows.push(row)
	}
	return index
}

function get(index: ReadonlyMap<string, readonly Row[]>, key: string | undefined): readonly Row[] {
	return (key === undefined ? undefined : index.get(key)) ?? []
}

/** Returns a function that makes a text of a record's values; `undefined` if one of them is null, which equals nothing. */
function keyBy(names: readonly string[], store: Store): (values: readonly Stored[]) => string | undefined {
	const parts = names.map((name) => ({ index: store.indexOf(name), field: store.field(name) }))
	return (values) => {
		const texts: string[] = []
		for (const { index, field } of parts) {
			const value = values[index] ?? null
			if (value === null) return undefined
			texts.push(identityOf(value, field))
		}
		return texts.length === 1 ? texts[0] : JSON.stringify(texts)
	}
}

function once<T>(make: () => T): () => T {
	let made: { readonly value: T } | undefined
	return () => {
		made ??= { value: make() }
		return made.value
	}
}
