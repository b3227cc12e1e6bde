/** Changes of a `MemoryModel`'s records: all values and constraints are checked before anything is stored. */
import { randomUUID } from 'node:crypto'
import { nearest } from '../../base/options.ts'
import { timeOfDay } from '../../base/time.ts'
import { joinId } from '../../wire/record-id.ts'
import { isSameFields } from '../key.ts'
import { type Changes, DEFAULT, NOW, type Upsert, type Values } from '../model.ts'
import { errorAt, ModelError } from '../model-error.ts'
import type { DeclaredField } from './declared.ts'
import { identitiesOf, identityOf } from './json.ts'
import { indexedBy } from './links.ts'
import type { Layer, Reference, Store, Unique } from './store.ts'
import { formOf, type Row, type Stored, storedOf } from './stored.ts'

/**
 * Stores a new record.
 *
 * @throws ModelError `not_null`, `check`, `invalid`, `unique`, `foreign_key`
 * @throws TypeError for an unknown or a generated field
 */
export function insert(given: Values, store: Store, layer: Layer): Row {
	checkNames(given, store)
	const values = store.fields.map((field) => storedOf(valueFor(field, given, store), field))
	const row = { id: idOf(values, store), values }
	place(row, undefined, store, layer)
	if (store.keys.length === 1) store.skipTo(values[store.keyIndexes[0] ?? 0] ?? null)
	return row
}

/** Changes a record and increments its version. Throws what `insert` throws. */
export function change(
	row: Row,
	changes: Changes,
	version: string | undefined,
	store: Store,
	layer: Layer,
): Row {
	checkNames(changes, store)
	const values = [...row.values]
	for (const [name, given] of Object.entries(changes)) {
		const field = store.field(name)
		values[store.indexOf(name)] = storedOf(given === DEFAULT ? defaultOf(field, store) : timed(given), field)
	}
	if (version !== undefined) increment(values, row, version, store)
	const next = { id: idOf(values, store), values }
	place(next, row, store, layer)
	return next
}

/** @throws ModelError `foreign_key` when another record refers to this one */
export function remove(row: Row, store: Store, layer: Layer): void {
	if (isReferred(row, store, layer)) throw new ModelError('foreign_key')
	leaveIndex(row, store, layer)
	layer.put(row.id, undefined)
}

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

function leaveIndex({ values }: Row, store: Store, layer: Layer): void {
	for (const unique of store.uniques) {
		const entry = entryOf(unique, values)
		if (entry !== undefined) layer.enter(entry, undefined)
	}
}

function place(row: Row, old: Row | undefined, store: Store, layer: Layer): void {
	if (row.id !== old?.id && layer.row(row.id) !== undefined)
		throw new ModelError(
			'unique',
			store.keys.map(({ name }) => name),
		)
	const entries = store.uniques.map((unique) => {
		const entry = entryOf(unique, row.values)
		const holder = entry === undefined ? undefined : layer.holder(entry)
		if (holder !== undefined && holder !== old?.id) throw new ModelError('unique', unique.names)
		return entry
	})
	for (const reference of store.references) checkReference(reference, row, store, layer)
	if (old !== undefined && row.id !== old.id && isReferred(old, store, layer))
		throw new ModelError('foreign_key')
	if (old !== undefined) {
		leaveIndex(old, store, layer)
		if (row.id !== old.id) layer.put(old.id, undefined)
	}
	layer.put(row.id, row)
	for (const entry of entries) if (entry !== undefined) layer.enter(entry, row.id)
}

/** The index entry of a constraint's values; `undefined` if one of them is null, because nulls don't collide. */
function entryOf({ names, fields }: Unique, values: readonly Stored[]): string | undefined {
	const texts = identitiesOf(values, fields)
	return texts && JSON.stringify([names.join(), ...texts])
}

function checkReference(reference: Reference, row: Row, store: Store, layer: Layer): void {
	const { names, fields, store: target } = reference
	const texts = identitiesOf(row.values, fields)
	const id = texts && joinId(texts)
	if (id === undefined || (target === store && id === row.id)) return
	if (layer.of(target).row(id) === undefined) throw new ModelError('foreign_key', names)
}

function isReferred(row: Row, store: Store, layer: Layer): boolean {
	const names = store.keys.map(({ name }) => name)
	const key = indexedBy(names, store).keyOf(row.values)
	if (key === undefined) return false
	return store.referrers.some(({ from, reference }) => {
		const rows = layer.of(from).rowsWith(key, indexedBy(reference.names, from))
		return rows.some(({ id }) => !(from === store && id === row.id))
	})
}

function increment(values: Stored[], old: Row, version: string, store: Store): void {
	const index = store.indexOf(version)
	const before = old.values[index] ?? null
	if (typeof before !== 'number' && typeof before !== 'bigint') return
	values[index] = storedOf(BigInt(before) + 1n, store.field(version))
}

function idOf(values: readonly Stored[], store: Store): string {
	if (store.keys.length === 0) return store.rowId()
	const parts = store.keys.map((field, at) => {
		const value = values[store.keyIndexes[at] ?? 0] ?? null
		if (value === null) throw new ModelError('not_null', [field.name])
		return identityOf(value, field)
	})
	return joinId(parts)
}

function valueFor(field: DeclaredField, given: Values, store: Store): unknown {
	if (Object.hasOwn(given, field.name)) return timed(given[field.name])
	return field.hasDefault ? defaultOf(field, store) : null
}

function timed(given: unknown): unknown {
	return given === NOW ? new Date(timeOfDay()).toISOString() : given
}

/** @throws TypeError if the field has no default, or one of another type: a mistake in the program */
function defaultOf(field: DeclaredField, store: Store): unknown {
	if (!field.hasDefault) throw new TypeError(`${store.name}: field ${field.name} has no default`)
	if (field.initial === undefined) return field.type === 'uuid' ? randomUUID() : store.serial()
	const value = field.initial()
	try {
		if (value !== null) formOf(value, field)
		return value
	} catch (cause) {
		throw new TypeError(`${store.name}: the default of ${field.name} is not a valid ${field.type}`, { cause })
	}
}

function checkNames(given: Values | Changes, store: Store): void {
	for (const name of Object.keys(given)) {
		if (!store.has(name)) {
			const names = store.fields.map((field) => field.name)
			throw new TypeError(`${store.name} has no field ${name}${nearest(name, names)}`)
		}
		if (store.field(name).generated)
			throw new TypeError(`${store.name}: field ${name} is only written by the store`)
	}
}
