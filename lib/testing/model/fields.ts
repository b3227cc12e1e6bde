/** The table of the model contract: its fields, and the features that a store may lack. */
import type { FieldType } from '../../models/model.ts'

/**
 * What a store may not support: a field type, or
 *
 * - `microseconds`: timestamps are more precise than milliseconds
 * - `infinity`, `nan`: values of floats
 * - `maxLength`: texts that are too long are refused
 * - `foreign_key`: references are checked
 */
export type Feature =
	| 'bigint'
	| 'float'
	| 'decimal'
	| 'boolean'
	| 'date'
	| 'time'
	| 'timestamp'
	| 'uuid'
	| 'json'
	| 'bytes'
	| 'microseconds'
	| 'infinity'
	| 'nan'
	| 'maxLength'
	| 'foreign_key'

/** A field of the table. */
export interface ContractField {
	readonly name: string
	readonly type: FieldType
	readonly nullable: boolean
	readonly hasDefault: boolean
	/** Requirements, for creating the table. */
	readonly note: string
	/** The feature that it needs. */
	readonly needs?: Feature
}

/** The fields of the table that `modelContract` needs. Its key is `id`. One name is a reserved word of SQL. */
export const FIELDS: readonly ContractField[] = [
	given('id', 'integer', 'the key, made by the store, counting up; may be of type bigint', {
		hasDefault: true,
	}),
	given('title', 'text', 'of at least 60,000 bytes'),
	nullable('note', 'text', 'of at least 1,000 characters'),
	nullable('order', 'integer', 'of at least 32 bits; may be of type bigint'),
	nullable('big', 'bigint', 'of 64 bits; may be a text in the JSON', 'bigint'),
	nullable('ratio', 'float', 'of 64 bits', 'float'),
	nullable('price', 'decimal', 'of 20 digits, 4 of them after the point', 'decimal'),
	nullable('done', 'boolean', '', 'boolean'),
	nullable('day', 'date', '', 'date'),
	nullable('clock', 'time', '', 'time'),
	nullable('at', 'timestamp', 'in UTC', 'timestamp'),
	nullable('token', 'uuid', '', 'uuid'),
	nullable('extra', 'json', '', 'json'),
	nullable('data', 'bytes', 'of at least 3,000 bytes', 'bytes'),
	given('status', 'text', "its default is 'draft'", { hasDefault: true }),
	nullable('email', 'text', 'unique, of at most 200 characters'),
	given('version', 'integer', 'its default is 1; may be of type bigint', { hasDefault: true }),
	nullable('parent', 'integer', 'refers to an id of the same table; may be of type bigint'),
]

/** The features that a case about this field needs. */
export function needsOf(name: string, ...more: Feature[]): Feature[] {
	const own = FIELDS.find((field) => field.name === name)?.needs
	return own === undefined ? more : [own, ...more]
}

function given(
	name: string,
	type: FieldType,
	note: string,
	{ hasDefault = false }: { hasDefault?: boolean } = {},
): ContractField {
	return { name, type, note, nullable: false, hasDefault }
}

function nullable(name: string, type: FieldType, note: string, needs?: Feature): ContractField {
	const field = { name, type, note, nullable: true, hasDefault: false }
	return needs === undefined ? field : { ...field, needs }
}
