/** The operation objects of a description, and their ids. Called by `document.ts`. */
import { pathOfMount } from '../routing/endpoints.ts'
import type { Mount } from '../routing/routing.ts'
import type { Components, Part } from './components.ts'
import type { Endpoint } from './endpoints.ts'
import { parametersOf } from './parameters.ts'
import { responsesOf } from './responses.ts'
import { securityOf } from './security.ts'

/** The facts about an operation that depend on the whole description. */
interface OperationContext {
	readonly id: string
	/** The path's param names. */
	readonly names: readonly string[]
	/** The header for request ids that every response has, if any. */
	readonly requestId: string | undefined
}

/** An operation object of OpenAPI. */
export interface Operation {
	readonly tags: readonly string[]
	readonly [name: string]: unknown
}

export function operationOf(
	components: Components,
	endpoint: Endpoint,
	{ id, names, requestId }: OperationContext,
): Operation {
	const { mount, action, docs } = endpoint
	const parameters = parametersOf(components, endpoint, names)
	const requestBody = bodyOf(components, endpoint)
	return {
		operationId: id,
		summary: summaryOf(endpoint),
		...(docs.description === undefined ? {} : { description: docs.description }),
		tags: docs.tags ?? [tagOf(mount)],
		...(mount.deprecation === undefined ? {} : { deprecated: true }),
		security: securityOf(components, mount.authenticator, action.access),
		...(parameters.length === 0 ? {} : { parameters }),
		...(requestBody === undefined ? {} : { requestBody }),
		responses: responsesOf(components, endpoint, requestId),
	}
}

/** The tag of a mount: handler and path, because a class may be mounted several times. */
export function tagOf(mount: Mount): string {
	return `${mount.name} ${pathOfMount(mount) || '/'}`
}

function bodyOf(components: Components, { method, action, shape }: Endpoint): Part | undefined {
	const { body } = shape
	const shared = (name: string, content: Part, isRequired = false) =>
		components.shared('requestBodies', name, { ...(isRequired ? { required: true } : {}), content })
	if (action.streaming !== undefined && (body === undefined || body === null))
		return shared('Stream', { '*/*': { schema: {} } })
	if (body === null) return undefined
	if (body !== undefined) {
		const schema = components.schema(body.schema)
		const content = Object.fromEntries(body.types.map((type) => [type, { schema }]))
		return shared(body.schema.title ?? 'Body', content, body.required)
	}
	// A method without a spec may have a body of any kind.
	const mayHave = method === 'POST' || method === 'PUT' || method === 'PATCH'
	return mayHave ? shared('AnyBody', { 'application/json': { schema: {} } }) : undefined
}

const NAMED = /^(get|post|put|patch|delete|query)_(.+)$/s

/** The summary, by default from the method's name: `get_blog_post` is "Get blog post", `listAll` is "List all". */
function summaryOf({ action, shape, mount }: Endpoint): string {
	if (shape.summary !== '') return shape.summary
	const [, method, resource] = NAMED.exec(action.name) ?? []
	const isDefault = method !== undefined && resource === '_default'
	const text = isDefault ? `${method} ${pathOfMount(mount) || '/'}` : wordsOf(action.name) || action.name
	return text.charAt(0).toUpperCase() + text.slice(1)
}

function wordsOf(name: string): string {
	return name
		.replace(/([a-z\d])([A-Z])/g, (_, before: string, letter: string) => `${before} ${letter.toLowerCase()}`)
		.replace(/[_-]+/g, ' ')
		.trim()
}

/** Makes unique operation ids, which stay the same as long as handler, path and method do. */
export class OperationIds {
	readonly #used = new Set<string>()
	/** The first endpoint of each action, which gets the plain name. */
	readonly #first = new Map<string, Endpoint>()

	/**
	 * `blog_api_get_article`, `blog_api_articles_list`. Further endpoints of an action have method and params added:
	 * `blog_api_articles_update_patch`, `greetings_get_greeting_by_name`.
	 */
	of(endpoint: Endpoint): string {
		const { mount, method, params, action } = endpoint
		const name = plain(`${pathOfMount(mount)}/${action.name}`)
		// Code generators turn ids into function names, which can't be empty or begin with a digit.
		const base = /^[A-Za-z]/.test(name) ? name : plain(`operation ${name}`)
		const first = this.#first.get(base)
		if (first === undefined) this.#first.set(base, endpoint)
		const more = first === undefined || first.method === method ? [] : [method.toLowerCase()]
		const by = first === undefined || first.path === endpoint.path ? [] : params.map(({ name }) => name)
		const id = [base, ...more, ...(by.length === 0 ? [] : ['by', ...by])].map(plain).join('_')
		let free = id
		for (let count = 2; this.#used.has(free); count++) free = `${id}_${count}`
		this.#used.add(free)
		return free
	}
}

/** Replaces all but letters and digits by `_`. */
function plain(text: string): string {
	return text.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_|_$/g, '')
}
