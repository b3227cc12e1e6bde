/** The query parameters of a `CrudHandler`, as a description tells them. What they do: `list-query.ts`. */
import type { JsonSchema } from '../validate/schema/json-schema.ts'
import type { ParameterShape } from '../validate/schema/shape.ts'
import { PARAMETERS } from '../wire/list.ts'
import { operandSchema } from './field-schema.ts'
import type { CrudField } from './fields.ts'
import { type Operator, operandField, operatorsOf, takesList } from './filter.ts'
import type { CrudPlan } from './plan.ts'

type Parameter = (typeof PARAMETERS)[number]

/** What a value of `field[op]` does, for people. */
const WORDS: Readonly<Record<Operator, string>> = {
	eq: 'is this',
	ne: 'is not this',
	gt: 'is more than this',
	gte: 'is this or more',
	lt: 'is less than this',
	lte: 'is this or less',
	in: 'is one of these',
	nin: 'is none of these',
	between: 'is between these two, or one of them',
	contains: 'contains this text',
	startsWith: 'begins with this text',
	endsWith: 'ends with this text',
	ieq: 'is this in upper or lower case',
	icontains: 'contains this text in upper or lower case',
	istartsWith: 'begins with this text in upper or lower case',
	iendsWith: 'ends with this text in upper or lower case',
	null: 'is null',
}

/** What a list can be asked. What is left to others says nothing here. */
export function listParameters(plan: CrudPlan): ParameterShape[] {
	const parameters = [
		...pageParameters(plan),
		...sortParameters(plan),
		fieldsParameter(plan),
		...searchParameters(plan),
		...filterParameters(plan),
	]
	return parameters.filter(({ name }) => !plan.ignoreQuery.has(name))
}

/** Which fields of a record are answered. */
export function fieldsParameter({ visible }: CrudPlan): ParameterShape {
	return {
		...optional('fields', {
			type: 'array',
			items: { type: 'string', enum: [...visible.keys()] },
			minItems: 1,
		}),
		description: 'The fields to answer, alone: all of them by default',
		role: 'fields',
		written: 'joined',
	}
}

function optional(name: Parameter, schema: JsonSchema): ParameterShape {
	return { name, schema, required: false }
}

function pageParameters({ limit, maxLimit }: CrudPlan): ParameterShape[] {
	return [
		{
			...optional('limit', { type: 'integer', minimum: 0, default: limit }),
			description: `Most records of the page; more than ${maxLimit} is taken as ${maxLimit}, and 0 counts alone`,
			role: 'page',
		},
		{
			...optional('offset', { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 }),
			description: 'How many records to leave out before the page; not beside cursor',
			role: 'page',
		},
		{
			...optional('cursor', { type: 'string' }),
			description: 'Where the page begins: `meta.next` of the page before, with the same sort and conditions',
			role: 'page',
		},
		{
			...optional('count', { type: 'string', enum: ['exact'] }),
			description: 'Counts all records that fit: `meta.total`',
			role: 'page',
		},
	]
}

function sortParameters({ sortable, key }: CrudPlan): ParameterShape[] {
	if (sortable.size === 0) return []
	const terms = [...sortable.keys()].flatMap((name) => [name, `-${name}`])
	const order = sortable.has(key.name) ? `: by ${key.name}, by default` : ''
	return [
		{
			...optional('sort', { type: 'array', items: { type: 'string', enum: terms }, minItems: 1 }),
			description: `The order${order}; a minus is for descending`,
			role: 'sort',
			written: 'joined',
		},
	]
}

function searchParameters({ searchable }: CrudPlan): ParameterShape[] {
	if (searchable.size === 0) return []
	const places = [...searchable.keys()].join(', ')
	return [
		{
			...optional('search', { type: 'string' }),
			description: `Words, each of which must be in one of ${places}, in upper or lower case`,
			role: 'search',
		},
	]
}

function filterParameters({ filterable, maxIn }: CrudPlan): ParameterShape[] {
	const comparisons = [...filterable.values()]
		.flatMap((field) => fieldParameters(field, maxIn))
		// A field may be called `rank[gte]` itself.
		.filter(({ name, written }) => written === 'repeated' || !filterable.has(name))
	if (comparisons.length === 0) return []
	return [
		{
			...optional('filter', { type: 'object' }),
			description:
				'Conditions with alternatives: `{"field":value,"or":[{"field":{"gte":value}},{"not":{…}}]}`',
			role: 'filter',
			written: 'json',
		},
		...comparisons,
	]
}

/** `title`, then `title[ne]` and so on. Where `title` is the name of another parameter, it is `title[eq]`. */
function fieldParameters(field: CrudField, maxIn: number): ParameterShape[] {
	const isTaken = PARAMETERS.some((name) => name === field.name)
	const operators = operatorsOf(field.field).filter((name) => name !== 'null' || field.field.nullable)
	return operators.map((operator): ParameterShape => {
		const shape = {
			required: false,
			role: 'filter',
			description: `${field.name} ${WORDS[operator]}`,
		} as const
		const name = operator === 'eq' && !isTaken ? field.name : `${field.name}[${operator}]`
		const schema = operator === 'null' ? ({ type: 'boolean' } as const) : operand(field, operator, maxIn)
		if (operator === 'eq')
			return {
				...shape,
				name,
				schema,
				description: `${shape.description}, or one of these`,
				written: 'repeated',
			}
		return takesList(operator) ? { ...shape, name, schema, written: 'joined' } : { ...shape, name, schema }
	})
}

function operand(field: CrudField, operator: Operator, maxIn: number): JsonSchema {
	const items = operandSchema(operandField(field, operator))
	if (!takesList(operator)) return items
	const [minItems, maxItems] = operator === 'between' ? [2, 2] : [1, maxIn]
	return { type: 'array', items, minItems, maxItems }
}
