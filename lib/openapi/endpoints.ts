/**
 * The endpoints of a mounted handler, each a method and a path with what it takes and answers; and `Steps`, for describing
 * hundreds of them. Read by the OpenAPI description and by the explorer, and made when the first of them asks.
 */
import { attached } from '../base/attached.ts'
import { type RouteMethod, takesBody } from '../base/http.ts'
import { type Milliseconds, steadyClock } from '../base/time.ts'
import type { Action, MethodDocs } from '../exchange/action.ts'
import type { EndpointParam, MountedEndpoint } from '../routing/endpoints.ts'
import type { Mount } from '../routing/routing.ts'
import { schemaOfForeign } from '../validate/schema/foreign-schema.ts'
import type { JsonSchema } from '../validate/schema/json-schema.ts'
import { bodySchema, querySchemas } from '../validate/schema/plan-schema.ts'
import type { AnswerShape, ParameterShape, Shape } from '../validate/schema/shape.ts'

export interface Endpoint {
	readonly mount: Mount
	readonly method: RouteMethod
	/** From the server's root, percent-encoded: `/blog/api/article/{id}`. */
	readonly path: string
	readonly params: readonly ParameterShape[]
	/** What leads there: a custom `route`, the name of a method, or an action that was brought along. */
	readonly by: MountedEndpoint['by']
	/** Its name, access, limit and the like. */
	readonly action: Action
	/** What it takes and answers, and what is told of that in its `docs`. */
	readonly shape: Shape
	/** What was declared of it for people; `{}` where nothing was. */
	readonly docs: MethodDocs
}

/** Where a mount is: `/blog/api`; nothing for the root. */
export function pathOfMount({ path }: Mount): string {
	return path.map((segment) => `/${encodeURIComponent(segment)}`).join('')
}

/** The endpoints of a mount, in its order. */
export function endpointsOf(mount: Mount): readonly Endpoint[] {
	return attached(mount, ENDPOINTS, () => mount.endpoints.map((mounted) => endpointOf(mount, mounted)))
}

const ENDPOINTS: unique symbol = Symbol('verbena.endpoints')

function endpointOf(mount: Mount, mounted: MountedEndpoint): Endpoint {
	const { method, path, by, action } = mounted
	const docs = action.docs ?? {}
	const shape = toldShape(mounted.shape?.() ?? methodShape(action, method), docs)
	const params = mounted.params.map((param, at) => ({
		name: param.name,
		schema: shape.params[at] ?? paramSchema(param),
		required: true,
		...(param.kind === 'rest' ? { description: 'The first of any number of segments' } : {}),
	}))
	return { mount, method, path: pathOfMount(mount) + path || '/', params, by, action, shape, docs }
}

/** Declared docs win over what was inferred. */
function toldShape(shape: Shape, { summary = shape.summary, answer, status }: MethodDocs): Shape {
	if (answer === undefined && status === undefined) return { ...shape, summary }
	return { ...shape, summary, answer: { ...shape.answer, ...answerOf(shape.answer, answer, status) } }
}

function answerOf(
	known: AnswerShape,
	answer: MethodDocs['answer'],
	status = known.status,
): Pick<AnswerShape, 'schema' | 'status' | 'type' | 'isOpen' | 'isPage'> {
	const told = { status, isOpen: false, isPage: false }
	if (answer === undefined) return { ...told, schema: known.schema, isPage: known.isPage }
	if (typeof answer === 'string') return { ...told, schema: {}, type: answer }
	const schema = schemaOfForeign(answer)
	// An answer declared as a non-array is not a page.
	return { ...told, schema, isPage: known.isPage && schema.type === 'array' }
}

function paramSchema({ kind }: EndpointParam): JsonSchema {
	return kind === 'number' ? { type: 'integer' } : { type: 'string' }
}

/** A method's spec is all that is known: the type of its answer is gone at run time. */
function methodShape({ spec }: Action, method: RouteMethod): Shape {
	const plan = spec?.plan
	return {
		summary: '',
		params: [],
		query: plan === undefined || takesBody(method) ? [] : querySchemas(plan),
		body: plan === undefined || !takesBody(method) ? undefined : bodySchema(plan),
		answer: { status: 200, schema: {}, isPage: false, headers: [], isOpen: true },
		headers: [],
		refusals: plan === undefined ? [] : [422],
	}
}

/** Longest time between two pauses. */
const TURN: Milliseconds = 5

/** Work in steps, between which other requests are answered: hundreds of tables take seconds to describe. */
export class Steps {
	#until = steadyClock() + TURN

	/** The results of all steps, one step per value. */
	async flatMap<From, To>(values: Iterable<From>, work: (value: From) => readonly To[]): Promise<To[]> {
		const all: To[] = []
		for (const value of values) {
			for (const one of work(value)) all.push(one)
			await this.pause()
		}
		return all
	}

	/** Called after each step: yields to other work once it has waited long enough. */
	async pause(): Promise<void> {
		if (steadyClock() < this.#until) return
		await new Promise(setImmediate)
		this.#until = steadyClock() + TURN
	}
}
