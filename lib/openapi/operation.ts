/** One operation of a description: what a method and a path take and answer. */

import type { Mount } from '../routing/mount.ts'
import type { Components, Part } from './components.ts'
import { type Endpoint, pathOfMount } from './endpoints.ts'
import { parametersOf } from './parameters.ts'
import { responsesOf } from './responses.ts'
import { securityOf } from './security.ts'

/** What is settled for the description as a whole. */
export interface OperationPlace {
	readonly id: string
	/** Names of the path's params, in their order. */
	readonly names: readonly string[]
	/** The header that every answer has, where there is one. */
	readonly requestId: string | undefined
}

/** An operation as it is written. */
export interface Operation {
	readonly tags: readonly string[]
	readonly [name: string]: unknown
}

export function operationOf(
	components: Components,
	endpoint: Endpoint,
	{ id, names, requestId }: OperationPlace,
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

/** The handler and where it is: one class may be mounted many times. */
export function tagOf(mount: Mount): string {
	return `${mount.name} ${pathOfMount(mount) || '/'}`
}

function bodyOf(components: Components, { method, action, shape }: Endpoint): Part | undefined {
	const { body } = shape
	const shared = (name: string, content: Part, isRequired = false) =>
		components.shared('requestBodies', name, { ...(isRequired ? { required: true } : {}), content })
	if (action.streaming !== undefined) return shared('Stream', { '*/*': { schema: {} } })
	if (body !== undefined) {
		const schema = components.schema(body.schema)
		const content = Object.fromEntries(body.types.map((type) => [type, { schema }]))
		return shared(body.schema.title ?? 'Body', content, body.required)
	}
	// Of a method without a spec nothing is known, but that it may have a body.
	const mayHave = method === 'POST' || method === 'PUT' || method === 'PATCH'
	return mayHave ? shared('AnyBody', { 'application/json': { schema: {} } }) : undefined
}

const NAMED = /^(get|post|put|patch|delete|query)_(.+)$/s

/** Of a method its name is all that is known: `get_blog_post` is "Get blog post", `listAll` is "List all". */
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
