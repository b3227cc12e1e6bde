/** PostgreSQL's types: their field types, their names in casts, and how values are sent. */

import { RawJson } from '../../wire/raw-json.ts'
import type { Field, FieldType, Value } from '../model.ts'
import { ModelError } from '../model-error.ts'
import { ansiQuoted, type Column, wellFormed } from '../sql/table.ts'

/** A type as the catalog describes it. */
export interface CatalogType {
	readonly oid: string
	readonly schema: string
	readonly name: string
	/** `b` base, `c` composite, `d` domain, `e` enum, `p` pseudo, `r` range, `m` multirange. */
	readonly kind: string
	/** `S` string, `A` array. */
	readonly category: string
	readonly base: string
	readonly element: string
	readonly typmod: number
	readonly notNull: boolean
	readonly hasDefault: boolean
	readonly labels: readonly string[] | null
	readonly checks: readonly { readonly name: string; readonly condition: string | null }[] | null
}

type Kind = Pick<
	Field,
	'type' | 'maxLength' | 'choices' | 'min' | 'max' | 'digits' | 'fraction' | 'besides' | 'padded'
>

const DAY = String.raw`-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])`
const TIME_UTC = String.raw`T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z`

/** Infinity, years after 9999, and years BC, as `json.ts` writes them. */
function beyondYears(day: string): RegExp {
	return new RegExp(`^(?:-?infinity|[1-9]\\d{4,6}${day}|\\d{4,6}${day} BC)$`)
}

const MOMENTS = beyondYears(DAY + TIME_UTC)
const NOT_FINITE = /^(?:NaN|-?Infinity)$/

/** Types of `pg_catalog`; all others are `other`, in the database's own text form. */
const BUILT_IN: Readonly<Record<string, Kind>> = {
	bool: { type: 'boolean' },
	int2: { type: 'integer', min: -32_768, max: 32_767 },
	int4: { type: 'integer', min: -2_147_483_648, max: 2_147_483_647 },
	int8: { type: 'bigint' },
	oid: { type: 'integer', min: 0, max: 4_294_967_295 },
	float4: { type: 'float' },
	float8: { type: 'float' },
	numeric: { type: 'decimal', besides: NOT_FINITE },
	money: { type: 'decimal' },
	text: { type: 'text' },
	varchar: { type: 'text' },
	bpchar: { type: 'text', padded: true },
	// PostgreSQL would silently truncate longer values: a name to 63 bytes, a "char" to one.
	name: { type: 'text', maxLength: 63 },
	char: { type: 'text', maxLength: 1 },
	uuid: { type: 'uuid' },
	date: { type: 'date', besides: beyondYears(DAY) },
	time: { type: 'time', besides: /^24:00:00(?:\.0{1,9})?$/ },
	timestamp: { type: 'timestamp', fraction: 6, besides: MOMENTS },
	timestamptz: { type: 'timestamp', fraction: 6, besides: MOMENTS },
	json: { type: 'json' },
	jsonb: { type: 'json' },
	bytea: { type: 'bytes' },
}

/** A column's `storage` if `=` ignores case or trailing blanks. */
export const LOOSE = 'loose'

/** A column's `storage` for an array that was declared multidimensional. */
export const NESTED = 'nested'

/** Whether a type's `=` ignores case or trailing blanks with any collation: citext, char(n). */
export function isLoose(type: CatalogType): boolean {
	return type.name === 'bpchar' || otherType(type) === 'text'
}

/** A type modifier is the length of a text, or the digits of a numeric, plus 4 for a header; or a timestamp's digits. */
const TYPMOD_HEADER = 4

/** The field type with its bounds; `typmod` is -1 for none. The caller resolves domains. */
export function fieldOf(type: CatalogType, typmod: number): Kind {
	if (type.kind === 'e') return { type: 'text', choices: type.labels ?? [] }
	if (isArray(type)) return { type: 'json' }
	const builtIn = type.schema === 'pg_catalog' ? BUILT_IN[type.name] : undefined
	if (builtIn === undefined) return { type: otherType(type) }
	if (typmod >= TYPMOD_HEADER && /^(?:varchar|bpchar)$/.test(type.name)) {
		return { ...builtIn, maxLength: typmod - TYPMOD_HEADER }
	}
	if (typmod >= TYPMOD_HEADER && type.name === 'numeric') {
		return { type: 'decimal', digits: digitsOf(typmod - TYPMOD_HEADER), besides: /^NaN$/ }
	}
	return builtIn.type === 'timestamp' && typmod >= 0 ? { ...builtIn, fraction: typmod } : builtIn
}

/** Decodes the type modifier of a numeric: 16 bits of precision above 11 bits of scale, signed since PostgreSQL 15. */
function digitsOf(modifier: number): readonly [before: number, behind: number] {
	const precision = modifier >> 16
	const scale = ((modifier & 0x7ff) ^ 0x400) - 0x400
	return [Math.max(0, precision - scale), scale]
}

/** String types of extensions (citext) are texts. */
function otherType(type: CatalogType): FieldType {
	return type.category === 'S' && type.kind === 'b' && type.schema !== 'pg_catalog' ? 'text' : 'other'
}

function isArray(type: CatalogType): boolean {
	return type.category === 'A' && type.element !== '0'
}

/** The type's name in a cast; without length, because a cast to `varchar(3)` would truncate silently. */
export function sqlTypeOf(type: CatalogType, types: ReadonlyMap<string, CatalogType>): string {
	if (isArray(type)) {
		let element = types.get(type.element)
		// Elements of a domain are sent as its base type.
		while (element?.kind === 'd') element = types.get(element.base)
		if (element !== undefined && element.category !== 'A') return `${sqlTypeOf(element, types)}[]`
	}
	if (type.schema !== 'pg_catalog') return `${ansiQuoted(type.schema)}.${ansiQuoted(type.name)}`
	// Unquoted, `char` and `bit` are other types: char(1) and bit(1).
	return /^(?:char|bit)$/.test(type.name) ? `"${type.name}"` : type.name
}

/** The digits of a time beyond its microseconds. */
const BEYOND_MICROSECONDS = /(?<=\.\d{6})\d+/

/** Cuts off the digits that PostgreSQL would round, even up to the next year. */
function cutTime(value: string, { type }: Column): string {
	return type === 'timestamp' || type === 'time' ? value.replace(BEYOND_MICROSECONDS, '') : value
}

/**
 * Converts a value to text, which PostgreSQL parses exactly; booleans and bytes stay as they are.
 *
 * @throws ModelError `invalid` for a lone surrogate, which would silently become U+FFFD
 */
export function bound(value: Value, column: Column): unknown {
	if (value === null || typeof value === 'boolean') return value
	if (typeof value === 'string') return wellFormed(cutTime(value, column), column)
	if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
	if (value instanceof RawJson) {
		if (column.storage === NESTED) return nestedLiteral(value.text, column)
		if (isList(column)) refuseNested(value.text, column)
		return wellFormed(value.text, column)
	}
	// `String(-0)` would be '0'.
	return Object.is(value, -0) ? '-0' : String(value)
}

/** Whether a column is an array of another type than JSON. */
function isList({ sqlType }: Column): boolean {
	return sqlType.endsWith('[]') && sqlType !== 'json[]' && sqlType !== 'jsonb[]'
}

/** Rejects lists and objects within a list, which would be stored as their JSON text. */
function refuseNested(text: string, column: Column): void {
	// The first character is the bracket of the list itself.
	if (!/[[{]/.test(text.trimStart().slice(1))) return
	let list: unknown
	try {
		list = JSON.parse(text)
	} catch {
		throw new ModelError('invalid', [column.name])
	}
	if (Array.isArray(list) && list.some((element) => typeof element === 'object' && element !== null))
		throw new ModelError('invalid', [column.name])
}

/** Converts nested JSON arrays to an array literal; the server checks that their lengths match. */
function nestedLiteral(json: string, column: Column): string {
	try {
		if (Array.isArray(JSON.parse(json))) return wellFormed(json.replace(TOKENS, literalOf), column)
	} catch {
		// Malformed JSON gets the same error as a value that isn't a list.
	}
	throw new ModelError('invalid', [column.name])
}

/** Tokens of JSON that differ in an array literal, or aren't allowed there. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{]|null/g

/** @throws TypeError for an object */
function literalOf(token: string): string {
	if (token === '[') return '{'
	if (token === ']') return '}'
	if (token === 'null') return 'NULL'
	if (token === '{') throw new TypeError('an object is not a list')
	return elementText(JSON.parse(token))
}

/** Types whose values postgres.js converts with a loss of precision, unless they are sent as text. */
const RESHAPED: ReadonlySet<string> = new Set(['date', 'timestamp', 'timestamptz', 'json', 'jsonb'])

/** The n-th placeholder with a cast to the column's type; `throughText` for postgres.js. */
export function cast(n: number, column: Column | undefined, throughText: boolean): string {
	if (column === undefined) return `$${n}::int8`
	const { sqlType } = column
	// Through text[], because array literals of some types have other delimiters.
	if (column.storage === NESTED) return `$${n}::text[]::${sqlType}`
	if (sqlType.endsWith('[]')) return arrayOf(n, sqlType.slice(0, -2), throughText)
	// The text form of money depends on the locale; numeric doesn't.
	if (sqlType === 'money') return `$${n}::numeric::money`
	// A cast to name would truncate a longer text silently.
	if (sqlType === 'name') return `$${n}::text`
	return throughText && RESHAPED.has(sqlType) ? `$${n}::text::${sqlType}` : `$${n}::${sqlType}`
}

/** Converts a JSON array to an SQL array; the elements' digits never pass through a double. */
function arrayOf(n: number, element: string, throughText: boolean): string {
	const json = throughText ? `$${n}::text::json` : `$${n}::json`
	const isJson = element === 'json' || element === 'jsonb'
	const elements = isJson ? 'json_array_elements' : 'json_array_elements_text'
	const all = `select ${elementOf(element)} from ${elements}(${json}) with ordinality u(e, o) order by u.o`
	return `case when ${json} is not null then array(${all}) end`
}

function elementOf(element: string): string {
	if (element === 'bytea') return `decode(u.e, 'base64')`
	if (element === 'timestamp') return `(u.e::timestamptz at time zone interval '0')`
	if (element === 'money') return 'u.e::numeric::money'
	return `u.e::${element}`
}

/** Ids as an array literal, a text that all drivers send unchanged. */
export function arrayLiteral(ids: readonly string[], column: Column): string {
	if (column.type !== 'text') return `{${ids.join(',')}}`
	const quoted = ids.map((id) => `"${wellFormed(id, column).replace(/["\\]/g, '\\$&')}"`)
	return `{${quoted.join(',')}}`
}

/** Values as an array literal; `undefined` for types without `=`, or whose array literals have another delimiter. */
export function arrayOfValues(values: readonly Value[], column: Column): string | undefined {
	const { type, sqlType } = column
	if (type === 'json' || (type === 'other' && (sqlType === 'box' || sqlType.includes('.')))) return undefined
	return `{${values.map((value) => elementText(bound(value, column))).join(',')}}`
}

/** Whether the values of several rows can be sent as an array: arrays would be flattened. */
export function takesRows({ type, sqlType, storage }: Column): boolean {
	if (storage === NESTED || sqlType.endsWith('[]')) return false
	return type !== 'other' || !(sqlType === 'box' || sqlType.includes('.'))
}

/** The values of a column in several rows, as `arrayOfValues`; `undefined` unless it `takesRows`. */
export function arrayOfRows(values: readonly Value[], column: Column): string | undefined {
	if (!takesRows(column)) return undefined
	let text = ''
	for (const value of values) {
		const element = Number.isSafeInteger(value) && value !== 0 ? value : elementText(bound(value, column))
		text += text === '' ? `{${element}` : `,${element}`
	}
	return `${text}}`
}

/** Values that are `bound`, as an array literal. */
export function arrayOfBound(values: readonly unknown[]): string {
	return `{${values.map(elementText).join(',')}}`
}

function elementText(value: unknown): string {
	if (value === null) return 'NULL'
	if (typeof value === 'boolean') return String(value)
	if (Buffer.isBuffer(value)) return `"\\\\x${value.toString('hex')}"`
	// A regular expression takes three times as long.
	let text = String(value)
	if (text.includes('\\')) text = text.replaceAll('\\', '\\\\')
	if (text.includes('"')) text = text.replaceAll('"', '\\"')
	return `"${text}"`
}

/** The n-th placeholder with a cast to an array of the type that `cast` uses for one value. */
export function arrayCast(n: number, { sqlType }: Column): string {
	if (sqlType === 'money') return `$${n}::numeric[]::money[]`
	return `$${n}::${sqlType === 'name' ? 'text' : sqlType}[]`
}
