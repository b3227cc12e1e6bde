/** JSON Schemas of specs, for OpenAPI and the explorer: what `getParams()` accepts. */
import type { FieldPlan, Plan } from '../plan.ts'
import type { Choice, Format } from '../validator.ts'
import { schemaOfForeign, takes } from './foreign-schema.ts'
import {
	bothOf,
	isWithinLevels,
	type JsonSchema,
	type JsonType,
	LEVELS,
	neededBy,
	referenceOf,
} from './json-schema.ts'
import type { BodyShape, ParameterShape } from './shape.ts'

const JSON_BODY = 'application/json'
const FORM_BODY = 'application/x-www-form-urlencoded'

const FORMATS: Readonly<Record<Format, JsonSchema>> = {
	email: { format: 'email' },
	url: { format: 'uri', description: 'Of http or https' },
	uuid: { format: 'uuid' },
	date: { format: 'date' },
	datetime: { format: 'date-time' },
}

/** The types of JSON except null. */
export const NON_NULL_TYPES: readonly JsonType[] = ['string', 'number', 'boolean', 'array', 'object']
/** The types that `min` and `max` apply to without a kind. */
const SIZED: readonly JsonType[] = ['string', 'number', 'array']

/** The body that a spec reads: JSON, and a form where every field fits into one. */
export function bodySchema(plan: Plan): BodyShape {
	return {
		schema: schemaOfPlan(plan),
		// Without a body, every field is absent.
		required: plan.schema === undefined ? (plan.fields ?? []).some(isNeeded) : !takes(plan.schema, {}),
		types: bodyTypes(plan.fields?.map((field) => field.plan)),
	}
}

/**
 * The media types of a body with these fields. A form is one if each field is a text or several; fields with a Standard
 * Schema aren't, as schemas get the texts unconverted. (Multipart is read, too, but mostly sent for files.)
 */
export function bodyTypes(fields: readonly Plan[] | undefined): readonly string[] {
	const isFlat = fields?.every((plan) => isText(plan) && (plan.items === undefined || isText(plan.items)))
	return isFlat === true ? [JSON_BODY, FORM_BODY] : [JSON_BODY]
}

/** The parameters of a query that a spec reads: each is a text, or several under one name. */
export function querySchemas(plan: Plan): ParameterShape[] {
	if (plan.schema !== undefined) return parametersOf(schemaOfForeign(plan.schema))
	return (plan.fields ?? [])
		.filter((field) => field.plan.kind !== 'object') // no text stands for an object
		.map((field) => ({
			name: field.name,
			schema: schemaOfPlan(withoutNull(field.plan)),
			required: isNeeded(field),
		}))
}

/**
 * What a plan accepts. Checks and defaults that are functions can't be expressed and are left out.
 *
 * @param levels how many levels of it are described; deeper ones may be any value
 */
export function schemaOfPlan(plan: Plan, levels = LEVELS): JsonSchema {
	if (levels === 0) return {}
	if (plan.schema !== undefined) return schemaOfForeign(plan.schema)
	// The rules of another validator are unknown here.
	if (plan.validator !== undefined) return {}
	const types = typesOf(plan)
	return {
		...(types === undefined ? {} : { type: types }),
		// Both may have a description.
		...bothOf(
			plan.format === undefined ? {} : FORMATS[plan.format],
			plan.pattern === undefined ? {} : patternOf(plan.pattern),
		),
		...(plan.choices === undefined ? {} : { enum: choicesOf(plan.choices, plan.nullable) }),
		...sizesOf(plan),
		...(plan.items === undefined ? {} : { items: schemaOfPlan(plan.items, levels - 1) }),
		...(plan.fields === undefined ? {} : fieldsOf(plan.fields, levels - 1)),
		...fallbackOf(plan.fallback),
	}
}

/** Whether a field must be there. */
export function isNeeded({ plan }: FieldPlan): boolean {
	return plan.schema === undefined ? plan.required : !takes(plan.schema, undefined)
}

/** `undefined` for any type. */
function typesOf(plan: Plan): JsonType | readonly JsonType[] | undefined {
	const { kind, choices, nullable } = plan
	const named = kind ?? (choices === undefined ? undefined : plan.reads)
	if (named !== undefined) return nullable ? [named, 'null'] : named
	if (choices !== undefined) return undefined
	if (plan.min === undefined && plan.max === undefined) return nullable ? undefined : NON_NULL_TYPES
	// No length is negative.
	const sized = (plan.max ?? 0) < 0 ? (['number'] as const) : SIZED
	return nullable ? [...sized, 'null'] : sized
}

function choicesOf(choices: readonly Choice[], nullable: boolean): readonly (Choice | null)[] {
	const all = [...new Set(choices)]
	return nullable ? [...all, null] : all
}

/** `min` and `max` as JSON Schema keywords; lengths are in code points, as in rules (RFC 8259 §7). */
function sizesOf({ kind, min, max }: Plan): JsonSchema {
	const sizes: Record<string, number> = {}
	const measures = (one: JsonType) => kind === one || kind === undefined
	if (measures('string')) {
		if (min !== undefined && min >= 1) sizes.minLength = Math.floor(min)
		if (max !== undefined && max >= 0) sizes.maxLength = Math.floor(max)
	}
	if (measures('number') || kind === 'integer') {
		if (min !== undefined) sizes.minimum = min
		if (max !== undefined) sizes.maximum = max
	}
	if (measures('array')) {
		if (min !== undefined && min > 0) sizes.minItems = Math.ceil(min)
		if (max !== undefined && max >= 0) sizes.maxItems = Math.floor(max)
	}
	return sizes
}

/**
 * JSON Schema patterns have no flags and are read with `u` (draft 2020-12, core §6.4): a RegExp that would mean
 * something else is given as a description.
 */
export function patternOf({ source, flags }: RegExp): JsonSchema {
	if (/^[du]*$/.test(flags) && isUnicode(source)) return { pattern: source }
	return { description: `Of the form /${source}/${flags}` }
}

function isUnicode(source: string): boolean {
	try {
		return new RegExp(source, 'u').source !== ''
	} catch {
		return false
	}
}

function fieldsOf(fields: readonly FieldPlan[], levels: number): JsonSchema {
	const required = fields.filter(isNeeded).map(({ name }) => name)
	return {
		properties: Object.fromEntries(fields.map(({ name, plan }) => [name, schemaOfPlan(plan, levels)])),
		...(required.length === 0 ? {} : { required }),
	}
}

function fallbackOf(fallback: unknown): JsonSchema {
	if (fallback === undefined || typeof fallback === 'function') return {}
	// JSON would make null of it.
	if (typeof fallback === 'number' && !Number.isFinite(fallback)) return {}
	try {
		const text: string | undefined = JSON.stringify(fallback)
		if (text === undefined) return {}
		const value: unknown = JSON.parse(text)
		return isWithinLevels(value) ? { default: value } : {}
	} catch {
		return {}
	}
}

/** In a query no text stands for null. */
function withoutNull(plan: Plan): Plan {
	if (typesOf(plan) === undefined && plan.choices === undefined) return plan
	return { ...plan, nullable: false, items: plan.items && withoutNull(plan.items) }
}

function isText({ kind, schema, validator, items }: Plan): boolean {
	return schema === undefined && validator === undefined && kind !== 'object' && items?.kind !== 'array'
}

/** The parameters of a schema for the whole query, each with the definitions that it refers to. */
function parametersOf({ $defs = {}, ...own }: JsonSchema): ParameterShape[] {
	const isName = (name: string) => Object.hasOwn($defs, name)
	const named = typeof own.$ref === 'string' ? referenceOf(own.$ref, isName)?.name : undefined
	const { properties, required } = (named === undefined ? own : $defs[named]) ?? own
	// Another library may return anything.
	if (typeof properties !== 'object' || properties === null) return []
	return Object.entries(properties).map(([name, schema]) => {
		const needed = neededBy(schema, $defs)
		return {
			name,
			schema: Object.keys(needed).length === 0 ? schema : { ...schema, $defs: needed },
			required: Array.isArray(required) && required.includes(name),
		}
	})
}
