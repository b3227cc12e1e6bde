/** Values on their way to PostgreSQL: what the driver is handed, and the cast behind the placeholder. */

import { RawJson } from '../../wire/raw-json.ts'
import type { Value } from '../model.ts'
import { ModelError } from '../model-error.ts'
import type { Column } from '../sql/table.ts'
import { NESTED } from './types.ts'

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
