/**
 * The key of a table: its primary key, or the columns that the option `key` names. Used by the adapters' `introspect.ts`.
 */
import { nearest } from '../../base/options.ts'
import { isKeyType, KEY_TYPES_TEXT } from '../key.ts'
import type { FieldType } from '../model.ts'
import type { Table } from './table.ts'

/** A table whose key isn't determined yet. */
export interface Keyless {
	readonly name: string
	readonly isView: boolean
	readonly columns: readonly {
		readonly name: string
		readonly type?: FieldType | undefined
		readonly nullable?: boolean
	}[]
	/** The columns of the primary key, in its order. */
	readonly primary: readonly string[]
	/** The columns of each unique constraint, none of them nullable. */
	readonly unique: readonly (readonly string[])[]
}

/** The option `key`: a column, several, or none. */
export type KeyOption = string | readonly string[]

/**
 * The columns that the option names, or those of the primary key if there is no option.
 *
 * @throws TypeError if there is no such column or primary key, or the columns aren't unique together
 */
export function keyOf(table: Keyless, option: KeyOption | undefined): readonly string[] {
	const { name, isView, columns, primary, unique } = table
	if (option === undefined) {
		if (primary.length > 0) return primary
		throw new TypeError(
			`${name} ${isView ? 'is a view' : 'has no primary key'}: pass { key: '…' } with a column that is unique and not null, a list of columns that are so together, or [] to only list its records${candidates(table)}`,
		)
	}
	const key = typeof option === 'string' ? [option] : option
	for (const [at, one] of key.entries()) {
		if (!columns.some((column) => column.name === one)) {
			const names = columns.map((column) => column.name)
			throw new TypeError(`${name} has no column ${JSON.stringify(one)} for its key${nearest(one, names)}`)
		}
		if (key.indexOf(one) !== at) throw new TypeError(`the key of ${name} names ${one} twice`)
	}
	// Catalogs don't say which columns of a view are unique, so the programmer's choice is trusted.
	const mayBeNull = (one: string) =>
		!primary.includes(one) && columns.some((column) => column.name === one && column.nullable === true)
	const isUnique =
		isView ||
		key.length === 0 ||
		([primary, ...unique].some((columns) => isWithin(columns, key)) && !key.some(mayBeNull))
	// A column whose type can't be a key's is left to `withKey`, which rejects it.
	if (isUnique || key.some((one) => !isKeyColumn(table, one))) return key
	throw new TypeError(
		`${key.join(', ')} can't be the key of ${name}: a key must be unique ${key.length === 1 ? 'on its own' : 'together'}, and not null${candidates(table)}`,
	)
}

/** Whether a constraint on `columns` makes `key` unique. */
function isWithin(columns: readonly string[], key: readonly string[]): boolean {
	return columns.length > 0 && columns.every((column) => key.includes(column))
}

/** The primary key; empty for none, and if one of its columns has a type that a key can't have. */
export function primaryKey(table: Keyless): readonly string[] {
	return table.primary.every((name) => isKeyColumn(table, name)) ? table.primary : []
}

/** A type that isn't known yet is checked by `withKey`. */
function isKeyColumn({ columns }: Keyless, name: string): boolean {
	const column = columns.find((one) => one.name === name)
	return column?.type === undefined || isKeyType(column.type)
}

/** Adds the key to a table. @throws TypeError if a column's type can't be a key's */
export function withKey<T extends Pick<Table, 'name' | 'columns' | 'constraints' | 'unique' | 'uniques'>>(
	table: T,
	key: readonly string[],
): T & Pick<Table, 'key'> {
	for (const name of key) {
		const column = table.columns.find((one) => one.name === name)
		if (column !== undefined && isKeyType(column.type)) continue
		throw new TypeError(
			`the key of ${table.name}, ${name}, is of type ${column?.sqlType || 'none'}; a key must be ${KEY_TYPES_TEXT}`,
		)
	}
	const { constraints, unique = [], uniques = [] } = table
	const foreign = constraints.filter(({ target }) => target !== undefined)
	const identifying = new Set([key, ...unique, ...uniques, ...foreign.map(({ columns }) => columns)].flat())
	const columns = table.columns.map((column) =>
		column.type === 'timestamp' && identifying.has(column.name) ? { ...column, allDigits: true } : column,
	)
	return { ...table, columns, key }
}

function candidates(table: Keyless): string {
	const places = new Map(table.columns.map(({ name }, at) => [name, at]))
	const place = ([name = '']: readonly string[]) => places.get(name) ?? 0
	const fit = table.unique
		.filter((columns) => columns.every((name) => isKeyColumn(table, name)))
		.sort((a, b) => place(a) - place(b))
	return table.isView || fit.length === 0
		? ''
		: `; it could be ${[...new Set(fit.map((columns) => columns.join(', ')))].join(' or ')}`
}
