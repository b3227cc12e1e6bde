/** PostgreSQL's types: what a field of each holds, and how the type is written in a cast. */
import type { Field, FieldType } from '../../crud/model.ts'
import type { CatalogType } from './catalog.ts'
import { quoteName } from './quote.ts'

type Kind = Pick<Field, 'type' | 'maxLength' | 'choices' | 'min' | 'max'>

/** Types of `pg_catalog`; those that aren't here are written as the database writes them: `other`. */
const BUILT_IN: Readonly<Record<string, Kind>> = {
	bool: { type: 'boolean' },
	int2: { type: 'integer', min: -32_768, max: 32_767 },
	int4: { type: 'integer', min: -2_147_483_648, max: 2_147_483_647 },
	int8: { type: 'bigint' },
	oid: { type: 'integer', min: 0, max: 4_294_967_295 },
	float4: { type: 'float' },
	float8: { type: 'float' },
	numeric: { type: 'decimal' },
	money: { type: 'decimal' },
	text: { type: 'text' },
	varchar: { type: 'text' },
	bpchar: { type: 'text' },
	// Longer values are cut silently: a name has 63 bytes, a "char" one.
	name: { type: 'text', maxLength: 63 },
	char: { type: 'text', maxLength: 1 },
	uuid: { type: 'uuid' },
	date: { type: 'date' },
	time: { type: 'time' },
	timestamp: { type: 'timestamp' },
	timestamptz: { type: 'timestamp' },
	json: { type: 'json' },
	jsonb: { type: 'json' },
	bytea: { type: 'bytes' },
}

/** A column's `storage` where `=` takes unlike texts for the same: by case, or blanks at their end. */
export const LOOSE = 'loose'

/** Whether texts of a type are compared so whatever their collation is: citext, char(n). */
export function isLoose(type: CatalogType): boolean {
	return type.name === 'bpchar' || otherType(type) === 'text'
}

/** A type's modifier for texts holds its length and the four bytes of a header. */
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
	return builtIn
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
