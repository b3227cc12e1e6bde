/**
 * `pipeline/` turns one request into a reply. `transport/serving.ts` calls `answer`, which finds the action by URL and
 * method in `routing/`, then runs those of `STEPS` that the action needs. The last of them, `runMethod`, runs `METHOD_STEPS`,
 * which end with `seal` of `reply/`: it makes the reply. After a step that returns a plain value, the next one runs
 * synchronously; only promises are awaited. The numbers are those of docs/request-path.md.
 */
import { NOT_FOUND, RestError } from '../base/error.ts'
import {
	allowHeader,
	isMethod,
	METHOD_OVERRIDE,
	type Method,
	ROUTE_METHODS,
	takesBody,
} from '../base/http.ts'
import { isThenable } from '../base/thenable.ts'
import type { Exchange, Routed } from '../exchange/exchange.ts'
import { sealError } from '../reply/error-reply.ts'
import type { Reply } from '../reply/headers.ts'
import { seal, sealOptions } from '../reply/reply.ts'
import { disposeBody } from '../reply/unsent.ts'
import { parseTarget } from '../request/url.ts'
import {
	findAction,
	type Mounted,
	type MountTree,
	methodsOf,
	notFound,
	overrideMethod,
} from '../routing/routing.ts'
import { answerPreflight, isPreflight } from './cors-preflight.ts'
import { checkCredentials, needsCredentials } from './credentials.ts'
import { awaitChecks, runAfter, runBefore } from './hooks.ts'
import { answerOnce, readIdempotencyKey, takesKey } from './idempotency.ts'
import { answerError } from './on-error.ts'
import { readBody } from './read-body.ts'

/** Answers one request; returns a promise only when a step waits. Never throws or rejects. */
export function answer(exchange: Exchange, mounts: MountTree): Reply | Promise<Reply> {
	try {
		const { incoming } = exchange
		const method = checkMethod(incoming.method)
		exchange.method = method
		if (incoming.url === '*' && method === 'OPTIONS') return sealOptions(exchange, ROUTE_METHODS)
		const target = parseTarget(incoming.url ?? '') //                                1 request/url.ts
		const { segments } = target
		exchange.queryText = target.query
		exchange.authority = target.authority
		const mounted = mounts.find(segments) //                                         2 routing/routing.ts
		if (method === 'OPTIONS' && isPreflight(exchange)) return answerPreflight(exchange, mounted, segments)
		if (mounted === undefined) throw notFound(mounts, mounted, segments)
		const { mount } = mounted
		exchange.mount = mount
		if (mount.init !== undefined) return answerAfterInit(exchange, mounts, mount.init)
		exchange.method = overrideMethod(method, incoming.headers[METHOD_OVERRIDE]) //   3 routing/
		const action = findAction(exchange, mount, exchange.method, segments, mounted.depth) // 4, 5 routing/
		if (action === undefined) return answerNoAction(exchange, mounts, mounted, segments) // 6
		exchange.action = action
		const routed = exchange as Routed // mount and action have just been set
		return runSteps(routed, stepsOf(routed), 0, undefined)
	} catch (error) {
		return answerError(exchange, error)
	}
}

/**
 * A step takes the previous step's value, and returns the value for the next step, or a promise of it. Before the method,
 * the value is undefined or the early reply of `before`; after it, what the method returned; at the end, the Reply.
 */
type Step = (exchange: Routed, value: unknown) => unknown

/** Each step, and which requests need it: decided by what is known at mount. */
const STEPS: readonly (readonly [Step, (exchange: Routed) => boolean])[] = [
	[checkCredentials, needsCredentials], //               7 credentials.ts, enforce-limits.ts
	[runBefore, ({ mount }) => mount.hooks !== undefined], // hooks.ts
	[readIdempotencyKey, takesKey], //                       idempotency.ts
	[readBody, ({ method }) => takesBody(method)], //      8 read-body.ts
	[runMethod, () => true],
]

/** The steps of a request. They depend only on its method and action, so they are stored on the action. */
function stepsOf(exchange: Routed): readonly Step[] {
	const { action, method } = exchange
	action.steps[method] ??= STEPS.flatMap(([step, isNeeded]) => (isNeeded(exchange) ? [step] : []))
	return action.steps[method] as readonly Step[]
}

/** The method and what follows: run once per Idempotency-Key. */
const METHOD_STEPS: readonly Step[] = [
	callMethod, //         9
	awaitChecks, //          hooks.ts
	runAfter, //             hooks.ts
	seal, //              10 reply/
]
/** The index in `METHOD_STEPS` of the first step after the method, where a request begins if `before` has answered it. */
const AFTER_METHOD = 1

/** Runs the steps from index `from`. An error that a step throws becomes the answer. */
function runSteps(
	exchange: Routed,
	steps: readonly Step[],
	from: number,
	input: unknown,
): Reply | Promise<Reply> {
	let value = input
	try {
		for (let at = from; at < steps.length; at++) {
			value = (steps[at] as Step)(exchange, value)
			if (isThenable(value)) return resumeSteps(exchange, steps, at + 1, value)
		}
	} catch (error) {
		return answerError(exchange, error)
	}
	return value as Reply // the last step's value
}

/** Runs the steps from index `from` when the promise has settled. */
function resumeSteps(
	exchange: Routed,
	steps: readonly Step[],
	from: number,
	promise: PromiseLike<unknown>,
): Promise<Reply> {
	// If the step is reading the body, it has set its own deadline.
	if (exchange.due === Number.POSITIVE_INFINITY) exchange.setHandlerDeadline()
	const awaited = promise instanceof Promise ? promise : Promise.resolve(promise)
	return awaited.then(
		(value: unknown) => runSteps(exchange, steps, from, value),
		(error: unknown) => answerError(exchange, error),
	)
}

/** Waits for the handler's `init`, then calls `answer` again. If `init` fails, so does every request to the handler. */
async function answerAfterInit(exchange: Exchange, mounts: MountTree, init: Promise<void>): Promise<Reply> {
	try {
		exchange.setDeadline(exchange.app.handlerTimeout, 'unavailable')
		await init
	} catch (error) {
		return sealError(exchange, error)
	}
	// The request has timed out and has been answered: this reply isn't sent.
	if (exchange.isReplied) return sealError(exchange, NOT_FOUND)
	// Cleared: the next steps set their own deadlines.
	exchange.due = Number.POSITIVE_INFINITY
	return answer(exchange, mounts)
}

/** Runs `METHOD_STEPS`, without the method if `before` has answered instead. */
function runMethod(exchange: Routed, early: unknown): Reply | Promise<Reply> {
	// The request has timed out and has been answered: the method must not run, and this reply isn't sent.
	if (exchange.isReplied) {
		disposeBody(early)
		return sealError(exchange, NOT_FOUND)
	}
	if (early !== undefined) return runSteps(exchange, METHOD_STEPS, AFTER_METHOD, early)
	const { idempotencyKey } = exchange
	if (idempotencyKey === undefined) return runSteps(exchange, METHOD_STEPS, 0, undefined)
	exchange.setHandlerDeadline()
	return answerOnce(exchange, idempotencyKey, async () => runSteps(exchange, METHOD_STEPS, 0, undefined))
}

/** Calls the method on the request's view. Most methods take one param, which is passed without copying the list. */
function callMethod(exchange: Routed): unknown {
	exchange.watch?.step('handler')
	// Clears the deadline of the previous steps.
	exchange.due = Number.POSITIVE_INFINITY
	const { action, mount, params } = exchange
	const view = mount.view(exchange)
	if (params.length === 1) return action.run.call(view, params[0])
	return params.length === 0 ? action.run.call(view) : action.run.apply(view, [...params])
}

/** @throws RestError 501, not 405, for an unknown method (RFC 9110 §9.1); names are case-sensitive */
function checkMethod(name: string | undefined): Method {
	if (name !== undefined && isMethod(name)) return name
	throw new RestError(
		'not_implemented',
		'This method is not served: use GET, POST, PUT, PATCH, DELETE or QUERY',
	)
}

/**
 * Answers when no action matches: OPTIONS and 405 list the path's methods in `Allow`; a path without methods is 404.
 */
function answerNoAction(
	exchange: Exchange,
	mounts: MountTree,
	mounted: Mounted,
	segments: readonly string[],
): Reply {
	const methods = methodsOf(mounted.mount, segments, mounted.depth)
	if (methods.length === 0) throw notFound(mounts, mounted, segments)
	if (exchange.method === 'OPTIONS') {
		const patch = mounted.mount.table.findDefault('PATCH', segments, mounted.depth)
		return sealOptions(exchange, methods, methods.includes('PATCH') ? patch?.acceptPatch : undefined)
	}
	throw new RestError('method_not_allowed', undefined, { headers: { Allow: allowHeader(methods) } })
}
