/**
 * The endpoints of a mounted handler, each a method and a path with its parameters, body and answer; and `Steps`, for
 * describing hundreds of them. Used by the OpenAPI description and by the explorer; made on first use.
 */
import { attached } from '../base/attached.ts'
import { type RouteMethod, takesBody } from '../base/http.ts'
import { type Milliseconds, steadyClock } from '../base/time.ts'
import type { Action, MethodDocs } from '../exchange/action.ts'
import { type MountedEndpoint, pathOfMount } from '../routing/endpoints.ts'
import type { Mount } from '../routing/routing.ts'
import { schemaOfForeign } from '../validate/schema/foreign-schema.ts'
import { bodySchema, querySchemas } from '../validate/schema/plan-schema.ts'
import type { AnswerShape, ParameterShape, Shape } from '../validate/schema/shape.ts'

export interface Endpoint {
	readonly mount: Mount
	readonly method: RouteMethod
	/** From the server's root, percent-encoded: `/blog/api/article/{id}`. */
	readonly path: string
	readonly params: readonly ParameterShape[]
	/** How requests are routed to it: by a custom `route`, by the method's name, or by an operation such as CRUD's. */
	readonly by: MountedEndpoint['by']
	readonly action: Action
	/** Its parameters, body and answer, including those declared in `docs`. */
	readonly shape: Shape
	/** The declared documentation, else `{}`. */
	readonly docs: MethodDocs
}

export function endpointsOf(mount: Mount): readonly Endpoint[] {
	return attached(mount, ENDPOINTS, () => mount.endpoints.map((mounted) => endpointOf(mount, mounted)))
}

const ENDPOINTS: unique symbol = Symbol('verbena.endpoints')

function endpointOf(mount: Mount, mounted: MountedEndpoint): Endpoint {
	const { method, path, by, action } = mounted
	const docs = action.docs ?? {}
	const shape = withDocs(mounted.shape?.() ?? methodShape(action, method), docs)
	const params = mounted.params.map((param, at) => ({
		name: param.name,
		schema: shape.params[at] ?? { type: param.kind === 'number' ? 'integer' : 'string' },
		required: true,
		...(param.kind === 'rest' ? { description: 'The first of any number of segments' } : {}),
	}))
	return { mount, method, path: pathOfMount(mount) + path || '/', params, by, action, shape, docs }
}

/** Declared docs override what was inferred. */
function withDocs(shape: Shape, { summary = shape.summary, answer, status }: MethodDocs): Shape {
	if (answer === undefined && status === undefined) return { ...shape, summary }
	const { otherStatus: _other, ...own } = shape.answer
	const inferred = { ...own, status: status ?? own.status, isOpen: false }
	return { ...shape, summary, answer: answer === undefined ? inferred : declaredAnswer(inferred, answer) }
}

function declaredAnswer(inferred: AnswerShape, answer: NonNullable<MethodDocs['answer']>): AnswerShape {
	if (typeof answer === 'string') return { ...inferred, schema: {}, type: answer, isPage: false }
	const schema = schemaOfForeign(answer)
	// An answer declared as a non-array is not a page.
	return { ...inferred, schema, isPage: inferred.isPage && schema.type === 'array' }
}

/** The shape of a method without docs: its spec only, because the type of its answer is unknown at run time. */
function methodShape({ spec }: Action, method: RouteMethod): Shape {
	return {
		summary: '',
		params: [],
		query: spec === undefined || takesBody(method) ? [] : querySchemas(spec),
		body: spec === undefined || !takesBody(method) ? undefined : bodySchema(spec),
		answer: { status: 200, schema: {}, isPage: false, headers: [], isOpen: true },
		headers: [],
		refusals: spec === undefined ? [] : [422],
	}
}

/** The time after which a step yields. */
const TIME_SLICE: Milliseconds = 5

/** Splits long work into steps, between which other requests are served: describing hundreds of tables takes seconds. */
export class Steps {
	#until = steadyClock() + TIME_SLICE

	/** Like `Array.flatMap`, with one step per value. */
	async flatMap<From, To>(values: Iterable<From>, work: (value: From) => readonly To[]): Promise<To[]> {
		const all: To[] = []
		for (const value of values) {
			for (const one of work(value)) all.push(one)
			await this.pause()
		}
		return all
	}

	/** Called after each step: yields to the event loop at the end of a time slice. */
	async pause(): Promise<void> {
		if (steadyClock() < this.#until) return
		await new Promise(setImmediate)
		this.#until = steadyClock() + TIME_SLICE
	}
}
