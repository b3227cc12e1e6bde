/**
 * `Dialect`: what differs between databases, as small functions that write SQL. `sql-model.ts` puts the
 * statements together out of them; names come from the table's own columns, values go through `Sql`, the
 * statement that is being written. The two know each other, and so are in one file.
 */

import type { Bytes } from '../../base/time.ts'
import type { Listed, Value } from '../model.ts'
import type { ModelError } from '../model-error.ts'
import type { Rows, Statement } from './driver.ts'
import type { Column, Table } from './table.ts'
import type { Lru } from './text-cache.ts'

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

/** A column that a list is sorted by. */
export interface OrderColumn {
	readonly column: Column
	readonly descending: boolean
}

/** A text that a column is compared with; every character of it is literal. */
export interface TextMatch {
	/** `eq` only where case is ignored. */
	readonly op: 'contains' | 'startsWith' | 'endsWith' | 'eq'
	readonly value: string
	readonly ignoreCase: boolean
}

/** The pattern of `like` for a match; `mark` is put before each character that would be a wildcard. */
export function patternOf({ op, value }: TextMatch, wildcards: RegExp, mark: string): string {
	const literal = value.replace(wildcards, (char) => `${mark}${char}`)
	const before = op === 'contains' || op === 'endsWith' ? '%' : ''
	return `${before}${literal}${op === 'contains' || op === 'startsWith' ? '%' : ''}`
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
	/** Most bytes of the page's JSON and its cursor; a record behind the page doesn't count. */
	readonly maxBytes: Bytes
	/** Whether a record behind the page is read too, to know that there is one; else it is known that there is. */
	readonly looksBeyond: boolean
}

/** How many records the statement of a list reads. */
export function countRead({ limit, looksBeyond }: ListParts): number {
	return looksBeyond ? limit + 1 : limit
}

/** What differs between databases, as small functions that write SQL. */
export interface Dialect {
	/** Where texts are kept: `lruOf(database)`. */
	readonly lru: Lru
	/** Whether an insert, update, delete can answer the record itself by `returning`. */
	readonly returning: { readonly insert: boolean; readonly update: boolean; readonly delete: boolean }
	/** The alias by which `returning` names the changed table's columns; empty for none. */
	readonly returningAlias: string
	/** Whether `(a, b) > (?, ?)` is one range of an index. */
	readonly comparesRows: boolean
	/** Whether a trigger or a policy can keep a record from being changed without an error. */
	readonly skipsSilently: boolean
	/** Whether reads of one record are worth being gathered: not where the database is in this process. */
	readonly gathers: boolean
	/** A name as an identifier, whatever it holds. */
	quote(name: string): string
	/** The placeholder of the n-th value, from 1; cast where the database can't tell the type. */
	placeholder(n: number, column: Column | undefined): string
	/** The placeholder of a value that needs another one than its column's; texts with one aren't kept. */
	placeholderOf?(value: Value, column: Column): string | undefined
	/** A value as the driver takes it. */
	bind(value: Value, column: Column): unknown
	/** A value of a cursor as it is stored, digit for digit, where `bind` would write it another way. */
	bindAfter?(value: Value, column: Column): unknown
	/** A limit or an offset, as the driver takes it. */
	bindNumber(value: number): unknown
	/** A column's default, to be stored by an update: `default`. */
	defaultOf(column: Column): string
	/** A record's JSON. `alias` is the table's, empty for none. Values are exact: see `FieldType`. */
	record(selected: readonly Selected[], alias: string): RecordSql
	/** A column as text or number, as exactly as the database knows it; used for ids and versions. */
	exact(column: Column, alias: string): string
	/** A term of `order by`, nulls last: the clause is written only where it changes something. */
	orderTerm(term: OrderColumn, alias: string): string
	/** Writes `column like '%…%'` and its kin. */
	matches(sql: Sql, column: Column, alias: string, match: TextMatch): void
	/**
	 * Writes that a column is one of `values`, of which there is at least one and may be a hundred thousand; `isExact` for
	 * texts that must be written exactly so.
	 */
	oneOf(sql: Sql, column: Column, alias: string, values: readonly Value[], isExact: boolean): void
	/** Whether the database would refuse to compare a column with a value that the column can't hold. */
	cantHold?(column: Column, value: Value): boolean
	/** Writes a condition that the key is one of `ids`, with a text that is the same for many lengths. */
	keyIn(sql: Sql, key: Column, alias: string, ids: readonly string[]): void
	/**
	 * Writes a condition that the key is this id, written exactly so; where there is none, `=` says it: not where
	 * texts are compared without case.
	 */
	keyIs?(sql: Sql, key: Column, alias: string, id: string): void
	/** Writes that a text column is this text, written exactly so; where there is none, `=` says it. */
	exactly?(sql: Sql, column: Column, alias: string, text: string): void
	/** Writes a whole list statement, of `countRead(parts)` records. */
	list(sql: Sql, parts: ListParts): void
	/**
	 * What the rows of that statement say; `undefined` where the page is too large together with the record behind it,
	 * and nobody knows whether it is without.
	 *
	 * @throws ModelError `too_large` where the page is
	 */
	listed(rows: Rows, parts: ListParts): Listed | undefined
	/** The head of an insert that gives no values: ` default values`. */
	readonly insertNothing: string
	/** Fails where the server doesn't read its tables, though it answers; where there is none, any answer will do. */
	readonly takesReads?: string
	/** A statement that returns a row if the server takes changes, so not on a replica. Without it, that isn't checked. */
	readonly takesChanges?: string
	/** Whether an error says that a statement doesn't fit the table: a column isn't there, or is of another type. */
	isOutdated?(error: unknown): boolean
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
	/** See `Statement`. */
	maxBytes: Bytes | undefined

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
		this.text +=
			this.dialect.placeholderOf?.(value, column) ?? this.dialect.placeholder(this.values.length, column)
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

	/** The text with its values; `writes` if it changes records. */
	statement(writes: boolean): Statement {
		const { text, values, maxBytes } = this
		return maxBytes === undefined ? { text, values, writes } : { text, values, writes, maxBytes }
	}
}
