/** PostgreSQL's `Dialect`. */
import type { Listed, Value } from '../model.ts'
import type { ModelError } from '../model-error.ts'
import {
	type Dialect,
	type ListParts,
	type OrderColumn,
	patternOf,
	type RecordSql,
	type Selected,
	type Sql,
	type TextMatch,
} from '../sql/dialect.ts'
import type { Rows } from '../sql/driver.ts'
import { ALIAS, type Column, columnName, type Table } from '../sql/table.ts'
import type { Lru } from '../sql/text-cache.ts'
import { failureOf, isMalformed } from './errors.ts'
import { recordSql } from './json.ts'
import { Lists } from './list.ts'
import { arrayCast, arrayLiteral, arrayOfValues, bound, cast, LOOSE, quoteName } from './types.ts'

/** Types that `like` takes as they are. */
const TEXTS: ReadonlySet<string> = new Set(['text', 'varchar', 'name'])

/** No such column; a value or an operator of another type than its column's. A regproc says so of a name, too. */
const OUTDATED: ReadonlySet<string> = new Set(['42703', '42804', '42883'])

class PostgresDialect implements Dialect {
	readonly returning = { insert: true, update: true, delete: true }
	readonly returningAlias = ALIAS
	readonly comparesRows = true
	readonly skipsSilently = true
	readonly gathers = true
	readonly takesChanges = `select 1 where current_setting('transaction_read_only') = 'off'`
	readonly insertNothing = ' default values'
	readonly lru: Lru
	readonly #throughText: boolean
	readonly #lists: Lists

	/** Only where the key's `=` takes other texts for the same. */
	readonly keyIs?: (sql: Sql, key: Column, alias: string, id: string) => void

	/** `throughText` where the driver has forms of its own for some types; `key` is the table's. */
	constructor(throughText: boolean, key: Column, lru: Lru) {
		this.lru = lru
		this.#lists = new Lists(lru)
		this.#throughText = throughText
		if (key.storage === LOOSE) this.keyIs = writeKeyIs
	}

	exactly(sql: Sql, column: Column, alias: string, text: string): void {
		if (column.storage === LOOSE) {
			sql.add('(')
			writeKeyIs(sql, column, alias, text)
			sql.add(')')
		} else sql.add(`${columnName(sql.dialect, column, alias)} = `).value(text, column)
	}

	quote(name: string): string {
		return quoteName(name)
	}

	placeholder(n: number, column: Column | undefined): string {
		return cast(n, column, this.#throughText)
	}

	bind(value: Value, column: Column): unknown {
		return bound(value, column)
	}

	bindNumber(value: number): unknown {
		return String(value)
	}

	defaultOf(): string {
		return 'default'
	}

	record(selected: readonly Selected[], alias: string): RecordSql {
		return recordSql(selected, alias)
	}

	exact(column: Column, alias: string): string {
		return `${columnName(this, column, alias)}::text`
	}

	orderTerm({ column, descending }: OrderColumn, alias: string): string {
		const name = columnName(this, column, alias)
		if (!descending) return name
		// On a column that is never null the clause would only keep the index from being used.
		return column.nullable ? `${name} desc nulls last` : `${name} desc`
	}

	matches(sql: Sql, column: Column, alias: string, match: TextMatch): void {
		const name = columnName(this, column, alias)
		const text = TEXTS.has(column.sqlType) || isExtension(column) ? name : `${name}::text`
		const pattern = patternOf(match, /[\\%_]/g, '\\')
		// What `ilike` looks for an index of trigrams finds; by `lower` it would need one of its own.
		sql.add(`${text} ${match.ignoreCase ? 'ilike' : 'like'} `)
		sql.values.push(bound(pattern, column))
		sql.add(`$${sql.values.length}::text`)
	}

	/** One array, however many there are: a statement has 65,535 placeholders at most. */
	oneOf(sql: Sql, column: Column, alias: string, values: readonly Value[], isExact: boolean): void {
		const name = columnName(this, column, alias)
		const array = arrayOfValues(values, column)
		if (array === undefined) {
			sql.add(`${name} in (`)
			for (const [index, value] of values.entries()) sql.add(index === 0 ? '' : ', ').value(value, column)
			sql.add(')')
			return
		}
		sql.values.push(array)
		const isOne = `${name} = any(${arrayCast(sql.values.length, column)})`
		if (!isExact || column.storage !== LOOSE) {
			sql.add(isOne)
			return
		}
		sql.values.push(array)
		sql.add(`(${isOne} and ${name}::text collate "C" = any($${sql.values.length}::text[]))`)
	}

	keyIn(sql: Sql, key: Column, alias: string, ids: readonly string[]): void {
		sql.values.push(arrayLiteral(ids, key))
		// Hidden in a select: of an array that it sees PostgreSQL knows the length, and by that it would think each
		// call worth a plan of its own (122 instead of 62 µs of the database's time).
		const array = `$${sql.values.length}::${key.sqlType}[]`
		sql.add(`${columnName(this, key, alias)} = any((select ${array})::${key.sqlType}[])`)
	}

	list(sql: Sql, parts: ListParts): void {
		this.#lists.write(sql, parts)
	}

	listed(rows: Rows, parts: ListParts): Listed | undefined {
		return this.#lists.read(rows, parts)
	}

	isOutdated(error: unknown): boolean {
		if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false
		return OUTDATED.has(error.code) && !isMalformed(error, error.code)
	}

	failure(error: unknown, table: Table): ModelError | undefined {
		return failureOf(error, table)
	}
}

/** @param throughText whether the driver has forms of its own for some types: see `cast` */
export function dialectOf(throughText: boolean, key: Column, lru: Lru): Dialect {
	return new PostgresDialect(throughText, key, lru)
}

/** Finds the key by its index, and takes it only as it is written. */
function writeKeyIs(sql: Sql, key: Column, alias: string, id: string): void {
	const name = columnName(sql.dialect, key, alias)
	sql.add(`${name} = `).value(id, key)
	sql.values.push(bound(id, key))
	sql.add(` and ${name}::text collate "C" = $${sql.values.length}::text`)
}

/** Texts of extensions (citext) have a `like` of their own. */
function isExtension(column: Column): boolean {
	return column.type === 'text' && column.choices === undefined && column.sqlType.includes('.')
}
