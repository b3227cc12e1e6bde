/**
 * The operation objects of a description, with their ids and their security, which is read from the authenticator's challenge
 * (RFC 9110 §11.6.1). Called by `document.ts`.
 */
import type { Authenticator } from '../auth/authenticator.ts'
import type { AccessRule } from '../exchange/action.ts'
import { pathOfMount } from '../routing/endpoints.ts'
import type { Mount } from '../routing/routing.ts'
import { FORM_BODY } from '../validate/schema/plan-schema.ts'
import type { Components, Part } from './components.ts'
import type { Endpoint } from './endpoints.ts'
import { parametersOf } from './parameters.ts'
import { responsesOf } from './responses.ts'

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
		const { schema, form = schema } = body
		const content = Object.fromEntries(
			body.types.map((type) => [type, { schema: components.schema(type === FORM_BODY ? form : schema) }]),
		)
		return shared(schema.title ?? 'Body', content, body.required)
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

/** One challenge of a WWW-Authenticate field. */
interface Challenge {
	/** In lower case, because schemes are case-insensitive. */
	readonly scheme: string
	readonly params: ReadonlyMap<string, string>
}

/**
 * The security requirements of an operation, of which one must be met; empty without an authenticator. `{}` is one of
 * them if credentials are optional.
 */
export function securityOf(
	components: Components,
	authenticator: Authenticator | undefined,
	{ user, resources }: AccessRule,
): Part[] {
	if (authenticator === undefined) return []
	const challenge = fieldOf(authenticator.challenge, 'www-authenticate') ?? 'Bearer'
	const named = challengesOf(challenge).filter((one) => nameOf(one) !== '')
	// An empty list would say that no credentials are needed.
	const challenges = named.length === 0 ? challengesOf('Bearer') : named
	const names = challenges.map((one) =>
		components.named('securitySchemes', nameOf(one), schemeOf(one, authenticator)),
	)
	// "For other security scheme types, the array MAY contain a list of role names" (OpenAPI 3.1, §4.8.30).
	const requirements = [...new Set(names)].map((name) => ({ [name]: resources }))
	return user ? requirements : [{}, ...requirements]
}

function fieldOf(headers: Authenticator['challenge'], name: string): string | undefined {
	return Object.entries(headers ?? {}).find(([field]) => field.toLowerCase() === name)?.[1]
}

/** Parses challenges: a scheme, then parameters `name=value`, or a `token68`, which is ignored. */
function challengesOf(field: string): Challenge[] {
	const challenges: { scheme: string; params: Map<string, string> }[] = []
	const parts = /([!#$%&'*+.^`|~\w-]+)(?:[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|[^\s,"]*))?/g
	for (const [, name = '', value] of field.matchAll(parts)) {
		if (value === undefined) challenges.push({ scheme: name.toLowerCase(), params: new Map() })
		else
			challenges.at(-1)?.params.set(name.toLowerCase(), value.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1'))
	}
	return challenges
}

function nameOf({ scheme }: Challenge): string {
	if (scheme === 'apikey') return 'ApiKey'
	const plain = scheme.replace(/[^\w.-]/g, '')
	return plain.charAt(0).toUpperCase() + plain.slice(1)
}

function schemeOf({ scheme, params }: Challenge, authenticator: Authenticator): Part {
	const header = params.get('header')
	if (scheme === 'apikey' && header !== undefined) return { type: 'apiKey', in: 'header', name: header }
	const cookie = params.get('cookie')
	if (cookie !== undefined) return { type: 'apiKey', in: 'cookie', name: cookie }
	if (scheme !== 'signature') return { type: 'http', scheme }
	const wanted = fieldOf(authenticator.challenge, 'accept-signature')
	const what = wanted === undefined ? '' : ` What to sign: \`${wanted}\``
	return {
		// OpenAPI has no type for signatures, which are in two headers and differ by request.
		...{ type: 'apiKey', in: 'header', name: 'Signature' },
		description: `An HTTP Message Signature (RFC 9421), with Signature-Input beside it.${what}`,
	}
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
