/** Writes records of a `MemoryModel` as JSON, each type as specified by `FieldType`. */
import { keyText, shortestTimestamp } from '../key.ts'
import type { Field, Selection } from '../model.ts'
import type { FieldAt, Store } from './store.ts'
import { type Stored, shortestDecimal, wireTimestamp } from './stored.ts'

type Write = (value: Exclude<Stored, null>) => string

/** Returns a function that writes the selected fields of a record. */
export function writerOf(selection: Selection, store: Store): (values: readonly Stored[]) => string {
	const parts = selection.fields.map((name, at) => ({
		index: store.indexOf(name),
		head: `${at === 0 ? '{' : ','}${JSON.stringify(selection.names[at] ?? name)}:`,
		write: writeOf(store.field(name)),
	}))
	if (parts.length === 0) return () => '{}'
	return (values) => {
		let json = ''
		for (const { index, head, write } of parts) {
			const value = values[index] ?? null
			json += head + (value === null ? 'null' : write(value))
		}
		return `${json}}`
	}
}

/** A value with full precision, for the cursor `Listed.next`. */
export function exactJson(value: Stored, field: Field): string {
	if (value === null) return 'null'
	if (field.type === 'bytes' || field.type === 'float') return writeOf(field)(value)
	return typeof value === 'bigint' || field.type === 'bigint' ? `"${value}"` : JSON.stringify(value)
}

/** A text that is the same for equal values. For a key, it is the record's id. */
export function identityOf(value: Exclude<Stored, null>, field: Field): string {
	if (value instanceof Uint8Array) return base64(value)
	if (field.type === 'decimal') return shortestDecimal(String(value))
	return keyText(value, field.type)
}

/** These texts of some fields; `undefined` if one of them is null. */
export function identitiesOf(values: readonly Stored[], fields: readonly FieldAt[]): string[] | undefined {
	const texts: string[] = []
	for (const { index, field } of fields) {
		const value = values[index] ?? null
		if (value === null) return undefined
		texts.push(identityOf(value, field))
	}
	return texts
}

export function writeOf({ type, asText, allDigits }: Field): Write {
	switch (type) {
		case 'boolean':
		case 'integer':
			return String
		case 'bigint':
			return asText === true ? (value) => `"${value}"` : String
		case 'float':
			return (value) => (Number.isFinite(value) ? numberJson(value) : `"${value}"`)
		case 'json':
			// A `json` value is stored as its text.
			return (value) => value as string
		case 'bytes':
			return (value) => (value instanceof Uint8Array ? `"${base64(value)}"` : 'null')
		case 'timestamp':
			return (value) =>
				`"${allDigits === true ? shortestTimestamp(String(value)) : wireTimestamp(String(value))}"`
		default:
			return (value) => JSON.stringify(value)
	}
}

/** `JSON.stringify` loses the sign of -0. */
function numberJson(value: unknown): string {
	return Object.is(value, -0) ? '-0' : String(value)
}

function base64(bytes: Uint8Array): string {
	return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
