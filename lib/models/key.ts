/** Keys and ids of models, for CRUD and for all stores: which types a key can have, and the text of its values in an id. */
import { joinId } from '../wire/record-id.ts'
import type { FieldType, Model } from './model.ts'

const KEY_TYPES: ReadonlySet<FieldType> = new Set<FieldType>([
	...(['integer', 'bigint', 'uuid', 'text', 'date', 'timestamp'] as const),
])

/** The types of a key, for messages. */
export const KEY_TYPES_TEXT = 'an integer, a uuid, a text, a date or a timestamp'

export function isKeyType(type: FieldType): boolean {
	return KEY_TYPES.has(type)
}

/** The names of a model's key fields; a model may give a single one without a list. */
export function keyNames({ key }: Pick<Model, 'key'>): readonly string[] {
	return typeof key === 'string' ? [key] : key
}

/** The id of a record with these values of the key, in its order, each with its field's type. */
export function idOfKey(values: readonly unknown[], fields: readonly { readonly type: FieldType }[]): string {
	return joinId(values.map((value, at) => keyText(value, fields[at]?.type)))
}

/** Whether two lists have the same fields, in any order. Each list names a field once. */
export function isSameFields(fields: readonly string[], others: readonly string[]): boolean {
	return fields.length === others.length && fields.every((field) => others.includes(field))
}

/** A value of the key as text. A timestamp has at least three digits after the second, and no trailing zeros after those. */
export function keyText(value: unknown, type: FieldType | undefined): string {
	const text = String(value)
	return type === 'timestamp' ? shortestTimestamp(text) : text
}

/** `2026-11-20T12:45:00.123000Z` → `2026-11-20T12:45:00.123Z` */
export function shortestTimestamp(text: string): string {
	const [, before, digits = ''] = /^(.*:\d\d)(?:\.(\d+))?Z$/.exec(text) ?? []
	return before === undefined ? text : `${before}.${digits.replace(/0+$/, '').padEnd(3, '0')}Z`
}
