/** Several records of a `MemoryModel` at once, and upserts: what `LayerModel` does to a layer of its own. */
import { nearest } from '../../base/options.ts'
import { isSameFields } from '../key.ts'
import type { Upsert, Values } from '../model.ts'
import { errorAt, ModelError } from '../model-error.ts'
import type { Layer, Store } from './store.ts'
import { type Row, type Stored, storedOf } from './stored.ts'
import { change, entryOf, idOf, insert } from './write.ts'

/** Creates all records or none. @throws as `insert`, with the index of the record */
export function insertAll(values: readonly Values[], store: Store, layer: Layer): readonly Row[] {
	const layers = new Map<Store, Layer>()
	const own = layer.above(layers)
	layers.set(store, own)
	const rows = values.map((one, index) => {
		try {
			return insert(one, store, own)
		} catch (error) {
			throw errorAt(error, index)
		}
	})
	own.commit()
	return rows
}

/** The fields of each unique constraint, and those of the key. */
export function uniquesOf({ keys, uniques }: Store): readonly (readonly string[])[] {
	const key = keys.map(({ name }) => name)
	return [...(key.length === 0 ? [] : [key]), ...uniques.map(({ names }) => names)]
}

/**
 * Creates a record, or changes the one with the same values.
 *
 * @param fits whether an existing record matches the condition
 * @throws ModelError as `insert` and `change`; `unique` for a record that doesn't match
 */
export function upsertRow(
	given: Upsert,
	version: string | undefined,
	store: Store,
	layer: Layer,
	fits: (values: readonly Stored[]) => boolean,
): { readonly row: Row; readonly isNew: boolean } {
	const old = rowOf(given, store, layer)
	if (old === undefined) return { row: insert(given.values, store, layer), isNew: true }
	if (!fits(old.values)) throw new ModelError('unique', given.on)
	const isSame = Object.keys(given.changes).length === 0
	return { row: isSame ? old : change(old, given.changes, version, store, layer), isNew: false }
}

/** The record that an upsert changes. @throws TypeError if `on` isn't unique; ModelError `not_null` */
function rowOf({ values, on, changes }: Upsert, store: Store, layer: Layer): Row | undefined {
	const key = store.keys.map(({ name }) => name)
	const unique = store.uniques.find(({ names }) => isSameFields(names, on))
	if (!isSameFields(key, on) && unique === undefined)
		throw new TypeError(
			`${store.name}: ${on.join(', ')} isn't unique, so it can't be upserted on${nearest(on.join(), uniquesOf(store).map(String))}`,
		)
	const fixed = [...on, ...key].find((name) => Object.hasOwn(changes, name))
	if (fixed !== undefined) throw new TypeError(`${store.name}: an upsert can't change ${fixed}`)
	const stored = store.fields.map((field) => {
		if (!on.includes(field.name)) return null
		const value = storedOf(values[field.name] ?? null, field)
		if (value === null) throw new ModelError('not_null', [field.name])
		return value
	})
	if (unique === undefined) return layer.row(idOf(stored, store))
	const entry = entryOf(unique, stored)
	const holder = entry === undefined ? undefined : layer.holder(entry)
	return holder === undefined ? undefined : layer.row(holder)
}
