/**
 * The responses of an operation: its success, with or without envelope, and its failures, which operations share.
 * Called by `operation.ts`.
 */
import { takesBody } from '../base/http.ts'
import type { JsonSchema } from '../validate/schema/json-schema.ts'
import { codeOf, ERRORS } from '../wire/codes.ts'
import type { Components, Part } from './components.ts'
import type { Endpoint } from './endpoints.ts'
import { takesKey } from './parameters.ts'

/** @param requestId the header for request ids that every response has, if any */
export function responsesOf(
	components: Components,
	endpoint: Endpoint,
	requestId: string | undefined,
): Readonly<Record<string, Part>> {
	const { wrap } = endpoint.mount
	const { answer, headers } = endpoint.shape
	const named = (name: string) => (wrap ? name : `Bare${name}`)
	const headersOf = (names: readonly string[]): Part => {
		const all = requestId === undefined ? names : [...names, requestId]
		if (all.length === 0) return {}
		const entries = all.map((name) => {
			const described = name === requestId ? REQUEST_ID : HEADERS[name]
			return [name, components.use('headers', name.replaceAll('-', ''), () => described ?? {})]
		})
		return { headers: Object.fromEntries(entries) }
	}
	const enveloped = (schema: JsonSchema, isPage: boolean): JsonSchema => {
		const data = components.schema(schema)
		if (!wrap) return data
		return {
			type: 'object',
			properties: {
				success: { type: 'boolean', const: true },
				data,
				...(isPage ? { meta: components.schema(PAGE_META) } : {}),
			},
			required: ['success', 'data', ...(isPage ? ['meta'] : [])],
		}
	}
	/** Clients whose Accept prefers problem details get these. */
	const failure = (name: string, description: string, names: readonly string[]) =>
		components.use('responses', named(name), () => ({
			description,
			...headersOf(names),
			content: {
				...jsonOf(components.schema(FAILURE[wrap ? 'wrapped' : 'bare'])),
				'application/problem+json': { schema: components.schema(PROBLEM) },
			},
		}))
	const responses: Record<string, Part> = { [answer.status]: success(answer.status) }
	if (answer.otherStatus !== undefined) responses[answer.otherStatus] = success(answer.otherStatus)
	if (answer.isOpen === true)
		responses['2XX'] = components.use('responses', named('Success'), () => ({
			description: 'Another success, if the method sets the status',
			...headersOf([]),
			content: jsonOf(enveloped({}, false)),
		}))
	if (endpoint.method === 'GET' && headers.includes('If-None-Match'))
		responses[304] = components.use('responses', 'NotModified', () => ({
			description: 'Not Modified',
			...headersOf(['ETag']),
		}))
	for (const status of refusalsOf(endpoint)) {
		const code = codeOf(status)
		const text = code === undefined ? `Status ${status}` : ERRORS[code].message
		responses[status] = failure(text.replaceAll(/\W/g, ''), text, REFUSAL_HEADERS[status] ?? [])
	}
	// `Allow` is for the 405 of a method that the path doesn't have.
	responses.default = failure('Failure', 'Another failure', ['Allow'])
	return responses

	function success(status: number): Part {
		const { schema, type, others = [], isPage } = answer
		const isRedirect = status >= 300
		const limits = endpoint.action.limit === undefined ? [] : ['RateLimit', 'RateLimit-Policy']
		const names = [...(isRedirect ? ['Location'] : []), ...answer.headers, ...limits]
		const hasContent = !isRedirect && status !== 204 && status !== 205
		const content = () => ({
			...(type === undefined ? jsonOf(enveloped(schema, isPage)) : contentOf(type)),
			...Object.fromEntries(others.flatMap((other) => Object.entries(contentOf(other)))),
		})
		return components.shared('responses', named(nameOf(schema, isPage)), {
			description: DESCRIPTIONS[status] ?? (isRedirect ? 'Redirect' : 'Success'),
			...headersOf(names),
			...(hasContent ? { content: content() } : {}),
		})
	}
}

/** The failures that an operation may have; unexpected ones are under `default`. */
function refusalsOf(endpoint: Endpoint): readonly number[] {
	const { shape, mount, action, method, params } = endpoint
	const { body } = shape
	const readsBody = takesBody(method) && body !== null && (body !== undefined || method !== 'DELETE')
	const statuses = new Set([
		...[400, 500, 503],
		...(mount.authenticator === undefined ? [] : [401]),
		...(action.access.resources.length === 0 ? [] : [403]),
		...(params.length === 0 ? [] : [404]),
		...(takesKey(endpoint) ? [409, 422] : []),
		...(readsBody ? [413] : []),
		...(readsBody && action.streaming === undefined ? [415] : []),
		...(action.limit === undefined ? [] : [429]),
		...shape.refusals,
	])
	return [...statuses].sort((a, b) => a - b)
}

const REFUSAL_HEADERS: Readonly<Record<number, readonly string[]>> = {
	401: ['WWW-Authenticate'],
	429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
	503: ['Retry-After'],
}

const DESCRIPTIONS: Readonly<Record<number, string>> = { 201: 'Created', 202: 'Accepted', 204: 'No Content' }

/** `Article`, `ArticlePage` or `ArticleList`, by the schema's title. */
function nameOf({ title, items }: JsonSchema, isPage: boolean): string {
	if (typeof title === 'string') return title
	return typeof items?.title === 'string' ? `${items.title}${isPage ? 'Page' : 'List'}` : 'Answer'
}

/** Binary content has no schema (OpenAPI 3.1, Considerations for File Uploads). */
function contentOf(type: string): Part {
	return { [type]: type.startsWith('text/') ? { schema: { type: 'string' } } : {} }
}

function jsonOf(schema: JsonSchema): Part {
	return { 'application/json': { schema } }
}

const DETAIL: JsonSchema = {
	title: 'Detail',
	description: 'One problem of many',
	type: 'object',
	properties: {
		field: { type: 'string', description: 'Path of the field, `tags.0`; empty for the whole' },
		code: { type: 'string', description: 'The rule that was broken, in snake_case' },
		message: { type: 'string' },
	},
	required: ['field', 'code', 'message'],
}

/** Fields beside the message. */
const MORE: Readonly<Record<string, JsonSchema>> = {
	code: { type: 'string', description: 'What went wrong, in snake_case' },
	details: { type: 'array', items: DETAIL },
	requestId: { type: 'string', description: 'The id of the request in the log' },
}

const FAILURE: Readonly<Record<'wrapped' | 'bare', JsonSchema>> = {
	wrapped: {
		title: 'Failure',
		type: 'object',
		properties: { success: { type: 'boolean', const: false }, error: { type: 'string' }, ...MORE },
		required: ['success', 'error'],
	},
	bare: {
		title: 'BareFailure',
		type: 'object',
		properties: { error: { type: 'string' }, ...MORE },
		required: ['error'],
	},
}

const PROBLEM: JsonSchema = {
	title: 'Problem',
	description: 'Problem details (RFC 9457)',
	type: 'object',
	properties: {
		type: { type: 'string', format: 'uri-reference' },
		title: { type: 'string' },
		status: { type: 'integer' },
		detail: { type: 'string' },
		...MORE,
	},
	required: ['type', 'title', 'status', 'detail'],
}

const PAGE_META: JsonSchema = {
	title: 'PageMeta',
	type: 'object',
	properties: {
		limit: { type: 'integer', description: 'Maximum number of records on a page, as the server applied it' },
		offset: { type: 'integer', description: 'How many records were skipped; 0 after most cursors' },
		next: { type: ['string', 'null'], description: 'The cursor of the next page; null on the last one' },
		total: {
			type: 'integer',
			description: 'How many records match, over all pages; present if they were counted',
		},
		more: { type: 'boolean', const: true, description: 'Present if more than `total` match' },
	},
	required: ['limit', 'offset', 'next'],
}

type DescribedHeader = { readonly description: string; readonly schema: JsonSchema }

/** Descriptions of response headers. */
const HEADERS: Readonly<Record<string, DescribedHeader>> = {
	Allow: text('The methods that the path allows'),
	'Content-Range': text('Where the page is, and how many records match: `items 0-24/319`'),
	ETag: text('The version of the record, for If-Match and If-None-Match'),
	Link: text('The next page, as `rel="next"` (RFC 8288); absent on the last one'),
	Location: text('The path of the new record'),
	RateLimit: text('The number of requests left, and when it is reset'),
	'RateLimit-Policy': text('The number of requests per window in seconds'),
	'Retry-After': count('Seconds to wait before another attempt'),
	'WWW-Authenticate': text('The accepted credentials'),
	'X-Total-Count': count('How many records match, over all pages; present if they were counted'),
}

/** The header that the option `requestId` names. */
const REQUEST_ID: DescribedHeader = text('The id of the request in the log')

function text(description: string): DescribedHeader {
	return { description, schema: { type: 'string' } }
}

function count(description: string): DescribedHeader {
	return { description, schema: { type: 'integer' } }
}
