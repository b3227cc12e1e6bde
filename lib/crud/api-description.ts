/**
 * A `CrudHandler`'s part of the API description: the shapes of its actions, with parameters, body and responses, which
 * `openapi/` writes. `write.ts` reads bodies.
 */

import type { Plan } from '../validate/plan.ts'
import { acceptsValue, hasDefault } from '../validate/schema/foreign-schema.ts'
import { bothOf, type JsonSchema } from '../validate/schema/json-schema.ts'
import { bodyTypes, schemaOfPlan } from '../validate/schema/plan-schema.ts'
import type { AnswerShape, BodyShape, Shape } from '../validate/schema/shape.ts'
import type { Validator } from '../validate/validator.ts'
import { inputSchema, keySchema, orNull } from './field-schema.ts'
import type { CrudField } from './fields.ts'
import { OF_PAGES } from './many/remove.ts'
import { writableOf } from './many/upsert-option.ts'
import type { CrudOperation } from './options.ts'
import {
	listParameters,
	manyParameters,
	onParameter,
	readParameters,
	recordParameters,
} from './parameter-shapes.ts'
import type { CrudPlan, Relation } from './plan.ts'
import { idSchema, pluralOf, recordSchema, shownKey, titleOf, typeName, wordsOf } from './record-schema.ts'
import { compiledRules, type Ruled } from './rules.ts'
import { MEDIA_TYPES } from './transfer/format.ts'
import { type CrudFacts, type CrudView, FACTS } from './view.ts'
import type { WriteKind } from './write.ts'

/** The shape of an operation. @param validator the server's, for lists of rules; `undefined` for the built-in one */
export function crudShape(
	facts: CrudFacts,
	validator: Validator | undefined,
	operation: CrudOperation,
): Shape {
	const { plan } = facts
	const common = {
		summary: summaryOf(plan, operation),
		params: isOnAll(operation) ? [] : [idSchema(facts)],
		query: queryOf(plan, operation),
		answer: answerOf(facts, operation),
		headers: preconditionHeaders(plan, operation),
		refusals: refusalsOf(facts, operation),
	}
	if (operation === 'create' || operation === 'createMany')
		return { ...common, body: creatingBody(facts, validator) }
	if (operation === 'upsert') return { ...common, body: upsertingBody(facts, validator) }
	if (operation === 'updateMany')
		return { ...common, body: updatingBody(facts, bodyOf(facts, validator, 'update')) }
	if (operation !== 'update' && operation !== 'replace') return { ...common, body: undefined }
	return { ...common, body: bodyOf(facts, validator, operation) }
}

/** The body of `updateMany`: each record has its key, and may have the version that it must still have. */
function updatingBody({ plan }: CrudFacts, one: BodyShape): BodyShape {
	const { version, visible, maxBatch } = plan
	// The scope fixes the hidden fields of a composite key.
	const keys = plan.keys.filter(({ name }) => visible.has(name))
	const matched = [...keys, ...(version === undefined || !visible.has(version.name) ? [] : [version])]
	const { properties, required = [] } = one.schema as { properties: object; required?: readonly string[] }
	const items = {
		...one.schema,
		// Not the schema of a single change, which has another title.
		title: `${titleOf(plan)}UpdateMany`,
		properties: {
			...properties,
			...Object.fromEntries(matched.map(({ name, field }) => [name, inputSchema(field)])),
		},
		required: [...keys.map(({ name }) => name), ...required],
	}
	return { ...listBody(items, maxBatch), matched: matched.map(({ name }) => name) }
}

/** A body that is always a list, which a form can't be. */
function listBody(items: JsonSchema, maxItems: number): BodyShape {
	return { schema: { type: 'array', items, maxItems }, required: true, types: bodyTypes(undefined) }
}

/** One record or a list, of the fields that an upsert writes. */
function upsertingBody(facts: CrudFacts, validator: Validator | undefined): BodyShape {
	const { plan } = facts
	// A record is found by values, which a column's default isn't.
	const isNamed = (name: string) => plan.upsertOn.every((names) => names.includes(name))
	const fields = [...writableOf(plan, plan.upsertOn.flat())].map(([name, one]): [string, CrudField] => [
		name,
		isNamed(name) ? { ...one, field: { ...one.field, nullable: false, hasDefault: false } } : one,
	])
	const own: CrudPlan = Object.create(plan, { creatable: { value: new Map(fields) } })
	const title = `${titleOf(plan)}Upsert`
	const one = bodyOf({ ...facts, plan: own }, validator, 'create', { title, fixed: [] })
	const { schema: many } = listBody(one.schema, plan.maxBatch)
	const required = plan.upsertOn.every((names) => names.some((name) => own.creatable.has(name)))
	return { ...one, schema: { oneOf: [one.schema, many] }, required }
}

/** Whether an operation has no id in its path. */
function isOnAll(operation: CrudOperation): boolean {
	return ['list', 'create', 'createMany', 'updateMany', 'removeMany', 'upsert'].includes(operation)
}

/** One record, a list, or either, as `allow` says. */
function creatingBody(facts: CrudFacts, validator: Validator | undefined): BodyShape {
	const { allow, maxBatch } = facts.plan
	const body = bodyOf(facts, validator, 'create')
	const one = withRelated(facts, validator, body.schema)
	if (!allow.has('createMany')) return { ...body, schema: one }
	const many = listBody(body.schema, maxBatch)
	return allow.has('create') ? { ...body, schema: { oneOf: [one, many.schema] } } : many
}

/** Adds the related records that may be created together with a record. */
function withRelated({ plan }: CrudFacts, validator: Validator | undefined, schema: JsonSchema): JsonSchema {
	const creatable = [...plan.relations.values()].filter(({ canCreate }) => canCreate)
	if (creatable.length === 0) return schema
	const lists = creatable.map((relation): [string, JsonSchema] => {
		const target = (relation.handler as CrudView)[FACTS] // a CrudHandler
		const title = `${titleOf(plan)}${typeName(relation.name)}Create`
		const { schema: items } = bodyOf(target, validator, 'create', { title, fixed: relation.link.to })
		return [relation.name, { type: 'array', items, maxItems: plan.maxBatch }]
	})
	const { properties = {} } = schema as { readonly properties?: object }
	return { ...schema, properties: { ...properties, ...Object.fromEntries(lists) } }
}

/** The shape of an operation on one record's related records: the other handler's, below the record's id. */
export function relatedShape(
	facts: CrudFacts,
	relation: Relation,
	validator: Validator | undefined,
	operation: 'list' | 'read' | 'create',
): Shape {
	const target = (relation.handler as CrudView)[FACTS] // a CrudHandler
	const shape = crudShape(target, validator, operation)
	const verb = { list: 'List', read: 'Read', create: 'Add to' }[operation]
	const title = `${titleOf(facts.plan)}${typeName(relation.name)}Create`
	return {
		...shape,
		summary: relatedSummary(facts, relation, verb),
		params: [idSchema(facts)],
		body: shape.body && bodyOf(target, validator, 'create', { title, fixed: relation.link.to }),
		// These records have no URLs below the list.
		answer: { ...shape.answer, key: undefined },
		refusals: [...new Set([...shape.refusals, 404])],
	}
}

/** The shape of `tie` or `untie`, which link two records many to many, or unlink them. */
export function tieShape(facts: CrudFacts, relation: Relation, verb: 'tie' | 'untie'): Shape {
	const other = (relation.handler as CrudView)[FACTS] // a CrudHandler
	return {
		summary: relatedSummary(facts, relation, verb === 'tie' ? 'Add to' : 'Remove from'),
		params: [idSchema(facts), idSchema(other)],
		query: [],
		body: null,
		answer: { status: 204, isPage: false, schema: {}, isOpen: false, headers: [] },
		headers: [],
		refusals: [404, 409],
	}
}

function relatedSummary({ plan }: CrudFacts, { name }: Relation, verb: string): string {
	const related = wordsOf(name).join(' ').toLowerCase()
	return `${verb} the ${related} of one of the ${recordsOf(plan)}`
}

/** `blog_category` → `blog categories`. */
function recordsOf({ model }: CrudPlan): string {
	return pluralOf(wordsOf(model.name).join(' ').toLowerCase())
}

export function summaryOf(plan: CrudPlan, operation: CrudOperation): string {
	const records = recordsOf(plan)
	const verbs: Readonly<Record<CrudOperation, string>> = {
		list: `List ${records}`,
		read: `Read one of the ${records}`,
		create: `Add to the ${records}`,
		update: `Change one of the ${records}`,
		replace: `Replace one of the ${records}`,
		remove: `Delete one of the ${records}`,
		totals: `Total ${records}`,
		removeMany: `Delete those of the ${records} that match`,
		updateMany: `Change several of the ${records}`,
		upsert: `Add to the ${records}, or change those with the same values`,
		createMany: `Add several to the ${records}`,
		restore: `Restore one of the deleted ${records}`,
		export: `Export ${records}`,
		import: `Import ${records}`,
	}
	return verbs[operation]
}

/** The shape of an operation's answer. An override or a `stripObject` may return anything, so its schema is open. */
function answerOf(facts: CrudFacts, operation: CrudOperation): AnswerShape {
	const { plan, overridden, isStripped } = facts
	const isOpen = overridden.has(operation)
	const record = isStripped ? {} : recordSchema(facts)
	const list: JsonSchema = { type: 'array', items: record }
	const oneOrMany: JsonSchema = { oneOf: [record, list] }
	const etag = plan.version === undefined ? [] : ['ETag']
	const answer = (schema: JsonSchema) => ({
		...{ status: 200, isPage: false, schema: isOpen ? {} : schema, isOpen, headers: [] },
	})
	switch (operation) {
		case 'list':
			return {
				...answer(list),
				// An override is assumed to return a page, as `super.list()` does; its `docs` can say otherwise.
				schema: list,
				isPage: true,
				key: shownKey(facts),
				headers: ['Link', 'X-Total-Count', ...(plan.dialect === 'simple-rest' ? ['Content-Range'] : [])],
				...(plan.allow.has('export') ? { others: MEDIA_TYPES } : {}),
			}
		case 'create': {
			const created = answer(plan.allow.has('createMany') ? oneOrMany : record)
			return { ...created, status: 201, headers: ['Location', ...etag] }
		}
		case 'createMany':
			return { ...answer(list), status: 201 }
		case 'upsert':
			return answer(oneOrMany)
		case 'removeMany':
			return answer({ type: 'array', items: plan.keys.length === 1 ? idSchema(facts) : { type: 'string' } })
		case 'updateMany':
			return answer(list)
		case 'remove':
			return answer(record)
		default:
			return { ...answer(record), headers: etag }
	}
}

function queryOf(plan: CrudPlan, operation: CrudOperation): Shape['query'] {
	if (operation === 'list') return listParameters(plan)
	if (operation === 'removeMany') return listParameters(plan).filter(({ name }) => !OF_PAGES.includes(name))
	if (operation === 'createMany' || operation === 'updateMany') return manyParameters(plan)
	if (operation === 'upsert') return [...manyParameters(plan), onParameter(plan)]
	return operation === 'read' ? readParameters(plan) : recordParameters(plan)
}

/** The headers of conditional requests that have an effect (RFC 9110 §13). */
function preconditionHeaders(plan: CrudPlan, operation: CrudOperation): string[] {
	// `If-None-Match: *` requires that the key isn't taken.
	if (operation === 'create' || operation === 'createMany')
		return plan.keys.some(({ name }) => plan.creatable.has(name)) ? ['If-None-Match'] : []
	if (plan.version === undefined || ['list', 'updateMany', 'upsert', 'removeMany'].includes(operation))
		return []
	return operation === 'read' ? ['If-None-Match'] : ['If-Match']
}

function refusalsOf({ plan, isScoped }: CrudFacts, operation: CrudOperation): number[] {
	const isWrite = operation !== 'list' && operation !== 'read'
	const hasId = !isOnAll(operation)
	const needsVersions = operation === 'updateMany' && plan.version !== undefined
	const hasValues = isWrite && operation !== 'remove' && operation !== 'removeMany' && operation !== 'restore'
	return [
		// For a write that would leave the scope.
		...(isScoped && hasValues ? [403] : []),
		...(hasId || operation === 'updateMany' ? [404] : []),
		...(isWrite ? [409] : []),
		...(isWrite && (preconditionHeaders(plan, operation).length > 0 || needsVersions) ? [412] : []),
		...(hasValues ? [422] : []),
	]
}

/**
 * A body: the writable fields, and the other visible ones, which are accepted and ignored. `title` is the schema's title;
 * `fixed` are the columns that the request's URL sets, by the model's names.
 */
function bodyOf(
	{ plan, rules }: CrudFacts,
	validator: Validator | undefined,
	kind: WriteKind,
	{ title, fixed }: { readonly title: string; readonly fixed: readonly string[] } = {
		title: `${titleOf(plan)}${kind.charAt(0).toUpperCase()}${kind.slice(1)}`,
		fixed: [],
	},
): BodyShape {
	const ruled = compiledRules(plan, rules, validator)
	const all = kind === 'create' ? plan.creatable : plan.updatable
	const writable = new Map([...all].filter(([, { field }]) => !fixed.includes(field.name)))
	const ignored = [...plan.visible.keys()].filter((name) => !writable.has(name))
	const required = [...writable.values()].filter((field) =>
		isRequired(plan, kind, field, ruled.get(field.name)?.rules),
	)
	const schema: JsonSchema = {
		title,
		type: 'object',
		properties: Object.fromEntries([
			...[...writable.values()].map((field) => [
				field.name,
				valueSchema(plan, kind, field, ruled.get(field.name)),
			]),
			...ignored.map((name) => [name, { readOnly: true }]),
		]),
		...(required.length === 0 ? {} : { required: required.map(({ name }) => name) }),
		additionalProperties: false,
	}
	const hasJson = [...writable.values()].some(({ field }) => field.type === 'json')
	return {
		schema,
		required: required.length > 0,
		types: bodyTypes(hasJson ? undefined : Array.from(ruled.values(), ({ rules }) => rules)),
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
function valueSchema(
	{ keyReaders }: CrudPlan,
	kind: WriteKind,
	{ name, field: unruled }: CrudField,
	ruled: Ruled | undefined,
): JsonSchema {
	const rules = ruled?.rules
	const field = ruled === undefined ? unruled : { ...unruled, min: ruled.field.min, max: ruled.field.max }
	const column = keyReaders.has(name) ? keySchema(field, keyReaders.size === 1) : inputSchema(field)
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
