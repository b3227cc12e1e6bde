/**
 * Checks a value against a plan: returns the value to use, and notes every problem on the way. `validate.ts` calls it
 * for bodies and queries, `crud/write.ts` for records.
 */
import type { Detail } from '../wire/codes.ts'
import { hasFormat, INTEGER, NUMBER } from './format.ts'
import type { FieldPlan, Plan } from './plan.ts'
import { MAX_PROBLEMS, nest, note, noteChoices, problemsOf } from './problem.ts'
import { type Answers, defuse, type StandardSchemaV1 } from './standard-schema.ts'
import type { Check, Choice, Format, Kind, Rule, Validator } from './validator.ts'

/** One pass over one value. */
export interface Walk {
	/** Whether text may stand for other kinds, as in a form. */
	readonly coerce: boolean
	/** Found so far. */
	readonly problems: Detail[]
	readonly answers: Answers
}

/** The value to use; `undefined` when it is absent or a problem was noted. */
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
	if (plan.choices !== undefined && !isChosen(plan, checked)) noteChoices(walk.problems, plan.choices)
	if (plan.checks !== undefined && walk.problems.length === before) runChecks(walk, plan.checks, checked)
	return walk.problems.length > before ? undefined : checked
}

/** The value that text stands for. A form sends '' for an empty input, which counts as absent unless it is a valid value. */
function coerced(plan: Plan, given: unknown): unknown {
	// When a name is repeated, an array takes all values and any other kind takes the last.
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
				// The method must not get the body object itself.
				return plan.whole ? { ...value } : value
			}
			return checkFields(walk, plan.fields, value)
		case undefined:
			return plan.min === undefined && plan.max === undefined ? value : checkAnySize(walk, plan, value)
	}
}

/** `min` and `max` without a kind: they apply to whatever the value is. */
function checkAnySize(walk: Walk, plan: Plan, value: unknown): unknown {
	if (typeof value === 'string') return measureText(walk.problems, plan, value)
	if (Number.isFinite(value)) return measureNumber(walk.problems, plan, value as number) // as just seen
	if (Array.isArray(value)) return checkArray(walk, plan, value)
	const code = plan.min === undefined ? 'max' : 'min'
	return note(walk.problems, code, 'must be a string, a number or an array')
}

function checkArray(walk: Walk, plan: Plan, value: readonly unknown[]): readonly unknown[] {
	// With too many items none is checked: a client could send any number.
	if (!measureItems(walk.problems, plan, value.length) || plan.items === undefined) return value
	return checkItems(walk, plan.items, value)
}

/** The items to use: the given array itself when no item changes. */
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

/** Copies the fields of the spec and no others. */
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
		// An absent `constructor` must not read as the inherited one.
		else if (name in Object.prototype) Object.setPrototypeOf(result, null)
	}
	return result
}

function runChecks(walk: Walk, checks: readonly Check[], value: unknown): void {
	if (walk.answers.collecting) return
	for (const check of checks) {
		const answer: unknown = check(value)
		if (answer === undefined || answer === true) continue
		if (typeof answer !== 'string') throw wrongAnswer('a check returns true, undefined or a message', answer)
		note(walk.problems, 'custom', answer)
	}
}

function wrongAnswer(right: string, answer: unknown): TypeError {
	defuse(answer)
	const got = typeof answer === 'object' && answer !== null ? 'an object or a promise' : String(answer)
	return new TypeError(`${right}, synchronously; got ${got}`)
}

function checkSchema({ problems, answers }: Walk, schema: StandardSchemaV1, value: unknown): unknown {
	const answer = answers.ask(schema, value)
	if (answer.issues === undefined) return answer.value
	problems.push(...problemsOf(answer.issues, value))
	return undefined
}

function checkElsewhere(walk: Walk, validator: Validator, plan: Plan, value: unknown): unknown {
	if (walk.answers.collecting) return undefined
	const rules = plan.source as readonly Rule[] // only plans of a list have a validator
	const result = validator.validateList(value, rules, { coerce: walk.coerce })
	if (result.ok === true) return result.value
	if (result.ok !== false) throw wrongAnswer('validateList returns { ok, value } or { ok, problems }', result)
	walk.problems.push(...result.problems)
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
		return value // `max` keeps a slow pattern away from a long text
	}
	if (pattern !== undefined && !pattern.test(value))
		note(problems, 'pattern', 'does not have the required form')
	return value
}

/** Whether `text` has more than `count` code points; counts them only when its length doesn't decide. */
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

/** Whether there are few enough items to check each. */
function measureItems(problems: Detail[], { min, max }: Plan, count: number): boolean {
	if (min !== undefined && count < min) note(problems, 'min', `must have at least ${counted(min, 'item')}`)
	if (max === undefined || count <= max) return true
	note(problems, 'max', `must have at most ${counted(max, 'item')}`)
	return false
}

function counted(count: number, noun: string): string {
	return count === 1 ? `1 ${noun}` : `${count} ${noun}s`
}

function isAsGiven(plan: Plan, value: unknown): boolean {
	if (value === null) return plan.nullable && plan.plain !== undefined
	switch (plan.plain) {
		case 'string':
			return typeof value === 'string' && isTextAsGiven(plan, value)
		case 'integer':
			return typeof value === 'number' && Number.isSafeInteger(value) && isNumberAsGiven(plan, value)
		case 'number':
			return typeof value === 'number' && Number.isFinite(value) && isNumberAsGiven(plan, value)
		case 'boolean':
			return typeof value === 'boolean' && isChosen(plan, value)
		case 'array':
			return Array.isArray(value) && isWithin(plan, value.length) && areAsGiven(plan.items, value)
		case 'object':
			return isObject(value) && (plan.fields === undefined || hasFieldsAsGiven(plan.fields, value))
		case 'anything':
			return value !== undefined && isChosen(plan, value)
		case undefined:
			return false
	}
}

/**
 * Fast path for JSON: whether an object has exactly these fields, in their order, all valid and none to be changed.
 * Most bodies and records are like that, and this allocates nothing. When it returns false, the value may still be valid.
 */
function hasFieldsAsGiven(fields: readonly FieldPlan[], value: Readonly<Record<string, unknown>>): boolean {
	let index = 0
	for (const key in value) {
		let field: FieldPlan | undefined = fields[index++]
		while (field !== undefined && field.name !== key) field = canBeAbsent(field) ? fields[index++] : undefined
		if (field === undefined || !isAsGiven(field.plan, value[key])) return false
	}
	while (index < fields.length && canBeAbsent(fields[index])) index++
	return index === fields.length
}

/** For a value that isn't null. */
export function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && !Array.isArray(value)
}

/** Whether a missing field changes nothing: it has no default, and no name that every object inherits. */
function canBeAbsent(field: FieldPlan | undefined): boolean {
	if (field === undefined) return false
	const { plan, name } = field
	return !plan.required && plan.fallback === undefined && !(name in Object.prototype)
}

function areAsGiven(plan: Plan | undefined, items: readonly unknown[]): boolean {
	if (plan === undefined) return true
	for (const item of items) if (!isAsGiven(plan, item)) return false
	return true
}

/** `least` and `most` are in UTF-16 units, and hold however many characters the units make. */
function isTextAsGiven(plan: Plan, text: string): boolean {
	if (text.length < plan.least || text.length > plan.most) return false
	if (plan.format !== undefined && !hasFormat(plan.format, text)) return false
	return (plan.pattern === undefined || plan.pattern.test(text)) && isChosen(plan, text)
}

function isNumberAsGiven(plan: Plan, value: number): boolean {
	return isWithin(plan, value) && isChosen(plan, value)
}

function isWithin({ least, most }: Plan, size: number): boolean {
	return size >= least && size <= most
}

function isChosen({ choices }: Plan, value: unknown): boolean {
	return choices === undefined || choices.includes(value as Choice) // only compared
}

/**
 * The value that `text` of a form or query string stands for; the text itself where it is none of that kind, so that
 * the check of the kind refuses it.
 *
 * Numbers are written as in JSON; one that overflows becomes infinite, which no kind accepts. Booleans are `true`,
 * `false`, `1`, `0`, and `on`, which browsers send for a ticked checkbox without a value (an unticked one isn't sent).
 * One text is an array of one; text is never an object.
 */
export function fromText(kind: Kind | undefined, text: string): unknown {
	switch (kind) {
		case 'number':
			return NUMBER.test(text) ? withoutSign(Number(text)) : text
		case 'integer':
			return INTEGER.test(text) ? withoutSign(Number(text)) : text
		case 'boolean':
			return fromFlag(text)
		case 'array':
			return [text]
		default:
			return text
	}
}

/** Makes 0 of -0, which `Object.is` and `Map` tell apart. */
function withoutSign(number: number): number {
	return number === 0 ? 0 : number
}

function fromFlag(text: string): string | boolean {
	if (text === 'true' || text === '1' || text === 'on') return true
	return text === 'false' || text === '0' ? false : text
}
