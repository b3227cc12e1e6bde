/**
 * `Dialect`: small functions that write SQL, for what differs between databases; `sql-model.ts` builds statements from
 * them. `Sql` is the statement builder: names come from the table's own columns, values become placeholders. `Dialect`
 * and `Sql` refer to each other, so they share a file.
 */

import type { Bytes } from '../../base/time.ts'
import type { Listed, TimePart, Total, Totaled, TotalsQuery, Value } from '../model.ts'
import { type ModelError, refuseLarger } from '../model-error.ts'
import type { Span } from '../totals/time-zone.ts'
import type { Rows, Statement } from './driver.ts'
import type { Embedded, Embedding, OrderColumn, ReadApart, Selected } from './embedding.ts'
import type { Column, Table } from './table.ts'
import type { Lru } from './text-cache.ts'

/** SQL for a record's JSON: expressions of a select list, and a function that makes the text from their values. */
export interface RecordSql {
	readonly expressions: readonly string[]
	/** Makes the JSON from a row that begins with their values. @throws TypeError if the database returned no text */
	json(row: readonly unknown[]): string
}

/** A text search in a column. `value` is literal: `%` and `_` in it are not wildcards. */
export interface TextMatch {
	/** `eq` occurs only with `ignoreCase`. */
	readonly op: 'contains' | 'startsWith' | 'endsWith' | 'eq'
	readonly value: string
	readonly ignoreCase: boolean
}

/** Makes the `like` pattern of a match, with `escapeChar` before each character that would be a wildcard. */
export function patternOf({ op, value }: TextMatch, wildcards: RegExp, escapeChar: string): string {
	const literal = value.replace(wildcards, (char) => `${escapeChar}${char}`)
	const before = op === 'contains' || op === 'endsWith' ? '%' : ''
	return `${before}${literal}${op === 'contains' || op === 'startsWith' ? '%' : ''}`
}

/** The parts of a list statement. The table's alias within `where` and `after` is `b`. */
export interface ListParts {
	readonly table: Table
	readonly selected: readonly Selected[]
	/** Related records, after the selected columns. */
	readonly embedded?: Embedded | undefined
	readonly order: readonly OrderColumn[]
	readonly limit: number
	readonly offset: number
	/** Writes the condition; `undefined` for all records. */
	readonly where: ((sql: Sql) => void) | undefined
	/** Writes ` left join …` of the tables in `order`, to follow the table and its alias; no record is repeated by it. */
	readonly joins?: ((sql: Sql) => void) | undefined
	/** Writes the cursor's condition, which doesn't apply to the total. */
	readonly after: ((sql: Sql) => void) | undefined
	readonly total: boolean
	/** With `total`: the count may stop at the first record beyond this number. */
	readonly maxTotal?: number | undefined
	/** Maximum size of the page's JSON and cursor together; an extra record behind the page doesn't count. */
	readonly maxBytes: Bytes
	/** The large related records, once they have been read separately. */
	readonly apart?: ReadApart | undefined
	/** Whether one extra record is read, to find out if there is a next page; false if a next page is known to exist. */
	readonly looksBeyond: boolean
}

/** The number of records that a list statement reads. */
export function countRead({ limit, looksBeyond }: ListParts): number {
	return looksBeyond ? limit + 1 : limit
}

/** The page of a list. @throws ModelError `too_large` if the page and its cursor exceed the limit */
export function listedOf(
	json: string,
	next: string | undefined,
	total: unknown,
	parts: Pick<ListParts, 'maxBytes' | 'total'>,
): Listed {
	refuseLarger(json, parts.maxBytes, next)
	return { json, next, total: parts.total ? Number(total) : undefined }
}

/** What differs between databases, mostly as small functions that write SQL. */
export interface Dialect {
	/** Cache of statement texts: `lruOf(database)`. */
	readonly lru: Lru
	/** Whether inserts, updates and deletes support `returning`. */
	readonly returning: { readonly insert: boolean; readonly update: boolean; readonly delete: boolean }
	/**
	 * Whether `returning` has the values that were given, not those that triggers have stored, so that the record must be
	 * read again after a change.
	 */
	readonly rereads?: boolean
	/** Whether the conditions of a change can't select from the changed table: a `select … for update` checks links first. */
	readonly checksLinksFirst?: boolean
	/** Whether a nested `exists` is run for each of the records around it, so that `in (select …)` is faster. */
	readonly repeatsExists?: boolean
	/** The alias of the changed table in `returning`; empty for none. */
	readonly returningAlias: string
	/** Whether `(a, b) > (?, ?)` is executed as one index range. */
	readonly comparesRows: boolean
	/** Whether a trigger or a policy can skip a change without an error. */
	readonly skipsSilently: boolean
	/** The schema of tables whose `schema` is `undefined`; left out if the catalog never names it. */
	readonly defaultSchema?: string | undefined
	/** Whether names of tables and schemas ignore case. */
	readonly foldsNames?: boolean
	/** Quotes an identifier; the name may have any characters. */
	quote(name: string): string
	/** The placeholder of the n-th value, from 1; with a cast if the database can't infer the type. */
	placeholder(n: number, column: Column | undefined): string
	/** The placeholder of a value that can't use its column's. Statements with such values aren't cached. */
	placeholderOf?(value: Value, column: Column): string | undefined
	/** Converts a value to what the driver takes. */
	bind(value: Value, column: Column): unknown
	/** Converts a cursor's value to exactly what is stored. Only needed if `bind` would change its form. */
	bindAfter?(value: Value, column: Column): unknown
	/** Converts a limit or an offset to what the driver takes. */
	bindNumber(value: number): unknown
	/** A column's default as an expression in an update: `default`. */
	defaultOf(column: Column): string
	/** SQL for a record's JSON. `alias` is the table's, empty for none. Values are exact: see `FieldType`. */
	record(selected: readonly Selected[], alias: string): RecordSql
	/** How related records are written; without it, they are read by statements of their own. */
	readonly embedding?: Embedding
	/** A column as text or number, without loss of precision; used for ids and versions. */
	exact(column: Column, alias: string): string
	/**
	 * SQL for the database's time, to the column's precision, as a value of a `timestamp` column. Left out for a database in
	 * this process, whose time is bound instead.
	 */
	nowFor?(column: Column): string
	/**
	 * The clause that locks the selected rows of the table, with `ALIAS`, until the end of the transaction. Left out if
	 * transactions that write exclude each other.
	 */
	readonly locked?: string
	/** The same before a deletion, if that needs a stronger lock than a change. @default `locked` */
	readonly lockedToDelete?: string
	/** A term of `order by` that sorts nulls last, without a `nulls` clause that changes nothing: no index may serve it. */
	orderTerm(term: OrderColumn, alias: string): string
	/** What `orderTerm` sorts by, if only a prefix of the column; compared with a cursor's value. @default the whole column */
	sorted?(column: Column, alias: string): string
	/** Writes `column like '%…%'` and similar conditions. */
	matches(sql: Sql, column: Column, alias: string, match: TextMatch): void
	/** Writes the condition that a column equals one of 1 to 100,000 values. `isExact` compares texts byte by byte. */
	oneOf(sql: Sql, column: Column, alias: string, values: readonly Value[], isExact: boolean): void
	/** Whether comparing the column with this value would be an error, because the column can't hold the value. */
	cantHold?(column: Column, value: Value): boolean
	/**
	 * Writes the condition that the key, of one column or several, is one of `ids`. The SQL text should depend as little as
	 * possible on how many ids there are, so that few statements are prepared. Without it, reads of single records aren't
	 * batched, which doesn't pay off if the database runs in this process.
	 */
	keyIn?(sql: Sql, keys: readonly Column[], alias: string, ids: readonly string[]): void
	/**
	 * Writes a condition that matches exactly this text of a column of the key. Left out if `=` already does so for all of
	 * them: not with a case-insensitive collation.
	 */
	keyIs?(sql: Sql, key: Column, alias: string, text: string): void
	/** Writes a condition that matches exactly this text. Dialects where `=` already does so don't implement it. */
	exactly?(sql: Sql, column: Column, alias: string, text: string): void
	/** Writes a whole list statement, which reads `countRead(parts)` records. */
	list(sql: Sql, parts: ListParts): void
	/**
	 * Writes a statement with the lists for each of the conditions, which replace `where`. Its rows are those of the list
	 * statements in their order, with the index of the condition as the last column. Needed only if `list` writes several
	 * rows per page, and the database may change their order: the default is a `union all` of the list statements.
	 */
	listEach?(sql: Sql, parts: ListParts, wheres: readonly ((sql: Sql) => void)[]): void
	/**
	 * Maximum number of lists in such a statement. Few if the database can't limit their total size and runs in this process,
	 * so that there is no round trip to save. @default 100
	 */
	readonly listsAtOnce?: number
	/**
	 * Converts the rows of the list statement to a page; `undefined` if the rows are too large, but may fit without the
	 * extra record behind the page.
	 *
	 * @throws ModelError `too_large` if the page itself is too large
	 */
	listed(rows: Rows, parts: ListParts): Listed | undefined
	/** How totals are written. @default there are none */
	readonly totals?: TotalsDialect
	/** The rest of an insert without values: ` default values`. */
	readonly insertNothing: string
	/** How several records are inserted by one statement. @default one after the other */
	readonly rows?: InsertedRows
	/** The text of `Statement.ofAll`. @default concurrent updates stay separate statements */
	updateAll?(update: UpdateOfAll): string | undefined
	/**
	 * Makes `insert … on conflict (…) do update` possible: SQL in `returning` that is the text `1` for an inserted row, and
	 * another one for an updated row. @default an upsert is several statements
	 */
	readonly isInserted?: string
	/** Whether a transaction reads records from a snapshot of its start, unless it locks them. */
	readonly readsSnapshots?: boolean
	/** A statement that fails if the server responds but can't read its tables; default `select 1`. */
	readonly takesReads?: string
	/** A statement that returns a row only if the server accepts changes; without it, `check` doesn't test for that. */
	readonly takesChanges?: string
	/** A statement that checks at once the constraints that a transaction would check at its end. @default there are none */
	readonly checksDeferred?: string
	/** Whether an error means that the table was altered: a column is gone or has another type. */
	isOutdated?(error: unknown): boolean
	/**
	 * Translates an error of the driver; `undefined` for a programming error. `unavailable` if there was no connection,
	 * `outcome_unknown` if the connection was lost; for a read, the caller turns `outcome_unknown` into `unavailable`.
	 */
	failure(error: unknown, table: Table): ModelError | undefined
}

/** See `Dialect.rows`. */
export interface InsertedRows {
	/** Maximum number of placeholders in a statement. */
	readonly maxValues: number
	/** Whether a row may have `default` instead of a value. */
	readonly hasDefaults: boolean
	/**
	 * Whether `returning` may have the rows in any order: then they are sorted by the key, which must be a serial number.
	 * @default they are in the order in which they were given
	 */
	readonly isUnordered?: boolean
	/**
	 * Writes the rows, after the list of columns, in another way than ` values (…), (…)`; false if it can't. `lists` has the
	 * values of all rows for each column; `also` has SQL that follows them in each row.
	 */
	write?(sql: Sql, columns: readonly Column[], lists: readonly Value[][], also: readonly string[]): boolean
}

/** See `Dialect.updateAll`. In `set` and `where`, `v.c1` is the first of the values. */
export interface UpdateOfAll {
	/** With its alias. */
	readonly table: string
	readonly set: string
	readonly where: string
	/** The columns of the values. */
	readonly columns: readonly Column[]
	readonly keys: readonly Column[]
	/** The number of the key's first value. */
	readonly keyAt: number
	readonly returning: string
}

/** A key of the groups. */
export interface KeyColumn {
	readonly column: Column
	/** The quoted name with the alias of its table. */
	readonly ref: string
	readonly part: TimePart | undefined
}

/** A total of the groups. */
export type TotalColumn =
	| { readonly op: 'count' }
	| { readonly op: Exclude<Total['op'], 'count'>; readonly column: Column; readonly ref: string }

/** The parts of a statement for totals. */
export interface TotalsParts {
	readonly query: TotalsQuery
	readonly keys: readonly KeyColumn[]
	readonly totals: readonly TotalColumn[]
	/** Writes ` from … where …`. */
	source(sql: Sql): void
	/** The spans of the query's time zone: see `TimeZone`. */
	spans(from: number, to: number): readonly Span[]
}

/** How totals are written; without it, a dialect has none. */
export interface TotalsDialect {
	/** Writes a select of one row whose values `write` needs; returns false if it needs none. */
	probe?(sql: Sql, parts: TotalsParts): boolean
	/** Writes the statement. `probed` is the row of `probe`. */
	write(sql: Sql, parts: TotalsParts, probed: readonly unknown[]): void
	/**
	 * Reads the statement's rows; `undefined` if records have changed so that `probed` is wrong: then both are run again.
	 *
	 * @default each is the JSON of a group; null if all of it is too large
	 */
	read?(rows: Rows, parts: TotalsParts, probed: readonly unknown[]): Totaled | undefined
}

/** Builder of a statement. Values never become part of the text. */
export class Sql {
	readonly dialect: Dialect
	text = ''
	readonly values: unknown[]
	/** See `Statement`. */
	maxBytes: Bytes | undefined
	isOfLists = false

	/** `values` are those of the statement that this text becomes a part of. */
	constructor(dialect: Dialect, values: unknown[] = []) {
		this.dialect = dialect
		this.values = values
	}

	/** Adds trusted text: keywords, quoted names, placeholders. Never anything that a client has sent. */
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

	/** The finished statement; `writes` if it changes records. */
	statement(writes: boolean): Statement {
		const { text, values, maxBytes, isOfLists } = this
		if (maxBytes === undefined) return { text, values, writes }
		return isOfLists ? { text, values, writes, maxBytes, isOfLists } : { text, values, writes, maxBytes }
	}
}
