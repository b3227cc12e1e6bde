/**
 * The values that link records: reads them from the records' JSON, and turns them into conditions on related records. Used by
 * `attach.ts` and `actions.ts`.
 */
import { idOfKey, keyNames } from '../../models/key.ts'
import type { Condition, Field, Link, Model, Selection } from '../../models/model.ts'
import { type CrudField, namesOf, type Selections } from '../fields.ts'
import { type RecordText, recordTexts } from '../json-text.ts'
import type { CrudPlan, Relation } from '../plan.ts'
import { EVERYTHING, type Scope } from '../scope.ts'
import { type NonNullValue, valueFromText, withoutPadding } from '../value-from-text.ts'

/** Records as texts, with the values of some of their fields. */
export interface Records {
	readonly texts: readonly RecordText[]
	/** The fields whose values the texts have, in their order. */
	readonly fields: readonly CrudField[]
}

/** The records of a model's JSON, without members that are neither requested nor related. */
export function recordsIn(
	json: string,
	{ names, related = [] }: Selection,
	fields: readonly CrudField[],
): Records {
	const requested = [...names, ...related.map(({ name }) => name)]
	return { fields, texts: recordTexts(json, requested, namesOf(fields)) }
}

export function fieldsNamed({ fields }: CrudPlan, columns: readonly string[]): CrudField[] {
	return [...fields.values()].filter(({ field }) => columns.includes(field.name))
}

/** A record's values of the link's fields; `undefined` if one is null, which nothing is related to. */
export function valuesOf(
	{ values }: RecordText,
	columns: readonly string[],
	fields: readonly CrudField[],
): readonly NonNullValue[] | undefined {
	const found: NonNullValue[] = []
	for (const column of columns) {
		const at = fields.findIndex(({ field }) => field.name === column)
		const value = storedValue(fields[at]?.field, values[at])
		if (value === undefined) return undefined
		found.push(value)
	}
	return found
}

/** The largest that MariaDB stores, as `bigint unsigned`. */
const MAX_UNSIGNED = 2n ** 64n - 1n

function storedValue(field: Field | undefined, json: string | undefined): NonNullValue | undefined {
	if (field === undefined || json === undefined || json === 'null') return undefined
	// Not JSON.parse for numbers: it would round a bigint.
	const text = json.startsWith('"') ? String(JSON.parse(json)) : json
	const bare = field.padded === true ? withoutPadding(text) : text
	return valueFromText({ ...field, choices: undefined, min: undefined, max: MAX_UNSIGNED }, bare, [])
}

/**
 * Returns a function that passes on the values by which a record is related; `undefined` if a field of the other record can't
 * hold its value: a number of another store may have more bits. Without bounds, a field holds 64.
 */
export function relatableBy({
	link,
	to,
}: Pick<Relation, 'link' | 'to'>): (
	values: readonly NonNullValue[] | undefined,
) => readonly NonNullValue[] | undefined {
	const { model, from } = link.through ?? { model: to.model, from: link.to }
	const ranges = from.map((name) => {
		const field = model.fields.find((one) => one.name === name)
		if (field?.type !== 'integer' && field?.type !== 'bigint') return undefined
		return { min: field.min ?? -(2n ** 63n), max: field.max ?? 2n ** 63n - 1n }
	})
	const canHold = (value: NonNullValue, at: number): boolean => {
		const range = ranges[at]
		if (range === undefined || (typeof value !== 'number' && typeof value !== 'bigint')) return true
		return value >= range.min && value <= range.max
	}
	return (values) => (values?.every(canHold) === true ? values : undefined)
}

export function isOneOf(fields: readonly string[], values: readonly (readonly NonNullValue[])[]): Condition {
	const [field = ''] = fields
	if (fields.length === 1) return { op: 'in', field, values: values.flatMap(([value]) => value ?? []) }
	return { op: 'or', terms: values.map((one) => isEqual(fields, one)) }
}

/** @param referred the fields that these refer to, if texts are to be compared by their collation: see `Condition` */
export function isEqual(
	fields: readonly string[],
	values: readonly NonNullValue[],
	referred?: { readonly model: Model; readonly fields: readonly string[] },
): Condition {
	const terms = fields.map((field, at): Condition => {
		const value = values[at] ?? ''
		const as = referred && { model: referred.model, field: referred.fields[at] ?? '' }
		return { op: 'eq', field, value, ...(typeof value === 'string' && as !== undefined ? { as } : {}) }
	})
	return { op: 'and', terms }
}

/** The condition on records that are related to one with these values. */
export function isRelated(
	{ link, comparing }: Pick<Relation, 'link' | 'comparing'>,
	values: readonly NonNullValue[],
): Condition {
	const { fields, to, through } = link
	const referred = comparing && { model: comparing, fields }
	if (through === undefined) return isEqual(to, values, referred)
	return {
		op: 'some',
		link: { model: through.model, fields: to, to: through.on, isMany: true },
		where: isEqual(through.from, values, referred),
		selective: true,
	}
}

/**
 * Whether the values of a link to one are the other record's id. Not if one is a text: the database may consider different texts
 * equal, such as with a case-insensitive collation, but ids are compared exactly.
 */
export function isIdIn({ model, keys }: CrudPlan, { to }: Link): boolean {
	return to.join() === keyNames(model).join() && keys.every(({ field }) => field.type !== 'text')
}

/** The ids of the records that match, at most `limit`. */
export async function idsOf(
	{ model, keys, selections }: Pick<CrudPlan, 'model' | 'keys' | 'selections'>,
	where: Condition | undefined,
	limit: number,
): Promise<readonly string[]> {
	const selection = selections.extended(nothing(selections), keys)
	const order = keyNames(model).map((field) => ({ field, descending: false }))
	const query = { selection, where, order, limit, offset: 0, after: undefined, total: false }
	const page = await model.list(query)
	const names = keys.map(({ field }) => field.name)
	const types = keys.map(({ field }) => field)
	return recordsIn(page.json, selection, keys).texts.flatMap((text) => {
		const values = valuesOf(text, names, keys)
		return values === undefined ? [] : [idOfKey(values, types)]
	})
}

const NO_NAMES: ReadonlySet<string> = new Set()

/** A selection without fields, to extend. */
export function nothing(selections: Selections): Selection {
	return selections.of(NO_NAMES)
}

/** The scope of the records that are related to one with these values. */
export function scopeBelow(relation: Relation, values: readonly NonNullValue[] | undefined): Scope {
	const { link, to } = relation
	if (values === undefined) return { ...EVERYTHING, where: { op: 'or', terms: [] } }
	const where = isRelated(relation, values)
	// Sets no values: records can't be created through junction records.
	if (link.through !== undefined) return { ...EVERYTHING, where }
	const terms = link.to.map((column, at) => ({ field: fieldOf(to, column), values: [values[at] ?? null] }))
	return { terms, where, fixed: new Set(link.to), isOpen: false }
}

function fieldOf({ fields }: CrudPlan, column: string): CrudField {
	const found = [...fields.values()].find(({ field }) => field.name === column)
	if (found === undefined) throw new TypeError(`there is no field for ${column}`)
	return found
}
