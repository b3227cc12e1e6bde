/** `CrudField`: a field of a model under the name by which clients know it. */
import { entriesOf, nearest } from '../base/options.ts'
import type { Field, FieldType, Model } from '../models/model.ts'

export interface CrudField {
	/** What clients call it. */
	readonly name: string
	/** What the model calls it, and what it holds. */
	readonly field: Field
}

/** Client's names for columns: by new name, or `created_at` → `createdAt` for all. */
export type Columns = 'camelCase' | Readonly<Record<string, string>>

/**
 * The fields of a model by the names that clients use, in the model's order.
 *
 * @throws TypeError for a column that there isn't, and for two fields of one name
 */
export function crudFields(
	owner: string,
	model: Model,
	columns: Columns | undefined,
): Map<string, CrudField> {
	const renamed = renames(owner, model, columns)
	const fields = new Map<string, CrudField>()
	for (const field of model.fields) {
		const name = renamed.get(field.name) ?? field.name
		const taken = fields.get(name)
		if (taken !== undefined)
			throw new TypeError(
				`${owner}: columns calls both ${taken.field.name} and ${field.name} ${name}: give one of them another name`,
			)
		fields.set(name, { name, field })
	}
	return fields
}

/** New names by the model's. */
function renames(owner: string, model: Model, columns: Columns | undefined): Map<string, string> {
	if (columns === undefined) return new Map()
	if (columns === 'camelCase') return new Map(model.fields.map(({ name }) => [name, camelCase(name)]))
	if (typeof columns === 'string')
		throw new TypeError(`${owner}: columns is 'camelCase' or an object, got ${JSON.stringify(columns)}`)
	const names = model.fields.map(({ name }) => name)
	const renamed = new Map<string, string>()
	for (const [name, column] of entriesOf(`${owner}: columns`, columns, "{ createdAt: 'created_at' }")) {
		if (typeof column !== 'string' || !names.includes(column))
			throw new TypeError(
				`${owner}: columns.${name}: ${model.name} has no column ${String(column)}${nearest(String(column), names)}`,
			)
		if (renamed.has(column))
			throw new TypeError(`${owner}: columns gives ${column} two names, ${renamed.get(column)} and ${name}`)
		renamed.set(column, name)
	}
	return renamed
}

/** An underscore at the beginning stays: it is somebody's mark. */
function camelCase(name: string): string {
	return name.replace(/(?<=[^_])_+(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** Whether records can be put in the order of a type. */
export function isOrdered(type: FieldType): boolean {
	return type !== 'json' && type !== 'bytes' && type !== 'other'
}

/** Whether parts of a value can be searched for. */
export function isTextual(type: FieldType): boolean {
	return type === 'text' || type === 'other'
}
