/** A `CrudHandler`'s totals in the API description. */
import type { TimePart } from '../../models/model.ts'
import type { JsonSchema } from '../../validate/schema/json-schema.ts'
import type { ParameterShape, Shape } from '../../validate/schema/shape.ts'
import { summaryOf } from '../api-description.ts'
import { responseSchema } from '../field-schema.ts'
import type { FieldMap } from '../fields.ts'
import { filterParameters, namesSchema, parameter, searchParameters } from '../parameter-shapes.ts'
import { titleOf } from '../record-schema.ts'
import type { CrudFacts } from '../view.ts'
import {
	FUNCTIONS,
	type GroupKey,
	keyNames,
	type TotalFunction,
	type TotalsPlan,
	totalsPlan,
} from './plan.ts'

export function totalsShape(facts: CrudFacts): Shape {
	const { plan, overridden } = facts
	const totals = totalsPlan(plan)
	const isOpen = overridden.has('totals')
	const conditions = [...searchParameters(plan), ...filterParameters(plan)].filter(
		// A condition on a field that is named like a parameter goes into `filter`.
		({ name }) => name === 'filter' || name === 'search' || !totals.parameters.includes(name),
	)
	const group: JsonSchema = {
		title: `${titleOf(plan)}Totals`,
		type: 'object',
		properties: Object.fromEntries([...keySchemas(totals), ...totalSchemas(totals)]),
	}
	return {
		summary: summaryOf(plan, 'totals'),
		params: [],
		query: [...parameters(totals), ...conditions].filter(({ name }) => !plan.ignoreQuery.has(name)),
		body: undefined,
		answer: {
			...{ status: 200, isPage: false, isOpen, headers: [] },
			schema: isOpen ? {} : { type: 'array', items: group },
		},
		headers: [],
		refusals: [],
	}
}

function parameters(plan: TotalsPlan): ParameterShape[] {
	const { keys, of, maxGroups } = plan
	const named: [string, readonly string[], string][] = [
		['by', keyNames(keys), 'What records are grouped by; times also by their parts'],
		['sum', [...of.sum.keys()], 'The fields to add up; exact, nulls are ignored'],
		[
			'avg',
			[...of.avg.keys()],
			'The fields whose average is asked for, rounded to six more digits than the sum has',
		],
		['min', [...of.min.keys()], 'The fields whose least value is asked for'],
		['max', [...of.max.keys()], 'The fields whose greatest value is asked for'],
	]
	const lists = named
		.filter(([, names]) => names.length > 0)
		.map(([name, names, description]) =>
			parameter(name, namesSchema(names, { uniqueItems: true }), description, { written: 'joined' }),
		)
	const having =
		'Conditions on what is asked for: `{"count":{"gt":1},"or":[{"sum.field":{"gte":"100"}},{"not":{…}}]}`'
	const sort = 'The order of groups, by fields of `by`, `count`, `sum.field` and so on; `-` means descending'
	const limit = `Number of groups to return; without it, more than ${maxGroups} groups are an error`
	return [
		...lists,
		parameter('count', { type: 'string', enum: ['exact'] }, 'Counts the records of each group'),
		parameter('having', { type: 'object' }, having, { written: 'json' }),
		parameter('sort', { type: 'string' }, sort),
		parameter('limit', { type: 'integer', minimum: 1, maximum: maxGroups }, limit),
		parameter(
			'tz',
			{ type: 'string', default: 'UTC' },
			'The time zone of parts of times, such as Europe/Berlin',
		),
	]
}

/** None is required: each is only there if it is asked for. */
function keySchemas({ keys }: TotalsPlan): [string, JsonSchema][] {
	return Array.from(keys.values(), (key) => [key.name, keySchema(key)])
}

function keySchema({ field, via, parts }: GroupKey): JsonSchema {
	const isNullable = field.nullable || via !== undefined
	const whole = responseSchema({ ...field, nullable: isNullable })
	if (parts.length === 0) return whole
	const patterns = parts.map((part) => PATTERNS[part])
	return {
		anyOf: [
			responseSchema({ ...field, nullable: false }),
			{ type: 'string', pattern: `^(?:${patterns.join('|')})$` },
			...(isNullable ? [{ type: 'null' } as const] : []),
		],
	}
}

const PATTERNS: Readonly<Record<TimePart, string>> = {
	year: '\\d{4,}',
	quarter: '\\d{4,}-Q[1-4]',
	month: '\\d{4,}-\\d\\d',
	week: '\\d{4,}-W\\d\\d',
	day: '\\d{4,}-\\d\\d-\\d\\d',
	hour: '\\d{4,}-\\d\\d-\\d\\dT\\d\\d',
}

function totalSchemas({ of }: TotalsPlan): [string, JsonSchema][] {
	const objects = FUNCTIONS.filter((op) => of[op].size > 0).map((op): [string, JsonSchema] => [
		op,
		{ type: 'object', properties: valueSchemas(op, of[op]) },
	])
	return [['count', { type: 'integer', minimum: 0 }], ...objects]
}

function valueSchemas(op: TotalFunction, fields: FieldMap): Record<string, JsonSchema> {
	const entries = Array.from(fields.values(), ({ name, field }): [string, JsonSchema] => {
		// Sums may be beyond the bounds of their field.
		const { min: _min, max: _max, ...free } = field
		if (op === 'min' || op === 'max') return [name, responseSchema({ ...field, nullable: true })]
		if (op === 'avg' && field.type !== 'float')
			return [name, responseSchema({ ...free, type: 'decimal', nullable: true })]
		if (field.type === 'bigint' && field.asText !== true) return [name, { type: ['integer', 'null'] }]
		return [name, responseSchema({ ...free, nullable: true })]
	})
	return Object.fromEntries(entries)
}
