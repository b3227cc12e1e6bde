/**
 * Steps around the method: the hooks `before` and `after` of handlers and servers, and the checks that a method began.
 * Only promises are awaited.
 */
import { Readable } from 'node:stream'
import { isRestError, type RestError } from '../base/error.ts'
import { isThenable } from '../base/thenable.ts'
import type { Exchange, Hook, Routed } from '../exchange/exchange.ts'
import { CustomReply } from '../reply/custom-reply.ts'
import { closeWith, disposeBody, innerOf, isWebStream, swallowErrors } from '../reply/unsent.ts'

/** What `before` answers in place of the method; `undefined` to call the method. */
type EarlyReply = CustomReply<unknown> | undefined

/**
 * Calls `before`, the server's first.
 *
 * @throws what they throw or record, and the refusals of checks that they began, awaited or not
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
	// Timed out, and answered: nothing more may be started.
	if (hook === undefined || exchange.isReplied) return undefined
	const next = (answer: unknown): EarlyReply | Promise<EarlyReply> => {
		const early = earlyReplyOf(exchange, hook, answer)
		return early ?? beforeFrom(exchange, view, hooks, at + 1)
	}
	const said = hook.run(view, undefined)
	if (!isThenable(said) && !isChecking(exchange)) return next(said)
	return whenChecked(exchange, said).then(next)
}

function isChecking(exchange: Exchange): boolean {
	const checks = exchange.pendingChecks()
	// Only a look: `whenChecked` awaits its own promise, and this one must not be an unhandled rejection.
	checks?.catch(() => {})
	return checks !== undefined
}

/**
 * Waits for every check that was begun, awaited or not: no answer is sent while one is pending.
 *
 * @throws the refusal, by the promise
 */
export function awaitChecks(exchange: Exchange, answer: unknown): unknown {
	exchange.watch?.step('reply')
	if (!isChecking(exchange)) return answer
	swallowErrors(answer)
	return whenChecked(exchange, answer)
}

async function whenChecked(exchange: Exchange, said: unknown): Promise<unknown> {
	const answer = await said
	swallowErrors(answer)
	try {
		await exchange.pendingChecks()
	} catch (error) {
		disposeBody(answer)
		throw error
	}
	return answer
}

/** Only a `reply()` is an answer: a value returned by mistake, as by `(view) => view.requireAuth()`, must not be sent. */
function earlyReplyOf(exchange: Exchange, { name }: Hook, answer: unknown): EarlyReply {
	if (exchange.failure !== undefined) {
		disposeBody(answer)
		throw exchange.failure
	}
	if (answer === undefined || answer === null || answer instanceof CustomReply) return answer ?? undefined
	disposeBody(answer)
	throw new TypeError(
		`${name} returned ${kindOf(answer)}: return nothing to call the method, or a reply(…) to answer in its place`,
	)
}

/**
 * Calls `after` with what the method returned, the handler's first.
 *
 * @throws what they throw, or the error that was recorded or returned; at once or by the promise
 */
export function runAfter(exchange: Routed, returned: unknown): unknown {
	const { hooks } = exchange.mount
	if (hooks === undefined) return returned
	refuseError(exchange, returned)
	const failed = (error: unknown): never => {
		// The method has succeeded: a retry with the same Idempotency-Key must not run it again.
		exchange.isDone = true
		throw error
	}
	try {
		const answer = afterFrom(exchange, exchange.mount.view(exchange), hooks.after, returned, 0)
		if (!isThenable(answer) && !isChecking(exchange)) return answer
		return whenChecked(exchange, answer).catch(failed)
	} catch (error) {
		return failed(error)
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
	const failed = (error: unknown): never => {
		disposeBody(answer)
		throw error
	}
	const next = (said: unknown): unknown => {
		const now = replaced(answer, said)
		const error = exchange.failure ?? errorIn(now)
		if (error !== undefined) {
			if (now !== answer) disposeBody(now)
			failed(error)
		}
		if (now !== answer) leave(answer, now)
		return afterFrom(exchange, view, hooks, now, at + 1)
	}
	let said: unknown
	try {
		said = hook.run(view, answer instanceof CustomReply ? answer.value : answer)
	} catch (error) {
		return failed(error)
	}
	if (!isThenable(said)) return next(said)
	swallowErrors(answer)
	return Promise.resolve(said).then(next, failed)
}

/** The answer after a hook: a plain value replaces a reply's value, and keeps its status, headers and meta. */
function replaced(answer: unknown, said: unknown): unknown {
	if (said === undefined) return answer
	if (!(answer instanceof CustomReply) || said instanceof CustomReply) return said
	return new CustomReply(said, answer.options, answer.enveloped)
}

/** Closes a stream that a hook has replaced: at once, or together with the new one, which may be reading it. */
function leave(answer: unknown, now: unknown): void {
	const other = innerOf(now)
	if (other === innerOf(answer)) return
	if (!isRead(other) || (other instanceof Readable && other.closed)) disposeBody(answer)
	else if (other instanceof Readable) other.once('close', () => disposeBody(answer))
	else closeWith(other, answer)
}

/** Whether this is a stream or an async iterable. */
function isRead(value: unknown): value is object {
	return typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || isWebStream(value))
}

function errorIn(answer: unknown): RestError | undefined {
	const value = innerOf(answer)
	return isRestError(value) ? value : undefined
}

function refuseError(exchange: Exchange, answer: unknown): void {
	const error = exchange.failure ?? errorIn(answer)
	if (error === undefined) return
	disposeBody(answer)
	throw error
}

/** What a hook returned by mistake, in words for the message. */
export function kindOf(value: unknown): string {
	if (typeof value !== 'object' || value === null) return `a ${typeof value}`
	const name: unknown = value.constructor?.name
	return typeof name === 'string' && name !== 'Object' ? `an instance of ${name}` : 'an object'
}
