/**
 * What a Standard Schema of another library says of itself: its JSON Schema, where it has one, and whether it takes
 * an absent value. Libraries are asked when an API is described, never for a request.
 */
import {
	type JsonSchemaOptions,
	type StandardJsonSchemaV1,
	type StandardSchemaV1,
	saysJsonSchema,
} from '../standard-schema.ts'
import type { JsonSchema } from './json-schema.ts'
import { isSchema, withinLevels } from './levels.ts'
import { referenceOf, referencesIn } from './references.ts'

const TARGET: JsonSchemaOptions = { target: 'draft-2020-12' }
/** zod refuses a whole schema for one part that JSON Schema has no words for, such as a Date, unless it is told this. */
const LENIENT: JsonSchemaOptions = { ...TARGET, libraryOptions: { unrepresentable: 'any' } }
/** What a schema that refers to itself as a whole is called among its own `$defs`, where it has no title. */
const SELF = 'Self'

/**
 * The JSON Schema of what a schema takes; `{}`, which is anything, where it says none, and where it refers to what
 * isn't in it: one schema that nobody can read would make the whole description unreadable. So is what it nests deeper
 * than `LEVELS`.
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

/** Whether a schema takes a value, as far as it says so at once. */
export function takes(schema: StandardSchemaV1, value: unknown): boolean {
	return answerTo(schema, value) !== undefined
}

/** Whether a schema gives an absent value another one: a default. */
export function fills(schema: StandardSchemaV1): boolean {
	return answerTo(schema, undefined)?.value !== undefined
}

/** What a schema makes of a value; `undefined` where it refuses it. */
function answerTo(schema: StandardSchemaV1, value: unknown): { readonly value?: unknown } | undefined {
	try {
		const answer: unknown = schema['~standard'].validate(value)
		if (answer instanceof Promise) {
			ignore(answer)
			return {}
		}
		if (typeof answer !== 'object' || answer === null) return {}
		if ('issues' in answer && answer.issues !== undefined) return undefined
		return { value: 'value' in answer ? answer.value : undefined }
	} catch {
		return undefined
	}
}

/** A rejection is of no interest, and must not end the process as unhandled. */
function ignore(promise: Promise<unknown>): void {
	promise.catch(() => {})
}

/** A copy, as what is answered may be the library's own, and must be JSON. */
function saidBy(schema: StandardJsonSchemaV1, options: JsonSchemaOptions): JsonSchema | undefined {
	try {
		const given = schema['~standard'].jsonSchema.input(options)
		if (given instanceof Promise) {
			ignore(given)
			return undefined
		}
		const said: unknown = JSON.parse(JSON.stringify(given))
		return isSchema(said) ? withinLevels(said) : undefined
	} catch {
		return undefined
	}
}

/** Whether a reference is to the whole schema, or a part of it beside `$defs`: `#`, `#/properties/id`. */
function isOfWhole(ref: string): boolean {
	return ref === '#' || (ref.startsWith('#/') && !ref.startsWith('#/$defs/'))
}

/** `#` would be the whole description, once a schema stands in it. */
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
