/** `ApiError`: everything that can become of a call but its success and an abort. */
import type { Detail, ErrorCode } from '../wire/codes.ts'

/** What an `ApiError` is made of. */
export interface ApiErrorFacts {
	readonly status: number
	readonly code: string
	readonly details?: readonly Detail[]
	readonly requestId?: string | undefined
	readonly retryAfterSeconds?: number | undefined
	readonly response?: Response | undefined
	readonly body?: unknown
	readonly cause?: unknown
}

/**
 * A call that was refused, or was not answered as the API answers. The message is the server's own where
 * it sent one, and can be shown.
 */
export class ApiError extends Error {
	/** Bundlers give the class another name, and this one is shown with what it has made. */
	static override readonly name = 'ApiError'
	override readonly name = 'ApiError' as const
	/** HTTP status; 0 where no answer came. */
	declare readonly status: number
	/**
	 * The server's code, `not_found`. Three are the client's own: `network_error`, no answer came, or only a
	 * part of it (`cause` has the reason; whether a change was made is not known); `unexpected_answer`, a success, but
	 * what came is not of the API (a proxy's HTML page), or a redirect that isn't followed: to another origin, or one that
	 * would make a GET of a change; and `http_502`, a refusal with this status that has no code.
	 */
	declare readonly code: ErrorCode | 'network_error' | 'unexpected_answer' | (string & {})
	/** What is wrong with which field; empty where there is no more to say than the message. */
	declare readonly details: readonly Detail[]
	/** Finds the request in the server's log. */
	declare readonly requestId: string | undefined
	/** How long the server wants to be left alone, by its `Retry-After`. `undefined` where it didn't say. */
	declare readonly retryAfterSeconds: number | undefined
	/** The answer, for its headers; its body has been read. `undefined` where none came. */
	declare readonly response: Response | undefined
	/** The body: decoded where it was JSON, else its text. */
	declare readonly body: unknown

	constructor(message: string, facts: ApiErrorFacts) {
		const { cause, ...rest } = facts
		super(message, cause === undefined ? undefined : { cause })
		Object.assign(this, { details: [] }, rest)
	}
}
