/**
 * PostgreSQL's types: what a field of each holds, how the type is written in a cast, and how values are sent: what the
 * driver is given, and the cast behind the placeholder. Used by `introspect.ts` and `dialect.ts`.
 */

import { RawJson } from '../../wire/raw-json.ts'
import type { Field, FieldType, Value } from '../model.ts'
import { ModelError } from '../model-error.ts'
import type { Column } from '../sql/table.ts'

/** A type as the catalog describes it. */
export interface CatalogType {
	readonly oid: string
	readonly schema: string
	readonly name: string
	/** `b` base, `c` composite, `d` domain, `e` enum, `p` pseudo, `r` range, `m` multirange. */
	readonly kind: string
	/** `S` for texts, `A` for arrays. */
	readonly category: string
	readonly base: string
	readonly element: string
	readonly typmod: number
	readonly notNull: boolean
	readonly hasDefault: boolean
	readonly labels: readonly string[] | null
	readonly checks: readonly string[] | null
}

type Kind = Pick<Field, 'type' | 'maxLength' | 'choices' | 'min' | 'max' | 'digits' | 'besides'>

const DAY = String.raw`-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])`
const TIME_UTC = String.raw`T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z`

/** Infinity, years after 9999, and years before Christ, as `expression.ts` writes them. */
function beyondYears(day: string): RegExp {
	return new RegExp(`^(?:-?infinity|[1-9]\\d{4,6}${day}|\\d{4,6}${day} BC)$`)
}

const MOMENTS = beyondYears(DAY + TIME_UTC)
const NOT_FINITE = /^(?:NaN|-?Infinity)$/

/** Types of `pg_catalog`; those that aren't here are written as the database writes them: `other`. */
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
	bpchar: { type: 'text' },
	// Longer values are cut silently: a name has 63 bytes, a "char" one.
	name: { type: 'text', maxLength: 63 },
	char: { type: 'text', maxLength: 1 },
	uuid: { type: 'uuid' },
	date: { type: 'date', besides: beyondYears(DAY) },
	time: { type: 'time', besides: /^24:00:00(?:\.0{1,9})?$/ },
	timestamp: { type: 'timestamp', besides: MOMENTS },
	timestamptz: { type: 'timestamp', besides: MOMENTS },
	json: { type: 'json' },
	jsonb: { type: 'json' },
	bytea: { type: 'bytes' },
}

/** A column's `storage` where `=` takes unlike texts for the same: by case, or blanks at their end. */
export const LOOSE = 'loose'

/** A column's `storage` where it is an array that was declared for lists within lists. */
export const NESTED = 'nested'

/** Whether texts of a type are compared so whatever their collation is: citext, char(n). */
export function isLoose(type: CatalogType): boolean {
	return type.name === 'bpchar' || otherType(type) === 'text'
}

/** A modifier holds the length of a text, or the digits of a numeric, and the four bytes of a header. */
const TYPMOD_HEADER = 4

/** What a column of a type holds; `typmod` is -1 for no length. Domains are resolved by the caller. */
export function fieldOf(type: CatalogType, typmod: number): Kind {
	if (type.kind === 'e') return { type: 'text', choices: type.labels ?? [] }
	if (isArray(type)) return { type: 'json' }
	const builtIn = type.schema === 'pg_catalog' ? BUILT_IN[type.name] : undefined
	if (builtIn === undefined) return { type: otherType(type) }
	if (typmod >= TYPMOD_HEADER && /^(?:varchar|bpchar)$/.test(type.name)) {
		return { type: 'text', maxLength: typmod - TYPMOD_HEADER }
	}
	if (typmod >= TYPMOD_HEADER && type.name === 'numeric') {
		return { type: 'decimal', digits: digitsOf(typmod - TYPMOD_HEADER), besides: /^NaN$/ }
	}
	return builtIn
}

/** Of 16 bits of precision above 11 bits of scale, which since PostgreSQL 15 has a sign. */
function digitsOf(modifier: number): readonly [before: number, behind: number] {
	const precision = modifier >> 16
	const scale = ((modifier & 0x7ff) ^ 0x400) - 0x400
	return [Math.max(0, precision - scale), scale]
}

/** Texts of extensions (citext) are texts. */
function otherType(type: CatalogType): FieldType {
	return type.category === 'S' && type.kind === 'b' && type.schema !== 'pg_catalog' ? 'text' : 'other'
}

function isArray(type: CatalogType): boolean {
	return type.category === 'A' && type.element !== '0'
}

/** The type as it stands in a cast; without length, as a cast to `varchar(3)` would cut silently. */
export function sqlTypeOf(type: CatalogType, types: ReadonlyMap<string, CatalogType>): string {
	if (isArray(type)) {
		let element = types.get(type.element)
		// Elements that are domains come and go as what the domain is made of.
		while (element?.kind === 'd') element = types.get(element.base)
		if (element !== undefined && element.category !== 'A') return `${sqlTypeOf(element, types)}[]`
	}
	if (type.schema !== 'pg_catalog') return `${quoteName(type.schema)}.${quoteName(type.name)}`
	// Unquoted, these two are other types: char(1) and bit(1).
	return /^(?:char|bit)$/.test(type.name) ? `"${type.name}"` : type.name
}

/** A name as an identifier, whatever it holds; there is no NUL in the names of a catalog. */
export function quoteName(name: string): string {
	return `"${name.replaceAll('"', '""')}"`
}

/**
 * A value as text, which PostgreSQL reads exactly; only booleans and bytes stay what they are.
 *
 * @throws ModelError `invalid` for text that isn't Unicode: a lone surrogate would silently become U+FFFD
 */
export function bound(value: Value, column: Column): unknown {
	if (value === null || typeof value === 'boolean') return value
	if (typeof value === 'string') return wellFormed(value, column)
	if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
	if (value instanceof RawJson) {
		if (column.storage === NESTED) return nestedLiteral(value.text, column)
		if (isList(column)) refuseNested(value.text, column)
		return wellFormed(value.text, column)
	}
	// A number's text has no sign at zero.
	return Object.is(value, -0) ? '-0' : String(value)
}

/** Whether a column is an array whose elements are no JSON themselves. */
function isList({ sqlType }: Column): boolean {
	return sqlType.endsWith('[]') && sqlType !== 'json[]' && sqlType !== 'jsonb[]'
}

/** A list or an object within a list would be stored as its text. */
function refuseNested(text: string, column: Column): void {
	// The first character is the list's own.
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

/** A JSON array, and those within it, as an array's literal: the server says whether their lengths fit. */
function nestedLiteral(json: string, column: Column): string {
	try {
		if (Array.isArray(JSON.parse(json))) return wellFormed(json.replace(TOKENS, literalOf), column)
	} catch {
		// As where it is no list.
	}
	throw new ModelError('invalid', [column.name])
}

/** What is written in another way in a literal than in JSON, or can't be there. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{]|null/g

/** @throws TypeError for an object */
function literalOf(token: string): string {
	if (token === '[') return '{'
	if (token === ']') return '}'
	if (token === 'null') return 'NULL'
	if (token === '{') throw new TypeError('an object is no list')
	return elementText(JSON.parse(token))
}

const LONE_SURROGATE = /\p{Surrogate}/u

function wellFormed(text: string, column: Column): string {
	if (LONE_SURROGATE.test(text)) throw new ModelError('invalid', [column.name])
	return text
}

/** Types that postgres.js would send in a form of its own, and less exactly; as text it leaves them alone. */
const RESHAPED: ReadonlySet<string> = new Set(['date', 'timestamp', 'timestamptz', 'json', 'jsonb'])

/** The n-th placeholder, cast to the column's type. `throughText` for postgres.js. */
export function cast(n: number, column: Column | undefined, throughText: boolean): string {
	if (column === undefined) return `$${n}::int8`
	const { sqlType } = column
	// By text, as literals of some types have other commas.
	if (column.storage === NESTED) return `$${n}::text[]::${sqlType}`
	if (sqlType.endsWith('[]')) return arrayOf(n, sqlType.slice(0, -2), throughText)
	// Comparisons and assignments know numeric; money knows no other way in that no locale can bend.
	if (sqlType === 'money') return `$${n}::numeric::money`
	// As a name, a longer text would be cut silently.
	if (sqlType === 'name') return `$${n}::text`
	return throughText && RESHAPED.has(sqlType) ? `$${n}::text::${sqlType}` : `$${n}::${sqlType}`
}

/** Builds an array of a JSON array; the elements' digits never pass through a double. */
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

/** Ids as an array's literal, a form that all drivers pass on as it is. */
export function arrayLiteral(ids: readonly string[], column: Column): string {
	if (column.type !== 'text') return `{${ids.join(',')}}`
	const quoted = ids.map((id) => `"${wellFormed(id, column).replace(/["\\]/g, '\\$&')}"`)
	return `{${quoted.join(',')}}`
}

/** Types of which a list is sent value by value: their arrays aren't written with commas, or there is no `=`. */
function hasOwnForm({ type, sqlType }: Column): boolean {
	return type === 'json' || (type === 'other' && (sqlType === 'box' || sqlType.includes('.')))
}

/** Values as an array's literal; `undefined` where a type's arrays have a form of their own. */
export function arrayOfValues(values: readonly Value[], column: Column): string | undefined {
	return hasOwnForm(column)
		? undefined
		: `{${values.map((value) => elementText(bound(value, column))).join(',')}}`
}

function elementText(value: unknown): string {
	if (value === null) return 'NULL'
	if (Buffer.isBuffer(value)) return `"\\\\x${value.toString('hex')}"`
	return `"${String(value).replace(/["\\]/g, '\\$&')}"`
}

/** The n-th placeholder as an array of what `cast` writes for one value. */
export function arrayCast(n: number, { sqlType }: Column): string {
	if (sqlType === 'money') return `$${n}::numeric[]::money[]`
	return `$${n}::${sqlType === 'name' ? 'text' : sqlType}[]`
}
