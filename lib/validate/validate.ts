/**
 * Validates values from clients. `getParams` of a handler compiles a spec (`compile.ts`) and checks the fields of a body or
 * a query (`check.ts`); `validateList` does the same for one list of rules. `crud/` compiles its rules here too.
 */
import { isPlain } from '../base/options.ts'
import type { Detail } from '../wire/codes.ts'
import { checkPlan } from './check.ts'
import { planRules, planSpec } from './compile.ts'
import type { Params } from './inferred.ts'
import { Draft, type Plan } from './plan.ts'
import { invalid, invalidForm, MAX_PROBLEMS } from './problem.ts'
import { collectResults, isStandardSchema, type SchemaResults, syncResults } from './standard-schema.ts'
import type { Result, Rule, Spec, ValidateOptions, Validator } from './validator.ts'

export type { Params, Spec }

export interface ReadOptions {
	/** Whether texts are converted to other kinds: true for forms and query strings, false for JSON. */
	readonly coerce: boolean
	/** Checks lists of rules. A compiled spec keeps the validator that it was compiled with. @default ruleValidator */
	readonly validator?: Validator
}

/**
 * Checks and returns the fields named by `spec`, which may be compiled already; the result's type is inferred from it.
 * Fields are read by name from the source's own properties, so that no other field of a client gets through. Absent fields
 * are not keys of the result.
 *
 *     readParams({ title: ['required', 'string'], age: ['integer', { min: 0 }] }, body, { coerce: false })
 *     {"title":"Dune","age":-1} → 422 {"success":false,"error":"age must be at least 0","code":"invalid",
 *                                      "details":[{"field":"age","code":"min","message":"must be at least 0"}]}
 *
 * @throws RestError `invalid` with all problems at once, at most 100 of them
 * @throws TypeError when the spec is wrong, or a schema in it returns a promise
 */
export function readParams<const S extends Spec>(
	spec: S | Plan,
	source: Readonly<Record<string, unknown>>,
	options: ReadOptions,
): Params<S> {
	return checked(planOf(spec, options), source, options, syncResults) as Params<S> // by its plan
}

/**
 * {@link readParams} with schemas that may return promises. All schemas are called before any is awaited; rules and
 * checks stay synchronous.
 *
 * @throws RestError and TypeError like `readParams`, as rejections
 */
export async function readParamsAsync<const S extends Spec>(
	spec: S | Plan,
	source: Readonly<Record<string, unknown>>,
	options: ReadOptions,
): Promise<Params<S>> {
	const plan = planOf(spec, options)
	const { coerce } = options
	const results = await collectResults((pending) => {
		checkPlan({ coerce, problems: [], results: pending }, plan, source)
	})
	return checked(plan, source, options, results) as Params<S> // by its plan
}

function planOf(spec: Spec | Plan, { validator }: ReadOptions): Plan {
	return spec instanceof Draft ? spec : planSpec(spec as Spec, validator) // not a plan
}

function checked(
	plan: Plan,
	source: Readonly<Record<string, unknown>>,
	{ coerce }: ReadOptions,
	results: SchemaResults,
): unknown {
	const problems: Detail[] = []
	const value = checkPlan({ coerce, problems, results }, plan, source)
	if (problems.length > 0) throw coerce ? invalidForm(problems, source) : invalid(problems)
	return value
}

/** The default validator. */
export const ruleValidator: Validator = { validateList }

/**
 * Checks a value against rules. An absent value is `undefined`.
 *
 *     validateList(-1, ['integer', { min: 0 }])
 *     { ok: false, problems: [{ field: '', code: 'min', message: 'must be at least 0' }] }
 *
 * @returns the first 100 problems
 * @throws TypeError when a rule is misspelt or contradicts another
 */
export function validateList(value: unknown, rules: readonly Rule[], options: ValidateOptions = {}): Result {
	const problems: Detail[] = []
	const context = { coerce: options.coerce === true, problems, results: syncResults }
	const result = checkPlan(context, planRules('', rules), value)
	if (problems.length === 0) return { ok: true, value: result }
	return { ok: false, problems: problems.slice(0, MAX_PROBLEMS) }
}

const MEMO_SIZE = 4

/**
 * Cache of one method's compiled specs, by identity. A spec written inline is a new object at each call: it costs four
 * comparisons here, and is compiled where it is used.
 */
export class SpecMemo {
	readonly #seen: (Spec | undefined)[] = Array.from({ length: MEMO_SIZE })
	readonly #compiled: (Plan | undefined)[] = Array.from({ length: MEMO_SIZE })
	#next = 0

	/**
	 * The compiled form of a spec that was seen before; `undefined` for a new one. A compiled spec is frozen, so that changes
	 * throw instead of being ignored.
	 *
	 * @throws TypeError when the spec is wrong
	 */
	compiled(spec: Spec, validator: Validator | undefined): Plan | undefined {
		const index = this.#seen.indexOf(spec)
		if (index === -1) {
			this.#seen[this.#next] = spec
			this.#compiled[this.#next] = undefined
			this.#next = (this.#next + 1) % MEMO_SIZE
			return undefined
		}
		const cached = this.#compiled[index]
		if (cached !== undefined) return cached
		const compiled = planSpec(spec, validator)
		freeze(spec)
		this.#compiled[index] = compiled
		return compiled
	}
}

/** Freezes plain objects and arrays, but not schemas, patterns and functions, which others may use. */
function freeze(value: unknown): void {
	if (Object.isFrozen(value) || isStandardSchema(value) || !(Array.isArray(value) || isPlain(value))) return
	Object.freeze(value)
	for (const inner of Object.values(value)) freeze(inner)
}
