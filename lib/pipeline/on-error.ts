/** Turns an error into the reply: as it is, or as `onError` replaces it. For `answer.ts`. */
import { isRestError, NOT_FOUND, RestError } from '../base/error.ts'
import { isThenable } from '../base/thenable.ts'
import type { Exchange, Hook, MountFacts } from '../exchange/exchange.ts'
import { isFailure } from '../exchange/watched.ts'
import { logThrown, sealError } from '../reply/error-reply.ts'
import type { Reply } from '../reply/headers.ts'
import { disposeBody } from '../reply/unsent.ts'
import { kindOf } from './hooks.ts'

/** Answers a thrown error. The refusal of a check that the method began, awaited or not, takes precedence. */
export function answerError(exchange: Exchange, error: unknown): Reply | Promise<Reply> {
	const checks = exchange.pendingChecks()
	if (checks === undefined) return sealFailure(exchange, error)
	return checks.then(
		() => sealFailure(exchange, error),
		(refusal: unknown) => {
			exchange.failure = isRestError(refusal) ? refusal : undefined
			return sealFailure(exchange, refusal)
		},
	)
}

/** Calls `onError`, the handler's first, and answers the error or its replacement. Never throws or rejects. */
function sealFailure(exchange: Exchange, thrown: unknown): Reply | Promise<Reply> {
	const { mount } = exchange
	const hooks = mount?.hooks?.onError ?? []
	if (mount === undefined || hooks.length === 0 || exchange.isReplied) return sealError(exchange, thrown)
	const view = viewOf(exchange, mount)
	if (view === undefined) return sealError(exchange, thrown)
	const { failure } = exchange
	// NOT_FOUND is shared, and a hook may change the error that it gets.
	const given = thrown === NOT_FOUND ? new RestError('not_found') : thrown
	const error = failure ?? given
	// Headers set so far were for a success; those that hooks set are for the error.
	exchange.headerLines = undefined
	exchange.failure = undefined
	const sealed = (now: unknown): Reply => {
		exchange.failure = now === error ? failure : undefined
		const reply = sealReplaced(exchange, given, error, now)
		// Whatever the hooks made of the error, the write may have happened.
		if (isRestError(error) && error.code === 'outcome_unknown') exchange.isOutcomeUnknown = true
		return reply
	}
	const broken = (failing: unknown): Reply => sealBroken(exchange, given, failing)
	try {
		const done = errorFrom(exchange, view, hooks, error, 0)
		if (!isThenable(done)) return sealed(done)
		// After a body that came too slowly, hooks get the time of a method.
		if (exchange.due === Number.POSITIVE_INFINITY || exchange.timeoutCode === 'request_timeout')
			exchange.setHandlerDeadline()
		return Promise.resolve(done).then(sealed).catch(broken)
	} catch (failing) {
		return broken(failing)
	}
}

/** Answers although the logger failed, or reading what a hook returned threw. */
function sealBroken(exchange: Exchange, thrown: unknown, failing: unknown): Reply {
	exchange.failure = undefined
	try {
		logThrown(exchange, thrown)
	} catch {}
	return sealError(exchange, failing)
}

/** The view; `undefined` when its factory throws, which may be the very error to answer. */
function viewOf(exchange: Exchange, mount: MountFacts): object | undefined {
	try {
		return mount.view(exchange)
	} catch {
		return undefined
	}
}

/** Runs the hooks from index `at`: the error they replace it with, or the same one. */
function errorFrom(
	exchange: Exchange,
	view: object,
	hooks: readonly Hook[],
	error: unknown,
	at: number,
): unknown {
	const hook = hooks[at]
	if (hook === undefined || exchange.isReplied) return error
	const next = (said: unknown): unknown => {
		const recorded = exchange.failure
		exchange.failure = undefined
		const now = isRestError(said) ? said : (recorded ?? strayOf(hook, said) ?? error)
		return errorFrom(exchange, view, hooks, now, at + 1)
	}
	const failed = (thrown: unknown): unknown => {
		const recorded = exchange.failure
		exchange.failure = undefined
		// A recorded error wins; what was thrown after it is logged.
		if (recorded !== undefined) logThrown(exchange, thrown)
		return errorFrom(exchange, view, hooks, recorded ?? thrown, at + 1)
	}
	let said: unknown
	try {
		said = hook.run(view, error)
	} catch (thrown) {
		return failed(thrown)
	}
	return isThenable(said) ? Promise.resolve(said).then(next, failed) : next(said)
}

function strayOf({ name }: Hook, said: unknown): TypeError | undefined {
	if (said === undefined || said === null) return undefined
	disposeBody(said)
	return new TypeError(`${name} returned ${kindOf(said)}: return a RestError to answer instead, or nothing`)
}

/** Answers `now`. The original error is logged, unless a hook has translated it into a client's mistake (4xx). */
function sealReplaced(exchange: Exchange, thrown: unknown, error: unknown, now: unknown): Reply {
	if (now === error) return sealError(exchange, thrown, exchange.headerLines)
	const lines = withAllow(exchange.headerLines, error, now)
	// Observers get the original error, not its replacement.
	if (!isRestError(thrown) && (!isRestError(now) || isFailure(now.status))) exchange.watch?.failed(thrown)
	const isTranslated = thrown === error && !isRestError(thrown) && isRestError(now) && now.status < 500
	const isCause = isRestError(now) && now.cause === thrown
	if (!isTranslated && !isCause) logThrown(exchange, thrown)
	return sealError(exchange, now, lines)
}

/** A replaced 405 keeps its `Allow` (RFC 9110 §15.5.6). */
function withAllow(lines: Exchange['headerLines'], error: unknown, now: unknown): Exchange['headerLines'] {
	const allow = isRestError(error) && isRestError(now) && now.status === 405 ? error.headers.Allow : undefined
	if (allow === undefined || lines?.has('allow') === true) return lines
	return new Map([...(lines ?? []), ['allow', ['Allow', allow]]])
}
