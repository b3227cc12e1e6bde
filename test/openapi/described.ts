/**
 * Whether answers are what an OpenAPI description says of them: status, media type, and each part of the body, of
 * which nothing may be there that isn't described. Of a request that was served: that it may be sent, by its path,
 * its parameters and its body.
 *
 * What a description can't say is told apart here: QUERY; more segments behind a rest parameter; fewer fields of a
 * record, where `fields` names some.
 */
import type { AnySchema, ValidateFunction } from 'ajv'
import { ajv } from './ajv.ts'

export interface Media {
	/** None of bytes. */
	readonly schema?: AnySchema
}

export interface Parameter {
	readonly name: string
	readonly in: 'path' | 'query' | 'header'
	readonly required?: boolean
	readonly description?: string
	readonly schema?: AnySchema
	readonly style?: string
	readonly explode?: boolean
	readonly content?: Readonly<Record<string, Media>>
}

export interface Response {
	readonly description: string
	readonly headers?: Readonly<Record<string, unknown>>
	readonly content?: Readonly<Record<string, Media>>
}

export interface Operation {
	readonly operationId: string
	readonly summary: string
	readonly tags: readonly string[]
	readonly security: readonly Readonly<Record<string, readonly string[]>>[]
	readonly parameters?: readonly (Parameter | Reference)[]
	readonly description?: string
	readonly deprecated?: boolean
	readonly requestBody?: RequestBody | Reference
	readonly responses: Readonly<Record<string, Response | Reference>>
}

export interface RequestBody {
	readonly required?: boolean
	readonly content: Readonly<Record<string, Media>>
}

export interface Reference {
	readonly $ref: string
}

export interface Document {
	readonly openapi: string
	readonly info: Readonly<Record<string, unknown>>
	readonly servers: readonly { readonly url: string }[]
	readonly tags: readonly { readonly name: string; readonly description: string }[]
	readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
	readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** One request and its answer, as they went over the wire. */
export interface Traffic {
	readonly method: string
	readonly target: string
	readonly status: number
	/** Names in lower case. */
	readonly requestHeaders: Readonly<Record<string, string | readonly string[] | undefined>>
	readonly requestBody: string
	readonly type: string | undefined
	readonly body: string
}

/** `title[eq]` is `title`, and what is never null needn't be asked for it: taken, and not described. */
const USELESS = /\[(?:eq|null)\]$/
const ID = 'https://described.example/openapi.json'
const REST = 'The first of any number of segments'

/** The answers of a description, ready to be compared with. */
export class Description {
	readonly document: Document
	/** For whole records, and for those with the fields that were named. */
	readonly #checks: readonly [whole: Check, partial: Check]

	constructor(document: Document) {
		this.document = document
		this.#checks = [checkOf(document, (value) => value), checkOf(document, withoutRequired)]
	}

	/** What an answer is that isn't described; nothing where all is. */
	problems(traffic: Traffic): string[] {
		const { method, target, status } = traffic
		const [, query = ''] = target.split('?', 2)
		const found = this.operationOf(traffic)
		const where = `${method} ${target.slice(0, 100)} ${status}`
		if (found === undefined) {
			const isUnsaid = status >= 300 || method === 'OPTIONS' || method === 'QUERY'
			return isUnsaid ? [] : [`${where}: no operation is described`]
		}
		const names = [...new URLSearchParams(query).keys()]
		return [
			...this.#answer(found, traffic, names.includes('fields')),
			...(status < 300 ? this.#request(found, traffic, names) : []),
		].map((problem) => `${where}: ${problem}`)
	}

	/** The operation that was asked for. */
	operationOf(traffic: Pick<Traffic, 'method' | 'target' | 'requestHeaders'>): Operation | undefined {
		return this.#operation(overridden(traffic), traffic.target.split('?', 1)[0] ?? '')
	}

	/** The operation that a path leads to, by its template. */
	#operation(method: string, path: string): Operation | undefined {
		const verb = (method === 'HEAD' ? 'GET' : method).toLowerCase()
		const segments = path.split('/').slice(1)
		if (segments.at(-1) === '' && segments.length > 1) segments.pop()
		const templates = Object.keys(this.document.paths).filter((one) =>
			fits(one.split('/').slice(1), segments),
		)
		// "When matching URLs, concrete (non-templated) paths would be matched before their templated counterparts."
		templates.sort((a, b) => a.split('{').length - b.split('{').length)
		for (const template of templates) {
			const operations = this.document.paths[template] ?? {}
			if (Object.hasOwn(operations, verb)) return operations[verb]
		}
		const shorter = path.slice(0, path.lastIndexOf('/'))
		const rest = shorter.includes('/') ? this.#operation(method, shorter) : undefined
		const last = rest?.parameters?.map((one) => this.resolved(one)).findLast((one) => one.in === 'path')
		return last?.description === REST ? rest : undefined
	}

	/** What a reference stands for. */
	resolved<T extends object>(value: T | Reference): T {
		if (!('$ref' in value)) return value
		const [kind = '', name = ''] = value.$ref.replace('#/components/', '').split('/')
		return this.document.components[kind]?.[name] as T // what is referred to is of the same kind
	}

	#answer({ responses }: Operation, traffic: Traffic, hasFields: boolean): string[] {
		const { status, type, body, method } = traffic
		const range = `${String(status)[0]}XX`
		const key = [String(status), range, status >= 400 ? 'default' : ''].find((one) => one in responses)
		if (key === undefined) return ['the status is not described']
		const { content } = this.resolved(responses[key] ?? { description: '' })
		if (method === 'HEAD' || status === 204 || status === 205) return []
		// What goes with a redirect is for whoever doesn't follow it.
		if (content === undefined)
			return body === '' || (status >= 300 && status < 400) ? [] : ['it has a body, and none is described']
		const media = content[type?.split(';')[0]?.trim() ?? '']
		if (media === undefined) return [`its type ${type} is not described`]
		if (media.schema === undefined || type?.startsWith('text/') === true) return []
		const value = parsed(body)
		if (value === undefined) return ['its body is no JSON']
		return this.#checks[hasFields ? 1 : 0](media.schema, value, true)
	}

	#request(operation: Operation, traffic: Traffic, names: readonly string[]): string[] {
		const { requestBody, requestHeaders } = traffic
		const parameters = (operation.parameters ?? []).map((one) => this.resolved(one))
		const queries = parameters.filter((one) => one.in === 'query')
		const known = new Set(queries.flatMap(namesOf))
		const unknown =
			queries.length === 0 ? [] : names.filter((name) => !USELESS.test(name) && !known.has(name))
		const problems = unknown.map((name) => `its parameter ${name} is not described`)
		const type = String(requestHeaders['content-type'] ?? '').split(';')[0] ?? ''
		const media = operation.requestBody && this.resolved(operation.requestBody).content[type]
		if (media?.schema === undefined || requestBody === '' || type !== 'application/json') return problems
		const value = parsed(requestBody)
		if (value === undefined) return [...problems, 'its body is no JSON, and was taken']
		return [...problems, ...this.#checks[0](media.schema, value, false).map((text) => `its body: ${text}`)]
	}
}

/** What is wrong with a value; where it is closed, also what isn't named. */
type Check = (schema: AnySchema, value: unknown, isClosed: boolean) => string[]

/** @param change of every schema */
function checkOf({ components }: Document, change: (schema: unknown) => unknown): Check {
	const own = ajv()
	const compiled = new Map<AnySchema, ValidateFunction>()
	own.addSchema({ $id: ID, $defs: change(prepared(components.schemas ?? {}, true)) as object })
	return (schema, value, isClosed) => {
		const validate = compiled.get(schema) ?? own.compile(change(prepared(schema, isClosed)) as AnySchema) // as it was
		compiled.set(schema, validate)
		if (validate(value)) return []
		return (validate.errors ?? []).map(
			({ instancePath, message = '', params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
		)
	}
}

function withoutRequired(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(withoutRequired)
	if (typeof value !== 'object' || value === null) return value
	const entries = Object.entries(value).filter(([key, one]) => key !== 'required' || !Array.isArray(one))
	return Object.fromEntries(entries.map(([key, one]) => [key, withoutRequired(one)]))
}

/** The value of JSON, with a byte order mark or without; `undefined` where it is none: whoever looks on must not throw. */
function parsed(text: string): unknown {
	try {
		return JSON.parse(text.replace(/^\ufeff/, ''))
	} catch {
		return undefined
	}
}

/** What a parameter is called in a URL: also by the properties of its object, where it has one. */
function namesOf({ name, style, schema }: Parameter): string[] {
	if (style !== 'deepObject') return [name]
	const { anyOf = [] } = schema as { anyOf?: readonly { properties?: object }[] } // as all are
	const properties = anyOf.flatMap((one) => Object.keys(one.properties ?? {}))
	return [name, ...properties.map((property) => `${name}[${property}]`)]
}

/** The method that is acted on. */
function overridden({ method, requestHeaders }: Pick<Traffic, 'method' | 'requestHeaders'>): string {
	const header = requestHeaders['x-http-method-override']
	return method === 'POST' && typeof header === 'string' ? header.trim().toUpperCase() : method
}

function fits(template: readonly string[], segments: readonly string[]): boolean {
	if (template.length !== segments.length) return false
	return template.every((part, at) => pattern(part).test(decoded(segments[at] ?? '')))
}

/** A placeholder may be a part of its segment. */
function pattern(part: string): RegExp {
	const texts = part.split(/\{[^{}]*\}/).map((text) => decoded(text).replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
	return new RegExp(`^${texts.join('[^]+')}$`)
}

function decoded(text: string): string {
	try {
		return decodeURIComponent(text)
	} catch {
		return text
	}
}

/**
 * A schema that refers to others where ajv finds them. A closed one lets through no properties but those that are
 * named: nothing hidden gets past that.
 */
function prepared(value: unknown, isClosed: boolean): unknown {
	if (Array.isArray(value)) return value.map((one) => prepared(one, isClosed))
	if (typeof value !== 'object' || value === null) return value
	const inner = Object.entries(value).map(([key, one]): [string, unknown] => [
		key,
		key === '$ref' ? String(one).replace('#/components/schemas/', `${ID}#/$defs/`) : prepared(one, isClosed),
	])
	const isOpen = isClosed && 'properties' in value && 'type' in value && !('additionalProperties' in value)
	return { ...Object.fromEntries(inner), ...(isOpen ? { additionalProperties: false } : {}) }
}
