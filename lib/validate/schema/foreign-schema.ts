/**
 * JSON Schemas of other libraries' Standard Schemas, and whether these accept an absent value. For descriptions of an API,
 * never for a request.
 */
import { attempt } from '../../base/attempt.ts'
import {
	hasJsonSchema,
	ignoreRejection,
	type JsonSchemaOptions,
	type StandardJsonSchemaV1,
	type StandardSchemaV1,
} from '../standard-schema.ts'
import {
	isSchema,
	type JsonSchema,
	redirected,
	referenceOf,
	referencesIn,
	withinLevels,
} from './json-schema.ts'

const TARGET: JsonSchemaOptions = { target: 'draft-2020-12' }
/** With this option, zod omits parts that JSON Schema can't express, such as a Date, instead of refusing the schema. */
const LENIENT: JsonSchemaOptions = { ...TARGET, libraryOptions: { unrepresentable: 'any' } }
/** The name in `$defs` of a schema that refers to itself and has no title. */
const SELF = 'Self'

/**
 * The JSON Schema of a schema's input, down to `LEVELS`. `{}`, which allows anything, if the library can't convert it,
 * or if the result has dangling references, which would make the whole description invalid.
 */
export function schemaOfForeign(schema: StandardSchemaV1): JsonSchema {
	if (!hasJsonSchema(schema)) return {}
	const generated = generatedSchema(schema, TARGET) ?? generatedSchema(schema, LENIENT)
	if (generated === undefined) return {}
	const { $schema: _dialect, ...own } = generated
	const refs = referencesIn(own)
	const result = refs.some(isSelfReference) ? asDefinition(own) : own
	const isName = (name: string) =>
		isSchema(result.$defs) && Object.hasOwn(result.$defs, name) && isSchema(result.$defs[name])
	const isKnown = (ref: string) => isSelfReference(ref) || referenceOf(ref, isName) !== undefined
	return refs.every(isKnown) ? result : {}
}

/** Whether a schema accepts a value; true if it returns a promise. */
export function acceptsValue(schema: StandardSchemaV1, value: unknown): boolean {
	return resultFor(schema, value) !== undefined
}

/** Whether a schema has a default for an absent value. */
export function hasDefault(schema: StandardSchemaV1): boolean {
	return resultFor(schema, undefined)?.value !== undefined
}

/** The result of a schema for a value; `undefined` if the schema refuses the value. */
function resultFor(schema: StandardSchemaV1, value: unknown): { readonly value?: unknown } | undefined {
	return attempt(() => {
		const result: unknown = schema['~standard'].validate(value)
		if (result instanceof Promise) {
			ignoreRejection(result)
			return {}
		}
		if (typeof result !== 'object' || result === null) return {}
		if ('issues' in result && result.issues !== undefined) return undefined
		return { value: 'value' in result ? result.value : undefined }
	})
}

/**
 * The JSON Schema that the library generates; copied, because the library may share the object, or return one that isn't
 * JSON.
 */
function generatedSchema(schema: StandardJsonSchemaV1, options: JsonSchemaOptions): JsonSchema | undefined {
	return attempt(() => {
		const given = schema['~standard'].jsonSchema.input(options)
		if (given instanceof Promise) {
			ignoreRejection(given)
			return undefined
		}
		const copy: unknown = JSON.parse(JSON.stringify(given))
		return isSchema(copy) ? withinLevels(copy) : undefined
	})
}

/** Whether a reference is to the schema itself, or to a part of it outside of `$defs`: `#`, `#/properties/id`. */
function isSelfReference(ref: string): boolean {
	return ref === '#' || (ref.startsWith('#/') && !ref.startsWith('#/$defs/'))
}

/**
 * Moves the schema into its own `$defs`: once embedded in the OpenAPI document, `#` would refer to the whole document.
 */
function asDefinition({ $defs = {}, ...root }: JsonSchema): JsonSchema {
	const { title } = root
	let self = typeof title === 'string' && /^[\w.-]+$/.test(title) ? title : SELF
	while (Object.hasOwn($defs, self)) self += '_'
	const defs = { ...$defs, [self]: root }
	const $ref = `#/$defs/${self}`
	return { $ref, $defs: redirected(defs, (ref) => (isSelfReference(ref) ? $ref + ref.slice(1) : ref)) }
}
