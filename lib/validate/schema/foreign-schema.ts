/**
 * JSON Schemas of Standard Schemas of other libraries, and whether these accept an absent value. Called when an API is
 * described, never for a request.
 */
import {
	defuse,
	type JsonSchemaOptions,
	type StandardJsonSchemaV1,
	type StandardSchemaV1,
	saysJsonSchema,
} from '../standard-schema.ts'
import { isSchema, type JsonSchema, referenceOf, referencesIn, withinLevels } from './json-schema.ts'

const TARGET: JsonSchemaOptions = { target: 'draft-2020-12' }
/** Without this option, zod refuses a whole schema because of one part that JSON Schema can't express, such as a Date. */
const LENIENT: JsonSchemaOptions = { ...TARGET, libraryOptions: { unrepresentable: 'any' } }
/** The name in `$defs` of a schema that refers to itself as a whole and has no title. */
const SELF = 'Self'

/**
 * The JSON Schema of what a schema accepts, down to `LEVELS`. `{}`, which is anything, if the library gives none or has
 * references to nowhere: one broken schema would make the whole description unreadable.
 */
export function schemaOfForeign(schema: StandardSchemaV1): JsonSchema {
	if (!saysJsonSchema(schema)) return {}
	const said = saidBy(schema, TARGET) ?? saidBy(schema, LENIENT)
	if (said === undefined) return {}
	const { $schema: _dialect, ...own } = said
	const refs = referencesIn(own)
	const whole = refs.some(isOfWhole) ? withSelf(own) : own
	const isName = (name: string) =>
		isSchema(whole.$defs) && Object.hasOwn(whole.$defs, name) && isSchema(whole.$defs[name])
	const isKnown = (ref: string) => isOfWhole(ref) || referenceOf(ref, isName) !== undefined
	return refs.every(isKnown) ? whole : {}
}

/** Whether a schema accepts a value; true if it answers only later. */
export function takes(schema: StandardSchemaV1, value: unknown): boolean {
	return answerTo(schema, value) !== undefined
}

/** Whether a schema has a default for an absent value. */
export function fills(schema: StandardSchemaV1): boolean {
	return answerTo(schema, undefined)?.value !== undefined
}

/** The result of a schema for a value; `undefined` if it refuses it. */
function answerTo(schema: StandardSchemaV1, value: unknown): { readonly value?: unknown } | undefined {
	try {
		const answer: unknown = schema['~standard'].validate(value)
		if (answer instanceof Promise) {
			defuse(answer)
			return {}
		}
		if (typeof answer !== 'object' || answer === null) return {}
		if ('issues' in answer && answer.issues !== undefined) return undefined
		return { value: 'value' in answer ? answer.value : undefined }
	} catch {
		return undefined
	}
}

/** A copy, because the library may return an object of its own, or one that isn't JSON. */
function saidBy(schema: StandardJsonSchemaV1, options: JsonSchemaOptions): JsonSchema | undefined {
	try {
		const given = schema['~standard'].jsonSchema.input(options)
		if (given instanceof Promise) {
			defuse(given)
			return undefined
		}
		const said: unknown = JSON.parse(JSON.stringify(given))
		return isSchema(said) ? withinLevels(said) : undefined
	} catch {
		return undefined
	}
}

/** Whether a reference is to the schema itself or a part of it outside `$defs`: `#`, `#/properties/id`. */
function isOfWhole(ref: string): boolean {
	return ref === '#' || (ref.startsWith('#/') && !ref.startsWith('#/$defs/'))
}

/** Moves the schema into its `$defs`: inside the description, `#` would mean the whole description. */
function withSelf({ $defs = {}, ...whole }: JsonSchema): JsonSchema {
	const { title } = whole
	let self = typeof title === 'string' && /^[\w.-]+$/.test(title) ? title : SELF
	while (Object.hasOwn($defs, self)) self += '_'
	const defs = { ...$defs, [self]: whole }
	return { $ref: `#/$defs/${self}`, $defs: toSelf(defs, self) as Record<string, JsonSchema> } // the same keys
}

function toSelf(value: unknown, self: string): unknown {
	if (typeof value !== 'object' || value === null) return value
	if (Array.isArray(value)) return value.map((one) => toSelf(one, self))
	const entries = Object.entries(value).map(([key, inner]): [string, unknown] => {
		const isReference = key === '$ref' && typeof inner === 'string' && isOfWhole(inner)
		return [key, isReference ? `#/$defs/${self}${inner.slice(1)}` : toSelf(inner, self)]
	})
	return Object.fromEntries(entries)
}
