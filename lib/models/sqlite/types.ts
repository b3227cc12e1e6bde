/**
 * What a column's declared type says. SQLite takes any words for a type and has an affinity for them
 * (sqlite.org/datatype3.html §3.1); the names that people use for dates, booleans or JSON are read here too.
 */
import type { FieldType } from '../model.ts'

export interface DeclaredType {
	readonly type: FieldType
	/** Without length, in lower case: `varchar`. */
	readonly name: string
	/** The first number in parentheses: characters of a text, digits of a timestamp's second. */
	readonly length: number | undefined
	/** The second one: digits of a decimal behind the point. */
	readonly scale: number | undefined
}

/** The first that matches, in this order. */
const NAMES: readonly (readonly [RegExp, FieldType])[] = [
	[/^bool/, 'boolean'],
	[/^(?:integer|bigint|int8|unsigned big int|bigserial)$/, 'bigint'],
	[/^(?:datetime|timestamp)/, 'timestamp'],
	[/^date$/, 'date'],
	[/^time\b/, 'time'],
	[/^jsonb?$/, 'json'],
	[/^(?:uuid|guid|uniqueidentifier)$/, 'uuid'],
	[/dec|numeric|^money$/, 'decimal'],
	[/int/, 'integer'],
	[/char|clob|text|string|^enum/, 'text'],
	[/blob|binary|^bytea$/, 'bytes'],
	[/real|floa|doub/, 'float'],
]

/** `'VARCHAR(80)'` is text of at most 80 characters; `'TINYINT(1)'` a boolean, as with MySQL. */
export function declaredType(declared: string): DeclaredType {
	const text = declared.trim().toLowerCase()
	const [, words = '', digits, behind] = /^([^(]*)(?:\(\s*(\d+)\s*(?:,\s*(\d+))?[^)]*\))?/.exec(text) ?? []
	const name = words.trim().replaceAll(/\s+/g, ' ')
	const length = digits === undefined ? undefined : Number(digits)
	const scale = behind === undefined ? undefined : Number(behind)
	if (name === 'tinyint' && length === 1) return { type: 'boolean', name, length, scale }
	return { type: NAMES.find(([pattern]) => pattern.test(name))?.[1] ?? 'other', name, length, scale }
}
