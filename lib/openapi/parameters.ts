/** Parameters of an operation: of its path, its query and its headers. */

import type { ParameterShape } from '../validate/schema/shape.ts'
import type { Components, Part } from './components.ts'
import { gathered } from './conditions.ts'
import type { Endpoint } from './endpoints.ts'

/** What a request's header is for, by its name. */
const HEADERS: Readonly<Record<string, string>> = {
	'If-Match': 'The ETag of the record as it was read: 412 where it has been changed since (RFC 9110 §13.1.1)',
	'If-None-Match':
		'The ETag of what is there already: 304, or of a change 412, where it is still that; `*` is anything',
	'Idempotency-Key':
		'Runs the request once: whoever sends it again with the same key, of 1 to 255 characters, gets the first answer',
}

/** @param names of the path's params, in their order: those of the template that the path shares */
export function parametersOf(components: Components, endpoint: Endpoint, names: readonly string[]): Part[] {
	const { shape, params } = endpoint
	const own = [
		...params.map((param, at) => ({
			...{ name: names[at] ?? param.name, in: 'path', required: true },
			...described(param),
			schema: components.schema(param.schema),
		})),
		...gathered(shape.query).map((param) => queryParameter(components, param)),
	]
	return [
		...own.map((one) => components.shared('parameters', one.name, one)),
		...headersOf(endpoint).map((name) =>
			components.use('parameters', name.replaceAll('-', ''), () => headerParameter(name)),
		),
	]
}

function queryParameter(components: Components, param: ParameterShape): Part & { readonly name: string } {
	return {
		...{ name: param.name, in: 'query' },
		...(param.required ? { required: true } : {}),
		...described(param),
		...writing(components, param),
	}
}

function described({ description }: ParameterShape): Part {
	return description === undefined ? {} : { description }
}

/** How a value becomes text. An array is by default a parameter for each item. */
function writing(components: Components, { written, schema }: ParameterShape): Part {
	const value = components.schema(schema)
	switch (written) {
		case 'json':
			// Not by `content`, which is for this: openapi-fetch, hey-api and orval take no other parameters beside it. And
			// beside another string, as swagger-ui has a chooser of files for one of a media type.
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

function headerParameter(name: string): Part {
	return { name, in: 'header', description: HEADERS[name] ?? '', schema: { type: 'string' } }
}

function headersOf({ mount, method, action, shape }: Endpoint): readonly string[] {
	const isKept =
		(method === 'POST' || method === 'PATCH') &&
		action.streaming === undefined &&
		(mount.idempotencyKeys === 'anyone' ||
			(mount.idempotencyKeys === 'user' && mount.authenticator !== undefined))
	return isKept ? [...shape.headers, 'Idempotency-Key'] : shape.headers
}

/** Whether an operation can be run once by a key. */
export function takesKey(endpoint: Endpoint): boolean {
	return headersOf(endpoint).includes('Idempotency-Key')
}
