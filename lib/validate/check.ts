/**
 * Checks a value against a plan: returns the value to use, and collects all problems. `validate.ts` calls it for bodies and
 * queries, `crud/write.ts` for records.
 */
import type { Detail } from '../wire/codes.ts'
import { hasFormat, INTEGER, NUMBER } from './format.ts'
import type { FieldPlan, Plan } from './plan.ts'
import { MAX_PROBLEMS, nest, note, noteChoices, problemsOf } from './problem.ts'
import { ignoreRejection, type SchemaResults, type StandardSchemaV1 } from './standard-schema.ts'
import type { Check, Choice, Format, Kind, Rule, Validator } from './validator.ts'

export interface CheckContext {
	/** Whether texts are converted to other kinds, as for a form. */
	readonly coerce: boolean
	readonly problems: Detail[]
	readonly results: SchemaResults
}

/** The value to use; `undefined` if it is absent or a problem was noted. */
export function checkPlan(context: CheckContext, plan: Plan, given: unknown): unknown {
	if (plan.schema !== undefined) return checkSchema(context, plan.schema, given)
	if (plan.validator !== undefined) return checkByValidator(context, plan.validator, plan, given)
	const value = context.coerce ? coerced(plan, given) : given
	if (value === undefined) return absent(context, plan)
	if (value === null && plan.nullable) return null
	if (value === null)
		return note(context.problems, plan.required ? 'required' : 'nullable', 'must not be null')
	const before = context.problems.length
	const checked = checkKind(context, plan, value)
	if (context.problems.length > before) return undefined
	if (plan.choices !== undefined && !isChosen(plan, checked)) noteChoices(context.problems, plan.choices)
	if (plan.checks !== undefined && context.problems.length === before)
		runChecks(context, plan.checks, checked)
	return context.problems.length > before ? undefined : checked
}

/** Converts a text. Forms send '' for an empty input: it counts as absent unless it is a valid value. */
function coerced(plan: Plan, given: unknown): unknown {
	// If a name is repeated, an array gets all values, and any other kind the last one.
	const text: unknown = plan.kind !== 'array' && Array.isArray(given) ? given.at(-1) : given
	if (typeof text !== 'string') return text
	return text === '' && !acceptsEmpty(plan) ? undefined : fromText(plan.coerceTo, text)
}

function acceptsEmpty({ kind, format, choices }: Plan): boolean {
	if (format !== undefined || (kind !== undefined && kind !== 'string')) return false
	return choices === undefined || choices.includes('')
}

function absent(context: CheckContext, { required, fallback }: Plan): unknown {
	if (required) return note(context.problems, 'required', 'is required')
	if (typeof fallback === 'function') return context.results.isCollecting ? undefined : fallback()
	return typeof fallback === 'object' ? structuredClone(fallback) : fallback
}

function checkKind(context: CheckContext, plan: Plan, value: unknown): unknown {
	const { problems } = context
	switch (plan.kind) {
		case 'string':
			if (typeof value === 'string') return measureText(problems, plan, value)
			return note(problems, 'string', 'must be a string')
		case 'number':
			if (Number.isFinite(value)) return measureNumber(problems, plan, value as number) // just checked
			return note(problems, 'number', `must be a number${notText(context, value)}`)
		case 'integer':
			if (Number.isSafeInteger(value)) return measureNumber(problems, plan, value as number) // just checked
			return note(
				problems,
				'integer',
				`must be a whole number${notText(context, value) || ', within 9007199254740991 of zero'}`,
			)
		case 'boolean':
			return typeof value === 'boolean' ? value : note(problems, 'boolean', 'must be true or false')
		case 'array':
			if (Array.isArray(value)) return checkArray(context, plan, value)
			return note(problems, 'array', 'must be an array')
		case 'object':
			if (!isObject(value)) return note(problems, 'object', 'must be an object')
			if (plan.fields === undefined) return value
			if (plan.fastKind !== undefined && !context.coerce && areFieldsValid(plan.fields, value)) {
				// A copy: methods must not get the body object itself.
				return plan.isSpec ? { ...value } : value
			}
			return checkFields(context, plan.fields, value)
		case undefined:
			return plan.min === undefined && plan.max === undefined ? value : checkAnySize(context, plan, value)
	}
}

/** In JSON, a number isn't a text. */
function notText({ coerce }: CheckContext, value: unknown): string {
	return typeof value === 'string' && !coerce ? ', not a text' : ''
}

/** Checks `min` and `max` without a kind, by the type of the value. */
function checkAnySize(context: CheckContext, plan: Plan, value: unknown): unknown {
	if (typeof value === 'string') return measureText(context.problems, plan, value)
	if (Number.isFinite(value)) return measureNumber(context.problems, plan, value as number) // just checked
	if (Array.isArray(value)) return checkArray(context, plan, value)
	const code = plan.min === undefined ? 'max' : 'min'
	return note(context.problems, code, 'must be a string, a number or an array')
}

function checkArray(context: CheckContext, plan: Plan, value: readonly unknown[]): readonly unknown[] {
	// If there are too many items, none is checked: a client could send any number.
	if (!measureItems(context.problems, plan, value.length) || plan.items === undefined) return value
	return checkItems(context, plan.items, value)
}

/** The items to use: the given array itself if no item changes. */
function checkItems(context: CheckContext, plan: Plan, value: readonly unknown[]): readonly unknown[] {
	const { problems } = context
	let result: unknown[] | undefined
	for (let index = 0; index < value.length && problems.length < MAX_PROBLEMS; index++) {
		const before = problems.length
		const given = value[index]
		const checked = checkPlan(context, plan, given)
		if (problems.length > before) nest(problems, before, index)
		if (result === undefined && checked !== given) result = value.slice(0, index)
		result?.push(checked)
	}
	return result ?? value
}

/** Copies only the fields of the spec. */
function checkFields(
	context: CheckContext,
	fields: readonly FieldPlan[],
	value: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
	const { problems } = context
	const result: Record<string, unknown> = {}
	for (const { name, plan } of fields) {
		const before = problems.length
		const checked = checkPlan(context, plan, Object.hasOwn(value, name) ? value[name] : undefined)
		if (problems.length > before) nest(problems, before, name)
		else if (checked !== undefined) result[name] = checked
		// Without a prototype, an absent `constructor` doesn't read as the inherited one.
		else if (name in Object.prototype) Object.setPrototypeOf(result, null)
	}
	return result
}

function runChecks(context: CheckContext, checks: readonly Check[], value: unknown): void {
	if (context.results.isCollecting) return
	for (const check of checks) {
		const result: unknown = check(value)
		if (result === undefined || result === true) continue
		if (typeof result !== 'string') throw wrongResult('a check returns true, undefined or a message', result)
		note(context.problems, 'custom', result)
	}
}

function wrongResult(expected: string, result: unknown): TypeError {
	ignoreRejection(result)
	const got = typeof result === 'object' && result !== null ? 'an object or a promise' : String(result)
	return new TypeError(`${expected}, synchronously; got ${got}`)
}

function checkSchema({ problems, results }: CheckContext, schema: StandardSchemaV1, value: unknown): unknown {
	const result = results.resultOf(schema, value)
	if (result.issues === undefined) return result.value
	problems.push(...problemsOf(result.issues, value))
	return undefined
}

function checkByValidator(context: CheckContext, validator: Validator, plan: Plan, value: unknown): unknown {
	if (context.results.isCollecting) return undefined
	const rules = plan.source as readonly Rule[] // only plans of a list have a validator
	const result = validator.validateList(value, rules, { coerce: context.coerce })
	if (result.ok === true) return result.value
	if (result.ok !== false) throw wrongResult('validateList returns { ok, value } or { ok, problems }', result)
	context.problems.push(...result.problems)
	return undefined
}

const FORMATS: Readonly<Record<Format, string>> = {
	email: 'must be an email address',
	url: 'must be an http or https URL',
	uuid: 'must be a UUID',
	date: 'must be a date such as 2026-11-20',
	datetime: 'must be a date and time with zone such as 2026-11-20T10:00:00Z',
}

function measureText(problems: Detail[], plan: Plan, value: string): string {
	const { format, pattern, min, max } = plan
	if (format !== undefined && !hasFormat(format, value)) note(problems, format, FORMATS[format])
	if (min !== undefined && min > 0 && !longerThan(value, min - 1)) {
		note(problems, 'min', `must have at least ${counted(min, 'character')}`)
	}
	if (max !== undefined && longerThan(value, max)) {
		note(problems, 'max', `must have at most ${counted(max, 'character')}`)
		return value // `max` protects slow patterns from long texts
	}
	if (pattern !== undefined && !pattern.test(value))
		note(problems, 'pattern', 'does not have the required form')
	return value
}

/** Whether `text` has more than `count` code points; counts them only if its length doesn't decide. */
function longerThan(text: string, count: number): boolean {
	if (text.length <= count) return false
	if (text.length > count * 2) return true
	let points = 0
	for (const _ of text) points++
	return points > count
}

function measureNumber(problems: Detail[], { min, max }: Plan, value: number): number {
	if (min !== undefined && value < min) note(problems, 'min', `must be at least ${min}`)
	if (max !== undefined && value > max) note(problems, 'max', `must be at most ${max}`)
	return value
}

/** Notes a wrong number of items; returns whether they are few enough to check each. */
function measureItems(problems: Detail[], { min, max }: Plan, count: number): boolean {
	if (min !== undefined && count < min) note(problems, 'min', `must have at least ${counted(min, 'item')}`)
	if (max === undefined || count <= max) return true
	note(problems, 'max', `must have at most ${counted(max, 'item')}`)
	return false
}

function counted(count: number, noun: string): string {
	return count === 1 ? `1 ${noun}` : `${count} ${noun}s`
}

/** The fast path of `checkPlan`: whether a value is valid and is used unchanged. If false, it may still be valid. */
function isValid(plan: Plan, value: unknown): boolean {
	if (value === null) return plan.nullable && plan.fastKind !== undefined
	switch (plan.fastKind) {
		case 'string':
			return typeof value === 'string' && isValidText(plan, value)
		case 'integer':
			return typeof value === 'number' && Number.isSafeInteger(value) && isValidNumber(plan, value)
		case 'number':
			return typeof value === 'number' && Number.isFinite(value) && isValidNumber(plan, value)
		case 'boolean':
			return typeof value === 'boolean' && isChosen(plan, value)
		case 'array':
			return Array.isArray(value) && isWithin(plan, value.length) && areItemsValid(plan.items, value)
		case 'object':
			return isObject(value) && (plan.fields === undefined || areFieldsValid(plan.fields, value))
		case 'anything':
			return value !== undefined && isChosen(plan, value)
		case undefined:
			return false
	}
}

/**
 * Whether an object has exactly these fields, in this order, all valid and unchanged. That is the case for most JSON
 * bodies and records, and allocates nothing.
 */
function areFieldsValid(fields: readonly FieldPlan[], value: Readonly<Record<string, unknown>>): boolean {
	let index = 0
	for (const key in value) {
		let field: FieldPlan | undefined = fields[index++]
		while (field !== undefined && field.name !== key) field = canBeAbsent(field) ? fields[index++] : undefined
		if (field === undefined || !isValid(field.plan, value[key])) return false
	}
	while (index < fields.length && canBeAbsent(fields[index])) index++
	return index === fields.length
}

/** Whether a value that isn't null is an object. */
function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && !Array.isArray(value)
}

/** Whether a field may be missing in the fast path: it has no default, and its name isn't one that objects inherit. */
function canBeAbsent(field: FieldPlan | undefined): boolean {
	if (field === undefined) return false
	const { plan, name } = field
	return !plan.required && plan.fallback === undefined && !(name in Object.prototype)
}

function areItemsValid(plan: Plan | undefined, items: readonly unknown[]): boolean {
	if (plan === undefined) return true
	for (const item of items) if (!isValid(plan, item)) return false
	return true
}

function isValidText(plan: Plan, text: string): boolean {
	if (!isWithin(plan, text.length)) return false
	if (plan.format !== undefined && !hasFormat(plan.format, text)) return false
	return (plan.pattern === undefined || plan.pattern.test(text)) && isChosen(plan, text)
}

function isValidNumber(plan: Plan, value: number): boolean {
	return isWithin(plan, value) && isChosen(plan, value)
}

function isWithin({ fastMin, fastMax }: Plan, size: number): boolean {
	return size >= fastMin && size <= fastMax
}

function isChosen({ choices }: Plan, value: unknown): boolean {
	return choices === undefined || choices.includes(value as Choice) // only compared
}

/**
 * Converts a text of a form or query string to a kind. A text that can't be converted is returned as it is, and refused
 * by the check of its kind.
 *
 * Numbers are written as in JSON; one that overflows becomes infinite, which no kind accepts. Booleans are `true`,
 * `false`, `1`, `0`, `TRUE` and `FALSE` as in spreadsheets, and `on`, which browsers send for a ticked checkbox without a
 * value (an unticked one isn't sent).
 * A single text becomes an array's only item. A text never becomes an object.
 */
export function fromText(kind: Kind | undefined, text: string): unknown {
	switch (kind) {
		case 'number':
			return NUMBER.test(text) ? Number(text) + 0 : text // -0 + 0 is 0
		case 'integer':
			return INTEGER.test(text) ? Number(text) + 0 : text
		case 'boolean':
			return booleanFrom(text) ?? text
		case 'array':
			return [text]
		default:
			return text
	}
}

/** `undefined` for a text that is no boolean. */
export function booleanFrom(text: string): boolean | undefined {
	if (text === 'true' || text === '1' || text === 'on' || text === 'TRUE') return true
	return text === 'false' || text === '0' || text === 'FALSE' ? false : undefined
}
