/**
 * `Table`: a table or view as the live database describes it; its names as they stand in statements; and ids and versions
 * as values of its columns.
 */
import type { Field, Value } from '../model.ts'
import { GoneField, ModelError } from '../model-error.ts'

/** A column of a table, and what SQL needs to know of it. */
export interface Column extends Field {
	/** The type's own name in the database, in lower case and without length: `int4`, `varchar`, `datetime`. */
	readonly sqlType: string
	/** The default as SQL, where the database can't be asked for it by the word `default`. */
	readonly defaultSql?: string | undefined
	/** How it holds its values, in the dialect's own words, where the type doesn't say it. */
	readonly storage?: string | undefined
}

/** A constraint of a table, by which the database's errors are told. */
export interface Constraint {
	/** As the database's errors call it. */
	readonly name: string
	readonly kind: 'primary' | 'unique' | 'foreign_key' | 'check'
	readonly columns: readonly string[]
}

/** A table or view. */
export interface Table {
	/** `undefined` for the default one. */
	readonly schema: string | undefined
	readonly name: string
	readonly columns: readonly Column[]
	readonly key: string
	readonly constraints: readonly Constraint[]
	/** Whether it can only be read. */
	readonly isView: boolean
	/** Whether an insert runs triggers or rules of the owner; `undefined` if unknown. */
	readonly hasTriggers?: boolean
}

/** The alias of the table in everything that reads. */
export const ALIAS = 'b'

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
	/** Those that the model has told of, and that were dropped or renamed since. */
	readonly gone: ReadonlySet<string>
}

export function columnsOf(table: Table, gone: ReadonlySet<string> = new Set()): Columns {
	return Object.assign(new Map(table.columns.map((column) => [column.name, column])), { gone })
}

/**
 * @throws ModelError `invalid` for a column that is gone
 * @throws TypeError where there never was one: the caller has taken a name that isn't the model's
 */
export function columnOf(columns: Columns, name: string): Column {
	const column = columns.get(name)
	if (column !== undefined) return column
	if (columns.gone.has(name)) throw new ModelError('invalid', [name], new GoneField(name))
	throw new TypeError(`there is no column ${JSON.stringify(name)}`)
}

export const INTEGER = /^-?\d{1,19}$/
const LEAST = -(2n ** 63n)
const GREATEST = 2n ** 63n - 1n

/** An id as the value of the key's column; the id is one that can be the key's. */
export function valueOfId(id: string, key: Column): Value {
	if (key.type !== 'integer' && key.type !== 'bigint') return id
	const number = Number(id)
	return Number.isSafeInteger(number) ? number : BigInt(id)
}

/** A key's value as an id. */
export function idOf(value: unknown): string {
	return String(value)
}

/** A version as the value of its column; `undefined` for what no version can be, so that nothing fits it. */
export function valueOfVersion(version: string, column: Column): Value | undefined {
	if (!INTEGER.test(version)) return undefined
	const digits = BigInt(version)
	if (digits < (column.min ?? LEAST) || digits > (column.max ?? GREATEST)) return undefined
	const number = Number(version)
	return Number.isSafeInteger(number) ? number : digits
}

/** Whether a change says what the key is. */
export function isGiven(value: Value | symbol | undefined): value is NonNullable<Value> {
	return value !== undefined && value !== null && typeof value !== 'symbol'
}
