/**
 * A column that knows its SQL, and how records and cursors are put together out of it: `concat` of what stands
 * as it is and of expressions. `types.ts` says what each type needs.
 */
import type { Value } from '../model.ts'
import type { Column } from '../sql/table.ts'
import { literal } from './text.ts'

/** Parts of a `concat(…)`: texts that stand as they are, and expressions. `ref` is the column's quoted name. */
export type Part = { readonly text: string } | { readonly sql: string }
export type Parts = readonly Part[]

export interface ColumnSql {
	/** Its JSON; where it isn't null. */
	json(ref: string): Parts
	/** Its JSON in a cursor, as exact as the database knows it; where it isn't null. */
	cursor(ref: string): Parts
	/** A condition that it isn't null; nothing where it can't be. */
	isThere(ref: string): string | undefined
	/** As a number or a text that the driver doesn't change. */
	exact(ref: string): string
	/** By what it is compared when it is compared with a text or a number. */
	order(ref: string): string
	/** Its placeholder. */
	readonly placeholder: string
	/** The placeholder of a value that needs another one; `undefined` for all others. */
	placeholderOf?(value: Value): string | undefined
	bind(value: Exclude<Value, null>): unknown
}

/** What the type's name alone doesn't say. */
export interface Measures {
	readonly isUnsigned: boolean
	readonly precision: number
	/** Digits after the point: of a decimal, of a second. */
	readonly scale: number
	/** Whether zeros are written in front of it: years, and columns with `zerofill`. */
	readonly isPadded: boolean
	/** The first second that is too late for TIMESTAMP, in UTC. */
	readonly untilSecond: string
}

/** A column that knows its SQL. */
export interface MysqlColumn extends Column {
	readonly sql: ColumnSql
	/** Whether the database counts it up. */
	readonly isCounted: boolean
	/** The character set of a text. */
	readonly charset: string | undefined
	/** Whether a text's collation takes upper and lower case for the same. */
	readonly ignoresCase: boolean
}

export const asText = (ref: string): string => `cast(${ref} as char)`

/** @throws TypeError for a column that was made elsewhere */
export function mysqlColumn(column: Column): MysqlColumn {
	if (isMysqlColumn(column)) return column
	throw new TypeError(`the column ${JSON.stringify(column.name)} is none of MySQL`)
}

function isMysqlColumn(column: Column): column is MysqlColumn {
	return 'sql' in column
}

/** The parts as the arguments of `concat`; neighbouring texts become one. */
export function concatOf(parts: Parts): string {
	const written: string[] = []
	let text = ''
	for (const part of parts) {
		if ('text' in part) {
			text += part.text
			continue
		}
		if (text !== '') written.push(literal(text))
		text = ''
		written.push(part.sql)
	}
	if (text !== '') written.push(literal(text))
	return `concat(${written.join(',')})`
}

/** A column's JSON within a `concat`, null included: `concat` of anything with NULL is NULL. */
export function jsonParts({ sql }: MysqlColumn, ref: string, form: 'json' | 'cursor'): Parts {
	const parts = sql[form](ref)
	const isThere = sql.isThere(ref)
	if (isThere === undefined) return parts
	const [first] = parts
	const whole = parts.length === 1 && first !== undefined && 'sql' in first ? first.sql : concatOf(parts)
	return [{ sql: `if(${isThere},${whole},'null')` }]
}

/**
 * JSON without its line breaks: those of base64 are no JSON, and others stand between values, as within texts
 * they are escaped.
 */
export function unbroken(json: string): string {
	return json.replaceAll('\n', '')
}
