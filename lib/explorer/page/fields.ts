/** Derives the fields of a form from the JSON Schema of a body. */
import type { JsonSchema } from '../../validate/schema/json-schema.ts'
import { type JsonValue, parseJson, textOf } from './json-value.ts'

export type FieldKind = 'text' | 'long' | 'number' | 'boolean' | 'choice' | 'date' | 'json'

export interface FieldSpec {
	readonly name: string
	readonly kind: FieldKind
	readonly isNullable: boolean
	readonly isRequired: boolean
	/** The values of an enum, as JSON. */
	readonly choices: readonly string[]
	/** Description and constraints, for users. */
	readonly hint: string
	/** Whether its text is hidden, like a password's. */
	readonly isSecret: boolean
}

/** Names of fields that usually hold paragraphs. */
const LONG_NAMES = /body|text|content|description|about|comment|note|summary|bio/i
const LONG_LENGTH = 500

/** The writable fields, in the order of the schema; `undefined` if it has no properties, so that only JSON can be entered. */
export function fieldsOf(schema: JsonSchema | undefined): FieldSpec[] | undefined {
	const properties = Object.entries(schema?.properties ?? {}).filter(([, one]) => one.readOnly !== true)
	if (properties.length === 0) return undefined
	const required = new Set(schema?.required ?? [])
	return properties.map(([name, one]) => fieldOf(name, one, required.has(name)))
}

function fieldOf(name: string, whole: JsonSchema, isRequired: boolean): FieldSpec {
	const { schema, isNullable } = withoutNull(whole)
	const choices = (schema.enum ?? []).filter((one) => one !== null).map((one) => JSON.stringify(one))
	return {
		name,
		kind: choices.length > 0 ? 'choice' : kindOf(name, schema),
		isNullable,
		isRequired,
		choices,
		hint: hintOf(whole, schema),
		isSecret: schema.format === 'password',
	}
}

/** Separates null from the other types. The schemas of `allOf` are merged shallowly, which is enough for a form. */
function withoutNull(given: JsonSchema): { schema: JsonSchema; isNullable: boolean } {
	const whole: JsonSchema = given.allOf === undefined ? given : Object.assign({}, ...given.allOf, given)
	const alternatives = whole.anyOf ?? whole.oneOf
	const others = alternatives?.filter(({ type }) => type !== 'null') ?? []
	if (alternatives !== undefined && fitsFirst(others)) {
		const { anyOf: _any, oneOf: _one, ...rest } = whole
		const { schema } = withoutNull({ ...rest, ...others[0] })
		return { schema, isNullable: others.length < alternatives.length }
	}
	const { type } = whole
	if (!isTypes(type)) return { schema: whole, isNullable: whole.enum?.includes(null) === true }
	const rest = type.filter((one) => one !== 'null')
	const [first] = rest
	// With two types, such as number or string, the first one's control is used; with more, the value is entered as JSON.
	const schema = rest.length <= 2 && first !== undefined ? { ...whole, type: first } : whole
	return { schema, isNullable: rest.length < type.length }
}

/** Whether the control of the first alternative suits all: it is a text input, and the others are strings (`infinity`). */
function fitsFirst([first, ...more]: readonly JsonSchema[]): boolean {
	if (first === undefined || more.length === 0) return first !== undefined
	const types = [first.type ?? []].flat()
	const isPlain = types.length > 0 && types.every((type) => /^(?:string|number|integer)$/.test(type))
	return isPlain && first.enum === undefined && more.every(({ type }) => type === 'string')
}

function isTypes(type: JsonSchema['type']): type is Extract<JsonSchema['type'], readonly unknown[]> {
	return Array.isArray(type)
}

function kindOf(name: string, { type, format, maxLength }: JsonSchema): FieldKind {
	if (type === 'integer' || type === 'number') return 'number'
	if (type === 'boolean') return 'boolean'
	if (type !== 'string') return 'json'
	if (format === 'date') return 'date'
	if (format !== undefined || (maxLength ?? LONG_LENGTH) < LONG_LENGTH) return 'text'
	return LONG_NAMES.test(name) ? 'long' : 'text'
}

const FORMAT_HINTS: Readonly<Record<string, string>> = {
	...{ 'date-time': 'such as 2026-11-20T08:00:00Z', email: 'e-mail address', uri: 'URL', uuid: 'UUID' },
	...{ decimal: 'decimal number' },
}

function hintOf(whole: JsonSchema, schema: JsonSchema): string {
	const { type, format = '', minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema
	const facts = [whole.description, FORMAT_HINTS[format]]
	if (type === 'integer') facts.push('whole number')
	if (type === 'integer' || type === 'number') facts.push(rangeOf(schema))
	if (type === 'string' && minLength > 1) facts.push(`at least ${minLength} characters`)
	if (type === 'string' && maxLength < 1_000_000) facts.push(`at most ${maxLength} characters`)
	if (type === 'array' || type === 'object') facts.push(`a JSON ${type}`)
	if (typeof type !== 'string') facts.push('JSON')
	return facts.filter((fact) => fact !== undefined && fact !== '').join(' · ')
}

function rangeOf({ minimum, maximum }: JsonSchema): string {
	if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`
	if (minimum !== undefined) return `${minimum} or more`
	return maximum === undefined ? '' : `${maximum} or less`
}

/** The text of a control for a value: a string as it is, anything else as JSON. */
export function controlText(kind: FieldKind, value: JsonValue): string {
	if (value === null) return ''
	if (typeof value === 'string' && kind !== 'json' && kind !== 'choice') return value
	return textOf(value)
}

/** The text of a control as JSON. An invalid number is sent as a string, so that the server's message explains it. */
export function jsonOf(kind: FieldKind, text: string): string {
	if (kind === 'boolean' || kind === 'choice') return text
	if (kind === 'number' && /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text.trim()))
		return text.trim()
	if (kind === 'json' && parseJson(text) !== undefined) return text
	return JSON.stringify(text)
}

/** Whether two JSON texts are equal except for whitespace. */
export function sameJson(one: string, other: string): boolean {
	return one === other || compact(one) === compact(other)
}

function compact(text: string): string {
	const value = parseJson(text)
	return value === undefined ? text : textOf(value)
}

/** A value for display: a string without quotes, anything else as JSON. */
export function plainText(value: JsonValue): string {
	return typeof value === 'string' ? value : textOf(value)
}
