/** The answer to an error: itself, or what `onError` makes of it. For `answer.ts`. */
import { isRestError, NOT_FOUND, RestError } from '../base/error.ts'
import { isThenable } from '../base/thenable.ts'
import type { Exchange, Hook, MountFacts } from '../exchange/exchange.ts'
import { isFailure } from '../exchange/watched.ts'
import { logThrown, sealError } from '../reply/error-reply.ts'
import type { Reply } from '../reply/headers.ts'
import { disposeBody } from '../reply/unsent.ts'
import { kindOf } from './hooks.ts'

/** Answers what was thrown. The refusal of a check that the method has begun, awaited or not, comes before it. */
export function answerError(exchange: Exchange, error: unknown): Reply | Promise<Reply> {
	const checks = exchange.checked()
	if (checks === undefined) return sealFailure(exchange, error)
	return checks.then(
		() => sealFailure(exchange, error),
		(refusal: unknown) => {
			exchange.failure = isRestError(refusal) ? refusal : undefined
			return sealFailure(exchange, refusal)
		},
	)
}

/** Answers an error, or what `onError` makes of it, the handler's first. It never throws, nor rejects. */
function sealFailure(exchange: Exchange, thrown: unknown): Reply | Promise<Reply> {
	const { mount } = exchange
	const hooks = mount?.hooks?.onError ?? []
	if (mount === undefined || hooks.length === 0 || exchange.replied) return sealError(exchange, thrown)
	const view = viewOf(exchange, mount)
	if (view === undefined) return sealError(exchange, thrown)
	const { failure } = exchange
	// A hook may change what it is given; this one is everybody's.
	const given = thrown === NOT_FOUND ? new RestError('not_found') : thrown
	const error = failure ?? given
	// What was set was for a success; what is set from here on is for the error.
	exchange.headerLines = undefined
	exchange.failure = undefined
	const sealed = (now: unknown): Reply => {
		exchange.failure = now === error ? failure : undefined
		const reply = sealReplaced(exchange, given, error, now)
		// Whatever it is called now, what it told of may have been done.
		if (isRestError(error) && error.code === 'outcome_unknown') exchange.isOutcomeUnknown = true
		return reply
	}
	const broken = (failing: unknown): Reply => sealBroken(exchange, given, failing)
	try {
		const done = errorFrom(exchange, view, hooks, error, 0)
		if (!isThenable(done)) return sealed(done)
		// Behind a body that came too slowly, a hook has the time of a method.
		if (exchange.due === Number.POSITIVE_INFINITY || exchange.late === 'request_timeout')
			exchange.allowMethod()
		return Promise.resolve(done).then(sealed).catch(broken)
	} catch (failing) {
		return broken(failing)
	}
}

/** The logger fails, or what a hook has returned can't even be looked at: the request is answered all the same. */
function sealBroken(exchange: Exchange, thrown: unknown, failing: unknown): Reply {
	exchange.failure = undefined
	try {
		logThrown(exchange, thrown)
	} catch {}
	return sealError(exchange, failing)
}

/** The view; none of a factory that fails, which may be what is to be told. */
function viewOf(exchange: Exchange, mount: MountFacts): object | undefined {
	try {
		return mount.view(exchange)
	} catch {
		return undefined
	}
}

/** What the hooks make of an error: it itself where they leave it. */
function errorFrom(
	exchange: Exchange,
	view: object,
	hooks: readonly Hook[],
	error: unknown,
	at: number,
): unknown {
	const hook = hooks[at]
	if (hook === undefined || exchange.replied) return error
	const next = (said: unknown): unknown => {
		const recorded = exchange.failure
		exchange.failure = undefined
		const now = isRestError(said) ? said : (recorded ?? strayOf(hook, said) ?? error)
		return errorFrom(exchange, view, hooks, now, at + 1)
	}
	const failed = (thrown: unknown): unknown => {
		const recorded = exchange.failure
		exchange.failure = undefined
		// What was thrown behind a recorded error is logged all the same.
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
	return new TypeError(
		`${name} has returned ${kindOf(said)}: return a RestError to be answered instead, or nothing`,
	)
}

/** Answers `now`; what it stands for is logged, unless it was a hook's to tell what is the client's mistake. */
function sealReplaced(exchange: Exchange, thrown: unknown, error: unknown, now: unknown): Reply {
	if (now === error) return sealError(exchange, thrown, exchange.headerLines)
	const lines = withAllow(exchange.headerLines, error, now)
	// Whoever watches is told what has happened, and not how it is called.
	if (!isRestError(thrown) && (!isRestError(now) || isFailure(now.status))) exchange.watch?.failed(thrown)
	const isTold = thrown === error && !isRestError(thrown) && isRestError(now) && now.status < 500
	const isCause = isRestError(now) && now.cause === thrown
	if (!isTold && !isCause) logThrown(exchange, thrown)
	return sealError(exchange, now, lines)
}

/** However it is worded, a 405 says what there is instead (RFC 9110 §15.5.6). */
function withAllow(lines: Exchange['headerLines'], error: unknown, now: unknown): Exchange['headerLines'] {
	const allow = isRestError(error) && isRestError(now) && now.status === 405 ? error.headers.Allow : undefined
	if (allow === undefined || lines?.has('allow') === true) return lines
	return new Map([...(lines ?? []), ['allow', ['Allow', allow]]])
}
