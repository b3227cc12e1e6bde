/**
 * `Dialect`: what differs between databases, as small functions that write SQL, from which `sql-model.ts` builds
 * statements. `Sql` is the statement builder: names come from the table's own columns, values become placeholders. Both
 * refer to each other, so they share a file.
 */

import type { Bytes } from '../../base/time.ts'
import type { Listed, Value } from '../model.ts'
import type { ModelError } from '../model-error.ts'
import type { Rows, Statement } from './driver.ts'
import type { Column, Table } from './table.ts'
import type { Lru } from './text-cache.ts'

/** A selected column and its key in the JSON. */
export interface Selected {
	readonly column: Column
	readonly as: string
}

/** SQL that builds a record's JSON: expressions for a select list, and how their values become the text. */
export interface RecordSql {
	readonly expressions: readonly string[]
	/** `values` are those of the expressions. @throws TypeError if the database returned no text */
	json(values: readonly unknown[]): string
}

/** A sort term of a list. */
export interface OrderColumn {
	readonly column: Column
	readonly descending: boolean
}

/** A text search in a column; the value has no wildcards. */
export interface TextMatch {
	/** `eq` only if case is ignored. */
	readonly op: 'contains' | 'startsWith' | 'endsWith' | 'eq'
	readonly value: string
	readonly ignoreCase: boolean
}

/** The `like` pattern of a match; `escapeChar` is put before each character that would be a wildcard. */
export function patternOf({ op, value }: TextMatch, wildcards: RegExp, escapeChar: string): string {
	const literal = value.replace(wildcards, (char) => `${escapeChar}${char}`)
	const before = op === 'contains' || op === 'endsWith' ? '%' : ''
	return `${before}${literal}${op === 'contains' || op === 'startsWith' ? '%' : ''}`
}

/** The parts of a list statement. The table's alias within `where` and `after` is `b`. */
export interface ListParts {
	readonly table: Table
	readonly selected: readonly Selected[]
	readonly order: readonly OrderColumn[]
	readonly limit: number
	readonly offset: number
	/** Writes the condition; `undefined` for all. */
	readonly where: ((sql: Sql) => void) | undefined
	/** Writes the cursor's condition, which doesn't apply to the total. */
	readonly after: ((sql: Sql) => void) | undefined
	readonly total: boolean
	/** Maximum size of the page's JSON with its cursor; a record behind the page doesn't count. */
	readonly maxBytes: Bytes
	/** Whether one record more is read, to know if there is a next page; false if it is known that there is. */
	readonly looksBeyond: boolean
}

/** The number of records that a list statement reads. */
export function countRead({ limit, looksBeyond }: ListParts): number {
	return looksBeyond ? limit + 1 : limit
}

/** What differs between databases, as small functions that write SQL. */
export interface Dialect {
	/** Cache of statement texts: `lruOf(database)`. */
	readonly lru: Lru
	/** Whether inserts, updates, deletes support `returning`. */
	readonly returning: { readonly insert: boolean; readonly update: boolean; readonly delete: boolean }
	/** The alias of the changed table in `returning`; empty for none. */
	readonly returningAlias: string
	/** Whether `(a, b) > (?, ?)` is executed as one index range. */
	readonly comparesRows: boolean
	/** Whether a trigger or a policy can skip a change without an error. */
	readonly skipsSilently: boolean
	/** Whether batching reads of single records pays off: not if the database is in this process. */
	readonly gathers: boolean
	/** Quotes an identifier; the name may have any characters. */
	quote(name: string): string
	/** The placeholder of the n-th value, from 1; with a cast if the database can't infer the type. */
	placeholder(n: number, column: Column | undefined): string
	/** The placeholder of a value that needs another one than its column's; such texts aren't cached. */
	placeholderOf?(value: Value, column: Column): string | undefined
	/** Converts a value to what the driver takes. */
	bind(value: Value, column: Column): unknown
	/** Converts a cursor's value to exactly what is stored, if `bind` would change its form. */
	bindAfter?(value: Value, column: Column): unknown
	/** Converts a limit or an offset to what the driver takes. */
	bindNumber(value: number): unknown
	/** A column's default as an expression in an update: `default`. */
	defaultOf(column: Column): string
	/** A record's JSON. `alias` is the table's, empty for none. Values are exact: see `FieldType`. */
	record(selected: readonly Selected[], alias: string): RecordSql
	/** A column as text or number, without loss of precision; used for ids and versions. */
	exact(column: Column, alias: string): string
	/** A term of `order by`, nulls last; without a nulls clause that has no effect. */
	orderTerm(term: OrderColumn, alias: string): string
	/** Writes `column like '%…%'` and similar conditions. */
	matches(sql: Sql, column: Column, alias: string, match: TextMatch): void
	/**
	 * Writes the condition that a column is one of `values`: from one to a hundred thousand; with `isExact`, texts are
	 * compared byte by byte.
	 */
	oneOf(sql: Sql, column: Column, alias: string, values: readonly Value[], isExact: boolean): void
	/** Whether the database would fail to compare a column with a value that the column can't hold. */
	cantHold?(column: Column, value: Value): boolean
	/** Writes the condition that the key is one of `ids`, by a text that is the same for many lengths. */
	keyIn(sql: Sql, key: Column, alias: string, ids: readonly string[]): void
	/**
	 * Writes the condition that the key is exactly this id. Left out if `=` does that: not for texts with a
	 * case-insensitive collation.
	 */
	keyIs?(sql: Sql, key: Column, alias: string, id: string): void
	/** Writes the condition that a text column is exactly this text. Left out if `=` does that. */
	exactly?(sql: Sql, column: Column, alias: string, text: string): void
	/** Writes a whole list statement, which reads `countRead(parts)` records. */
	list(sql: Sql, parts: ListParts): void
	/**
	 * Converts the rows of that statement; `undefined` if the page is too large together with the record behind it, and
	 * may fit without.
	 *
	 * @throws ModelError `too_large` if the page is
	 */
	listed(rows: Rows, parts: ListParts): Listed | undefined
	/** The rest of an insert without values: ` default values`. */
	readonly insertNothing: string
	/** A statement that fails if the server responds but can't read its tables; default `select 1`. */
	readonly takesReads?: string
	/** A statement that returns a row if the server accepts changes, so not on a replica. Without it, that isn't checked. */
	readonly takesChanges?: string
	/** Whether an error means that the table was altered: a column is gone or has another type. */
	isOutdated?(error: unknown): boolean
	/**
	 * Translates an error of the driver; `undefined` for a programming error. `unavailable` if no connection could be
	 * had, `outcome_unknown` if it was lost, which the caller turns into `unavailable` for a read.
	 */
	failure(error: unknown, table: Table): ModelError | undefined
}

/** Builder of a statement. Values never become part of the text. */
export class Sql {
	readonly dialect: Dialect
	text = ''
	readonly values: unknown[] = []
	/** See `Statement`. */
	maxBytes: Bytes | undefined

	constructor(dialect: Dialect) {
		this.dialect = dialect
	}

	/** Adds trusted text: keywords, quoted names, placeholders. Never what a client has sent. */
	add(text: string): this {
		this.text += text
		return this
	}

	/** Adds a value that is compared with, or stored in, a column. */
	value(value: Value, column: Column): this {
		this.values.push(this.dialect.bind(value, column))
		this.text +=
			this.dialect.placeholderOf?.(value, column) ?? this.dialect.placeholder(this.values.length, column)
		return this
	}

	/** Adds a value of a cursor. */
	after(value: Value, column: Column): this {
		if (this.dialect.bindAfter === undefined) return this.value(value, column)
		this.values.push(this.dialect.bindAfter(value, column))
		this.text += this.dialect.placeholder(this.values.length, column)
		return this
	}

	/** Adds a whole number that belongs to no column: a limit, an offset. */
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
