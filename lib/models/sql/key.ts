/** The key of a table: its primary key, or the column that the option `key` names. Used by the adapters' `introspect.ts`. */
import { nearest } from '../../base/options.ts'
import type { FieldType } from '../model.ts'
import type { Column, Table } from './table.ts'

/** A table whose key isn't determined yet. */
export interface Keyless {
	readonly name: string
	readonly isView: boolean
	readonly columns: readonly { readonly name: string; readonly type?: FieldType }[]
	/** The columns of the primary key. */
	readonly primary: readonly string[]
	/** Columns that are unique on their own, and never null. */
	readonly unique: readonly string[]
}

/** `undefined` is a type that isn't known yet; `withKey` checks it later. */
const KEY_TYPES: ReadonlySet<unknown> = new Set(['integer', 'bigint', 'uuid', 'text', undefined])

/** The primary key, if it is a single column of a key type. */
export function primaryKey({ columns, primary }: Keyless): string | undefined {
	const [only, ...others] = primary
	const column = columns.find(({ name }) => name === only)
	return others.length === 0 && column !== undefined && KEY_TYPES.has(column.type) ? only : undefined
}

/**
 * The column that the option names, or the primary key if there is no option.
 *
 * @throws TypeError if there is no such column or primary key, or the column isn't unique
 */
export function keyOf(table: Keyless, option: string | undefined): string {
	const { name, isView, columns, primary, unique } = table
	const key = option ?? soleKey(table)
	if (!columns.some((column) => column.name === key)) {
		const names = columns.map((column) => column.name)
		throw new TypeError(`${name} has no column ${JSON.stringify(key)} for its key${nearest(key, names)}`)
	}
	// Catalogs don't say which columns of a view are unique, so the programmer's choice is trusted.
	const isUnique = isView || unique.includes(key) || (primary.length === 1 && primary[0] === key)
	// A column whose type can't be a key's is left to `withKey`, which rejects it.
	if (isUnique || !KEY_TYPES.has(columns.find((column) => column.name === key)?.type)) return key
	throw new TypeError(
		`${key} can't be the key of ${name}: a key must be unique on its own, and not null${candidates(table)}`,
	)
}

/**
 * Adds the key to a table.
 *
 * @throws TypeError if the column's type can't be a key's
 */
export function withKey<T extends { readonly name: string; readonly columns: readonly Column[] }>(
	table: T,
	key: string,
): T & Pick<Table, 'key'> {
	const column = table.columns.find(({ name }) => name === key)
	if (column !== undefined && KEY_TYPES.has(column.type)) return { ...table, key }
	throw new TypeError(
		`the key of ${table.name}, ${key}, is of type ${column?.sqlType || 'none'}; a key must be an integer, a uuid or a text`,
	)
}

function soleKey(table: Keyless): string {
	const { name, isView, primary } = table
	const [only, ...others] = primary
	if (only !== undefined && others.length === 0) return only
	const reason = isView
		? 'is a view'
		: only === undefined
			? 'has no primary key'
			: `has a primary key of ${primary.length} columns, ${primary.join(', ')}`
	throw new TypeError(
		`${name} ${reason}: pass { key: '…' } with a column that is unique and not null${candidates(table)}`,
	)
}

function candidates(table: Keyless): string {
	const { isView, columns, unique } = table
	const fit = columns.filter(({ name, type }) => unique.includes(name) && KEY_TYPES.has(type))
	return isView || fit.length === 0 ? '' : `; it could be ${fit.map(({ name }) => name).join(' or ')}`
}
