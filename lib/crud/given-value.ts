/** Values that a programmer's code gives: what `scope()` answers, and what is passed to `create()` and `update()`. */
import { nearest } from '../base/options.ts'
import { type Changes, DEFAULT, type Field, type Value } from '../models/model.ts'
import type { Detail } from '../wire/codes.ts'
import { RawJson } from '../wire/raw-json.ts'
import type { CrudPlan } from './plan.ts'
import { valueFromText } from './value-from-text.ts'

/**
 * A value as its field's type holds it: a Date as its text, a text of digits as a number, any value for `json`.
 *
 * @throws TypeError for `undefined`, which would otherwise pass for no condition or no change; for a value that
 *   isn't of the field's type
 */
export function givenValue(place: string, field: Field, given: unknown): Value {
	if (given === undefined) throw new TypeError(`${place} is undefined: give a value, or null`)
	if (given === null) return null
	const value = typedValue(field, given)
	if (value === undefined)
		throw new TypeError(`${place} is of type ${field.type}, which this value (${typeof given}) is not`)
	return value
}

function typedValue(field: Field, given: unknown): Value | undefined {
	const { type } = field
	if (given instanceof RawJson) return type === 'json' ? given : undefined
	if (type === 'json') return new RawJson(JSON.stringify(given))
	if (given instanceof Uint8Array) return type === 'bytes' ? given : undefined
	if (typeof given === 'boolean') return type === 'boolean' ? given : undefined
	if (type === 'float' && typeof given === 'number') return given
	const text = textOf(type, given)
	const problems: Detail[] = []
	return text === undefined ? undefined : valueFromText(field, text, problems)
}

function textOf(type: Field['type'], given: unknown): string | undefined {
	if (typeof given === 'string') return given
	if (typeof given === 'number' || typeof given === 'bigint') return String(given)
	if (!(given instanceof Date) || Number.isNaN(given.getTime())) return undefined
	return type === 'date' ? given.toISOString().slice(0, 10) : given.toISOString()
}

/**
 * Values by the names of clients, as the model takes them.
 *
 * @throws TypeError for a field that there isn't, and as `givenValue`
 */
export function givenChanges(
	{ owner, fields }: CrudPlan,
	operation: string,
	given: Readonly<Record<string, unknown>>,
): Record<string, Value | typeof DEFAULT> {
	const changes: Record<string, Value | typeof DEFAULT> = {}
	for (const [name, value] of Object.entries(given)) {
		const field = fields.get(name)
		if (field === undefined)
			throw new TypeError(
				`${owner}.${operation}() was given ${name}, which is no field${nearest(name, fields.keys())}`,
			)
		changes[field.field.name] =
			value === DEFAULT
				? DEFAULT
				: givenValue(`${name}, given to ${owner}.${operation}(),`, field.field, value)
	}
	return changes satisfies Changes
}

/** Values that `Writer` has checked, by the names of the model. */
export function checkedChanges(
	{ fields }: CrudPlan,
	checked: Readonly<Record<string, Value | typeof DEFAULT>>,
): Record<string, Value | typeof DEFAULT> {
	const changes: Record<string, Value | typeof DEFAULT> = {}
	for (const name of Object.keys(checked)) {
		const value = checked[name]
		const field = fields.get(name)
		if (field !== undefined && value !== undefined) changes[field.field.name] = value
	}
	return changes
}
