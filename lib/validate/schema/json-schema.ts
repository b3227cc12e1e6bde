/**
 * JSON Schema, draft 2020-12, which OpenAPI 3.1 uses: the keywords that our descriptions have, and functions that limit the
 * depth of schemas, follow references, and merge two schemas. For `openapi/` and `crud/`.
 */
import { attempt } from '../../base/attempt.ts'

export type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object' | 'null'

/**
 * Marks a schema that may contain itself, as those of related records do. It has a title, and is the same object each time,
 * by which `openapi/components.ts` recognizes it and turns it into a component.
 */
export const RECURSIVE: unique symbol = Symbol('verbena.recursive')

/** A schema; `{}` allows anything. Schemas of other libraries (zod, arktype) may have more keywords. */
export interface JsonSchema {
	/** The name of its type, `Article`; schemas with the same title are equal. */
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
	/** An ECMA 262 regular expression, without flags. */
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
	/** Schemas that a `$ref` within this one refers to: `#/$defs/Tag`. */
	readonly $defs?: Readonly<Record<string, JsonSchema>>
	readonly [RECURSIVE]?: true
	readonly [keyword: string]: unknown
}

/** Keywords whose value is one schema, a list of schemas, and schemas by name. */
export const IN_ONE: ReadonlySet<string> = new Set([
	...['items', 'additionalProperties', 'unevaluatedProperties', 'unevaluatedItems', 'contains'],
	...['propertyNames', 'not', 'if', 'then', 'else'],
])
export const IN_LIST: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
export const IN_NAMES: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'dependentSchemas'])

/** Maximum depth of schemas: each level needs stack, and schemas of other libraries may nest without end. */
export const LEVELS = 100

/** The schema, with `{}` in place of those below `LEVELS`; other values that nest deeper, such as a `default`, are left out. */
export function withinLevels(schema: JsonSchema, levels = LEVELS): JsonSchema {
	if (levels === 0) return {}
	const inner = (value: unknown) => (isSchema(value) ? withinLevels(value, levels - 1) : value)
	const entries = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
		if (IN_ONE.has(keyword) && isSchema(value)) return [[keyword, inner(value)]]
		if (IN_LIST.has(keyword) && Array.isArray(value)) return [[keyword, value.map(inner)]]
		if ((IN_NAMES.has(keyword) || keyword === '$defs') && isSchema(value)) {
			const named = Object.entries(value).map(([name, one]) => [name, inner(one)])
			return [[keyword, Object.fromEntries(named)]]
		}
		return isWithinLevels(value) ? [[keyword, value]] : []
	})
	return Object.fromEntries(entries)
}

/** Whether a JSON value has at most this many levels. */
export function isWithinLevels(value: unknown, levels = LEVELS): boolean {
	if (typeof value !== 'object' || value === null) return true
	return levels > 0 && Object.values(value).every((inner) => isWithinLevels(inner, levels - 1))
}

export function isSchema(value: unknown): value is JsonSchema {
	return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export type Definitions = Readonly<Record<string, JsonSchema>>

/** The target of a `$ref`: a definition, and a path in it. */
export interface Reference {
	readonly name: string
	/** `/properties/id`; empty for the definition itself. */
	readonly rest: string
}

const DEFS = '#/$defs/'

/**
 * The definition that a `$ref` names; `undefined` if there is none. Some libraries don't escape the name (RFC 6901 §3,
 * §6), so it is also looked up as written.
 */
export function referenceOf(ref: string, isName: (name: string) => boolean): Reference | undefined {
	if (!ref.startsWith(DEFS)) return undefined
	const path = ref.slice(DEFS.length)
	const [first = ''] = path.split('/', 1)
	const rest = path.slice(first.length)
	const candidates: readonly Reference[] = [
		{ name: path, rest: '' },
		{ name: unescaped(path), rest: '' },
		{ name: first, rest },
		{ name: unescaped(first), rest },
	]
	return candidates.find(({ name }) => isName(name))
}

/** All references in a schema, as written. */
export function referencesIn(value: unknown): string[] {
	if (typeof value !== 'object' || value === null) return []
	return Object.entries(value).flatMap(([key, inner]) =>
		key === '$ref' && typeof inner === 'string' ? [inner] : referencesIn(inner),
	)
}

/** A copy of a schema, or of schemas by name, whose references are changed. */
export function redirected<T>(value: T, change: (ref: string) => string): T {
	if (typeof value !== 'object' || value === null) return value
	if (Array.isArray(value)) return value.map((one) => redirected(one, change)) as T // the same items
	const entries = Object.entries(value).map(([key, inner]) => [
		key,
		key === '$ref' && typeof inner === 'string' ? change(inner) : redirected(inner, change),
	])
	return Object.fromEntries(entries) as T // the same keys
}

/** The definitions that a schema refers to, directly or indirectly, in their order. */
export function neededBy(schema: JsonSchema, definitions: Definitions): Definitions {
	const isName = (name: string) => Object.hasOwn(definitions, name)
	const found = new Set<string>()
	const queue: unknown[] = [schema]
	for (const one of queue) {
		for (const ref of referencesIn(one)) {
			const { name } = referenceOf(ref, isName) ?? {}
			if (name === undefined || found.has(name)) continue
			found.add(name)
			queue.push(definitions[name])
		}
	}
	return Object.fromEntries(Object.entries(definitions).filter(([name]) => found.has(name)))
}

function unescaped(pointer: string): string {
	return attempt(() => decodeURIComponent(pointer).replaceAll('~1', '/').replaceAll('~0', '~')) ?? pointer
}

type Merge = (a: unknown, b: unknown) => unknown

const max: Merge = (a, b) => Math.max(Number(a), Number(b))
const min: Merge = (a, b) => Math.min(Number(a), Number(b))

/** Merges the values that both schemas have for a keyword; `undefined` if that isn't possible. */
const MERGES: ReadonlyMap<string, Merge> = new Map(
	Object.entries<Merge>({
		type: commonTypes,
		enum: common,
		...{ minimum: max, minLength: max, minItems: max },
		...{ maximum: min, maxLength: min, maxItems: min },
		description: (a, b) => `${String(a)}. ${String(b)}`,
		// The second schema is the more specific one.
		...{ title: (_, b) => b, default: (_, b) => b },
	}),
)

/**
 * A schema of the values that both schemas accept, such as those of a column and its rules. Flat where possible, which
 * most tools handle better than `allOf`.
 */
export function bothOf(a: JsonSchema, b: JsonSchema): JsonSchema {
	const kept = b.type === undefined ? undefined : alternativesOf(a, b.type)
	if (kept !== undefined) return bothOf(kept, b)
	const merged: Record<string, unknown> = { ...a }
	for (const [keyword, value] of Object.entries(b)) {
		const before = Object.hasOwn(merged, keyword) ? merged[keyword] : undefined
		const both = before === undefined || before === value ? value : MERGES.get(keyword)?.(before, value)
		if (both === undefined) return { allOf: [a, b] }
		merged[keyword] = both
	}
	return withApplicableKeywords(merged)
}

/** A schema with only the alternatives that can be of a type; `undefined` if all can, or none. */
function alternativesOf(
	{ anyOf = [], ...rest }: JsonSchema,
	type: JsonSchema['type'],
): JsonSchema | undefined {
	const fitting = anyOf.filter((one) => one.type === undefined || commonTypes(one.type, type) !== undefined)
	if (fitting.length === 0 || fitting.length === anyOf.length) return undefined
	return fitting.length === 1 ? { ...rest, ...fitting[0] } : { ...rest, anyOf: fitting }
}

/** The types that a keyword applies to; others apply to all types. */
const APPLIES_TO: ReadonlyMap<string, readonly JsonType[]> = new Map(
	Object.entries<readonly JsonType[]>({
		...{ minLength: ['string'], maxLength: ['string'], pattern: ['string'] },
		...{ minimum: ['number', 'integer'], maximum: ['number', 'integer'] },
		...{ minItems: ['array'], maxItems: ['array'], items: ['array'] },
		...{ properties: ['object'], required: ['object'], additionalProperties: ['object'] },
	}),
)

/** Drops the keywords that don't apply to the schema's types. */
function withApplicableKeywords(schema: JsonSchema): JsonSchema {
	if (schema.type === undefined) return schema
	const types = listOf(schema.type)
	const kept = Object.entries(schema).filter(
		([keyword]) => APPLIES_TO.get(keyword)?.some((type) => types.includes(type)) ?? true,
	)
	return Object.fromEntries(kept)
}

function common(a: unknown, b: unknown): unknown {
	const both = listOf(a).filter((one) => listOf(b).includes(one))
	return both.length === 0 ? undefined : both
}

/** An integer is a number too. */
function commonTypes(a: unknown, b: unknown): JsonType | readonly JsonType[] | undefined {
	const [left, right] = [listOf(a), listOf(b)] as [JsonType[], JsonType[]] // values of `type`
	const isNumber = (types: readonly JsonType[]) => types.includes('number')
	const both = [
		...left.filter((type) => right.includes(type) || (type === 'integer' && isNumber(right))),
		...right.filter((type) => type === 'integer' && isNumber(left) && !left.includes('integer')),
	]
	return both.length === 1 ? both[0] : both.length === 0 ? undefined : both
}

function listOf(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [value]
}
