/** What the actions of a `CrudHandler` take and answer, as a description tells it. */

import type { Plan } from '../validate/plan.ts'
import { fills, takes } from '../validate/schema/foreign-schema.ts'
import { bothOf, type JsonSchema } from '../validate/schema/json-schema.ts'
import { bodyTypes, schemaOfPlan } from '../validate/schema/plan-schema.ts'
import type { AnswerShape, BodyShape, Shape } from '../validate/schema/shape.ts'
import type { Validator } from '../validate/validator.ts'
import { answeredSchema, operandSchema, orNull, writtenSchema } from './field-schema.ts'
import type { CrudField } from './fields.ts'
import { fieldsParameter, listParameters } from './list-parameters.ts'
import type { CrudOperation } from './options.ts'
import type { CrudPlan } from './plan.ts'
import type { CrudFacts } from './view.ts'
import { compiledRules, type WriteKind } from './write.ts'

/**
 * The shape of an operation.
 *
 * @param validator the server's, for lists of rules; `undefined` for ours
 */
export function crudShape(
	facts: CrudFacts,
	validator: Validator | undefined,
	operation: CrudOperation,
): Shape {
	const { plan } = facts
	const common = {
		summary: summaryOf(plan, operation),
		params: operation === 'list' || operation === 'create' ? [] : [idSchema(plan)],
		query: operation === 'list' ? listParameters(plan) : [fieldsParameter(plan)],
		answer: answerOf(facts, operation),
		headers: conditionsOf(plan, operation),
		refusals: refusalsOf(facts, operation),
	}
	if (operation !== 'create' && operation !== 'update' && operation !== 'replace')
		return { ...common, body: undefined }
	return { ...common, body: bodyOf(facts, validator, operation) }
}

function summaryOf({ model }: CrudPlan, operation: CrudOperation): string {
	const records = pluralOf(wordsOf(model.name).join(' ').toLowerCase())
	const verbs: Readonly<Record<CrudOperation, string>> = {
		list: `List ${records}`,
		read: `Read one of the ${records}`,
		create: `Add to the ${records}`,
		update: `Change one of the ${records}`,
		replace: `Replace one of the ${records}`,
		remove: `Delete one of the ${records}`,
	}
	return verbs[operation]
}

/** `blog_category` → `blog categories`, `box` → `boxes`. A table that is named in the plural already stays as it is. */
function pluralOf(name: string): string {
	if (!/[a-rt-z]$/.test(name)) return name
	if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`
	return /(?:x|z|[cs]h)$/.test(name) ? `${name}es` : `${name}s`
}

/** The words of a table's name, without the schema before it. */
function wordsOf(table: string): string[] {
	const name = table.split('.').at(-1) ?? ''
	const words = name.replace(/([a-z\d])([A-Z])/g, '$1 $2').match(/[\p{L}\p{N}]+/gu)
	return words ?? ['record']
}

/** `blog_category` → `BlogCategory`. Of letters that names of types can't have, nothing is left. */
function titleOf({ model }: CrudPlan): string {
	const words = wordsOf(model.name).map((word) => word.normalize('NFKD').replace(/[^A-Za-z\d]+/g, ''))
	const title = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
	return /^[A-Z]/.test(title) ? title : `Record${title}`
}

function idSchema({ key }: CrudPlan): JsonSchema {
	const schema = operandSchema(key.field)
	const { maxLength } = key.field
	return maxLength === undefined ? schema : { ...schema, maxLength }
}

/** A record with all its visible fields. */
function recordSchema(plan: CrudPlan): JsonSchema {
	const isWritten = (name: string) => plan.creatable.has(name) || plan.updatable.has(name)
	const properties = [...plan.visible].map(([name, { field }]): [string, JsonSchema] => [
		name,
		isWritten(name) ? answeredSchema(field) : { ...answeredSchema(field), readOnly: true },
	])
	return {
		title: titleOf(plan),
		type: 'object',
		properties: Object.fromEntries(properties),
		required: [...plan.visible.keys()],
	}
}

/** What a subclass's own method or `stripObject` answers of a record may be anything. */
function answerOf({ plan, overridden, isStripped }: CrudFacts, operation: CrudOperation): AnswerShape {
	const isOpen = overridden.has(operation)
	const record = isStripped ? {} : recordSchema(plan)
	const etag = plan.version === undefined ? [] : ['ETag']
	const answer = { status: 200, isPage: false, schema: isOpen ? {} : record, isOpen }
	switch (operation) {
		case 'list':
			return {
				...answer,
				// An override answers a page, made by super's; what else it answers is told in its `docs`.
				schema: { type: 'array', items: record },
				isPage: true,
				key: plan.isKeyVisible ? plan.key.name : undefined,
				headers: ['Link', 'X-Total-Count'],
			}
		case 'create':
			return { ...answer, status: 201, headers: ['Location', ...etag] }
		case 'remove':
			return { ...answer, headers: [] }
		default:
			return { ...answer, headers: etag }
	}
}

/** Conditions that a client can put on a request (RFC 9110 §13). */
function conditionsOf(plan: CrudPlan, operation: CrudOperation): string[] {
	// A record can be made under a key that isn't taken yet.
	if (operation === 'create') return plan.creatable.has(plan.key.name) ? ['If-None-Match'] : []
	if (plan.version === undefined || operation === 'list') return []
	return operation === 'read' ? ['If-None-Match'] : ['If-Match']
}

function refusalsOf({ plan, isScoped }: CrudFacts, operation: CrudOperation): number[] {
	const isWrite = operation !== 'list' && operation !== 'read'
	const hasId = operation !== 'list' && operation !== 'create'
	return [
		// A record can't be put outside of what its writer may see.
		...(isScoped && isWrite && operation !== 'remove' ? [403] : []),
		...(hasId ? [404] : []),
		...(isWrite ? [409] : []),
		...(isWrite && conditionsOf(plan, operation).length > 0 ? [412] : []),
		...(isWrite && operation !== 'remove' ? [422] : []),
	]
}

/** A body: the fields that may be written, and those which may stand beside them and are passed over. */
function bodyOf({ plan, rules }: CrudFacts, validator: Validator | undefined, kind: WriteKind): BodyShape {
	const ruled = compiledRules(plan, rules, validator)
	const writable = kind === 'create' ? plan.creatable : plan.updatable
	const passed = [...plan.visible.keys()].filter((name) => !writable.has(name))
	const required = [...writable.values()].filter((field) =>
		isNeeded(plan, kind, field, ruled.get(field.name)),
	)
	const schema: JsonSchema = {
		title: `${titleOf(plan)}${kind.charAt(0).toUpperCase()}${kind.slice(1)}`,
		type: 'object',
		properties: Object.fromEntries([
			...[...writable.values()].map((field) => [field.name, valueSchema(kind, field, ruled.get(field.name))]),
			...passed.map((name) => [name, { readOnly: true }]),
		]),
		...(required.length === 0 ? {} : { required: required.map(({ name }) => name) }),
		additionalProperties: false,
	}
	const hasJson = [...writable.values()].some(({ field }) => field.type === 'json')
	return {
		schema,
		required: required.length > 0,
		types: bodyTypes(hasJson ? undefined : [...ruled.values()]),
	}
}

/** Whether a field must be there: `write.ts` says what becomes of one that isn't. */
function isNeeded(
	plan: CrudPlan,
	kind: WriteKind,
	{ name, field }: CrudField,
	rules: Plan | undefined,
): boolean {
	// A change is of what is given; of a replaced record, what its client can't see stays.
	if (kind === 'update' || (kind === 'replace' && !plan.visible.has(name))) return false
	if (rules?.required === true || (rules?.schema !== undefined && !takes(rules.schema, undefined)))
		return true
	const isFilled = rules?.fallback !== undefined || (rules?.schema !== undefined && fills(rules.schema))
	return !field.hasDefault && !field.nullable && !isFilled
}

/** Of a value: both its column and its rules must let it through. */
function valueSchema(kind: WriteKind, { field }: CrudField, rules: Plan | undefined): JsonSchema {
	const column = writtenSchema(field)
	const free = field.type === 'json' ? {} : orNull(column)
	if (rules === undefined) return field.nullable ? free : column
	// A column that can be null may be made so, whatever the rules are, unless they say that it is required.
	const isNullable = field.nullable && (rules.schema !== undefined || !rules.required || rules.nullable)
	// What isn't given is left as it is by a change.
	const fallback = kind === 'update' ? undefined : rules.fallback
	return bothOf(isNullable ? free : column, schemaOfPlan({ ...rules, nullable: isNullable, fallback }))
}
