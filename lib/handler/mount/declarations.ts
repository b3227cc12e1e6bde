/** Checks a handler's declarations at mount: access, rate limits, specs, streaming, docs. For `compile.ts`. */
import type { Acl, Authenticator } from '../../auth/authenticator.ts'
import {
	entriesOf,
	flag,
	listOf,
	nearest,
	nested,
	numberIn,
	optional,
	or,
	type Readers,
	refusal,
	such,
	wholeNumber,
} from '../../base/options.ts'
import { inMilliseconds, type Seconds } from '../../base/time.ts'
import type { AccessRule, MethodDocs, StreamingLimits, StreamingOptions } from '../../exchange/action.ts'
import { type CompiledLimit, compileLimit } from '../../limits/rate-limit.ts'
import { planSpec } from '../../validate/compile.ts'
import type { Plan } from '../../validate/plan.ts'
import { hasJsonSchema, isStandardSchema } from '../../validate/standard-schema.ts'
import type { Spec, Validator } from '../../validate/validator.ts'

/** The fields of a `RestHandler` that are read here. */
export type Declaring = Readonly<Record<'access' | 'rateLimits' | 'specs' | 'streaming' | 'docs', object>>

/** The declarations, by method name. */
export interface Declared {
	/** @param of the name whose rule it has if it is not named itself */
	access(name: string, of?: string): AccessRule
	/** @param of the name whose limit it has if it has none of its own */
	limit(name: string, of?: string): CompiledLimit | undefined
	spec(name: string): Plan | undefined
	streaming(name: string): StreamingLimits | undefined
	docs(name: string): MethodDocs | undefined
}

/** What `access` and `specs` depend on. */
export interface Guards {
	readonly authenticator: Authenticator | undefined
	readonly acl: Acl | undefined
	readonly validator?: Validator | undefined
}

const ANYONE: AccessRule = { user: false, resources: [] }
const TEN_MINUTES: Seconds = 600

/**
 * Compiles the declarations of a handler whose routes have the given names.
 *
 * @param place the path that the handler is mounted at: each mount has its own rate limits
 * @param accessNames names that `access` may have besides those of routes
 * @throws TypeError for a key that names no route, a wrong value, and access that nobody could be granted
 */
export function declaredBy(
	owner: string,
	handler: Declaring,
	names: ReadonlySet<string>,
	guards: Guards,
	place: string,
	accessNames: readonly string[] = [],
): Declared {
	const orStar = new Set([...names, '*'])
	const accessible = new Set([...orStar, ...accessNames])
	const access = compiled(owner, 'access', handler.access, accessible, (where, value) =>
		accessRule(where, value, guards),
	)
	const rates = compiled(owner, 'rateLimits', handler.rateLimits, orStar, (where, value, name) =>
		compileLimit(where, name, value, place),
	)
	const specs = compiled(owner, 'specs', handler.specs, names, (where, value) =>
		spec(where, value, guards.validator),
	)
	const streaming = Array.isArray(handler.streaming)
		? Object.fromEntries(handler.streaming.map((name) => [String(name), {}]))
		: handler.streaming
	const limits = compiled(owner, 'streaming', streaming, names, streamingLimits)
	const [streamed] = limits.keys()
	// The method would run before its body is compared with the signature.
	if (streamed !== undefined && guards.authenticator?.comparesBody === true)
		throw new TypeError(
			`${owner}.streaming names ${streamed}, and the declared authenticator verifies bodies before a method runs: take ${streamed} out of streaming, or mount it in a handler of its own whose methods call this.requireAuth()`,
		)
	const docs = compiled(owner, 'docs', handler.docs, names, methodDocs)
	return {
		access: (name, of = name) => access.get(name) ?? access.get(of) ?? access.get('*') ?? ANYONE,
		limit: (name, of = name) => rates.get(name) ?? rates.get(of) ?? rates.get('*'),
		spec: (name) => specs.get(name),
		streaming: (name) => limits.get(name),
		docs: (name) => docs.get(name),
	}
}

function compiled<T>(
	owner: string,
	field: string,
	declared: unknown,
	names: ReadonlySet<string>,
	read: (where: string, value: unknown, name: string) => T,
): Map<string, T> {
	const values = new Map<string, T>()
	for (const [name, value] of entriesOf(`${owner}.${field}`, declared, '{ method: … }, by method name')) {
		const where = `${owner}.${field}[${JSON.stringify(name)}]`
		if (!names.has(name)) throw new TypeError(`${where} names no route${nearest(name, names)}`)
		values.set(name, read(where, value, name))
	}
	return values
}

/** @throws TypeError for a wrong value, and for access that nobody could be granted */
export function accessRule(where: string, value: unknown, guards: Partial<Guards>): AccessRule {
	if (value === 'anyone') return ANYONE
	const resources = resourcesOf(value)
	if (resources === undefined) {
		throw new TypeError(
			`${where} must be 'anyone', 'user', or an array of at least one resource name: ['article:write']`,
		)
	}
	if (guards.authenticator === undefined) {
		throw new TypeError(
			`${where} needs an authenticator, on the handler or on the server: nobody could authenticate`,
		)
	}
	if (resources.length > 0 && guards.acl === undefined) {
		throw new TypeError(`${where} names resources, which need an acl, on the handler or on the server`)
	}
	return { user: true, resources }
}

function resourcesOf(value: unknown): readonly string[] | undefined {
	if (value === 'user') return []
	if (!Array.isArray(value) || value.length === 0) return undefined
	return value.every((one) => typeof one === 'string' && one !== '') ? [...value] : undefined
}

function spec(where: string, value: unknown, validator: Validator | undefined): Plan {
	try {
		return planSpec(value as Spec, validator) // planSpec checks it
	} catch (error) {
		throw new TypeError(`${where}: ${error instanceof Error ? error.message : 'is not a valid spec'}`, {
			cause: error,
		})
	}
}

const readStreaming = nested('{ maxBody, handlerTimeoutSeconds }', {
	maxBody: or(numberIn({ above: 0, orInfinity: true }), Number.POSITIVE_INFINITY),
	handlerTimeoutSeconds: or(numberIn({ from: 0.001, orInfinity: true }), TEN_MINUTES),
} satisfies Readers<StreamingOptions>)

function streamingLimits(where: string, value: unknown): StreamingLimits {
	const { maxBody, handlerTimeoutSeconds } = readStreaming(where, value)
	return { maxBody, handlerTimeout: inMilliseconds(handlerTimeoutSeconds) }
}

const MEDIA_TYPE = /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+$/
const nonEmptyText = such<string>('a non-empty string', (value) => typeof value === 'string' && value !== '')
const readDocs = nested("{ summary: 'One article', answer: … }", {
	summary: optional(nonEmptyText),
	description: optional(nonEmptyText),
	tags: optional(listOf("an array of at least one text: ['articles']", nonEmptyText)),
	hidden: optional(flag),
	answer: optional(answerIn),
	status: optional(wholeNumber({ from: 200, to: 399 })),
} satisfies Readers<MethodDocs>)

function methodDocs(where: string, value: unknown): MethodDocs {
	readDocs(where, value)
	return { ...(value as MethodDocs) } // checked by readDocs
}

function answerIn(where: string, answer: unknown): void {
	if (typeof answer === 'string' && MEDIA_TYPE.test(answer)) return
	if (!isStandardSchema(answer))
		throw refusal(where, "a Standard Schema, or a media type: 'image/png'", answer)
	if (!hasJsonSchema(answer))
		throw new TypeError(
			`${where}: ${answer['~standard'].vendor} has no JSON Schema for it (zod has, from 4.2 on, and arktype)`,
		)
}
