/** The fields of a form, as the JSON Schema of a body describes them. */
import type { JsonSchema } from '../../validate/schema/json-schema.ts'
import { isRecord, type JsonValue, parseJson, RawNumber, textOf } from './json-value.ts'

export type FieldKind = 'text' | 'long' | 'number' | 'boolean' | 'choice' | 'date' | 'json'

export interface FieldSpec {
	readonly name: string
	readonly kind: FieldKind
	readonly isNullable: boolean
	readonly isRequired: boolean
	/** JSON texts of what may be chosen. */
	readonly choices: readonly string[]
	/** What it takes, for people. */
	readonly hint: string
	/** Whether its text is hidden, as a password's is. */
	readonly isSecret: boolean
}

/** Names of what people write whole paragraphs into. */
const LONG_NAMES = /body|text|content|description|about|comment|note|summary|bio/i
const LONG_LENGTH = 500

/** In the order of the schema; `undefined` where it names none, and so only JSON can be written. */
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

/** Separates null from a schema. The schemas of `allOf` are merged roughly into one, enough for a form. */
function withoutNull(given: JsonSchema): { schema: JsonSchema; isNullable: boolean } {
	const whole: JsonSchema = given.allOf === undefined ? given : Object.assign({}, ...given.allOf, given)
	const alternatives = whole.anyOf ?? whole.oneOf
	const others = alternatives?.filter(({ type }) => type !== 'null') ?? []
	if (alternatives !== undefined && isAsFirst(others)) {
		const { anyOf: _any, oneOf: _one, ...rest } = whole
		const { schema } = withoutNull({ ...rest, ...others[0] })
		return { schema, isNullable: others.length < alternatives.length }
	}
	const { type } = whole
	if (!isTypes(type)) return { schema: whole, isNullable: whole.enum?.includes(null) === true }
	const rest = type.filter((one) => one !== 'null')
	const [first] = rest
	// A number that may also come as a text is written as the first of the two; what may be anything, as JSON.
	const schema = rest.length <= 2 && first !== undefined ? { ...whole, type: first } : whole
	return { schema, isNullable: rest.length < type.length }
}

/** Whether all is written as the first alternative is: texts that it may also be, such as `infinity`, stand in its input. */
function isAsFirst([first, ...more]: readonly JsonSchema[]): boolean {
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

/** What stands in a control for a value: a text as it is, anything else as JSON. */
export function controlText(kind: FieldKind, value: JsonValue): string {
	if (value === null) return ''
	if (typeof value === 'string' && kind !== 'json' && kind !== 'choice') return value
	return textOf(value)
}

/** The JSON of what stands in a control. What is no number is sent as a text, and refused by the server in its words. */
export function jsonOf(kind: FieldKind, text: string): string {
	if (kind === 'boolean' || kind === 'choice') return text
	if (kind === 'number' && /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text.trim()))
		return text.trim()
	if (kind === 'json' && isJson(text)) return text
	return JSON.stringify(text)
}

export function isJson(text: string): boolean {
	return parseJson(text) !== undefined
}

/** What a form begins with. */
export function initialOf(record: JsonValue | undefined, name: string): JsonValue | undefined {
	return isRecord(record) ? record.get(name) : undefined
}

/** Whether two JSON texts say the same, as far as spaces go. */
export function sameJson(one: string, other: string): boolean {
	return one === other || compact(one) === compact(other)
}

function compact(text: string): string {
	const value = parseJson(text)
	return value === undefined ? text : textOf(value)
}

/** A value as a person would say it: a text without its quotes. */
export function plainText(value: JsonValue): string {
	return typeof value === 'string' ? value : value instanceof RawNumber ? value.text : textOf(value)
}
