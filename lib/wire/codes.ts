/**
 * Errors on the wire: their codes, the status of each, and the details of a 422. Like all of `wire/`, which imports no
 * other room, this is a format that server (`base/error.ts`) and client share. Codes may be added, never renamed.
 */

/** The message of a 422 for a body that isn't a JSON object, such as a list where the server takes one record. */
export const NOT_AN_OBJECT = 'The body must be an object with named fields'

/** The status and the default message of each code. Reason phrases: RFC 9110 §15. */
export const ERRORS = {
	bad_request: { status: 400, message: 'Bad Request' },
	too_large: { status: 400, message: 'The answer would be too large' },
	unauthorized: { status: 401, message: 'Unauthorized' },
	forbidden: { status: 403, message: 'Forbidden' },
	not_found: { status: 404, message: 'Not Found' },
	method_not_allowed: { status: 405, message: 'Method Not Allowed' },
	not_acceptable: { status: 406, message: 'Not Acceptable' },
	request_timeout: { status: 408, message: 'Request Timeout' },
	conflict: { status: 409, message: 'Conflict' },
	gone: { status: 410, message: 'Gone' },
	precondition_failed: { status: 412, message: 'Precondition Failed' },
	content_too_large: { status: 413, message: 'Content Too Large' },
	uri_too_long: { status: 414, message: 'URI Too Long' },
	unsupported_media_type: { status: 415, message: 'Unsupported Media Type' },
	expectation_failed: { status: 417, message: 'Expectation Failed' },
	misdirected_request: { status: 421, message: 'Misdirected Request' },
	invalid: { status: 422, message: 'Unprocessable Content' },
	refused_by_database: { status: 422, message: 'The database refuses this change' },
	precondition_required: { status: 428, message: 'Precondition Required' },
	too_many_requests: { status: 429, message: 'Too Many Requests' },
	header_fields_too_large: { status: 431, message: 'Request Header Fields Too Large' },
	internal: { status: 500, message: 'Internal Server Error' },
	not_implemented: { status: 501, message: 'Not Implemented' },
	unavailable: { status: 503, message: 'Service Unavailable' },
	outcome_unknown: { status: 503, message: 'The outcome of this request is unknown' },
	version_not_supported: { status: 505, message: 'HTTP Version Not Supported' },
} as const satisfies Readonly<Record<string, { readonly status: number; readonly message: string }>>

/** Codes that Verbena itself sends. A handler may send others of its own, in the same snake_case. */
export type ErrorCode = keyof typeof ERRORS

/** Whether `code` is one of Verbena's own, whose status is known. */
export function isErrorCode(code: string): code is ErrorCode {
	return Object.hasOwn(ERRORS, code)
}

/** The first code with this status; `undefined` if there is none. */
export function codeOf(status: number): ErrorCode | undefined {
	return (Object.keys(ERRORS) as ErrorCode[]).find((code) => ERRORS[code].status === status)
}

/** One problem of a request. Never contains the value that was sent. */
export interface Detail {
	/** Path of the field, with dots between names and indexes: `tags.0`, `address.city`; empty for the whole value. */
	readonly field: string
	/** Name of the rule that was broken, in snake_case: `required`, `email`, `min`. */
	readonly code: string
	readonly message: string
}

declare const refused: unique symbol

/** The type of what `this.error()` returns: null at run time, and dropped from a client's types. */
export interface Refused {
	readonly [refused]: true
}
