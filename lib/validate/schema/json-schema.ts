/** JSON Schema, draft 2020-12, as far as our descriptions use it. OpenAPI 3.1 takes it as it is. */

/** The types of JSON. */
export type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object' | 'null'

/** A schema. `{}` lets everything through. Schemas of others (zod, arktype) may hold more than is named here. */
export interface JsonSchema {
	/** Names what it describes. Those of one title are equal: `Article`. */
	readonly title?: string
	readonly description?: string
	readonly type?: JsonType | readonly JsonType[]
	readonly format?: string
	readonly contentEncoding?: string
	readonly enum?: readonly (string | number | boolean | null)[]
	readonly const?: string | number | boolean | null
	readonly minimum?: number
	readonly maximum?: number
	readonly minLength?: number
	readonly maxLength?: number
	readonly minItems?: number
	readonly maxItems?: number
	/** A regular expression of ECMA 262, without flags. */
	readonly pattern?: string
	readonly items?: JsonSchema
	readonly properties?: Readonly<Record<string, JsonSchema>>
	readonly required?: readonly string[]
	readonly additionalProperties?: boolean | JsonSchema
	readonly anyOf?: readonly JsonSchema[]
	readonly oneOf?: readonly JsonSchema[]
	readonly allOf?: readonly JsonSchema[]
	readonly default?: unknown
	readonly readOnly?: boolean
	readonly writeOnly?: boolean
	/** Schemas that `$ref`s within this one name: `#/$defs/Tag`. */
	readonly $defs?: Readonly<Record<string, JsonSchema>>
	readonly [keyword: string]: unknown
}

/** Keywords whose value is a schema, a list of schemas, and schemas by name. */
export const IN_ONE: ReadonlySet<string> = new Set([
	...['items', 'additionalProperties', 'unevaluatedProperties', 'unevaluatedItems', 'contains'],
	...['propertyNames', 'not', 'if', 'then', 'else'],
])
export const IN_LIST: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
export const IN_NAMES: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'dependentSchemas'])
