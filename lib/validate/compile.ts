/**
 * Reads specs and lists of rules into plans. Whatever is wrong with one is its author's mistake, told
 * in a TypeError that names the field and what would be right; never a client's 422. Quick enough to
 * run on each request, for specs that are written inside a method.
 */

import { choices, fallback, limit, once, pattern } from './constraint.ts'
import { refuse, shown } from './mistake.ts'
import { blankPlan, type Draft, type FieldPlan, type Plan } from './plan.ts'
import { joined, settle, settlePlain } from './settle.ts'
import { isStandardSchema } from './standard-schema.ts'
import type { Check, Constraints, Fields, Format, Kind, Rule, Spec, Validator } from './validator.ts'

const RULES =
	"rules are 'required', 'nullable', 'string', 'number', 'integer', 'boolean', 'array', 'object', 'email', " +
	"'url', 'uuid', 'date', 'datetime', objects such as { min: 1 }, and functions"
const KEYS = 'an object holds one or more of min, max, pattern, in, of, fields, default'

/**
 * The plan of a whole spec.
 *
 * @throws TypeError when the spec is wrong
 */
export function planSpec(spec: Spec, validator?: Validator): Plan {
	const plan = blankPlan(spec)
	plan.required = true
	if (isStandardSchema(spec)) {
		plan.schema = spec
		return plan
	}
	plan.kind = 'object'
	plan.reads = 'object'
	plan.whole = true
	plan.fields = Array.isArray(spec) ? spec.map(planName) : planFields('', spec as Fields, validator) // not an array
	settlePlain(plan)
	return plan
}

function planName(name: unknown): FieldPlan {
	if (typeof name !== 'string') refuse('', `a list of names holds strings, got ${shown(name)}`)
	return { name: fieldName('', name), plan: planFlag(false) }
}

function planFields(where: string, fields: Fields, validator?: Validator): FieldPlan[] {
	if (!isPlain(fields)) {
		refuse(where, 'fields are given as a plain object { name: rules }, with no field called __proto__')
	}
	return Object.keys(fields).map((name) => {
		const at = where === '' ? name : `${where}.${name}`
		return { name: fieldName(where, name), plan: planField(at, fields[name], validator) }
	})
}

/** `{ __proto__: … }` sets a prototype instead of a field, so a strange prototype shows the mistake. */
function isPlain(value: unknown): boolean {
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
	const prototype: unknown = Object.getPrototypeOf(value)
	// Two steps up, so that objects of another realm are plain as well.
	return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null
}

function fieldName(where: string, name: string): string {
	if (name === '__proto__') refuse(where, 'a field called __proto__ would change the prototype of the result')
	return name
}

function planField(where: string, field: unknown, validator: Validator | undefined): Draft {
	if (typeof field === 'boolean') return planFlag(field)
	if (isStandardSchema(field)) {
		const plan = blankPlan(field)
		plan.schema = field
		return plan
	}
	if (!Array.isArray(field)) {
		refuse(where, `expected true, false, a list of rules or a Standard Schema, got ${shown(field)}`)
	}
	if (validator === undefined) return planRules(where, field)
	const plan = blankPlan(field)
	plan.validator = validator
	return plan
}

/** `true` and `false` look at nothing but presence: null is let through. */
function planFlag(required: boolean): Draft {
	const plan = blankPlan(required)
	plan.required = required
	plan.nullable = true
	plan.plain = 'anything'
	return plan
}

/**
 * The plan of a list of rules; `where` names it in a TypeError, empty for the list itself.
 *
 * @throws TypeError when a rule is wrong
 */
export function planRules(where: string, rules: readonly unknown[]): Draft {
	const plan = blankPlan(rules as readonly Rule[]) // each is looked at below
	for (const rule of rules) {
		if (typeof rule === 'string') applyName(where, plan, rule)
		else if (isStandardSchema(rule)) refuse(where, 'a Standard Schema stands in place of the list, not in it')
		else if (typeof rule === 'function')
			plan.checks = [...(plan.checks ?? []), rule as Check] // its answers are looked at
		else if (typeof rule === 'object' && rule !== null) applyConstraints(where, plan, rule)
		else refuse(where, `${shown(rule)} is no rule; ${RULES}`)
	}
	settle(where, plan)
	return plan
}

function applyName(where: string, plan: Draft, name: string): void {
	switch (name as Rule) {
		case 'required':
			plan.required = true
			return
		case 'nullable':
			plan.nullable = true
			return
		case 'string':
		case 'number':
		case 'integer':
		case 'boolean':
		case 'array':
		case 'object':
			plan.kind = joined(where, plan.kind, name as Kind) // one of the cases
			return
		case 'email':
		case 'url':
		case 'uuid':
		case 'date':
		case 'datetime':
			if (plan.format !== undefined && plan.format !== name) {
				refuse(where, `'${plan.format}' and '${name}' can't both hold; keep one`)
			}
			plan.kind = joined(where, plan.kind, 'string', name)
			plan.format = name as Format // one of the cases
			return
		default:
			refuse(where, `'${name}' is no rule; ${RULES}`)
	}
}

function applyConstraints(where: string, plan: Draft, rule: object): void {
	let keys = 0
	for (const key in rule) {
		keys++
		applyConstraint(where, plan, key, (rule as Record<string, unknown>)[key]) // a key of it
	}
	if (keys === 0) refuse(where, `${shown(rule)} is no rule; ${KEYS}`)
}

function applyConstraint(where: string, plan: Draft, key: string, value: unknown): void {
	switch (key as keyof Constraints) {
		case 'min':
			plan.min = once(where, key, plan.min, limit(where, key, value))
			return
		case 'max':
			plan.max = once(where, key, plan.max, limit(where, key, value))
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
			plan.fields = once(where, key, plan.fields, planFields(where, value as Fields)) // looks at it
			return
		case 'default':
			plan.fallback = once(where, key, plan.fallback, fallback(where, value))
			return
		default:
			refuse(where, `${key} is no rule; ${KEYS}`)
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
