/**
 * Reads the fields that a spec names out of a body or a query: what `getParams` does. Every field is
 * taken by its name from the source's own properties, never copied whole, so that nothing a client adds
 * gets through.
 */
import { type Answers, directAnswers, Questions } from './answers.ts'
import { checkPlan, type Walk } from './check.ts'
import { planSpec } from './compile.ts'
import type { Params } from './inferred.ts'
import type { Plan } from './plan.ts'
import { invalid } from './problem.ts'
import type { Spec, Validator } from './validator.ts'

export type { Params, Spec }

/** How a source is read. */
export interface ReadOptions {
	/** Whether text stands for other kinds: true for forms and query strings, false for JSON. */
	readonly coerce: boolean
	/**
	 * Checks the lists of rules instead of ours. A compiled spec keeps the one it was compiled with.
	 *
	 * @default ruleValidator
	 */
	readonly validator?: Validator
}

/**
 * A spec that has been read once, at the mount, for many requests. `spec` and `plan` say what it asks
 * for, to whoever describes the API. Made by {@link compileSpec}.
 */
export class CompiledSpec<S extends Spec = Spec> {
	readonly spec: S
	readonly plan: Plan

	constructor(spec: S, plan: Plan) {
		this.spec = spec
		this.plan = plan
	}
}

/**
 * Reads a spec, so that its mistakes show at the mount and requests only follow it.
 *
 * @throws TypeError when a rule is misspelt, an option is wrong, or rules contradict each other
 */
export function compileSpec<const S extends Spec>(spec: S, validator?: Validator): CompiledSpec<S> {
	return new CompiledSpec(spec, planSpec(spec, validator))
}

/**
 * The fields that `spec` names, checked; the result's type is made of the spec. Absent fields are no
 * keys of the result.
 *
 *     readParams({ title: ['required', 'string'], age: ['integer', { min: 0 }] }, body, { coerce: false })
 *     {"title":"Dune","age":-1} → 422 {"success":false,"error":"age must be at least 0","code":"invalid",
 *                                      "details":[{"field":"age","code":"min","message":"must be at least 0"}]}
 *
 * @throws RestError `invalid` with all problems at once, at most 100 of them
 * @throws TypeError when the spec is wrong, or a schema in it answers a promise
 */
export function readParams<const S extends Spec>(
	spec: S,
	source: Readonly<Record<string, unknown>>,
	options: ReadOptions,
): Params<S> {
	return walked(planSpec(spec, options.validator), source, options, directAnswers) as Params<S> // by its plan
}

/**
 * {@link readParams} by a spec that is compiled already.
 *
 * @throws RestError and TypeError like `readParams`, but for mistakes in the spec
 */
export function readCompiled<S extends Spec>(
	compiled: CompiledSpec<S>,
	source: Readonly<Record<string, unknown>>,
	options: ReadOptions,
): Params<S> {
	return walked(compiled.plan, source, options, directAnswers) as Params<S> // by its plan
}

/**
 * {@link readParams} with schemas that may answer promises. They are all asked before any is awaited;
 * rules and checks stay synchronous.
 *
 * @throws RestError and TypeError like `readParams`, as rejections
 */
export async function readParamsAsync<const S extends Spec>(
	spec: S,
	source: Readonly<Record<string, unknown>>,
	options: ReadOptions,
): Promise<Params<S>> {
	return readCompiledAsync(compileSpec(spec, options.validator), source, options)
}

/** {@link readParamsAsync} by a spec that is compiled already. */
export async function readCompiledAsync<S extends Spec>(
	{ plan }: CompiledSpec<S>,
	source: Readonly<Record<string, unknown>>,
	options: ReadOptions,
): Promise<Params<S>> {
	const questions = new Questions()
	try {
		checkPlan(walk(options, questions), plan, source)
	} catch (error) {
		questions.drop()
		throw error
	}
	const answers = await questions.answered()
	return walked(plan, source, options, answers) as Params<S> // by its plan
}

function walk(options: ReadOptions, answers: Answers): Walk {
	return { coerce: options.coerce, problems: [], answers }
}

function walked(plan: Plan, source: unknown, options: ReadOptions, answers: Answers): unknown {
	const here = walk(options, answers)
	const value = checkPlan(here, plan, source)
	if (here.problems.length > 0) throw invalid(here.problems)
	return value
}
