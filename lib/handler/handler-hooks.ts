/** `HandlerHooks`: the methods of a handler that no request names, and that are called around those it does. */

import type { RestError } from '../base/error.ts'
import type { CustomReply } from '../reply/head.ts'
import type { Refused } from '../wire/codes.ts'

/** What `before` may answer beside nothing: a `reply()` in the method's stead. */
export type BeforeAnswer = CustomReply<unknown> | Refused | undefined

/** What `onError` may answer beside nothing: the error that is sent instead. */
export type ErrorAnswer = RestError | Refused | undefined

/** What `RestHandler` has for subclasses to override. Where they don't, nothing is called. */
export class HandlerHooks {
	/** Called once before the first request, and awaited; the place to open what the handler holds. */
	init(): void | Promise<void> {}

	/**
	 * Called once behind the last answer, when the server has closed (the last one, of several that have mounted this
	 * handler); the place to close what `init` has opened. The handler is frozen by then. What it throws is logged.
	 */
	dispose(): void | Promise<void> {}

	/**
	 * Called for each request that a method answers, when its credentials, limits and access have been judged, and
	 * before a byte of its body is read. What it throws, or records by `this.error()`, is the answer, and so is a
	 * `reply()` that it returns: the method isn't called then. What it sets on `this`, the method finds there.
	 *
	 * @throws TypeError, as a 500, for anything else that is returned
	 */
	before(): BeforeAnswer | void | Promise<BeforeAnswer> | Promise<void> {}

	/**
	 * Called with what the method has returned (of a `reply()`, the value in it), unless that was an error. What it
	 * returns is answered instead; `undefined` leaves it as it is. It may set headers and status.
	 */
	after(_value: unknown): unknown {
		return undefined
	}

	/**
	 * Called with what would be answered as an error: a `RestError`, or whatever else was thrown, which would be a
	 * 500. A `RestError` that it returns, throws, or records by `this.error()` is answered instead.
	 */
	onError(_error: unknown): ErrorAnswer | void | Promise<ErrorAnswer> | Promise<void> {}
}
