/**
 * `Table`: the schema of a table or view, read from the database; its quoted names; and the conversion of ids and versions
 * to values of its columns.
 */

import { splitId } from '../../wire/record-id.ts'
import { idOfKey } from '../key.ts'
import type { Field, Value, Values } from '../model.ts'
import { MissingColumn, ModelError } from '../model-error.ts'

/** A column of a table. */
export interface Column extends Field {
	/** The database's name of the type, in lower case and without length: `int4`, `varchar`, `datetime`. */
	readonly sqlType: string
	/** The default as SQL, if the database has no keyword `default` in updates. */
	readonly defaultSql?: string | undefined
	/** The collation, if statements can name it. @default texts are compared byte by byte, or by an unknown collation */
	readonly collation?: string | undefined
	/** How values are stored, in the dialect's own terms; only set if the type doesn't determine it. */
	readonly storage?: string | undefined
}

/** A constraint of a table; the database's errors refer to it. */
export interface Constraint {
	/** As it appears in the database's errors. */
	readonly name: string
	readonly kind: 'primary' | 'unique' | 'foreign_key' | 'check'
	/** For a view, without the columns that it lacks. */
	readonly columns: readonly string[]
	/** For a foreign key, what it refers to. `undefined` if unknown, or if values are compared in another way than by `=`. */
	readonly target?: Target | undefined
}

/** The columns that a foreign key refers to, in the order of the key. */
export interface Target {
	/** `undefined` for the default schema. */
	readonly schema: string | undefined
	readonly name: string
	readonly columns: readonly string[]
}

/** The table behind a view. */
export interface Base {
	readonly schema: string | undefined
	readonly name: string
	/** The view's columns by the names of the table's; those that the view lacks are left out. */
	readonly columns: ReadonlyMap<string, string>
}

/** A table or view. */
export interface Table {
	/** `undefined` for the default schema. */
	readonly schema: string | undefined
	readonly name: string
	readonly columns: readonly Column[]
	/** The columns of the key, in its order; empty for none. */
	readonly key: readonly string[]
	readonly constraints: readonly Constraint[]
	/** Columns that are unique together in all records, and never null; the key is, too. @default none are known */
	readonly unique?: readonly (readonly string[])[]
	/** All unique constraints over all records, with columns that may be null too: for upserts. @default none are known */
	readonly uniques?: readonly (readonly string[])[]
	readonly isView: boolean
	/** Whether records can be created, changed and deleted. @default true for a table, false for a view */
	readonly isWritable?: boolean
	/** See `Model`. */
	readonly readOnlyReason?: string | undefined
	/** For a writable view, the table behind it, which the database's errors name. `constraints` are that table's. */
	readonly base?: Base | undefined
	/** Whether changes run user-defined triggers or rules, or SQLite's `on conflict` clauses; `undefined` if unknown. */
	readonly hasTriggers?: boolean
	/** Whether policies may skip records without an error. @default false */
	readonly hasPolicies?: boolean
}

/** The message for a programmer who tries to change read-only records. */
export function readOnlyText({ name, key, readOnlyReason }: Table): string {
	if (readOnlyReason !== undefined) return `${name} can only be read: ${readOnlyReason}`
	return `${name} ${key.length === 0 ? 'has no key' : 'is a view'}: its records can only be read`
}

/** Whether at most one record has the same values in these columns. The key is trusted to be unique. */
export function isUniqueIn({ key, unique = [] }: Table, columns: readonly string[]): boolean {
	return [key, ...unique].some((names) => names.length > 0 && names.every((name) => columns.includes(name)))
}

/** Texts of up to this many characters are small: they aren't measured. */
export const SHORT_TEXT = 255

/** The alias of the table in all statements that read. */
export const ALIAS = 'b'

/** Quotes an identifier as standard SQL does. Names from a catalog contain no NUL. */
export function ansiQuoted(name: string): string {
	return `"${name.replaceAll('"', '""')}"`
}

/** The table's quoted name, with its schema where it has one. */
export function tableName(dialect: { quote(name: string): string }, { schema, name }: Table): string {
	return schema === undefined ? dialect.quote(name) : `${dialect.quote(schema)}.${dialect.quote(name)}`
}

/** The column's quoted name; `alias` is empty for none. */
export function columnName(dialect: { quote(name: string): string }, column: Column, alias: string): string {
	return alias === '' ? dialect.quote(column.name) : `${alias}.${dialect.quote(column.name)}`
}

/** The columns of a table by their names. */
export interface Columns extends ReadonlyMap<string, Column> {
	/** Columns that were dropped or renamed since the model was opened. */
	readonly gone: ReadonlySet<string>
}

export function columnsOf(table: Table, gone: ReadonlySet<string> = new Set()): Columns {
	return Object.assign(new Map(table.columns.map((column) => [column.name, column])), { gone })
}

/**
 * @throws ModelError `invalid` for a column that is gone
 * @throws TypeError for a name that never was one of the model's fields
 */
export function columnOf(columns: Columns, name: string): Column {
	const column = columns.get(name)
	if (column !== undefined) return column
	if (columns.gone.has(name)) throw new ModelError('invalid', [name], new MissingColumn(name))
	throw new TypeError(`there is no column ${JSON.stringify(name)}`)
}

export const INTEGER = /^-?\d{1,20}$/
const MIN_INT64 = -(2n ** 63n)
const MAX_INT64 = 2n ** 63n - 1n

/** Converts an id to the values of the key's columns. @throws TypeError if it isn't an id of this key */
export function valuesOfId(id: string, keys: readonly Column[]): readonly Value[] {
	if (keys.length === 1) return [valueOfText(id, keys[0])]
	const texts = splitId(id, keys.length)
	if (texts === undefined) throw new TypeError(`an id of ${keys.length} values is needed, got another one`)
	return texts.map((text, at) => valueOfText(text, keys[at]))
}

/** The value of a key's column, from its text. */
export function valueOfText(text: string, key: Column | undefined): Exclude<Value, null> {
	if (key?.type !== 'integer' && key?.type !== 'bigint') return text
	const number = Number(text)
	return Number.isSafeInteger(number) ? number : BigInt(text)
}

/** Converts a version to a value of its column; `undefined` if the column can't hold it, so that no record matches. */
export function valueOfVersion(version: string, column: Column): Value | undefined {
	if (!INTEGER.test(version)) return undefined
	const digits = BigInt(version)
	if (digits < (column.min ?? MIN_INT64) || digits > (column.max ?? MAX_INT64)) return undefined
	const number = Number(version)
	return Number.isSafeInteger(number) ? number : digits
}

/**
 * Returns a text that can be sent to a database.
 *
 * @throws ModelError `invalid` for a lone surrogate: UTF-8 can't encode it, so another character would be stored
 */
export function wellFormed(text: string, { name }: Column): string {
	if (/\p{Surrogate}/u.test(text)) throw new ModelError('invalid', [name])
	return text
}

/** Whether a key's value was given explicitly: it is neither missing nor null nor `DEFAULT`. */
export function isGiven(value: Value | symbol | undefined): value is NonNullable<Value> {
	return value !== undefined && value !== null && typeof value !== 'symbol'
}

/** A field of the key that needs a value and has none. SQLite would store NULL, and MySQL, in some modes, an empty text. */
export function missingKey(keys: readonly Column[], values: Values): string | undefined {
	return keys.find(
		({ name, hasDefault, generated }) => !hasDefault && !generated && (values[name] ?? null) === null,
	)?.name
}

/** @throws TypeError if `valueIn` has no value for a column of the key */
export function idFrom(
	{ table, keys }: { readonly table: Table; readonly keys: readonly Column[] },
	valueIn: (name: string, at: number) => unknown,
): string {
	const values = keys.map(({ name }, at) => valueIn(name, at))
	if (!values.includes(undefined)) return idOfKey(values, keys)
	throw new TypeError(`the database didn't report the key that it generated for ${table.name}`)
}
