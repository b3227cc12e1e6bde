/** Names as they stand in statements: of tables, and of columns behind an alias. */
import { GoneField, ModelError } from '../model-error.ts'
import type { Dialect } from './dialect.ts'
import type { Column, Table } from './table.ts'

/** The alias of the table in everything that reads. */
export const ALIAS = 'b'

/** @param dialect what is known of it, while it is being made */
export function tableName(dialect: Pick<Dialect, 'quote'>, { schema, name }: Table): string {
	return schema === undefined ? dialect.quote(name) : `${dialect.quote(schema)}.${dialect.quote(name)}`
}

/** `alias` is empty for none. */
export function columnName(dialect: Dialect, column: Column, alias: string): string {
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
