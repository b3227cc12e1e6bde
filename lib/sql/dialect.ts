/**
 * `Dialect`: what differs between databases, as small functions that write SQL. `sql-model.ts` puts the
 * statements together out of them; names come from the table's own columns, values go through `Sql`, the
 * statement that is being written. The two know each other, and so are in one file.
 */
import type { Listed, Value } from '../crud/model.ts'
import type { ModelError } from '../crud/model-error.ts'
import type { Rows, Statement } from './driver.ts'
import type { Column, Table } from './table.ts'

/** A column that is answered, and its key in the JSON. */
export interface Selected {
	readonly column: Column
	readonly as: string
}

/** SQL that writes a record: expressions for a select list, and how their values become the JSON text. */
export interface RecordSql {
	readonly expressions: readonly string[]
	/** `values` are those of the expressions. @throws TypeError where the database gave no text */
	json(values: readonly unknown[]): string
}

export interface OrderColumn {
	readonly column: Column
	readonly descending: boolean
}

/** The parts of a list. The alias of the table within `where` and `after` is `b`. */
export interface ListParts {
	readonly table: Table
	readonly selected: readonly Selected[]
	readonly order: readonly OrderColumn[]
	readonly limit: number
	readonly offset: number
	/** Writes the condition; `undefined` for all. */
	readonly where: ((sql: Sql) => void) | undefined
	/** Writes what is behind the cursor; it doesn't count for the total. */
	readonly after: ((sql: Sql) => void) | undefined
	readonly total: boolean
}

/** Most bytes of the JSON of a list: a quarter of a GiB. One text of V8 holds no more than half a GiB. */
export const MOST_BYTES = 268_435_456

export interface Dialect {
	readonly name: 'postgres' | 'mysql' | 'sqlite'
	/** Whether an insert, update, delete can answer the record itself by `returning`. */
	readonly returning: { readonly insert: boolean; readonly update: boolean; readonly delete: boolean }
	/** The alias by which `returning` names the changed table's columns; empty for none. */
	readonly returningAlias: string
	/** Whether `(a, b) > (?, ?)` is one range of an index. */
	readonly comparesRows: boolean
	/** Whether reads of one record are worth being gathered: not where the database is in this process. */
	readonly gathers: boolean
	/** A name as an identifier, whatever it holds. */
	quote(name: string): string
	/** The placeholder of the n-th value, from 1; cast where the database can't tell the type. */
	placeholder(n: number, column: Column | undefined): string
	/** A value as the driver takes it. */
	bind(value: Value, column: Column): unknown
	/** A value of a cursor as it is stored, digit for digit, where `bind` would write it another way. */
	bindAfter?(value: Value, column: Column): unknown
	bindNumber(value: number): unknown
	/** A column's default, to be stored by an update: `default`. */
	defaultOf(column: Column): string
	/** A record's JSON. `alias` is the table's, empty for none. Values are exact: see `FieldType`. */
	record(selected: readonly Selected[], alias: string): RecordSql
	/** A column as text or number, as exactly as the database knows it; used for ids and versions. */
	exact(column: Column, alias: string): string
	/** A term of `order by`, nulls last: the clause is written only where it changes something. */
	orderTerm(term: OrderColumn, alias: string): string
	/** Writes `column like '%…%'` and its kin; every character of `value` is literal. */
	matches(
		sql: Sql,
		column: Column,
		alias: string,
		op: 'contains' | 'startsWith' | 'endsWith',
		value: string,
	): void
	/** Writes a condition that the key is one of `ids`, with a text that is the same for many lengths. */
	keyIn(sql: Sql, key: Column, alias: string, ids: readonly string[]): void
	/**
	 * Writes a condition that the key is this id, written exactly so; where there is none, `=` says it: not where
	 * texts are compared without case.
	 */
	keyIs?(sql: Sql, key: Column, alias: string, id: string): void
	/** Writes that a text column is this text, written exactly so; where there is none, `=` says it. */
	exactly?(sql: Sql, column: Column, alias: string, text: string): void
	/** Writes a whole list statement, of limit + 1 records. */
	list(sql: Sql, parts: ListParts): void
	/** What the rows of that statement say. */
	listed(rows: Rows, parts: ListParts): Listed
	/** The head of an insert that gives no values: ` default values`. */
	readonly insertNothing: string
	/**
	 * What an error of the driver means; `undefined` for an error of ours. `unavailable` for a connection that
	 * could not be had, `outcome_unknown` for one that was lost: of a statement that doesn't write that is
	 * `unavailable` too.
	 */
	failure(error: unknown, table: Table): ModelError | undefined
}

/** A statement that is being written. Values never become part of the text. */
export class Sql {
	readonly dialect: Dialect
	text = ''
	readonly values: unknown[] = []

	constructor(dialect: Dialect) {
		this.dialect = dialect
	}

	/** Adds text of ours: keywords, quoted names, placeholders. Nothing that a client has sent. */
	add(text: string): this {
		this.text += text
		return this
	}

	/** Adds a placeholder for a value that is compared with, or stored in, a column. */
	value(value: Value, column: Column): this {
		this.values.push(this.dialect.bind(value, column))
		this.text += this.dialect.placeholder(this.values.length, column)
		return this
	}

	/** Adds a placeholder for a value of a cursor. */
	after(value: Value, column: Column): this {
		if (this.dialect.bindAfter === undefined) return this.value(value, column)
		this.values.push(this.dialect.bindAfter(value, column))
		this.text += this.dialect.placeholder(this.values.length, column)
		return this
	}

	/** Adds a placeholder for a whole number that is no column's: a limit, an offset. */
	number(value: number): this {
		this.values.push(this.dialect.bindNumber(value))
		this.text += this.dialect.placeholder(this.values.length, undefined)
		return this
	}

	statement(writes: boolean): Statement {
		return { text: this.text, values: this.values, writes }
	}
}
