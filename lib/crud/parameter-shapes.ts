/**
 * The query parameters of a `CrudHandler` in the API description, which `list-query.ts` reads. Used by
 * `api-description.ts`.
 */
import type { JsonSchema } from '../validate/schema/json-schema.ts'
import type { ParameterShape } from '../validate/schema/shape.ts'
import { type Operator, PARAMETERS } from '../wire/list.ts'
import { operandSchema } from './field-schema.ts'
import type { CrudField } from './fields.ts'
import { operandField, operatorsOf, takesList } from './filter-comparison.ts'
import type { CrudPlan, Relation } from './plan.ts'
import { usableRelations } from './record-schema.ts'

/** The parameters of a list. Those that the handler ignores aren't described. */
export function listParameters(plan: CrudPlan): ParameterShape[] {
	const parameters = [
		...pageParameters(plan),
		...sortParameters(plan),
		...readParameters(plan),
		...searchParameters(plan),
		...filterParameters(plan),
	]
	return parameters.filter(({ name }) => !plan.ignoreQuery.has(name))
}

/** The parameters of an operation on one record; a list has them, too. */
export function recordParameters(plan: CrudPlan): ParameterShape[] {
	return [fieldsParameter(plan), ...includeParameters(plan)]
}

/** The parameters of an operation on several records, which includes no related ones. */
export function manyParameters(plan: CrudPlan): ParameterShape[] {
	return [fieldsParameter(plan, [])]
}

export function readParameters(plan: CrudPlan): ParameterShape[] {
	const isRestored = plan.parameters.includes('deleted')
	const schema: JsonSchema = { type: 'string', enum: ['only'] }
	const deleted = isRestored
		? [parameter('deleted', schema, 'Deleted records, for those who may restore them', { role: 'deleted' })]
		: []
	return [...recordParameters(plan), ...deleted]
}

/** The unique fields of an upsert. */
export function onParameter({ upsertOn }: CrudPlan): ParameterShape {
	const schema: JsonSchema = { type: 'string', enum: upsertOn.map((names) => names.join()) }
	return { name: 'on', schema, description: 'The fields by which to find existing records', required: true }
}

export function parameter(
	name: string,
	schema: JsonSchema,
	description: string,
	more: Pick<ParameterShape, 'role' | 'written'> = {},
): ParameterShape {
	return { name, schema, description, required: false, ...more }
}

/**
 * The schema of comma-separated names: a list of the given ones or, with `hasMore`, any text. Names of related fields are only
 * in the description, because 10 relations to records with 20 fields would be 200.
 *
 * @param more `uniqueItems` if the request is refused when it repeats a name
 */
export function namesSchema(
	names: readonly string[],
	{ hasMore = false, ...more }: { readonly hasMore?: boolean; readonly uniqueItems?: true } = {},
): JsonSchema {
	const list: JsonSchema = { type: 'array', items: { type: 'string', enum: names }, minItems: 1, ...more }
	return hasMore ? { anyOf: [list, { type: 'string' }] } : list
}

function fieldsParameter(plan: CrudPlan, included = usableRelations(plan)): ParameterShape {
	const relations = included.map(({ name }) => name)
	const [relation] = relations
	const more =
		relation === undefined
			? ''
			: `; in a text also those of related records, which are then included: \`${relation}.…\``
	return parameter(
		'fields',
		namesSchema([...plan.visible.keys(), ...relations], { hasMore: relation !== undefined }),
		`The fields to return; all of them by default${more}`,
		{ role: 'fields', written: 'joined' },
	)
}

/** Maximum number of paths of relations: a deeper level is left out if it would exceed this. */
const MAX_NAMES = 100

function includeParameters(plan: CrudPlan): ParameterShape[] {
	const relations = usableRelations(plan)
	const example = relations.find(({ link }) => link.isMany) ?? relations[0]
	if (example === undefined) return []
	const depth = plan.includeDepth === 1 ? '' : `, and in those their own, ${plan.includeDepth} levels at most`
	const settings = example.link.isMany ? '{"limit":3,"sort":"…","filter":{…}}' : '{"fields":["…"]}'
	const words = relations.some(({ link }) => link.isMany)
		? '`fields` and `include`, of lists also `limit`, `sort`, `filter` and `count`'
		: '`fields` and `include`'
	const description = `Relations whose records each record has${depth}; or JSON with ${words}: \`{"${example.name}":${settings}}\``
	return [
		parameter('include', namesSchema(pathsOf(relations, plan.includeDepth), { hasMore: true }), description, {
			role: 'include',
			written: 'joined',
		}),
	]
}

/** The paths of relations, level by level: `comments`, then `comments.author`. */
function pathsOf(relations: readonly Relation[], depth: number): string[] {
	let level = relations.map((relation) => ({ relation, path: relation.name }))
	const paths: string[] = []
	for (let count = 0; count < depth; count++) {
		if (count > 0 && paths.length + level.length > MAX_NAMES) break
		paths.push(...level.map(({ path }) => path))
		level = level.flatMap(({ relation: { to }, path }) =>
			usableRelations(to).map((relation) => ({ relation, path: `${path}.${relation.name}` })),
		)
	}
	return paths
}

function pageParameters({ listLimit, maxLimit }: CrudPlan): ParameterShape[] {
	const role = 'page'
	const max = Number.MAX_SAFE_INTEGER
	return [
		parameter(
			'limit',
			{ type: 'integer', minimum: 0, default: listLimit },
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
		parameter(
			'count',
			{
				anyOf: [
					{ type: 'string', enum: ['exact'] },
					{ type: 'integer', minimum: 1 },
				],
			},
			'Counts all matching records, or up to this many: `meta.total`, with `meta.more` if there are more',
			{ role },
		),
	]
}

function sortParameters(plan: CrudPlan): ParameterShape[] {
	const { sortable, sort, keys } = plan
	const toOne = joinedRelations(plan).filter(({ link }) => !link.isMany)
	if (sortable.size === 0 && toOne.length === 0) return []
	const terms = [...sortable.keys()].flatMap((name) => [name, `-${name}`])
	const isShown = keys.length > 0 && keys.every(({ name }) => sortable.has(name))
	const usual = sort.length > 0 ? sort : isShown ? keys.map(({ name }) => name) : []
	const order = usual.length > 0 ? `, by default ${usual.join(', ')}` : ''
	const related =
		toOne.length === 0 ? '' : `; in a text also by ${toOne.map(({ name }) => `\`${name}.…\``).join(', ')}`
	const more = { hasMore: toOne.length > 0, uniqueItems: true } as const
	const schema: JsonSchema = sortable.size === 0 ? { type: 'string' } : namesSchema(terms, more)
	return [
		parameter(
			'sort',
			sort.length === 0 ? schema : { ...schema, default: sort },
			`Sort order${order}; \`-\` means descending${related}`,
			{ role: 'sort', written: 'joined' },
		),
	]
}

/** The relations that filters and orders may use. */
function joinedRelations(plan: CrudPlan): Relation[] {
	return usableRelations(plan).filter(({ isJoined }) => isJoined)
}

export function searchParameters({ searchable }: CrudPlan): ParameterShape[] {
	if (searchable.size === 0) return []
	const places = [...searchable.keys()].join(', ')
	const description = `Words, each of which must be in one of ${places}; case is ignored`
	return [parameter('search', { type: 'string' }, description, { role: 'search' })]
}

export function filterParameters(plan: CrudPlan): ParameterShape[] {
	const { filterable, maxIn } = plan
	const comparisons = [...filterable.values()]
		.flatMap((field) => fieldParameters(field, maxIn))
		// `rank[gte]` may be a field's own name.
		.filter(({ name, written }) => written === 'repeated' || !filterable.has(name))
	const joined = joinedRelations(plan)
	if (comparisons.length + joined.length === 0) return []
	const alternatives = '`{"field":value,"or":[{"field":{"gte":value}},{"not":{…}}]}`'
	const description = `Conditions with alternatives: ${alternatives}${relatedWords(joined)}`
	return [
		parameter('filter', { type: 'object' }, description, { role: 'filter', written: 'json' }),
		...comparisons,
	]
}

/** Describes filters by related records; a parameter for each related field would be too many. */
function relatedWords(relations: readonly Relation[]): string {
	const [one] = relations
	if (one === undefined) return ''
	const examples = [
		relations.find(({ link }) => !link.isMany),
		relations.find(({ link }) => link.isMany),
	].map((relation) => {
		if (relation === undefined) return ''
		const { name, link } = relation
		const conditions = link.isMany
			? '{"some":{…},"none":{…},"every":{…},"count":{"gte":3}}'
			: '{"field":value}'
		return `; \`{"${name}":${conditions}}\``
	})
	return `; of related records also as parameters, \`${one.name}.field=value\` and \`${one.name}.field[op]=value\`${examples.join('')}`
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
