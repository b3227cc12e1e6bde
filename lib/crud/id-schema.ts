/** The id of a `CrudHandler`'s records in the API description. Used by `api-description.ts`. */
import type { JsonSchema } from '../validate/schema/json-schema.ts'
import { operandSchema } from './field-schema.ts'
import type { CrudFacts } from './view.ts'

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
