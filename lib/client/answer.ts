/** Reads a server's response: a value with its `meta`, or an `ApiError`. Called by `send.ts`. */
import type { Detail, ErrorCode } from '../wire/codes.ts'
import type { PageMeta } from '../wire/list.ts'

export interface Call {
	readonly method: string
	readonly url: string
	readonly body?: unknown
	/** Sent as it is, in place of `body`, with a Content-Type in `headers`. */
	readonly raw?: Blob | ReadableStream<Uint8Array>
	readonly headers?: Readonly<Record<string, string>> | undefined
	readonly signal?: AbortSignal | undefined
	/** `If-Match` or `If-None-Match`. */
	readonly conditions?: Readonly<Record<string, string>>
	/** Sent as `Idempotency-Key`; makes retries safe. */
	readonly idempotencyKey?: string | undefined
	/** Whether the server accepts an idempotency key for this request; for POST and PATCH it always does. */
	readonly takesKey?: boolean
	/** Called in place of `response.text()`; returns undefined if it has read the body as something else. */
	readonly read?: (response: Response) => Promise<string | undefined>
}

/** A success. */
export interface Answer {
	readonly data: unknown
	readonly meta: unknown
	readonly response: Response
}

/** @throws ApiError for an error response, and for a response that isn't of this API */
export function readAnswer(
	call: Call,
	response: Response,
	text: string | undefined,
	{ wrap, now }: { readonly wrap: boolean; readonly now: number },
): Answer {
	const body = parsed(text ?? '')
	if (!response.ok || (wrap && isRecord(body) && body.success === false))
		throw errorOf(call, response, body ?? text, now)
	// An empty body means null: with the envelope only for a 204 or 205, without it for any success.
	if (text === undefined || (text === '' && (!wrap || /^20[45]$/.test(`${response.status}`))))
		return { data: null, meta: undefined, response }
	if (!wrap && body !== undefined) return { data: body, meta: undefined, response }
	if (isRecord(body) && body.success === true) return { data: body.data ?? null, meta: body.meta, response }
	const hint = body === undefined ? '' : "; is the handler's wrap false?"
	throw unexpected(call, response, `is not in the envelope of this API${hint}`, body ?? text)
}

/** The error for a success that isn't of this API. */
export function unexpected(call: Call, response: Response, why: string, body?: unknown): ApiError {
	return new ApiError(`${titleOf(call)}: the answer ${why}`, {
		...{ ...failedRequest(call), status: response.status, code: 'unexpected_answer', response, body },
	})
}

/** The value of a JSON text; `undefined` for other text. */
export function parsed(text: string): unknown {
	try {
		return JSON.parse(text)
	} catch {
		return undefined
	}
}

/** The error for a failure, sent in the envelope, without it, or as problem details (RFC 9457). */
function errorOf(call: Call, response: Response, body: unknown, now: number): ApiError {
	const { status, statusText, headers } = response
	const facts = isRecord(body) ? body : {}
	const { error, detail, title, code, details, requestId } = facts
	const sent = [error, detail, title].find((one) => typeof one === 'string' && one !== '')
	const message = String(sent ?? `${titleOf(call)} was answered ${`${status} ${statusText}`.trim()}`)
	return new ApiError(message, {
		...failedRequest(call),
		status,
		code: typeof code === 'string' ? code : `http_${status}`,
		details: [details].flat().filter(isDetail),
		requestId: typeof requestId === 'string' ? requestId : (headers.get('X-Request-Id') ?? undefined),
		retryAfterSeconds: secondsOf(headers.get('Retry-After'), now),
		response,
		body,
	})
}

function isDetail(value: unknown): value is Detail {
	return isRecord(value) && ['field', 'code', 'message'].every((name) => typeof value[name] === 'string')
}

export function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null
}

/** The request of a call, without the query, which may be long and private. */
export function failedRequest({ method, url }: Call): { readonly method: string; readonly url: string } {
	return { method, url: url.split('?')[0] ?? '' }
}

/** Method and URL of a call, in messages. */
export function titleOf(call: Call): string {
	const { method, url } = failedRequest(call)
	return `${method} ${url}`
}

/** `Retry-After` as seconds from now, at least 0; `undefined` if absent or malformed (RFC 9110 §10.2.3). */
export function secondsOf(retryAfter: string | null, now: number): number | undefined {
	const text = retryAfter?.trim() ?? ''
	if (/^\d+$/.test(text)) return Number(text)
	// Only a text with day and time is a date: `Date.parse` would guess at others, and read `-5` as the first of May.
	if (!/^[A-Z][a-z]{2}.* \d\d:\d\d:\d\d/.test(text)) return undefined
	const time = Date.parse(`${text.replace(/ GMT$/, '')} GMT`)
	return Number.isNaN(time) ? undefined : Math.max(0, (time - now) / 1_000)
}

/** The `meta` of a response: the members for a list's page, if they were sent, and any that the method added. */
export type ApiMeta = Partial<PageMeta> & { readonly [name: string]: unknown }

/** The envelope's `meta`, or else one made from headers. Page members of the wrong type are removed. May be empty. */
export function metaOf(meta: unknown, headers: Headers): ApiMeta {
	const all = { ...(isRecord(meta) ? meta : fromHeaders(headers)) }
	for (const name of ['limit', 'offset', 'total']) if (typeof all[name] !== 'number') delete all[name]
	if (typeof all.next !== 'string' && all.next !== null) delete all.next
	return all
}

/**
 * The `meta` of a response without envelope, from `Link: <…?cursor=…>; rel="next"` (RFC 8288) and `X-Total-Count`.
 * Across origins, CORS must expose both headers.
 */
function fromHeaders(headers: Headers): Record<string, unknown> {
	// Linear: no character is scanned twice, so that thousands of `<` take no time.
	const [, link = ''] = /<([^<>]*)>[^,<]*;\s*rel="?next(?![\w-])/i.exec(headers.get('Link') ?? '') ?? []
	const next = new URLSearchParams(link.split('?')[1])
	return {
		limit: integerIn(next.get('limit')),
		next: next.get('cursor') ?? undefined,
		total: integerIn(headers.get('X-Total-Count')),
	}
}

function integerIn(digits: string | null): number | undefined {
	return /^\d+$/.test(digits ?? '') ? Number(digits) : undefined
}

/** The properties of an `ApiError`. */
export interface ApiErrorFacts {
	readonly status: number
	readonly code: string
	readonly details?: readonly Detail[]
	readonly method?: string | undefined
	readonly url?: string | undefined
	readonly requestId?: string | undefined
	readonly retryAfterSeconds?: number | undefined
	readonly response?: Response | undefined
	readonly body?: unknown
	readonly cause?: unknown
}

/**
 * A failed call: an error response, no response, or one that isn't of this API. An aborted call rejects with the
 * signal's reason instead. The message is the server's own if it sent one, and can be shown to users.
 */
export class ApiError extends Error {
	/** Written out, because bundlers rename the class. */
	static override readonly name = 'ApiError'
	override readonly name = 'ApiError' as const
	/** HTTP status; 0 if there was no response. */
	declare readonly status: number
	/**
	 * The server's code, such as `not_found`, or one of the client's own:
	 * - `network_error`: no response, or only a part of one. `cause` has the reason; whether a change was made is unknown.
	 * - `unexpected_answer`: a success that isn't of this API, such as a proxy's HTML page; or a redirect that isn't
	 *   followed, because it leads to another origin or would turn a change into a GET.
	 * - `http_502`: an error response with this status and without a code.
	 */
	declare readonly code: ErrorCode | 'network_error' | 'unexpected_answer' | (string & {})
	/** Problems by field; may be empty. */
	declare readonly details: readonly Detail[]
	/** The method of the request; `undefined` in an error that the client didn't make, as for `url`. */
	declare readonly method: string | undefined
	/** The URL of the request, without the query: logs contain an error's properties, and a query may be private. */
	declare readonly url: string | undefined
	/** The id of the request in the server's log. */
	declare readonly requestId: string | undefined
	/** How long to wait before another attempt, from `Retry-After`. `undefined` if the server didn't say. */
	declare readonly retryAfterSeconds: number | undefined
	/**
	 * The response, for its headers; its body has been read. `undefined` if there was none. Not enumerable, so that logs
	 * contain neither its headers nor its URL with the query.
	 */
	declare readonly response: Response | undefined
	/** The body: its value if it is JSON, or else its text. */
	declare readonly body: unknown

	constructor(message: string, facts: ApiErrorFacts) {
		const { cause, response, ...rest } = facts
		super(message, cause === undefined ? undefined : { cause })
		Object.assign(this, { details: [] }, rest)
		Object.defineProperty(this, 'response', { value: response })
	}
}
