/** Follows a plan over a value: what is fine comes out, every problem is noted. Both validators' heart. */
import type { Detail } from '../wire/codes.ts'
import { type Answers, defuse } from './answers.ts'
import { hasFieldsAsGiven, isObject } from './as-given.ts'
import { measureItems, measureNumber, measureText } from './measure.ts'
import type { FieldPlan, Plan } from './plan.ts'
import { MAX_PROBLEMS, nest, note, problemsOf } from './problem.ts'
import type { StandardSchemaV1 } from './standard-schema.ts'
import { fromText } from './text.ts'
import type { Check, Choice, Rule, Validator } from './validator.ts'

/** One walk over one value. */
export interface Walk {
	/** Whether text stands for other kinds. */
	readonly coerce: boolean
	/** What was found so far. */
	readonly problems: Detail[]
	readonly answers: Answers
}

/** `given` as it is to be used; `undefined` when it is absent or a problem was noted. */
export function checkPlan(walk: Walk, plan: Plan, given: unknown): unknown {
	if (plan.schema !== undefined) return checkSchema(walk, plan.schema, given)
	if (plan.validator !== undefined) return checkElsewhere(walk, plan.validator, plan, given)
	const value = walk.coerce ? coerced(plan, given) : given
	if (value === undefined) return absent(walk, plan)
	if (value === null && plan.nullable) return null
	if (value === null) return note(walk.problems, plan.required ? 'required' : 'nullable', 'must not be null')
	const before = walk.problems.length
	const checked = checkKind(walk, plan, value)
	if (walk.problems.length > before) return undefined
	if (plan.choices !== undefined) checkChoice(walk.problems, plan.choices, checked)
	if (plan.checks !== undefined && walk.problems.length === before) runChecks(walk, plan.checks, checked)
	return walk.problems.length > before ? undefined : checked
}

/**
 * The value that text stands for. A form sends an empty text for what was left empty, so that is absent
 * wherever it can't be a value itself.
 */
function coerced(plan: Plan, given: unknown): unknown {
	// Of a name that came more than once, a list takes all values, everything else the last.
	const text: unknown = plan.kind !== 'array' && Array.isArray(given) ? given.at(-1) : given
	if (typeof text !== 'string') return text
	return text === '' && !takesEmpty(plan) ? undefined : fromText(plan.reads, text)
}

function takesEmpty({ kind, format, choices }: Plan): boolean {
	if (format !== undefined || (kind !== undefined && kind !== 'string')) return false
	return choices === undefined || choices.includes('')
}

function absent(walk: Walk, { required, fallback }: Plan): unknown {
	if (required) return note(walk.problems, 'required', 'is required')
	if (typeof fallback === 'function') return walk.answers.collecting ? undefined : fallback()
	return typeof fallback === 'object' ? structuredClone(fallback) : fallback
}

function checkKind(walk: Walk, plan: Plan, value: unknown): unknown {
	const { problems } = walk
	switch (plan.kind) {
		case 'string':
			if (typeof value === 'string') return measureText(problems, plan, value)
			return note(problems, 'string', 'must be a string')
		case 'number':
			if (Number.isFinite(value)) return measureNumber(problems, plan, value as number) // as just seen
			return note(problems, 'number', 'must be a number')
		case 'integer':
			if (Number.isSafeInteger(value)) return measureNumber(problems, plan, value as number) // as just seen
			return note(problems, 'integer', 'must be a whole number, within 9007199254740991 of zero')
		case 'boolean':
			return typeof value === 'boolean' ? value : note(problems, 'boolean', 'must be true or false')
		case 'array':
			return Array.isArray(value)
				? checkArray(walk, plan, value)
				: note(problems, 'array', 'must be an array')
		case 'object':
			if (!isObject(value)) return note(problems, 'object', 'must be an object')
			if (plan.fields === undefined) return value
			if (plan.plain !== undefined && !walk.coerce && hasFieldsAsGiven(plan.fields, value)) {
				// What a method is handed is never the body itself.
				return plan.whole ? { ...value } : value
			}
			return checkFields(walk, plan.fields, value)
		case undefined:
			return plan.min === undefined && plan.max === undefined ? value : checkAnySize(walk, plan, value)
	}
}

/** `min` and `max` of a list that names no kind measure the value as what it is. */
function checkAnySize(walk: Walk, plan: Plan, value: unknown): unknown {
	if (typeof value === 'string') return measureText(walk.problems, plan, value)
	if (Number.isFinite(value)) return measureNumber(walk.problems, plan, value as number) // as just seen
	if (Array.isArray(value)) return checkArray(walk, plan, value)
	const code = plan.min === undefined ? 'max' : 'min'
	return note(walk.problems, code, 'must be a string, a number or an array')
}

function checkArray(walk: Walk, plan: Plan, value: readonly unknown[]): readonly unknown[] {
	// Where there are too many, none is looked at: there may be any number of them.
	if (!measureItems(walk.problems, plan, value.length) || plan.items === undefined) return value
	return checkItems(walk, plan.items, value)
}

/** The items, as they are to be used: the array itself where each is as it was given. */
function checkItems(walk: Walk, plan: Plan, value: readonly unknown[]): readonly unknown[] {
	const { problems } = walk
	let result: unknown[] | undefined
	for (let index = 0; index < value.length && problems.length < MAX_PROBLEMS; index++) {
		const before = problems.length
		const given = value[index]
		const checked = checkPlan(walk, plan, given)
		if (problems.length > before) nest(problems, before, index)
		if (result === undefined && checked !== given) result = value.slice(0, index)
		result?.push(checked)
	}
	return result ?? value
}

/** The fields that are asked for, and no others. */
function checkFields(
	walk: Walk,
	fields: readonly FieldPlan[],
	value: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
	const { problems } = walk
	const result: Record<string, unknown> = {}
	for (const { name, plan } of fields) {
		const before = problems.length
		const checked = checkPlan(walk, plan, Object.hasOwn(value, name) ? value[name] : undefined)
		if (problems.length > before) nest(problems, before, name)
		else if (checked !== undefined) result[name] = checked
		// An absent `constructor` must not read as the one that every object inherits.
		else if (name in Object.prototype) Object.setPrototypeOf(result, null)
	}
	return result
}

/** Most choices that a message lists. */
const MAX_LISTED = 20

function checkChoice(problems: Detail[], choices: readonly Choice[], value: unknown): void {
	if (choices.includes(value as Choice)) return // only compared
	const rest = choices.length > MAX_LISTED ? ` and ${choices.length - MAX_LISTED} more` : ''
	note(problems, 'in', `must be one of ${choices.slice(0, MAX_LISTED).join(', ')}${rest}`)
}

function runChecks(walk: Walk, checks: readonly Check[], value: unknown): void {
	if (walk.answers.collecting) return
	for (const check of checks) {
		const answer: unknown = check(value)
		if (answer === undefined || answer === true) continue
		if (typeof answer !== 'string') throw notAnAnswer('a check answers true, undefined or a message', answer)
		note(walk.problems, 'custom', answer)
	}
}

function notAnAnswer(right: string, answer: unknown): TypeError {
	defuse(answer)
	const got = typeof answer === 'object' && answer !== null ? 'an object or a promise' : String(answer)
	return new TypeError(`${right}, and at once; got ${got}`)
}

function checkSchema({ problems, answers }: Walk, schema: StandardSchemaV1, value: unknown): unknown {
	const answer = answers.ask(schema, value)
	if (answer.issues === undefined) return answer.value
	problems.push(...problemsOf(answer.issues, value))
	return undefined
}

function checkElsewhere(walk: Walk, validator: Validator, plan: Plan, value: unknown): unknown {
	if (walk.answers.collecting) return undefined
	const rules = plan.source as readonly Rule[] // only plans made of a list have a validator
	const result = validator.validateList(value, rules, { coerce: walk.coerce })
	if (result.ok === true) return result.value
	if (result.ok !== false) throw notAnAnswer('validateList answers { ok, value } or { ok, problems }', result)
	walk.problems.push(...result.problems)
	return undefined
}
