/**
 * Whether a value of JSON is right, and is to be used just as it was given: what `check.ts` would find out,
 * without noting, copying or asking anybody. Most bodies and records are, and this is far quicker. Where it
 * says no, the value may be right all the same.
 */
import { hasFormat } from './format.ts'
import type { FieldPlan, Plan } from './plan.ts'
import type { Choice } from './validator.ts'

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

/** Whether an object has the fields in their order, nothing else, and nothing to change about any. */
export function hasFieldsAsGiven(
	fields: readonly FieldPlan[],
	value: Readonly<Record<string, unknown>>,
): boolean {
	let index = 0
	for (const key in value) {
		let field: FieldPlan | undefined = fields[index++]
		while (field !== undefined && field.name !== key) field = canBeAbsent(field) ? fields[index++] : undefined
		if (field === undefined || !isAsGiven(field.plan, value[key])) return false
	}
	while (index < fields.length && canBeAbsent(fields[index])) index++
	return index === fields.length
}

/** `value` isn't null here. */
export function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && !Array.isArray(value)
}

/** An absent field that changes nothing: no default, and no name that every object inherits. */
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

/** Lengths are in UTF-16 units, and the bounds so narrow that they hold however many characters these are. */
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
