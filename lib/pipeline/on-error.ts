/** Turns an error into the reply, after calling the `onError` hooks, which may replace the error. For `answer.ts`. */
import { attempt } from '../base/attempt.ts'
import { isRestError, NOT_FOUND, RestError } from '../base/error.ts'
import { isThenable } from '../base/thenable.ts'
import type { Exchange, Hook } from '../exchange/exchange.ts'
import { isFailure } from '../exchange/watched.ts'
import { logThrown, sealError } from '../reply/error-reply.ts'
import type { Reply } from '../reply/headers.ts'
import { disposeBody } from '../reply/unsent.ts'
import { kindOf } from './hooks.ts'

/**
 * Answers a thrown error. If a check that the method began is refused, that refusal is answered instead, even if the
 * method didn't await the check.
 */
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

/** Calls the `onError` hooks, the handler's first, and answers the error or its replacement. Never throws or rejects. */
function sealFailure(exchange: Exchange, thrown: unknown): Reply | Promise<Reply> {
	const { mount } = exchange
	const hooks = mount?.hooks?.onError ?? []
	if (mount === undefined || hooks.length === 0 || exchange.isReplied) return sealError(exchange, thrown)
	// If the mount is a factory, `view` calls it, and it may throw: this error may even be its own.
	const view = attempt(() => mount.view(exchange))
	if (view === undefined) return sealError(exchange, thrown)
	const { failure } = exchange
	// NOT_FOUND is shared, and a hook may modify the error that it gets: it gets a copy.
	const original = thrown === NOT_FOUND ? new RestError('not_found') : thrown
	const error = failure ?? original
	// Drops the headers set so far, which were meant for a success. Headers that the hooks set are for the error.
	exchange.headerLines = undefined
	exchange.failure = undefined
	const sealFinal = (final: unknown): Reply => {
		exchange.failure = final === error ? failure : undefined
		const reply = sealReplaced(exchange, original, error, final)
		// Even if a hook has replaced the error, the write may have happened.
		if (isRestError(error) && error.code === 'outcome_unknown') exchange.isOutcomeUnknown = true
		return reply
	}
	// Either the logger threw, or a getter on the hook's return value did.
	const sealFault = (fault: unknown): Reply => {
		exchange.failure = undefined
		attempt(() => logThrown(exchange, original))
		return sealError(exchange, fault)
	}
	try {
		const final = errorFrom(exchange, view, hooks, error, 0)
		if (!isThenable(final)) return sealFinal(final)
		// No deadline is set, or only the body's, which may have passed: the hooks get as much time as a method.
		if (exchange.due === Number.POSITIVE_INFINITY || exchange.timeoutCode === 'request_timeout')
			exchange.setHandlerDeadline()
		return Promise.resolve(final).then(sealFinal).catch(sealFault)
	} catch (fault) {
		return sealFault(fault)
	}
}

/** Runs the hooks from index `at`; returns the error, or what they replaced it with. */
function errorFrom(
	exchange: Exchange,
	view: object,
	hooks: readonly Hook[],
	error: unknown,
	at: number,
): unknown {
	const hook = hooks[at]
	if (hook === undefined || exchange.isReplied) return error
	const next = (returned: unknown): unknown => {
		const recorded = exchange.failure
		exchange.failure = undefined
		const replacement = isRestError(returned) ? returned : (recorded ?? strayValue(hook, returned) ?? error)
		return errorFrom(exchange, view, hooks, replacement, at + 1)
	}
	const fail = (thrown: unknown): unknown => {
		const recorded = exchange.failure
		exchange.failure = undefined
		// A recorded error wins; what was thrown after it is logged.
		if (recorded !== undefined) logThrown(exchange, thrown)
		return errorFrom(exchange, view, hooks, recorded ?? thrown, at + 1)
	}
	let returned: unknown
	try {
		returned = hook.run(view, error)
	} catch (thrown) {
		return fail(thrown)
	}
	return isThenable(returned) ? Promise.resolve(returned).then(next, fail) : next(returned)
}

function strayValue({ name }: Hook, value: unknown): TypeError | undefined {
	if (value === undefined || value === null) return undefined
	disposeBody(value)
	return new TypeError(`${name} returned ${kindOf(value)}: return a RestError to answer instead, or nothing`)
}

/**
 * Answers `final`, the error after the hooks; `error` is what they were called with, `original` what was thrown. The
 * original is logged, unless a hook has translated it into a 4xx error.
 */
function sealReplaced(exchange: Exchange, original: unknown, error: unknown, final: unknown): Reply {
	if (final === error) return sealError(exchange, original, exchange.headerLines)
	const lines = withAllow(exchange.headerLines, error, final)
	// Observers get the original error, not its replacement.
	if (!isRestError(original) && (!isRestError(final) || isFailure(final.status)))
		exchange.watch?.failed(original)
	const isTranslated =
		original === error && !isRestError(original) && isRestError(final) && final.status < 500
	const isCause = isRestError(final) && final.cause === original
	if (!isTranslated && !isCause) logThrown(exchange, original)
	return sealError(exchange, final, lines)
}

/** If a hook replaces a 405 with another 405, `Allow` is kept (RFC 9110 §15.5.6). */
function withAllow(lines: Exchange['headerLines'], error: unknown, final: unknown): Exchange['headerLines'] {
	const allow =
		isRestError(error) && isRestError(final) && final.status === 405 ? error.headers.Allow : undefined
	if (allow === undefined || lines?.has('allow') === true) return lines
	return new Map([...(lines ?? []), ['allow', ['Allow', allow]]])
}
