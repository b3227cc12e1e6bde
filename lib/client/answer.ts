/** What an answer means: the value in it, or an `ApiError`. */
import type { Detail } from '../wire/codes.ts'
import { ApiError } from './api-error.ts'

/** One request. */
export interface Call {
	readonly method: string
	readonly url: string
	readonly body?: unknown
	readonly headers?: Readonly<Record<string, string>> | undefined
	readonly signal?: AbortSignal | undefined
}

/** An answer that is a success. */
export interface Answer {
	readonly data: unknown
	readonly meta: unknown
	readonly response: Response
}

/**
 * @throws ApiError for a refusal, and for what is no answer of this API
 */
export function readAnswer(call: Call, response: Response, text: string, wrap: boolean): Answer {
	const body = decoded(text)
	if (!response.ok || (wrap && isRecord(body) && body.success === false))
		throw refused(call, response, body ?? text)
	// Nothing at all is a value too: 204, or a delete that answers nothing.
	if (text === '') return { data: null, meta: undefined, response }
	if (!wrap && body !== undefined) return { data: body, meta: undefined, response }
	if (isRecord(body) && body.success === true) return { data: body.data ?? null, meta: body.meta, response }
	const hint = body === undefined ? '' : '; for a handler with wrap = false, give the client wrap: false'
	throw unexpected(call, response, `is not in the envelope of this API${hint}`, body ?? text)
}

/** A success that can't be one of this API. */
export function unexpected(call: Call, response: Response, why: string, body: unknown): ApiError {
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
function refused(call: Call, response: Response, body: unknown): ApiError {
	const { status, statusText, headers } = response
	const facts = isRecord(body) ? body : {}
	const { error, detail, title, code, details, requestId } = facts
	const message = [error, detail, title].find((one) => typeof one === 'string' && one !== '')
	return new ApiError(
		String(message ?? `${titleOf(call)} was answered ${`${status} ${statusText}`.trim()}`),
		{
			status,
			code: typeof code === 'string' ? code : `http_${status}`,
			details: Array.isArray(details) ? details.filter(isDetail) : [],
			requestId: typeof requestId === 'string' ? requestId : (headers.get('X-Request-Id') ?? undefined),
			response,
			body,
		},
	)
}

function isDetail(value: unknown): value is Detail {
	return isRecord(value) && typeof value.field === 'string' && typeof value.message === 'string'
}

export function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null
}

/** What stands before the `?` is enough to find a call by; conditions can be long, and private. */
export function titleOf({ method, url }: Call): string {
	return `${method} ${url.split('?', 1)[0]}`
}
