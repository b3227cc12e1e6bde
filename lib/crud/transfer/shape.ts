/** Exports and imports in the API description; an export of records that can also be listed is a part of that list. */
import type { JsonSchema } from '../../validate/schema/json-schema.ts'
import type { Shape } from '../../validate/schema/shape.ts'
import { summaryOf } from '../api-description.ts'
import { listParameters } from '../parameter-shapes.ts'
import { titleOf } from '../record-schema.ts'
import type { CrudFacts } from '../view.ts'
import { MEDIA_TYPES } from './format.ts'

const [NDJSON = '', CSV = ''] = MEDIA_TYPES

export function exportShape({ plan }: CrudFacts): Shape {
	return {
		summary: summaryOf(plan, 'export'),
		params: [],
		query: listParameters(plan).filter(({ name }) => name !== 'cursor' && name !== 'offset'),
		body: undefined,
		answer: {
			...{ status: 200, schema: {}, type: NDJSON, others: [CSV], isPage: false },
			headers: ['X-Total-Count'],
		},
		headers: [],
		refusals: [429],
	}
}

export function importShape({ plan }: CrudFacts): Shape {
	return {
		summary: summaryOf(plan, 'import'),
		params: [],
		query: [
			{
				...{ name: 'mode', required: false, schema: { type: 'string', enum: ['check'] } },
				description: 'check: tells what is wrong, and stores nothing',
			},
		],
		body: {
			schema: {
				title: `${titleOf(plan)}Import`,
				description: 'A record a line, as JSON, or as CSV behind a line of names',
				type: 'string',
			},
			required: true,
			types: MEDIA_TYPES,
		},
		answer: { status: 201, otherStatus: 200, schema: IMPORTED, isPage: false, headers: [] },
		headers: [],
		refusals: [403, 409, 415, 422, 429],
	}
}

const PROBLEM: JsonSchema = {
	type: 'object',
	properties: {
		field: { type: 'string', description: 'The line and the field: `17.title`' },
		code: { type: 'string' },
		message: { type: 'string' },
	},
	required: ['field', 'code', 'message'],
}

const IMPORTED: JsonSchema = {
	title: 'Imported',
	type: 'object',
	properties: {
		records: { type: 'integer' },
		problems: { type: 'array', items: PROBLEM, description: 'Of a check, whose status is 200' },
		more: { type: 'boolean', const: true, description: 'Of a check: not all lines were read' },
	},
	required: ['records'],
}
