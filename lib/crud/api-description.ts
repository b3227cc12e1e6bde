/**
 * A `CrudHandler`'s part of the API description: the shapes of its actions, with parameters, body and responses, which
 * `openapi/` writes. `list-query.ts` reads the parameters of a list, and `write.ts` reads bodies.
 */

import type { Plan } from '../validate/plan.ts'
import { acceptsValue, hasDefault } from '../validate/schema/foreign-schema.ts'
import { bothOf, type JsonSchema } from '../validate/schema/json-schema.ts'
import { bodyTypes, schemaOfPlan } from '../validate/schema/plan-schema.ts'
import type { AnswerShape, BodyShape, ParameterShape, Shape } from '../validate/schema/shape.ts'
import type { Validator } from '../validate/validator.ts'
import { PARAMETERS } from '../wire/list.ts'
import { type Operator, operandField, operatorsOf, takesList } from './comparison.ts'
import { inputSchema, operandSchema, orNull, responseSchema } from './field-schema.ts'
import type { CrudField } from './fields.ts'
import { idSchema, shownKey } from './id-schema.ts'
import type { CrudOperation } from './options.ts'
import type { CrudPlan } from './plan.ts'
import type { CrudFacts } from './view.ts'
import { compiledRules, type WriteKind } from './write.ts'

/**
 * The shape of an operation.
 *
 * @param validator the server's, for lists of rules; `undefined` for the built-in one
 */
export function crudShape(
	facts: CrudFacts,
	validator: Validator | undefined,
	operation: CrudOperation,
): Shape {
	const { plan } = facts
	const common = {
		summary: summaryOf(plan, operation),
		params: operation === 'list' || operation === 'create' ? [] : [idSchema(facts)],
		query: operation === 'list' ? listParameters(plan) : [fieldsParameter(plan)],
		answer: answerOf(facts, operation),
		headers: preconditionHeaders(plan, operation),
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

/** `blog_category` → `blog categories`, `box` → `boxes`. A name that ends in s is assumed to be a plural. */
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

/** `blog_category` → `BlogCategory`; letters that type names can't have are left out. */
function titleOf({ model }: CrudPlan): string {
	const words = wordsOf(model.name).map((word) => word.normalize('NFKD').replace(/[^A-Za-z\d]+/g, ''))
	const title = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
	return /^[A-Z]/.test(title) ? title : `Record${title}`
}

function recordSchema(plan: CrudPlan): JsonSchema {
	const isWritten = (name: string) => plan.creatable.has(name) || plan.updatable.has(name)
	const properties = [...plan.visible].map(([name, { field }]): [string, JsonSchema] => [
		name,
		isWritten(name) ? responseSchema(field) : { ...responseSchema(field), readOnly: true },
	])
	return {
		title: titleOf(plan),
		type: 'object',
		properties: Object.fromEntries(properties),
		required: [...plan.visible.keys()],
	}
}

/** The shape of an operation's answer. An override or a `stripObject` may return anything, so its schema is open. */
function answerOf(facts: CrudFacts, operation: CrudOperation): AnswerShape {
	const { plan, overridden, isStripped } = facts
	const isOpen = overridden.has(operation)
	const record = isStripped ? {} : recordSchema(plan)
	const etag = plan.version === undefined ? [] : ['ETag']
	const answer = { status: 200, isPage: false, schema: isOpen ? {} : record, isOpen }
	switch (operation) {
		case 'list':
			return {
				...answer,
				// An override is assumed to return a page, as `super.list()` does; its `docs` can say otherwise.
				schema: { type: 'array', items: record },
				isPage: true,
				key: shownKey(facts),
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

/** The headers of conditional requests that have an effect (RFC 9110 §13). */
function preconditionHeaders(plan: CrudPlan, operation: CrudOperation): string[] {
	// `If-None-Match: *` requires that the key isn't taken.
	if (operation === 'create')
		return plan.keys.some(({ name }) => plan.creatable.has(name)) ? ['If-None-Match'] : []
	if (plan.version === undefined || operation === 'list') return []
	return operation === 'read' ? ['If-None-Match'] : ['If-Match']
}

function refusalsOf({ plan, isScoped }: CrudFacts, operation: CrudOperation): number[] {
	const isWrite = operation !== 'list' && operation !== 'read'
	const hasId = operation !== 'list' && operation !== 'create'
	return [
		// For a write that would leave the scope.
		...(isScoped && isWrite && operation !== 'remove' ? [403] : []),
		...(hasId ? [404] : []),
		...(isWrite ? [409] : []),
		...(isWrite && preconditionHeaders(plan, operation).length > 0 ? [412] : []),
		...(isWrite && operation !== 'remove' ? [422] : []),
	]
}

/** A body: the writable fields, and the other visible ones, which are accepted and ignored. */
function bodyOf({ plan, rules }: CrudFacts, validator: Validator | undefined, kind: WriteKind): BodyShape {
	const ruled = compiledRules(plan, rules, validator)
	const writable = kind === 'create' ? plan.creatable : plan.updatable
	const ignored = [...plan.visible.keys()].filter((name) => !writable.has(name))
	const required = [...writable.values()].filter((field) =>
		isRequired(plan, kind, field, ruled.get(field.name)),
	)
	const schema: JsonSchema = {
		title: `${titleOf(plan)}${kind.charAt(0).toUpperCase()}${kind.slice(1)}`,
		type: 'object',
		properties: Object.fromEntries([
			...[...writable.values()].map((field) => [field.name, valueSchema(kind, field, ruled.get(field.name))]),
			...ignored.map((name) => [name, { readOnly: true }]),
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

function isRequired(
	plan: CrudPlan,
	kind: WriteKind,
	{ name, field }: CrudField,
	rules: Plan | undefined,
): boolean {
	// An update keeps missing fields; a replacement keeps those that the client can't see.
	if (kind === 'update' || (kind === 'replace' && !plan.visible.has(name))) return false
	if (rules?.required === true || (rules?.schema !== undefined && !acceptsValue(rules.schema, undefined)))
		return true
	const isFilled = rules?.fallback !== undefined || (rules?.schema !== undefined && hasDefault(rules.schema))
	return !field.hasDefault && !field.nullable && !isFilled
}

/** The schema of a value that both its column and its rules accept. */
function valueSchema(kind: WriteKind, { field }: CrudField, rules: Plan | undefined): JsonSchema {
	const column = inputSchema(field)
	const columnOrNull = field.type === 'json' ? {} : orNull(column)
	if (rules === undefined) return field.nullable ? columnOrNull : column
	// Null is allowed where the column allows it, unless a rule refuses it.
	const isNullable = field.nullable && (rules.schema !== undefined || !rules.required || rules.nullable)
	// An update doesn't apply defaults.
	const fallback = kind === 'update' ? undefined : rules.fallback
	return bothOf(
		isNullable ? columnOrNull : column,
		schemaOfPlan({ ...rules, nullable: isNullable, fallback }),
	)
}

/** The parameters of a list. Those that the handler ignores aren't described. */
function listParameters(plan: CrudPlan): ParameterShape[] {
	const parameters = [
		...pageParameters(plan),
		...sortParameters(plan),
		fieldsParameter(plan),
		...searchParameters(plan),
		...filterParameters(plan),
	]
	return parameters.filter(({ name }) => !plan.ignoreQuery.has(name))
}

function parameter(
	name: (typeof PARAMETERS)[number],
	schema: JsonSchema,
	description: string,
	more: Pick<ParameterShape, 'role' | 'written'>,
): ParameterShape {
	return { name, schema, description, required: false, ...more }
}

function fieldsParameter({ visible }: CrudPlan): ParameterShape {
	const schema = { type: 'array', items: { type: 'string', enum: [...visible.keys()] }, minItems: 1 } as const
	const description = 'The fields to return; all of them by default'
	return parameter('fields', schema, description, { role: 'fields', written: 'joined' })
}

function pageParameters({ limit, maxLimit }: CrudPlan): ParameterShape[] {
	const role = 'page'
	const max = Number.MAX_SAFE_INTEGER
	return [
		parameter(
			'limit',
			{ type: 'integer', minimum: 0, default: limit },
			`Maximum number of records in the page, capped at ${maxLimit}; 0 only counts`,
			{ role },
		),
		parameter(
			'offset',
			{ type: 'integer', minimum: 0, maximum: max, default: 0 },
			'Number of records to skip before the page; not together with cursor',
			{ role },
		),
		parameter(
			'cursor',
			{ type: 'string' },
			'Where the page begins: `meta.next` of the previous page, with the same sort and conditions',
			{ role },
		),
		parameter('count', { type: 'string', enum: ['exact'] }, 'Counts all matching records: `meta.total`', {
			role,
		}),
	]
}

function sortParameters({ sortable, keys }: CrudPlan): ParameterShape[] {
	if (sortable.size === 0) return []
	const terms = [...sortable.keys()].flatMap((name) => [name, `-${name}`])
	const isShown = keys.length > 0 && keys.every(({ name }) => sortable.has(name))
	const order = isShown ? `, by default ${keys.map(({ name }) => name).join(', ')}` : ''
	const schema = { type: 'array', items: { type: 'string', enum: terms }, minItems: 1 } as const
	return [
		parameter('sort', schema, `Sort order${order}; \`-\` means descending`, {
			role: 'sort',
			written: 'joined',
		}),
	]
}

function searchParameters({ searchable }: CrudPlan): ParameterShape[] {
	if (searchable.size === 0) return []
	const places = [...searchable.keys()].join(', ')
	const description = `Words, each of which must be in one of ${places}; case is ignored`
	return [parameter('search', { type: 'string' }, description, { role: 'search' })]
}

function filterParameters({ filterable, maxIn }: CrudPlan): ParameterShape[] {
	const comparisons = [...filterable.values()]
		.flatMap((field) => fieldParameters(field, maxIn))
		// `rank[gte]` may be a field's own name.
		.filter(({ name, written }) => written === 'repeated' || !filterable.has(name))
	if (comparisons.length === 0) return []
	const description =
		'Conditions with alternatives: `{"field":value,"or":[{"field":{"gte":value}},{"not":{…}}]}`'
	return [
		parameter('filter', { type: 'object' }, description, { role: 'filter', written: 'json' }),
		...comparisons,
	]
}

/** The descriptions of operators; each follows the field's name. */
const DESCRIPTIONS: Readonly<Record<Operator, string>> = {
	eq: 'is this, or one of these',
	ne: 'is not this',
	gt: 'is more than this',
	gte: 'is this or more',
	lt: 'is less than this',
	lte: 'is this or less',
	in: 'is one of these',
	nin: 'is none of these',
	between: 'is between these two, inclusive',
	contains: 'contains this text',
	startsWith: 'begins with this text',
	endsWith: 'ends with this text',
	ieq: 'is this (case is ignored)',
	icontains: 'contains this text (case is ignored)',
	istartsWith: 'begins with this text (case is ignored)',
	iendsWith: 'ends with this text (case is ignored)',
	null: 'is null',
}

/** `title`, then `title[ne]` and so on. If a list has another parameter called `title`, it is `title[eq]`. */
function fieldParameters(field: CrudField, maxIn: number): ParameterShape[] {
	const isTaken = PARAMETERS.some((name) => name === field.name)
	const operators = operatorsOf(field.field).filter((name) => name !== 'null' || field.field.nullable)
	return operators.map((operator) => ({
		name: operator === 'eq' && !isTaken ? field.name : `${field.name}[${operator}]`,
		schema: operatorSchema(field, operator, maxIn),
		description: `${field.name} ${DESCRIPTIONS[operator]}`,
		required: false,
		role: 'filter',
		...(operator === 'eq' ? { written: 'repeated' } : takesList(operator) ? { written: 'joined' } : {}),
	}))
}

function operatorSchema(field: CrudField, operator: Operator, maxIn: number): JsonSchema {
	if (operator === 'null') return { type: 'boolean' }
	const items = operandSchema(operandField(field, operator))
	if (!takesList(operator)) return items
	const [minItems, maxItems] = operator === 'between' ? [2, 2] : [1, maxIn]
	return { type: 'array', items, minItems, maxItems }
}
