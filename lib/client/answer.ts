/** What an answer means: the value in it, or an `ApiError`. */
import type { Detail } from '../wire/codes.ts'
import { ApiError } from './api-error.ts'
import { secondsOf } from './retry-after.ts'

/** One request. */
export interface Call {
	readonly method: string
	readonly url: string
	readonly body?: unknown
	readonly headers?: Readonly<Record<string, string>> | undefined
	readonly signal?: AbortSignal | undefined
	/** `If-Match` or `If-None-Match`, where there is one. */
	readonly conditions?: Readonly<Record<string, string>>
	/** Sent as `Idempotency-Key`, and makes another attempt harmless. */
	readonly idempotencyKey?: string | undefined
	/** In the place of `response.text()`: answers undefined where it has made something else of a success. */
	readonly read?: (response: Response) => Promise<string | undefined>
}

/** An answer that is a success. */
export interface Answer {
	readonly data: unknown
	readonly meta: unknown
	readonly response: Response
}

/** What an answer is read by, besides its call. */
export interface Reading {
	readonly wrap: boolean
	/** Milliseconds since 1970. */
	readonly now: number
}

/**
 * @throws ApiError for a refusal, and for what is no answer of this API
 */
export function readAnswer(
	call: Call,
	response: Response,
	text: string | undefined,
	{ wrap, now }: Reading,
): Answer {
	const body = decoded(text ?? '')
	if (!response.ok || (wrap && isRecord(body) && body.success === false))
		throw refused(call, response, body ?? text, now)
	// Nothing at all is a value too: 204, 205, or, without envelope, a delete that answers nothing.
	if (text === undefined || (text === '' && (!wrap || /^20[45]$/.test(`${response.status}`))))
		return { data: null, meta: undefined, response }
	if (!wrap && body !== undefined) return { data: body, meta: undefined, response }
	if (isRecord(body) && body.success === true) return { data: body.data ?? null, meta: body.meta, response }
	const hint = body === undefined ? '' : '; has the handler wrap = false?'
	throw unexpected(call, response, `is not in the envelope of this API${hint}`, body ?? text)
}

/** A success that can't be one of this API. */
export function unexpected(call: Call, response: Response, why: string, body?: unknown): ApiError {
	return new ApiError(`what ${titleOf(call)} was answered ${why}`, {
		...{ status: response.status, code: 'unexpected_answer', response, body },
	})
}

/** The value of JSON, or `undefined` where it is none. */
function decoded(text: string): unknown {
	try {
		return JSON.parse(text)
	} catch {
		return undefined
	}
}

/** The envelope's failure, a bare one, or the problem details of RFC 9457. */
function refused(call: Call, response: Response, body: unknown, now: number): ApiError {
	const { status, statusText, headers } = response
	const facts = isRecord(body) ? body : {}
	const { error, detail, title, code, details, requestId } = facts
	const message = [error, detail, title].find((one) => typeof one === 'string' && one !== '')
	return new ApiError(
		String(message ?? `${titleOf(call)} was answered ${`${status} ${statusText}`.trim()}`),
		{
			status,
			code: typeof code === 'string' ? code : `http_${status}`,
			details: [details].flat().filter(isDetail),
			requestId: typeof requestId === 'string' ? requestId : (headers.get('X-Request-Id') ?? undefined),
			retryAfterSeconds: secondsOf(headers.get('Retry-After'), now),
			response,
			body,
		},
	)
}

function isDetail(value: unknown): value is Detail {
	return isRecord(value) && ['field', 'code', 'message'].every((name) => typeof value[name] === 'string')
}

export function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null
}

/** What stands before the `?` is enough to find a call by; conditions can be long, and private. */
export function titleOf({ method, url }: Call): string {
	return `${method} ${url.split('?', 1)[0]}`
}
