/** The parameters of an operation: path, query and headers. Called by `operation.ts`. */
import type { JsonSchema } from '../validate/schema/json-schema.ts'
import type { ParameterShape } from '../validate/schema/shape.ts'
import type { Components, Part } from './components.ts'
import type { Endpoint } from './endpoints.ts'

/** Descriptions of request headers. */
const HEADERS: Readonly<Record<string, string>> = {
	'If-Match': 'The ETag of the record as it was read: 412 if it has changed since (RFC 9110 §13.1.1)',
	'If-None-Match': 'An ETag: 304, or 412 for a change, if the record still has it; `*` is any record',
	'Idempotency-Key':
		'Runs the request once: a repeated request with the same key, of 1 to 255 characters, gets the first answer',
}

/** @param names the param names in the path's template, in order */
export function parametersOf(components: Components, endpoint: Endpoint, names: readonly string[]): Part[] {
	const { shape, params } = endpoint
	const own = [
		...params.map((param, at) => ({
			...{ name: names[at] ?? param.name, in: 'path', required: true },
			...described(param),
			schema: components.schema(param.schema),
		})),
		...withGroupedOperators(shape.query).map((param) => queryParameter(components, param)),
	]
	return [
		...own.map((one) => components.shared('parameters', one.name, one)),
		...headersOf(endpoint).map((name) =>
			components.use('parameters', name.replaceAll('-', ''), () => ({
				...{ name, in: 'header', description: HEADERS[name] ?? '', schema: { type: 'string' } },
			})),
		),
	]
}

function queryParameter(components: Components, param: ParameterShape): Part & { readonly name: string } {
	return {
		...{ name: param.name, in: 'query' },
		...(param.required ? { required: true } : {}),
		...described(param),
		...serialization(components, param),
	}
}

function described({ description }: ParameterShape): Part {
	return description === undefined ? {} : { description }
}

/** How a value is serialized. By default an array is one parameter per item. */
function serialization(components: Components, { written, schema }: ParameterShape): Part {
	const value = components.schema(schema)
	switch (written) {
		case 'json':
			// Not `content`, with which openapi-fetch, hey-api and orval drop the other parameters. The plain string is an
			// alternative because swagger-ui shows a file chooser for a string with a media type.
			return {
				schema: {
					type: 'string',
					anyOf: [
						{ type: 'string' },
						{ type: 'string', contentMediaType: 'application/json', contentSchema: value },
					],
				},
			}
		case 'joined':
			return { style: 'form', explode: false, schema: value }
		case 'repeated':
			return { schema: { anyOf: [value, { type: 'array', items: value }] } }
		case 'operators':
			return { style: 'deepObject', explode: true, schema: value }
		case undefined:
			return { schema: value }
	}
}

function headersOf({ mount, method, action, shape }: Endpoint): readonly string[] {
	const hasKey =
		(method === 'POST' || method === 'PATCH' || action.takesKey === true) &&
		action.streaming === undefined &&
		(mount.idempotencyKeys === 'anyone' ||
			(mount.idempotencyKeys === 'user' && mount.authenticator !== undefined))
	return hasKey ? [...shape.headers, 'Idempotency-Key'] : shape.headers
}

/** Whether an operation accepts an idempotency key. */
export function takesKey(endpoint: Endpoint): boolean {
	return headersOf(endpoint).includes('Idempotency-Key')
}

/** `rank[gte]`. */
const BRACKETED = /^(.*)\[(\w+)\]$/s

/**
 * Merges a field's operators (`rank[gte]=3&rank[lt]=9`) as an object into the parameter of its plain value (`rank=3`).
 * As separate parameters, a table of 20 columns would have 200, too many for swagger-ui and Postman. If a field has no
 * plain value, its operators stay separate, because swagger-ui fills in and sends an object that has no alternative.
 */
function withGroupedOperators(query: readonly ParameterShape[]): readonly ParameterShape[] {
	const byField = new Map(query.filter(isPlain).map(({ name }) => [name, new Map<string, ParameterShape>()]))
	const others = query.filter((param) => {
		const [, field = '', operator = ''] = BRACKETED.exec(param.name) ?? []
		const operators = param.role === 'filter' && !isPlain(param) ? byField.get(field) : undefined
		operators?.set(operator, param)
		return operators === undefined
	})
	return others.map((param) => {
		const operators = byField.get(param.name)
		return operators === undefined || operators.size === 0 ? param : withOperators(param, operators)
	})
}

function isPlain({ role, written }: ParameterShape): boolean {
	return role === 'filter' && written === 'repeated'
}

function withOperators(
	{ name, schema, required }: ParameterShape,
	operators: ReadonlyMap<string, ParameterShape>,
): ParameterShape {
	const properties = [...operators].map(([operator, param]) => [operator, operand(param)])
	const object: JsonSchema = {
		type: 'object',
		properties: Object.fromEntries(properties),
		additionalProperties: false,
	}
	return {
		...{ name, required, role: 'filter', written: 'operators' },
		description: `${name} is this; or \`${name}[op]\`, op being ${[...operators.keys()].join(', ')}`,
		schema: { anyOf: [...(schema.anyOf ?? [schema]), object] },
	}
}

/** A list is a string here, because clients don't serialize arrays inside objects. */
function operand({ schema, description = '', written }: ParameterShape): JsonSchema {
	if (written !== 'joined') return { ...schema, description }
	return { type: 'string', description: `${description}, with commas between` }
}
