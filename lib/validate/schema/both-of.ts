/** Two schemas as one that lets through what both do: of a column and of the rules for it. */
import type { JsonSchema, JsonType } from './json-schema.ts'

type Merge = (a: unknown, b: unknown) => unknown

/** How a keyword that both have is said once; `undefined` where it can't be. */
const MERGES: ReadonlyMap<string, Merge> = new Map(
	Object.entries<Merge>({
		type: commonTypes,
		enum: common,
		...{ minimum: greater, minLength: greater, minItems: greater },
		...{ maximum: less, maxLength: less, maxItems: less },
		description: (a, b) => `${String(a)}. ${String(b)}`,
		// What holds of the value in particular names it, and fills it.
		...{ title: (_, b) => b, default: (_, b) => b },
	}),
)

/** One flat schema where its keywords allow it, which most readers understand better than `allOf`. */
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
	return meaningful(merged)
}

/** A schema with those of its alternatives alone that may be of a type; `undefined` where all may, or none. */
function alternativesOf(
	{ anyOf = [], ...rest }: JsonSchema,
	type: JsonSchema['type'],
): JsonSchema | undefined {
	const fitting = anyOf.filter((one) => one.type === undefined || commonTypes(one.type, type) !== undefined)
	if (fitting.length === 0 || fitting.length === anyOf.length) return undefined
	return fitting.length === 1 ? { ...rest, ...fitting[0] } : { ...rest, anyOf: fitting }
}

/** Keywords that look at one type alone; `format` is of texts and numbers. */
const LOOKS_AT: ReadonlyMap<string, readonly JsonType[]> = new Map(
	Object.entries<readonly JsonType[]>({
		...{ minLength: ['string'], maxLength: ['string'], pattern: ['string'] },
		...{ minimum: ['number', 'integer'], maximum: ['number', 'integer'] },
		...{ minItems: ['array'], maxItems: ['array'], items: ['array'] },
		...{ properties: ['object'], required: ['object'], additionalProperties: ['object'] },
	}),
)

/** Without the keywords that say nothing about its types. */
function meaningful(schema: JsonSchema): JsonSchema {
	if (schema.type === undefined) return schema
	const types = listOf(schema.type)
	const kept = Object.entries(schema).filter(
		([keyword]) => LOOKS_AT.get(keyword)?.some((type) => types.includes(type)) ?? true,
	)
	return Object.fromEntries(kept)
}

function greater(a: unknown, b: unknown): number {
	return Math.max(Number(a), Number(b))
}

function less(a: unknown, b: unknown): number {
	return Math.min(Number(a), Number(b))
}

function common(a: unknown, b: unknown): unknown {
	const both = listOf(a).filter((one) => listOf(b).includes(one))
	return both.length === 0 ? undefined : both
}

/** An integer is a number too. */
function commonTypes(a: unknown, b: unknown): JsonType | readonly JsonType[] | undefined {
	const [left, right] = [listOf(a), listOf(b)] as [JsonType[], JsonType[]] // of the keyword `type`
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
