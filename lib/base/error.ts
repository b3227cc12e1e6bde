/**
 * `base/` has what every room uses: errors, options, HTTP methods, time and deadlines, logging; it imports only `wire/`.
 * This file has `RestError`, the only kind of error whose message is sent to a client.
 */
import { codeOf, type Detail, ERRORS, type ErrorCode, isErrorCode } from '../wire/codes.ts'

const BRAND: unique symbol = Symbol.for('verbena.RestError')

/** Options of a {@link RestError}. */
export interface RestErrorOptions {
	/** One entry for each problem, sent as `details`. */
	readonly details?: readonly Detail[]
	/** Headers of the response: `{ 'Retry-After': '5' }`. */
	readonly headers?: Readonly<Record<string, string>>
	/** The cause: logged if the status is 401, or 500 or more; never sent. */
	readonly cause?: unknown
}

/**
 * An error that a client may read. Everything else that is thrown is answered 500
 * `Internal Server Error`, and its own message is only logged.
 *
 *     throw new RestError('conflict', 'This title is taken')
 *     409 {"success":false,"error":"This title is taken","code":"conflict"}
 *
 * `code` is one of {@link ErrorCode}, which fixes the status; or a snake_case code of your own, with
 * status 400; or a status from 400 to 599. The message is sent as it is: put no secrets into it, nor the
 * value that a client has sent.
 *
 * @throws RangeError when a status isn't a whole number from 400 to 599
 */
export class RestError extends Error {
	override readonly name = 'RestError' as const
	/** Wire code; `undefined` for a status that has none. */
	readonly code: string | undefined
	/** HTTP status, 400–599. */
	readonly status: number
	readonly details: readonly Detail[]
	readonly headers: Readonly<Record<string, string>>

	constructor(code: ErrorCode | (string & {}) | number, message?: string, options: RestErrorOptions = {}) {
		const { status, text, name } = meaningOf(code)
		super(message ?? text, options.cause === undefined ? undefined : { cause: options.cause })
		this.status = status
		this.code = name
		this.details = options.details ?? []
		this.headers = options.headers ?? {}
	}

	/** @internal */
	get [BRAND](): true {
		return true
	}
}

/** Shared and frozen: wrong paths and ids, mostly from scanners, must not cost a stack trace each. */
export const NOT_FOUND: RestError = Object.freeze(new RestError('not_found'))

/**
 * `instanceof` that also works when two copies of the package are installed. By brand, not by name:
 * other libraries have a `RestError` too, whose message must never be sent.
 */
export function isRestError(error: unknown): error is RestError {
	return error instanceof Error && BRAND in error
}

function meaningOf(code: string | number): { status: number; text: string; name: string | undefined } {
	if (typeof code === 'string') {
		if (isErrorCode(code)) return { status: ERRORS[code].status, text: ERRORS[code].message, name: code }
		return { status: 400, text: ERRORS.bad_request.message, name: code }
	}
	if (!Number.isInteger(code) || code < 400 || code > 599) {
		throw new RangeError(`an error's status must be a whole number from 400 to 599, got ${code}`)
	}
	const name = codeOf(code)
	return { status: code, text: name === undefined ? 'Error' : ERRORS[name].message, name }
}
