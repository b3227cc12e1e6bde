/**
 * Compiles specs and lists of rules into plans. A mistake is a TypeError for the programmer, which names the field and what
 * would be right. Fast enough to run per request, for specs written inside a method.
 */
import { attempt } from '../base/attempt.ts'
import { isPlain } from '../base/options.ts'
import { Draft, type FieldPlan, type Plan } from './plan.ts'
import { isStandardSchema } from './standard-schema.ts'
import type { Check, Choice, Constraints, Fields, Format, Kind, Rule, Spec, Validator } from './validator.ts'

const KINDS: readonly string[] = ['string', 'number', 'integer', 'boolean', 'array', 'object']
const FORMATS: readonly string[] = ['email', 'url', 'uuid', 'date', 'datetime']
const NAMES = ['required', 'nullable', ...KINDS, ...FORMATS].map((name) => `'${name}'`).join(', ')
const RULES = `rules are ${NAMES}, objects such as { min: 1 }, and functions`
const KEYS = 'an object holds one or more of min, max, pattern, in, of, fields, default'

/** Compiles a whole spec. @throws TypeError when the spec is wrong */
export function planSpec(spec: Spec, validator?: Validator): Plan {
	const plan = new Draft(spec)
	plan.required = true
	if (isStandardSchema(spec)) {
		plan.schema = spec
		return plan
	}
	plan.kind = 'object'
	plan.coerceTo = 'object'
	plan.isSpec = true
	plan.fields = Array.isArray(spec) ? spec.map(planName) : planFields('', spec as Fields, validator) // not an array
	setFastPath(plan)
	return plan
}

function planName(name: unknown): FieldPlan {
	if (typeof name !== 'string') refuse('', `a list of names holds strings, got ${shown(name)}`)
	return { name: fieldName('', name), plan: planFlag(false) }
}

function planFields(where: string, fields: Fields, validator?: Validator): FieldPlan[] {
	// `{ __proto__: … }` sets the prototype instead of a field, so that it isn't a plain object.
	if (!isPlain(fields)) {
		refuse(where, 'fields are given as a plain object { name: rules }, with no field called __proto__')
	}
	return Object.keys(fields).map((name) => {
		const at = where === '' ? name : `${where}.${name}`
		return { name: fieldName(where, name), plan: planField(at, fields[name], validator) }
	})
}

function fieldName(where: string, name: string): string {
	if (name === '__proto__') refuse(where, 'a field called __proto__ would change the prototype of the result')
	return name
}

function planField(where: string, field: unknown, validator: Validator | undefined): Draft {
	if (typeof field === 'boolean') return planFlag(field)
	if (isStandardSchema(field)) {
		const plan = new Draft(field)
		plan.schema = field
		return plan
	}
	if (!Array.isArray(field)) {
		refuse(where, `expected true, false, a list of rules or a Standard Schema, got ${shown(field)}`)
	}
	if (validator === undefined) return planRules(where, field)
	const plan = new Draft(field)
	plan.validator = validator
	return plan
}

/** `true` and `false` check only presence: null is allowed. */
function planFlag(required: boolean): Draft {
	const plan = new Draft(required)
	plan.required = required
	plan.nullable = true
	plan.fastKind = 'anything'
	return plan
}

/**
 * Compiles a list of rules. `where` is the field's path in error messages, empty for the list itself.
 *
 * @throws TypeError when a rule is wrong
 */
export function planRules(where: string, rules: readonly unknown[]): Draft {
	const plan = new Draft(rules as readonly Rule[]) // each is checked below
	for (const rule of rules) {
		if (typeof rule === 'string') applyName(where, plan, rule)
		else if (isStandardSchema(rule)) refuse(where, 'a Standard Schema must replace the list, not be in it')
		else if (typeof rule === 'function')
			plan.checks = [...(plan.checks ?? []), rule as Check] // what it returns is checked
		else if (typeof rule === 'object' && rule !== null) applyConstraints(where, plan, rule)
		else refuse(where, `${shown(rule)} is not a rule; ${RULES}`)
	}
	finishPlan(where, plan)
	return plan
}

function applyName(where: string, plan: Draft, name: string): void {
	if (name === 'required') plan.required = true
	else if (name === 'nullable') plan.nullable = true
	else if (KINDS.includes(name))
		plan.kind = commonKind(where, plan.kind, name as Kind) // one of them
	else if (FORMATS.includes(name)) {
		if (plan.format !== undefined && plan.format !== name) {
			refuse(where, `'${plan.format}' and '${name}' can't be combined; keep one`)
		}
		plan.kind = commonKind(where, plan.kind, 'string', name)
		plan.format = name as Format // one of them
	} else refuse(where, `'${name}' is not a rule; ${RULES}`)
}

function applyConstraints(where: string, plan: Draft, rule: object): void {
	let keys = 0
	for (const key in rule) {
		keys++
		applyConstraint(where, plan, key, (rule as Record<string, unknown>)[key]) // a key of it
	}
	if (keys === 0) refuse(where, `${shown(rule)} is not a rule; ${KEYS}`)
}

function applyConstraint(where: string, plan: Draft, key: string, value: unknown): void {
	const name = key as keyof Constraints // others are refused below
	switch (name) {
		case 'min':
		case 'max':
			plan[name] = once(where, key, plan[name], limit(where, key, value))
			return
		case 'pattern':
			plan.pattern = once(where, key, plan.pattern, pattern(where, value))
			return
		case 'in':
			plan.choices = once(where, key, plan.choices, choices(where, value))
			return
		case 'of':
			plan.items = once(where, key, plan.items, items(where, value))
			return
		case 'fields':
			plan.fields = once(where, key, plan.fields, planFields(where, value as Fields)) // checked there
			return
		case 'default':
			plan.fallback = once(where, key, plan.fallback, fallback(where, value))
			return
		default:
			refuse(where, `${key} is not a rule; ${KEYS}`)
	}
}

function items(where: string, value: unknown): Plan {
	if (!Array.isArray(value) && !isStandardSchema(value)) {
		refuse(where, `of must be a list of rules or a Standard Schema, got ${shown(value)}`)
	}
	const plan = planField(where === '' ? 'of' : `${where}.of`, value, undefined)
	if (plan.fallback !== undefined) refuse(where, "of can't have a default: an item is never absent")
	plan.required = true
	return plan
}

/** Refuses a constraint that is given twice: the second would silently replace the first. */
function once<T>(where: string, key: string, before: T | undefined, value: T): T {
	if (before !== undefined) refuse(where, `${key} is given twice; keep one`)
	return value
}

function limit(where: string, key: string, value: unknown): number {
	if (typeof value === 'number' && Number.isFinite(value)) return value
	refuse(where, `${key} must be a finite number, got ${shown(value)}`)
}

function pattern(where: string, value: unknown): RegExp {
	if (!(value instanceof RegExp)) refuse(where, `pattern must be a RegExp, got ${shown(value)}`)
	if (value.global || value.sticky) {
		refuse(where, 'pattern must not have the flags g or y: it would continue from its last match')
	}
	return value
}

function choices(where: string, value: unknown): readonly Choice[] {
	if (!Array.isArray(value) || value.length === 0) {
		refuse(where, `in must be an array of at least one value, got ${shown(value)}`)
	}
	for (const choice of value as readonly unknown[]) {
		if (choice === null) refuse(where, "in can't hold null; add the rule 'nullable'")
		if (typeof choice !== 'string' && typeof choice !== 'number' && typeof choice !== 'boolean') {
			refuse(where, `in holds strings, numbers and booleans, got ${shown(choice)}`)
		}
	}
	return value
}

function fallback(where: string, value: unknown): unknown {
	if (value === undefined)
		refuse(where, 'default must be a value or a function that makes one, got undefined')
	if (typeof value !== 'object') return value
	// Each absent field gets a clone.
	if (attempt(() => structuredClone(value)) === undefined)
		refuse(where, "default can't be cloned; give a function that makes it")
	return value
}

/** The kind that satisfies `kind` and `other`; `rule` names the rule that needs `other`. */
function commonKind(where: string, kind: Kind | undefined, other: Kind, rule: string = other): Kind {
	if (kind === undefined || kind === other) return other
	if ((kind === 'number' && other === 'integer') || (kind === 'integer' && other === 'number'))
		return 'integer'
	refuse(where, `'${rule}' is for a value of kind ${other}, but the list says ${kind}; keep one`)
}

/** Completes a plan after its last rule. @throws TypeError when two rules contradict each other */
function finishPlan(where: string, plan: Draft): void {
	if (plan.pattern !== undefined) plan.kind = commonKind(where, plan.kind, 'string', 'pattern')
	if (plan.items !== undefined) plan.kind = commonKind(where, plan.kind, 'array', 'of')
	if (plan.fields !== undefined) plan.kind = commonKind(where, plan.kind, 'object', 'fields')
	plan.coerceTo = plan.kind
	if (plan.choices !== undefined) checkChoices(where, plan, plan.choices)
	if (plan.min !== undefined || plan.max !== undefined) checkLimits(where, plan)
	if (plan.required && plan.fallback !== undefined) {
		refuse(where, "a field with a default is never missing; drop 'required' or default")
	}
	setFastPath(plan)
}

/** Sets the properties for the fast path of `check.ts`. */
function setFastPath(plan: Draft): void {
	const { kind, min, max, items, fields } = plan
	if (plan.checks !== undefined || (items !== undefined && items.fastKind === undefined)) return
	if (fields?.some((field) => field.plan.fastKind === undefined)) return
	if (kind === undefined && (min ?? max) !== undefined) return
	plan.fastKind = kind ?? 'anything'
	if (max !== undefined) plan.fastMax = max
	// `min` counts characters of one or two UTF-16 units: 2 * min - 1 units always have enough.
	if (min !== undefined) plan.fastMin = kind === 'string' ? 2 * min - 1 : min
}

/** Checks the types of choices; if they all have the same one, texts are converted to it. */
function checkChoices(where: string, plan: Draft, choices: readonly Choice[]): void {
	const expected = plan.kind === 'integer' ? 'number' : plan.kind
	for (const choice of choices) {
		if (expected !== undefined && typeof choice !== expected) {
			refuse(where, `in holds ${shown(choice)}, which is never of kind ${plan.kind}`)
		}
	}
	const first = typeof choices[0] as 'string' | 'number' | 'boolean' // what a Choice can be
	if (plan.kind === undefined && choices.every((choice) => typeof choice === first)) plan.coerceTo = first
}

function checkLimits(where: string, plan: Draft): void {
	const { kind, min, max } = plan
	if (kind === 'boolean' || kind === 'object') {
		refuse(where, `min and max measure strings, numbers and arrays, but the list says ${kind}`)
	}
	if (min !== undefined && max !== undefined && min > max) {
		refuse(where, `min ${min} is more than max ${max}: no value would be valid`)
	}
	if (kind !== 'string' && kind !== 'array') return
	for (const size of [min, max]) {
		if (size === undefined || (Number.isInteger(size) && size >= 0)) continue
		refuse(where, `min and max of kind ${kind} are whole numbers from 0 up, got ${size}`)
	}
}

/** `where` is the path of the field, empty for the whole spec. */
function refuse(where: string, text: string): never {
	throw new TypeError(where === '' ? text : `${where}: ${text}`)
}

/** A value as shown in a TypeError, without the content of objects. */
function shown(value: unknown): string {
	if (typeof value === 'string') return `'${value.slice(0, 40)}'`
	if (Array.isArray(value)) return 'an array'
	if (value instanceof RegExp) return `the RegExp ${value}`
	if (typeof value === 'object' && value !== null) return 'an object'
	return typeof value === 'function' ? 'a function' : String(value)
}
