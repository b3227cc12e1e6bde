/**
 * The types of Standard Schema (https://standardschema.dev, version 1), declared here so that nothing is imported: schemas of
 * zod, valibot, arktype and others implement them. And `SchemaResults`, through which `check.ts` calls schemas.
 */
import { isThenable } from '../base/thenable.ts'

/** A schema of any library. `validate` returns `{ value }`, or `{ issues }`, or a promise of either. */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
	readonly '~standard': {
		readonly version: 1
		readonly vendor: string
		readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
		/** Only for type inference; nothing reads it at run time. */
		readonly types?: { readonly input: Input; readonly output: Output } | undefined
	}
}

/** The result of a schema: the value is valid if `issues` is absent. */
export type SchemaResult<Output> =
	| { readonly value: Output; readonly issues?: undefined }
	| { readonly issues: readonly SchemaIssue[] }

/** A problem found by a schema, and its path: property names or indexes, outermost first. */
export interface SchemaIssue {
	readonly message: string
	readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** A schema that can be converted to JSON Schema (Standard JSON Schema, version 1). */
export interface StandardJsonSchemaV1 {
	readonly '~standard': {
		readonly jsonSchema: {
			/** The JSON Schema of the input of `validate`. Throws if JSON Schema can't express it. */
			readonly input: (options: JsonSchemaOptions) => unknown
		}
	}
}

export interface JsonSchemaOptions {
	readonly target: 'draft-2020-12'
	/** Options specific to the library. */
	readonly libraryOptions?: Readonly<Record<string, unknown>>
}

export function hasJsonSchema(schema: StandardSchemaV1): schema is StandardSchemaV1 & StandardJsonSchemaV1 {
	const { jsonSchema } = schema['~standard'] as { readonly jsonSchema?: unknown } // checked below
	if (typeof jsonSchema !== 'object' || jsonSchema === null) return false
	return 'input' in jsonSchema && typeof jsonSchema.input === 'function'
}

/** Whether `value` is a Standard Schema. Functions can be: arktype's types are functions. */
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
	if (typeof value !== 'function' && (typeof value !== 'object' || value === null)) return false
	return '~standard' in value
}

/**
 * Provides the results of schemas to `check.ts`. Checks are synchronous, so they run twice for schemas that may return
 * promises: first to call the schemas, then, in the same order, with their results.
 */
export interface SchemaResults {
	/** Whether this pass only calls schemas. It skips checks and defaults, which may have side effects. */
	readonly isCollecting: boolean
	resultOf(schema: StandardSchemaV1, value: unknown): SchemaResult<unknown>
}

/** Results of synchronous schemas; a promise is a TypeError that names `getParamsAsync`. */
export const syncResults: SchemaResults = {
	isCollecting: false,
	resultOf(schema, value) {
		const result = schema['~standard'].validate(value)
		if (!isThenable(result)) return wellFormed(result)
		ignoreRejection(result)
		throw new TypeError('this schema returns a promise: use getParamsAsync instead of getParams')
	},
}

/**
 * Awaits the results of schemas that may return promises.
 *
 * @param check the first of the two passes
 * @returns the results for the second pass, in the order of the calls
 */
export async function collectResults(check: (results: SchemaResults) => void): Promise<SchemaResults> {
	const pending: (SchemaResult<unknown> | Promise<SchemaResult<unknown>>)[] = []
	try {
		check({
			isCollecting: true,
			resultOf(schema, value) {
				const result = schema['~standard'].validate(value)
				pending.push(result)
				return isThenable(result) ? { value: undefined } : wellFormed(result)
			},
		})
	} catch (error) {
		pending.forEach(ignoreRejection)
		throw error
	}
	const results = (await Promise.all(pending)).values()
	return { isCollecting: false, resultOf: () => wellFormed(results.next().value) }
}

/** Prevents the rejection of a promise that isn't awaited from ending the process. */
export function ignoreRejection(value: unknown): void {
	Promise.resolve(value).catch(() => undefined)
}

function wellFormed(result: SchemaResult<unknown> | undefined): SchemaResult<unknown> {
	if (typeof result === 'object' && result !== null) return result
	throw new TypeError(`a Standard Schema returns { value } or { issues }, got ${String(result)}`)
}
