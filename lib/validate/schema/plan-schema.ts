/** JSON Schemas of specs: the values that `getParams()` accepts. For OpenAPI and the explorer. */
import { attempt } from '../../base/attempt.ts'
import { MAX_EMAIL_LENGTH } from '../format.ts'
import type { FieldPlan, Plan } from '../plan.ts'
import type { Format } from '../validator.ts'
import { acceptsValue, schemaOfForeign } from './foreign-schema.ts'
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
export const FORM_BODY = 'application/x-www-form-urlencoded'

const FORMATS: Readonly<Record<Format, JsonSchema>> = {
	email: { format: 'email', maxLength: MAX_EMAIL_LENGTH },
	url: { format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#]', description: 'An http or https URL' },
	uuid: { format: 'uuid' },
	date: { format: 'date' },
	datetime: { format: 'date-time' },
}

export const NON_NULL_TYPES: readonly JsonType[] = ['string', 'number', 'boolean', 'array', 'object']
/** The types that `min` and `max` apply to in rules without a kind. */
const SIZED: readonly JsonType[] = ['string', 'number', 'array']

/** The body that a spec reads: JSON, and a form if all its fields can be in one. */
export function bodySchema(plan: Plan): BodyShape {
	const types = bodyTypes(plan.fields?.map((field) => field.plan))
	const texts = plan.fields?.map((field) => ({ ...field, plan: ofTexts(field.plan) }))
	return {
		schema: schemaOfPlan(plan),
		...(types.includes(FORM_BODY) ? { form: schemaOfPlan({ ...plan, fields: texts }) } : {}),
		// Without a body, every field is absent.
		required:
			plan.schema === undefined ? (plan.fields ?? []).some(isRequired) : !acceptsValue(plan.schema, {}),
		types,
	}
}

/**
 * The media types of a body with these fields. A form is possible if each field is a text or a list of texts. Not for fields
 * with a Standard Schema, which gets texts unconverted. (Multipart is accepted too, but mostly used for files.)
 */
export function bodyTypes(fields: readonly Plan[] | undefined): readonly string[] {
	const isFlat = fields?.every((plan) => isText(plan) && (plan.items === undefined || isText(plan.items)))
	return isFlat === true ? [JSON_BODY, FORM_BODY] : [JSON_BODY]
}

/** The query parameters that a spec reads: each is a text, or several texts with one name. */
export function querySchemas(plan: Plan): ParameterShape[] {
	if (plan.schema !== undefined) return parametersOf(schemaOfForeign(plan.schema))
	return (plan.fields ?? [])
		.filter((field) => field.plan.kind !== 'object') // no text stands for an object
		.map((field) => ({
			name: field.name,
			schema: schemaOfPlan(ofTexts(field.plan)),
			required: isRequired(field),
		}))
}

/**
 * The schema of the values that a plan accepts. Checks and defaults that are functions can't be expressed and are left out.
 *
 * @param levels how many levels are described; deeper ones accept any value
 */
export function schemaOfPlan(plan: Plan, levels = LEVELS): JsonSchema {
	if (levels === 0) return {}
	if (plan.schema !== undefined) return schemaOfForeign(plan.schema)
	// The rules of a server's own validator are unknown here.
	if (plan.validator !== undefined) return {}
	const types = typesOf(plan)
	return {
		...(types === undefined ? {} : { type: types }),
		// Merged, because a format may have a description, a pattern and a length, too.
		...[
			plan.format === undefined ? {} : FORMATS[plan.format],
			plan.pattern === undefined ? {} : patternOf(plan.pattern),
			sizesOf(plan),
		].reduce(bothOf),
		...(plan.choices === undefined
			? {}
			: { enum: [...new Set(plan.choices), ...(plan.nullable ? [null] : [])] }),
		...(plan.items === undefined ? {} : { items: schemaOfPlan(plan.items, levels - 1) }),
		...(plan.fields === undefined ? {} : fieldsOf(plan.fields, levels - 1)),
		...fallbackOf(plan.fallback),
	}
}

function isRequired({ plan }: FieldPlan): boolean {
	return plan.schema === undefined ? plan.required : !acceptsValue(plan.schema, undefined)
}

/** `undefined` for any type. */
function typesOf(plan: Plan): JsonType | readonly JsonType[] | undefined {
	const { kind, choices, nullable } = plan
	const named = kind ?? (choices === undefined ? undefined : plan.coerceTo)
	if (named !== undefined) return nullable ? [named, 'null'] : named
	if (choices !== undefined) return undefined
	if (plan.min === undefined && plan.max === undefined) return nullable ? undefined : NON_NULL_TYPES
	// Lengths are never negative.
	const sized = (plan.max ?? 0) < 0 ? (['number'] as const) : SIZED
	return nullable ? [...sized, 'null'] : sized
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
 * The schema of a pattern. JSON Schema patterns have no flags and are read with `u` (draft 2020-12, core §6.4): a RegExp that
 * would mean something else becomes a description.
 */
export function patternOf({ source, flags }: RegExp): JsonSchema {
	if (/^[du]*$/.test(flags) && attempt(() => new RegExp(source, 'u')) !== undefined)
		return { pattern: source }
	return { description: `Must match /${source}/${flags}` }
}

function fieldsOf(fields: readonly FieldPlan[], levels: number): JsonSchema {
	const required = fields.filter(isRequired).map(({ name }) => name)
	return {
		properties: Object.fromEntries(fields.map(({ name, plan }) => [name, schemaOfPlan(plan, levels)])),
		...(required.length === 0 ? {} : { required }),
	}
}

function fallbackOf(fallback: unknown): JsonSchema {
	if (fallback === undefined || typeof fallback === 'function') return {}
	// JSON would turn it into null.
	if (typeof fallback === 'number' && !Number.isFinite(fallback)) return {}
	const text: string | undefined = attempt(() => JSON.stringify(fallback))
	if (text === undefined) return {}
	const value: unknown = JSON.parse(text)
	return isWithinLevels(value) ? { default: value } : {}
}

/** A plan of the values in a query or a form: never null, and without a kind still texts. */
function ofTexts(plan: Plan): Plan {
	const own = { ...plan, nullable: false, items: plan.items && ofTexts(plan.items) }
	const choices = plan.choices?.filter((choice) => typeof choice === 'string')
	return plan.coerceTo === undefined && choices?.length !== 0 ? { ...own, kind: 'string', choices } : own
}

function isText({ kind, schema, validator, items }: Plan): boolean {
	return schema === undefined && validator === undefined && kind !== 'object' && items?.kind !== 'array'
}

/** The parameters of a schema for the whole query, each with the definitions that it refers to. */
function parametersOf({ $defs = {}, ...own }: JsonSchema): ParameterShape[] {
	const isName = (name: string) => Object.hasOwn($defs, name)
	const target = typeof own.$ref === 'string' ? referenceOf(own.$ref, isName)?.name : undefined
	const { properties, required } = (target === undefined ? own : $defs[target]) ?? own
	// Another library may return anything.
	if (typeof properties !== 'object' || properties === null) return []
	return Object.entries(properties).map(([name, schema]) => {
		const definitions = neededBy(schema, $defs)
		return {
			name,
			schema: Object.keys(definitions).length === 0 ? schema : { ...schema, $defs: definitions },
			required: Array.isArray(required) && required.includes(name),
		}
	})
}
