/**
 * Steps around the method: calls the hooks `before` and `after` of server and handler, and waits for pending checks.
 */
import { Readable } from 'node:stream'
import { isRestError, type RestError } from '../base/error.ts'
import { isThenable } from '../base/thenable.ts'
import type { Exchange, Hook, Routed } from '../exchange/exchange.ts'
import { CustomReply } from '../reply/custom-reply.ts'
import { closeWith, disposeBody, innerOf, isWebStream, swallowErrors } from '../reply/unsent.ts'

/** The reply that a `before` hook gives in place of the method's; `undefined` to call the method. */
type EarlyReply = CustomReply<unknown> | undefined

/**
 * Calls the `before` hooks, the server's first.
 *
 * @throws what a hook throws or records, and the refusal of a check that a hook began, even if it didn't await the
 *   check
 */
export function runBefore(exchange: Routed): EarlyReply | Promise<EarlyReply> {
	const { hooks } = exchange.mount
	if (hooks === undefined) return undefined
	if (hooks.before.length > 0) exchange.watch?.step('before')
	const early = beforeFrom(exchange, exchange.mount.view(exchange), hooks.before, 0)
	if (early instanceof Promise) exchange.setHandlerDeadline()
	return early
}

function beforeFrom(
	exchange: Exchange,
	view: object,
	hooks: readonly Hook[],
	at: number,
): EarlyReply | Promise<EarlyReply> {
	const hook = hooks[at]
	// Once the request has timed out and has been answered, no more hooks are called.
	if (hook === undefined || exchange.isReplied) return undefined
	const next = (returned: unknown): EarlyReply | Promise<EarlyReply> => {
		const early = earlyReplyOf(exchange, hook, returned)
		return early ?? beforeFrom(exchange, view, hooks, at + 1)
	}
	const returned = hook.run(view, undefined)
	if (!isThenable(returned) && !hasPendingChecks(exchange)) return next(returned)
	return afterChecks(exchange, returned).then(next)
}

function hasPendingChecks(exchange: Exchange): boolean {
	const checks = exchange.pendingChecks()
	// `afterChecks` awaits another promise for the same checks. This one is never awaited: its rejection is handled here.
	checks?.catch(() => {})
	return checks !== undefined
}

/**
 * Waits for every check that the method began, even if it didn't await it: no answer is sent while a check is pending.
 *
 * @throws the refusal of a check, as a rejection
 */
export function awaitChecks(exchange: Exchange, answer: unknown): unknown {
	exchange.watch?.step('reply')
	if (!hasPendingChecks(exchange)) return answer
	swallowErrors(answer)
	return afterChecks(exchange, answer)
}

async function afterChecks(exchange: Exchange, returned: unknown): Promise<unknown> {
	const answer = await returned
	swallowErrors(answer)
	try {
		await exchange.pendingChecks()
	} catch (error) {
		disposeBody(answer)
		throw error
	}
	return answer
}

/**
 * Only a `reply()` is an answer. Any other value is refused: `(view) => view.requireAuth()`, for one, returns the user
 * by mistake.
 */
function earlyReplyOf(exchange: Exchange, { name }: Hook, returned: unknown): EarlyReply {
	if (exchange.failure !== undefined) {
		disposeBody(returned)
		throw exchange.failure
	}
	if (returned === undefined || returned === null || returned instanceof CustomReply)
		return returned ?? undefined
	disposeBody(returned)
	throw new TypeError(
		`${name} returned ${kindOf(returned)}: return nothing to call the method, or a reply(…) to answer in its place`,
	)
}

/**
 * Calls the `after` hooks, the handler's first, with what the method returned.
 *
 * @throws what a hook throws, or an error that the method or a hook recorded or returned; synchronously or as a
 *   rejection
 */
export function runAfter(exchange: Routed, returned: unknown): unknown {
	const { hooks } = exchange.mount
	if (hooks === undefined) return returned
	const recorded = errorOf(exchange, returned)
	if (recorded !== undefined) {
		disposeBody(returned)
		throw recorded
	}
	const fail = (error: unknown): never => {
		exchange.isDone = true
		throw error
	}
	try {
		const answer = afterFrom(exchange, exchange.mount.view(exchange), hooks.after, returned, 0)
		if (!isThenable(answer) && !hasPendingChecks(exchange)) return answer
		return afterChecks(exchange, answer).catch(fail)
	} catch (error) {
		return fail(error)
	}
}

function afterFrom(
	exchange: Exchange,
	view: object,
	hooks: readonly Hook[],
	answer: unknown,
	at: number,
): unknown {
	const hook = hooks[at]
	if (hook === undefined || exchange.isReplied) return answer
	const fail = (error: unknown): never => {
		disposeBody(answer)
		throw error
	}
	const next = (returned: unknown): unknown => {
		const replacement = replacementOf(answer, returned)
		const error = errorOf(exchange, replacement)
		if (error !== undefined) {
			if (replacement !== answer) disposeBody(replacement)
			fail(error)
		}
		if (replacement !== answer) disposeReplaced(answer, replacement)
		return afterFrom(exchange, view, hooks, replacement, at + 1)
	}
	let returned: unknown
	try {
		returned = hook.run(view, answer instanceof CustomReply ? answer.value : answer)
	} catch (error) {
		return fail(error)
	}
	if (!isThenable(returned)) return next(returned)
	swallowErrors(answer)
	return Promise.resolve(returned).then(next, fail)
}

/**
 * The answer after a hook. If the method returned a `reply()` and the hook a plain value, only the reply's value is
 * replaced: its status, headers and meta are kept.
 */
function replacementOf(answer: unknown, returned: unknown): unknown {
	if (returned === undefined) return answer
	if (!(answer instanceof CustomReply) || returned instanceof CustomReply) return returned
	return new CustomReply(returned, answer.options, answer.enveloped)
}

/**
 * Closes a stream that a hook has replaced. If the replacement is a stream too, it may be reading the replaced one:
 * then both are closed together.
 */
function disposeReplaced(answer: unknown, replacement: unknown): void {
	const reader = innerOf(replacement)
	if (reader === innerOf(answer)) return
	if (!isReadable(reader) || (reader instanceof Readable && reader.closed)) disposeBody(answer)
	else if (reader instanceof Readable) reader.once('close', () => disposeBody(answer))
	else closeWith(reader, answer)
}

/** Whether `value` is a stream or an async iterable. */
function isReadable(value: unknown): value is object {
	return typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || isWebStream(value))
}

/** The recorded error, or else the answer if it is an error. */
function errorOf({ failure }: Exchange, answer: unknown): RestError | undefined {
	const value = innerOf(answer)
	return failure ?? (isRestError(value) ? value : undefined)
}

/** Describes a value that a hook returned by mistake. */
export function kindOf(value: unknown): string {
	if (typeof value !== 'object' || value === null) return `a ${typeof value}`
	const name: unknown = value.constructor?.name
	return typeof name === 'string' && name !== 'Object' ? `an instance of ${name}` : 'an object'
}
