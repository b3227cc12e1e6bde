/** Changes of a `MemoryModel`'s records: all values and constraints are checked before anything is stored. */
import { randomUUID } from 'node:crypto'
import { nearest } from '../../base/options.ts'
import { timeOfDay } from '../../base/time.ts'
import { joinId } from '../../wire/record-id.ts'
import { type Changes, DEFAULT, NOW, type Values } from '../model.ts'
import { ModelError } from '../model-error.ts'
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
export function entryOf({ names, fields }: Unique, values: readonly Stored[]): string | undefined {
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

export function idOf(values: readonly Stored[], store: Store): string {
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
