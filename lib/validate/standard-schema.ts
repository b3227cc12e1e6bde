/**
 * The part of Standard Schema (https://standardschema.dev, version 1) that we call, declared here so that nothing is
 * imported: zod, valibot, arktype and others fit as they are. And `Answers`, through which `check.ts` asks a schema.
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

/** What a schema returns for a value, which is valid when `issues` is absent. */
export type SchemaAnswer<Output> =
	| { readonly value: Output; readonly issues?: undefined }
	| { readonly issues: readonly SchemaIssue[] }

/** One problem found by a schema, and its path: property names or indexes, outermost first. */
export interface SchemaIssue {
	readonly message: string
	readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Added to `~standard` by schemas that can be written as JSON Schema (Standard JSON Schema, version 1). */
export interface StandardJsonSchemaV1 {
	readonly '~standard': {
		readonly jsonSchema: {
			/** What `validate` takes. Throws for what JSON Schema can't express. */
			readonly input: (options: JsonSchemaOptions) => unknown
		}
	}
}

export interface JsonSchemaOptions {
	readonly target: 'draft-2020-12'
	/** Options of the library itself. */
	readonly libraryOptions?: Readonly<Record<string, unknown>>
}

/** Whether a Standard Schema can be written as JSON Schema. */
export function saysJsonSchema(schema: StandardSchemaV1): schema is StandardSchemaV1 & StandardJsonSchemaV1 {
	const { jsonSchema } = schema['~standard'] as { readonly jsonSchema?: unknown } // checked below
	if (typeof jsonSchema !== 'object' || jsonSchema === null) return false
	return 'input' in jsonSchema && typeof jsonSchema.input === 'function'
}

/** Whether `value` is a Standard Schema. Functions can be: arktype's types are. */
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
	if (typeof value !== 'function' && (typeof value !== 'object' || value === null)) return false
	return '~standard' in value
}

/**
 * Where `check.ts` gets the results of schemas. They may be promises, and a check is synchronous: with promises it runs
 * twice, first to call the schemas, then, in the same order, with their results.
 */
export interface Answers {
	/** Whether this pass only calls schemas: checks and defaults, which may have side effects, wait for the second. */
	readonly collecting: boolean
	ask(schema: StandardSchemaV1, value: unknown): SchemaAnswer<unknown>
}

/** For synchronous schemas; a promise is a TypeError that names `getParamsAsync`. */
export const directAnswers: Answers = {
	collecting: false,
	ask(schema, value) {
		const answer = schema['~standard'].validate(value)
		if (!isPromise(answer)) return wellFormed(answer)
		defuse(answer)
		throw new TypeError('this schema returns a promise: use getParamsAsync instead of getParams')
	},
}

/** The first of two passes: calls every schema, without waiting for promises. */
export class Questions implements Answers {
	readonly collecting = true
	readonly #asked: (SchemaAnswer<unknown> | Promise<SchemaAnswer<unknown>>)[] = []

	ask(schema: StandardSchemaV1, value: unknown): SchemaAnswer<unknown> {
		const answer = schema['~standard'].validate(value)
		this.#asked.push(answer)
		return isPromise(answer) ? { value: undefined } : wellFormed(answer)
	}

	/** For the second pass: the results, in the order of the calls. */
	async answered(): Promise<Answers> {
		const answers = (await Promise.all(this.#asked)).values()
		return { collecting: false, ask: () => wellFormed(answers.next().value) }
	}

	/** After a pass that threw: nobody waits for the pending promises, whose rejections must not end the process. */
	drop(): void {
		this.#asked.forEach(defuse)
	}
}

/** Keeps a rejection that nobody waits for from ending the process. */
export function defuse(value: unknown): void {
	Promise.resolve(value).catch(() => undefined)
}

function isPromise(value: unknown): value is Promise<SchemaAnswer<unknown>> {
	return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function wellFormed(answer: SchemaAnswer<unknown> | undefined): SchemaAnswer<unknown> {
	if (typeof answer === 'object' && answer !== null) return answer
	throw new TypeError(`a Standard Schema returns { value } or { issues }, got ${String(answer)}`)
}
