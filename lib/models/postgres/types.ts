/** PostgreSQL's types: what a field of each holds, and how the type is written in a cast. */
import type { Field, FieldType } from '../model.ts'
import type { CatalogType } from './catalog.ts'
import { quoteName } from './quote.ts'

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
