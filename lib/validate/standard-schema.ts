/**
 * The part of Standard Schema (https://standardschema.dev, version 1) that we call, described here so
 * that nothing is imported: zod, valibot, arktype and others fit as they are.
 */

/** A schema of any library. `validate` answers `{ value }`, or `{ issues }`, or a promise of either. */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
	readonly '~standard': {
		readonly version: 1
		readonly vendor: string
		readonly validate: (value: unknown) => SchemaAnswer<Output> | Promise<SchemaAnswer<Output>>
		/** Only for the compiler; nothing reads it at run time. */
		readonly types?: { readonly input: Input; readonly output: Output } | undefined
	}
}

/** What a schema says about a value: it is fine where `issues` is absent. */
export type SchemaAnswer<Output> =
	| { readonly value: Output; readonly issues?: undefined }
	| { readonly issues: readonly SchemaIssue[] }

/** One thing that a schema found wrong, and where: property names or indexes, outermost first. */
export interface SchemaIssue {
	readonly message: string
	readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** What a schema that can say itself in JSON Schema adds to its `~standard` (Standard JSON Schema, version 1). */
export interface StandardJsonSchemaV1 {
	readonly '~standard': {
		readonly jsonSchema: {
			/** What `validate` takes. Throws what JSON Schema has no words for. */
			readonly input: (options: JsonSchemaOptions) => unknown
		}
	}
}

export interface JsonSchemaOptions {
	readonly target: 'draft-2020-12'
	/** Options of the library itself. */
	readonly libraryOptions?: Readonly<Record<string, unknown>>
}

/** Whether a Standard Schema can say itself in JSON Schema. */
export function saysJsonSchema(schema: StandardSchemaV1): schema is StandardSchemaV1 & StandardJsonSchemaV1 {
	const { jsonSchema } = schema['~standard'] as { readonly jsonSchema?: unknown } // looked at in this line
	if (typeof jsonSchema !== 'object' || jsonSchema === null) return false
	return 'input' in jsonSchema && typeof jsonSchema.input === 'function'
}

/** Whether `value` is a Standard Schema. Functions can be: arktype's types are. */
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
	if (typeof value !== 'function' && (typeof value !== 'object' || value === null)) return false
	return '~standard' in value
}
