/** The schemas of a `CrudHandler`'s records and of their ids in the API description, and their names. Used by `api-description.ts`. */
import { attached } from '../base/attached.ts'
import { type JsonSchema, RECURSIVE } from '../validate/schema/json-schema.ts'
import { operandSchema, responseSchema } from './field-schema.ts'
import type { CrudPlan, Relation } from './plan.ts'
import { type CrudFacts, type CrudView, FACTS } from './view.ts'

/** `blog_category` → `blog categories`, `box` → `boxes`. A name that ends in s is assumed to be a plural. */
export function pluralOf(name: string): string {
	if (!/[a-rt-z]$/.test(name)) return name
	if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`
	return /(?:x|z|[cs]h)$/.test(name) ? `${name}es` : `${name}s`
}

/** The words of a table's name, without the schema before it. */
export function wordsOf(table: string): string[] {
	const name = table.split('.').at(-1) ?? ''
	const words = name.replace(/([a-z\d])([A-Z])/g, '$1 $2').match(/[\p{L}\p{N}]+/gu)
	return words ?? ['record']
}

/** `blog_category` → `BlogCategory`. */
export function titleOf({ model }: CrudPlan): string {
	const title = typeName(model.name)
	return /^[A-Z]/.test(title) ? title : `Record${title}`
}

/** Joins the words of a name; characters that type names can't have are left out. */
export function typeName(name: string): string {
	const words = wordsOf(name).map((word) => word.normalize('NFKD').replace(/[^A-Za-z\d]+/g, ''))
	return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/** The relations whose other handler allows their operation at all; a request for another one is always 403. */
export function usableRelations({ relations }: CrudPlan): Relation[] {
	return [...relations.values()].filter(({ to, operation }) => to.allow.has(operation))
}

const SCHEMA: unique symbol = Symbol('verbena.recordSchema')

/**
 * The same object for the same plan: records that are related to each other contain each other's schemas. An override of
 * `fields()` may hide any field.
 */
export function recordSchema({ plan, isNarrowed }: CrudFacts): JsonSchema {
	return attached(plan, SCHEMA, () => {
		const title = titleOf(plan)
		const required = isNarrowed ? {} : { required: [...plan.visible.keys()] }
		const relations = usableRelations(plan)
		if (relations.length === 0)
			return { title, type: 'object', properties: Object.fromEntries(fieldSchemas(plan)), ...required }
		return {
			...{ [RECURSIVE]: true, title, type: 'object', ...required },
			get properties() {
				const related = relations.map((one): [string, JsonSchema] => [one.name, relatedSchema(plan, one)])
				return Object.fromEntries([...fieldSchemas(plan), ...related])
			},
		}
	})
}

function fieldSchemas({ visible, creatable, updatable }: CrudPlan): [string, JsonSchema][] {
	return Array.from(visible, ([name, { field }]) => [
		name,
		creatable.has(name) || updatable.has(name)
			? responseSchema(field)
			: { ...responseSchema(field), readOnly: true },
	])
}

/** Related records within a record: never required, because they are only there if they are included. */
function relatedSchema({ dialect }: CrudPlan, { link, handler, isStripped }: Relation): JsonSchema {
	const record = isStripped ? {} : recordSchema((handler as CrudView)[FACTS]) // a CrudHandler
	if (!link.isMany) return isStripped ? {} : { oneOf: [record, { type: 'null' }] }
	if (dialect !== undefined) return { type: 'array', items: record }
	return {
		type: 'object',
		properties: { data: { type: 'array', items: record }, meta: RELATED_META },
		required: ['data', 'meta'],
	}
}

const RELATED_META: JsonSchema = {
	title: 'RelatedMeta',
	type: 'object',
	properties: {
		limit: { type: 'integer', description: 'Maximum number of related records within each record' },
		next: {
			type: ['string', 'null'],
			description: 'The cursor of the related records after these; null if there are none',
		},
		total: {
			type: 'integer',
			description: 'How many related records there are; present if they were counted',
		},
		more: { type: 'boolean', const: true, description: 'Present if there are more than `total`' },
	},
	required: ['limit', 'next'],
}

/**
 * A composite key is an array: in a path, its items are percent-encoded one by one, and joined by commas. With a scope, ids lack
 * the fields that it fixes, so an item's position doesn't tell its type.
 */
export function idSchema({ plan: { keys }, isScoped }: CrudFacts): JsonSchema {
	const schemas = keys.map(({ field }) => {
		const schema = operandSchema(field)
		return field.maxLength === undefined ? schema : { ...schema, maxLength: field.maxLength }
	})
	const [only, ...others] = schemas
	if (only !== undefined && others.length === 0) return only
	const names = keys.map(({ name }) => name).join(', ')
	const maxItems = schemas.length
	if (!isScoped)
		return { type: 'array', description: names, prefixItems: schemas, minItems: maxItems, maxItems }
	const distinct = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
	const [items = {}] = distinct.length === 1 ? distinct : [{ anyOf: distinct }]
	const description = `${names} (without what is fixed for the caller)`
	return { type: 'array', description, items, minItems: 1, maxItems }
}

/** The key fields that clients see. If some are hidden, `undefined`, unless there is a scope, which may fix those. */
export function shownKey({
	plan: { keys, visible, isKeyVisible },
	isScoped,
}: CrudFacts): string[] | undefined {
	const shown = keys.map(({ name }) => name).filter((name) => visible.has(name))
	return isKeyVisible || (isScoped && shown.length > 0) ? shown : undefined
}
