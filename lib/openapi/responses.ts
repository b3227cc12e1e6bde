/** The answers of an operation: its success, in the envelope or bare, and its refusals, which all operations share. */

import { takesBody } from '../base/http.ts'
import type { JsonSchema } from '../validate/schema/json-schema.ts'
import type { AnswerShape } from '../validate/schema/shape.ts'
import { codeOf, ERRORS } from '../wire/codes.ts'
import type { Components, Part } from './components.ts'
import type { Endpoint } from './endpoints.ts'
import { FAILURE, HEADERS, PAGE_META, PROBLEM, REQUEST_ID } from './envelope.ts'
import { takesKey } from './parameters.ts'

/** @param requestId the header that every answer has, where there is one */
export function responsesOf(
	components: Components,
	endpoint: Endpoint,
	requestId: string | undefined,
): Readonly<Record<string, Part>> {
	const answers = new Answers(components, endpoint.mount.wrap, requestId)
	const { shape } = endpoint
	const limits = endpoint.action.limit === undefined ? [] : ['RateLimit', 'RateLimit-Policy']
	const responses: Record<string, Part> = { [shape.answer.status]: answers.success(shape.answer, limits) }
	if (shape.answer.isOpen === true) responses['2XX'] = answers.otherSuccess()
	if (endpoint.method === 'GET' && shape.headers.includes('If-None-Match'))
		responses[304] = answers.notModified()
	for (const status of refusalsOf(endpoint)) responses[status] = answers.refusal(status)
	responses.default = answers.otherFailure()
	return responses
}

/** Statuses that an operation is known to have; others fall under `default`. */
function refusalsOf(endpoint: Endpoint): readonly number[] {
	const { shape, mount, action, method, params } = endpoint
	const readsBody = takesBody(method) && (shape.body !== undefined || method !== 'DELETE')
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

/** Headers of refusals that say more than their status. */
const REFUSAL_HEADERS: Readonly<Record<number, readonly string[]>> = {
	401: ['WWW-Authenticate'],
	429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
	503: ['Retry-After'],
}

/** The answers of handlers that wrap theirs, or of those that don't. */
class Answers {
	readonly #components: Components
	readonly #wrap: boolean
	readonly #requestId: string | undefined

	constructor(components: Components, wrap: boolean, requestId: string | undefined) {
		this.#components = components
		this.#wrap = wrap
		this.#requestId = requestId
	}

	success({ status, schema, type, isPage, headers }: AnswerShape, limits: readonly string[]): Part {
		const isRedirect = status >= 300
		const names = isRedirect ? ['Location', ...headers, ...limits] : [...headers, ...limits]
		const hasContent = !isRedirect && status !== 204 && status !== 205
		const content = () => (type === undefined ? jsonOf(this.#enveloped(schema, isPage)) : contentOf(type))
		return this.#components.shared('responses', this.#named(nameOf(schema, isPage)), {
			description: DESCRIPTIONS[status] ?? (isRedirect ? 'Redirect' : 'Success'),
			...this.#headers(names),
			...(hasContent ? { content: content() } : {}),
		})
	}

	otherSuccess(): Part {
		return this.#components.use('responses', this.#named('Success'), () => ({
			description: 'Another success, where the method sets its status',
			...this.#headers([]),
			content: jsonOf(this.#enveloped({}, false)),
		}))
	}

	notModified(): Part {
		return this.#components.use('responses', 'NotModified', () => ({
			description: 'Not Modified',
			...this.#headers(['ETag']),
		}))
	}

	refusal(status: number): Part {
		const code = codeOf(status)
		const text = code === undefined ? `Status ${status}` : ERRORS[code].message
		return this.#failure(text.replaceAll(/\W/g, ''), text, REFUSAL_HEADERS[status] ?? [])
	}

	/** With what is said of a method that isn't there: it is no operation of its path. */
	otherFailure(): Part {
		return this.#failure('Failure', 'Another failure', ['Allow'])
	}

	/** Problem details are sent to whoever prefers them by Accept. */
	#failure(name: string, description: string, headers: readonly string[]): Part {
		return this.#components.use('responses', this.#named(name), () => ({
			description,
			...this.#headers(headers),
			content: {
				...jsonOf(this.#components.schema(FAILURE[this.#wrap ? 'wrapped' : 'bare'])),
				'application/problem+json': { schema: this.#components.schema(PROBLEM) },
			},
		}))
	}

	#enveloped(schema: JsonSchema, isPage: boolean): JsonSchema {
		const data = this.#components.schema(schema)
		if (!this.#wrap) return data
		return {
			type: 'object',
			properties: {
				success: { type: 'boolean', const: true },
				data,
				...(isPage ? { meta: this.#components.schema(PAGE_META) } : {}),
			},
			required: ['success', 'data', ...(isPage ? ['meta'] : [])],
		}
	}

	#headers(names: readonly string[]): Part {
		const all = this.#requestId === undefined ? names : [...names, this.#requestId]
		if (all.length === 0) return {}
		const entries = all.map((name) => {
			const described = name === this.#requestId ? REQUEST_ID : HEADERS[name]
			return [name, this.#components.use('headers', name.replaceAll('-', ''), () => described ?? {})]
		})
		return { headers: Object.fromEntries(entries) }
	}

	#named(name: string): string {
		return this.#wrap ? name : `Bare${name}`
	}
}

const DESCRIPTIONS: Readonly<Record<number, string>> = { 201: 'Created', 202: 'Accepted', 204: 'No Content' }

/** `Article`, `ArticlePage` or `ArticleList`, where the schema has a name. */
function nameOf({ title, items }: JsonSchema, isPage: boolean): string {
	if (typeof title === 'string') return title
	return typeof items?.title === 'string' ? `${items.title}${isPage ? 'Page' : 'List'}` : 'Answer'
}

/** Of bytes a schema is left out (OpenAPI 3.1, Considerations for File Uploads). */
function contentOf(type: string): Part {
	return { [type]: type.startsWith('text/') ? { schema: { type: 'string' } } : {} }
}

function jsonOf(schema: JsonSchema): Part {
	return { 'application/json': { schema } }
}
