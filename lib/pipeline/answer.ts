/**
 * The path of a request. The lines of `answer` are the table of contents of `lib/`: each step is a file,
 * and a request passes them in no other order.
 */

import { isRestError, NOT_FOUND, RestError } from '../base/error.ts'
import { allowHeader, isMethod, type Method, ROUTE_METHODS } from '../base/http.ts'
import { isThenable } from '../base/thenable.ts'
import type { Action } from '../exchange/action.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { sealError } from '../reply/error-reply.ts'
import { seal, sealOptions } from '../reply/reply.ts'
import type { Reply } from '../reply/text.ts'
import { guard, letGo } from '../reply/unsent.ts'
import { parseTarget } from '../request/url.ts'
import { findAction, methodsOf } from '../routing/find-action.ts'
import type { Mount, Mounted, MountTree } from '../routing/mount.ts'
import { notFound } from '../routing/not-found.ts'
import { overrideMethod } from '../routing/override.ts'
import { checkCredentials } from './credentials.ts'
import { runBefore, type Stead, sealAfter } from './hooks.ts'
import { readIdempotencyKey } from './idempotency/head.ts'
import { answerOnce } from './idempotency/idempotency.ts'
import { allowMethod, allowRest } from './method-time.ts'
import { sealFailure } from './on-error.ts'
import { answerPreflight, isPreflight } from './preflight.ts'
import { readBody } from './read-body.ts'

/**
 * Answers one request. Nothing is waited for unless it must be: the answer is a promise only where
 * credentials are asked about, a rate limit is counted, a body is read, an Idempotency-Key is looked up, or the
 * method is asynchronous.
 */
export function answer(exchange: Exchange, mounts: MountTree): Reply | Promise<Reply> {
	let mount: Mount | undefined
	try {
		const { incoming } = exchange
		const sent = knownMethod(incoming.method)
		exchange.method = sent
		if (incoming.url === '*' && sent === 'OPTIONS') return sealOptions(exchange, ROUTE_METHODS)
		const target = parseTarget(incoming.url ?? '') //                            1 url.ts
		exchange.queryText = target.query
		exchange.authority = target.authority
		const mounted = mounts.find(target.segments) //                          2 mount/mount.ts
		if (isPreflight(exchange)) return answerPreflight(exchange, mounted, target.segments) // preflight.ts
		if (mounted === undefined) return sealError(exchange, notFound(mounts, mounted, target.segments))
		mount = mounted.mount
		exchange.mount = mount
		if (mount.setUp !== undefined) return answerSetUp(exchange, mounts, mount.setUp)
		const method = overrideMethod(sent, incoming.headers[OVERRIDE]) //           3 override.ts
		exchange.method = method
		const { segments } = target
		const action = findAction(exchange, mount, method, segments, mounted.depth) //       4, 5 find-action.ts
		if (action === undefined) return answerOtherwise(exchange, mounts, mounted, segments) // 6
		exchange.action = action
		const checking = checkCredentials(exchange, mount, action) //                7 credentials.ts
		if (checking !== undefined) return answerChecked(exchange, mount, action, checking)
		if (mount.hooks !== undefined) return answerHooked(exchange, mount, action) // before: hooks.ts
		readIdempotencyKey(exchange, mount, action) //                               idempotency-head.ts
		const reading = readBody(exchange, action) //                                8 body.ts
		if (reading !== undefined) return answerRead(exchange, mount, action, reading)
		return answerMethod(exchange, mount, action) //                              9 the method, 10 reply.ts
	} catch (error) {
		return fail(exchange, mount, error)
	}
}

const OVERRIDE = 'x-http-method-override'

/** Waits for the handler's `init`, and begins anew. Of a handler that could not be set up, nothing is answered. */
async function answerSetUp(exchange: Exchange, mounts: MountTree, setUp: Promise<void>): Promise<Reply> {
	try {
		exchange.allow(exchange.app.handlerTimeout, 'unavailable')
		await setUp
	} catch (error) {
		return sealError(exchange, error)
	}
	return answer(exchange, mounts)
}

/** Goes on from step 8 once the credentials are known. */
async function answerChecked(
	exchange: Exchange,
	mount: Mount,
	action: Action,
	checking: Promise<void>,
): Promise<Reply> {
	try {
		allowMethod(exchange)
		await checking
		if (mount.hooks !== undefined) return await answerHooked(exchange, mount, action)
		readIdempotencyKey(exchange, mount, action)
		const reading = exchange.replied ? undefined : readBody(exchange, action)
		if (reading !== undefined) return await answerRead(exchange, mount, action, reading)
	} catch (error) {
		return fail(exchange, mount, error)
	}
	return answerMethod(exchange, mount, action)
}

/** Goes on from step 8 where there are hooks: the body is read behind `before`. */
function answerHooked(exchange: Exchange, mount: Mount, action: Action): Reply | Promise<Reply> {
	const goOn = (stead: Stead): Reply | Promise<Reply> => {
		if (stead !== undefined) return finish(exchange, mount, stead)
		readIdempotencyKey(exchange, mount, action)
		const reading = exchange.replied ? undefined : readBody(exchange, action)
		return reading === undefined
			? answerMethod(exchange, mount, action)
			: answerRead(exchange, mount, action, reading)
	}
	try {
		const stead = runBefore(exchange, mount)
		if (!(stead instanceof Promise)) return goOn(stead)
		allowMethod(exchange)
		return stead.then(goOn).catch((error: unknown) => fail(exchange, mount, error))
	} catch (error) {
		return fail(exchange, mount, error)
	}
}

/** Goes on from step 9 once the body is read. */
function answerRead(
	exchange: Exchange,
	mount: Mount,
	action: Action,
	reading: Promise<void>,
): Promise<Reply> {
	exchange.watch?.step('body')
	return reading.then(
		() => answerMethod(exchange, mount, action),
		(error: unknown) => fail(exchange, mount, error),
	)
}

/** Steps 9 and 10; once for each Idempotency-Key. */
function answerMethod(exchange: Exchange, mount: Mount, action: Action): Reply | Promise<Reply> {
	// It was answered that this took too long: what the method would do now would be done behind that.
	if (exchange.replied) return sealError(exchange, NOT_FOUND)
	const { idempotencyKey } = exchange
	if (idempotencyKey === undefined) return runMethod(exchange, mount, action)
	allowMethod(exchange)
	const reply = answerOnce(exchange, idempotencyKey, async () => runMethod(exchange, mount, action))
	return reply.catch((error: unknown) => fail(exchange, mount, error))
}

function runMethod(exchange: Exchange, mount: Mount, action: Action): Reply | Promise<Reply> {
	exchange.watch?.step('handler')
	// What came before the method had a time of its own.
	exchange.due = Number.POSITIVE_INFINITY
	try {
		const value = callMethod(exchange, mount, action)
		return isThenable(value) ? answerWhenDone(exchange, mount, value) : finish(exchange, mount, value)
	} catch (error) {
		return fail(exchange, mount, error)
	}
}

/** Steps 9 and 10 of a method that is asynchronous. Its own time runs from here. */
async function answerWhenDone(
	exchange: Exchange,
	mount: Mount,
	promise: PromiseLike<unknown>,
): Promise<Reply> {
	try {
		allowMethod(exchange)
		const value = await promise
		const reply = finish(exchange, mount, value)
		return reply instanceof Promise ? await reply : reply
	} catch (error) {
		return fail(exchange, mount, error)
	}
}

/** The method has returned: whatever checks it has begun must hold before its value is shown. */
function finish(exchange: Exchange, mount: Mount, value: unknown): Reply | Promise<Reply> {
	exchange.watch?.step('reply')
	const reply = mount.hooks === undefined ? sealNow(exchange, value) : sealAfter(exchange, mount, value)
	if (!(reply instanceof Promise)) return reply
	// The time of a method that wasn't asynchronous runs while its answer is.
	allowRest(exchange)
	return reply.catch((error: unknown) => fail(exchange, mount, error))
}

function sealNow(exchange: Exchange, value: unknown): Reply | Promise<Reply> {
	const checks = exchange.checked()
	return checks === undefined ? seal(exchange, value) : sealChecked(exchange, value, checks)
}

async function sealChecked(exchange: Exchange, value: unknown, checks: Promise<unknown>): Promise<Reply> {
	guard(value)
	try {
		await checks
	} catch (error) {
		letGo(value)
		throw error
	}
	return seal(exchange, value)
}

/** An error was thrown: the refusal of a check that wasn't awaited comes before it. */
function fail(exchange: Exchange, mount: Mount | undefined, error: unknown): Reply | Promise<Reply> {
	const checks = exchange.checked()
	if (checks === undefined) return sealFailure(exchange, mount, error)
	return checks.then(
		() => sealFailure(exchange, mount, error),
		(refusal: unknown) => {
			exchange.failure = isRestError(refusal) ? refusal : undefined
			return sealFailure(exchange, mount, refusal)
		},
	)
}

/** Method names are case-sensitive; what is not served is 501 rather than 405 (RFC 9110 §9.1). */
function knownMethod(name: string | undefined): Method {
	if (name !== undefined && isMethod(name)) return name
	throw new RestError(
		'not_implemented',
		'This method is not served: use GET, POST, PUT, PATCH, DELETE or QUERY',
	)
}

/** Nothing fits method and path: the methods that the path has are told by OPTIONS, and by a 405's `Allow`. */
function answerOtherwise(
	exchange: Exchange,
	mounts: MountTree,
	mounted: Mounted,
	segments: readonly string[],
): Reply | Promise<Reply> {
	const { mount } = mounted
	const methods = methodsOf(mount, segments, mounted.depth)
	if (methods.length === 0) return sealFailure(exchange, mount, notFound(mounts, mounted, segments))
	if (exchange.method === 'OPTIONS') return sealOptions(exchange, methods)
	const headers = { Allow: allowHeader(methods) }
	return sealFailure(exchange, mount, new RestError('method_not_allowed', undefined, { headers }))
}

/** Calls the method on a new view. One param is what most methods are given. */
function callMethod(exchange: Exchange, mount: Mount, action: Action): unknown {
	const view = mount.view(exchange)
	const { params } = exchange
	if (params.length === 1) return action.run.call(view, params[0])
	return params.length === 0 ? action.run.call(view) : action.run.apply(view, [...params])
}
