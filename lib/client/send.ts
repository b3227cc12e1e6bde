/**
 * Sends the requests of `CrudClient` and `client()`: retries with new headers and signature, redirects, delays between
 * attempts, and aborts.
 */
import { isUrl } from './address.ts'
import {
	type Answer,
	ApiError,
	type Call,
	failedRequest,
	isRecord,
	readAnswer,
	titleOf,
	unexpected,
} from './answer.ts'
import { type Fetch, type FetchInit, HEADERS, isHeaders, type Settings } from './settings.ts'

/** The same limit as that of `fetch`. */
const MAX_REDIRECTS = 20

/**
 * Makes a call, with retries if it is idempotent and the failure is temporary.
 *
 * @throws ApiError for everything but a success; the signal's reason for an abort; whatever the settings' `headers` or
 *   `sign` throw
 */
export async function send(call: Call, settings: Settings, timing: Timing = PLATFORM): Promise<Answer> {
	const { signal } = call
	// All attempts send the same bytes, even if the values change meanwhile.
	const text = call.raw ?? (call.body === undefined ? undefined : jsonOf(call.body, call))
	let current = call
	let redirects = 0
	for (let attempt = 0; ; ) {
		signal?.throwIfAborted()
		const { fetch, init } = await requestOf(current, text, settings)
		signal?.throwIfAborted()
		try {
			const work = sendOnce(current, fetch, init, { wrap: settings.wrap, now: timing.now })
			// Some fetch functions ignore the signal. Our listener is added after `fetch` has begun: Node's `fetch` raises the
			// signal's limit of listeners, above which Node warns.
			const answer = await unlessAborted(work, signal)
			if (typeof answer !== 'string') return answer
			// A redirected request is built and signed again, for its new URL.
			current = { ...call, url: answer }
			if (redirects++ >= MAX_REDIRECTS) throw networkError(call, undefined, 'too many redirects')
		} catch (error) {
			const delay = attempt < settings.retries ? retryDelay(attempt++, call, error, timing) : undefined
			if (delay === undefined) throw error
			await timing.sleep(delay, signal)
		}
	}
}

/** Makes a call whose answer is a list. @throws ApiError as `send`, and for anything but a list */
export async function listIn<T>(call: Call, settings: Settings): Promise<T[]> {
	const { data, response } = await send(call, settings)
	if (Array.isArray(data)) return data as T[] // as the program has declared
	throw unexpected(call, response, 'is not a list', data)
}

/** A body as JSON, or a record in it. @throws TypeError for what JSON can't express; RangeError for an invalid date */
export function jsonOf(value: unknown, call: Call): string {
	const text: string | undefined = JSON.stringify(
		value,
		function (this: Record<string, unknown>, name, member) {
			// The value before its `toJSON` was called, which Date and Buffer have.
			const original = this[name]
			if (isLossy(original)) throw notJson(call)
			return jsonScalar(original instanceof Date ? original : member)
		},
	)
	if (text === undefined) throw notJson(call)
	return text
}

/** Whether JSON would lose the value: `{}` for a Map, an object of numbers for bytes. */
function isLossy(value: unknown): boolean {
	if (ArrayBuffer.isView(value)) return true
	return isRecord(value) && !value.toJSON && /^\[object (?!Obj|Arr)/.test({}.toString.call(value))
}

function notJson(call: Call): TypeError {
	return new TypeError(`${titleOf(call)}: a body is sent as JSON; send files and forms by fetch`)
}

/** The answer, or the URL that the request is redirected to. */
async function sendOnce(
	call: Call,
	fetch: Fetch,
	init: FetchInit,
	{ wrap, now }: { readonly wrap: boolean; readonly now: () => number },
): Promise<Answer | string> {
	let response: Response | undefined
	let text: string | undefined
	try {
		response = await fetch(call.url, init)
		// A redirect's body is read, too, because an unread one would keep its connection.
		text = await (call.read ? call.read(response) : response.text())
	} catch (cause) {
		if (cause instanceof Error && /^(?:Abort|Timeout)Error$/.test(cause.name)) throw cause
		throw networkError(call, response, cause)
	}
	return redirectUrl(call, response, init.method) ?? readAnswer(call, response, text, { wrap, now: now() })
}

export function networkError(call: Call, response: Response | undefined, cause: unknown): ApiError {
	const reason = cause instanceof Error ? cause.message : String(cause)
	const what = response === undefined ? 'no answer' : 'only a part of its answer'
	return new ApiError(`${titleOf(call)} got ${what}: ${reason}`, {
		...{ ...failedRequest(call), status: response?.status ?? 0, code: 'network_error', response, cause },
	})
}

/**
 * Converts values that JSON can't express to what the server expects. A bigint becomes a number if that is exact.
 *
 * @throws RangeError for an invalid date, which JSON would write as null
 */
export function jsonScalar(value: unknown): unknown {
	if (value instanceof Date) return value.toISOString()
	if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
	return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
}

/** Builds the request of one attempt. @throws TypeError for a path outside a browser */
async function requestOf(
	call: Call,
	body: FetchInit['body'],
	settings: Settings,
): Promise<{ readonly fetch: Fetch; readonly init: FetchInit }> {
	const { method, url, signal } = call
	const { sign } = settings
	const isOverridden = settings.methodOverride && /^(?:PUT|PATCH|DELETE)$/.test(method)
	const headers = await headersOf(call, settings, body !== undefined)
	if (isOverridden) headers.set('X-HTTP-Method-Override', method)
	const init = {
		method: isOverridden ? 'POST' : method,
		headers,
		redirect: 'manual' as const,
		...(body === undefined ? {} : { body, duplex: 'half' as const }),
		...(signal && { signal }),
	}
	const fetch = fetchFor(url, settings)
	if (sign === undefined) return { fetch, init }
	const signed = await unlessAborted(sign(new Request(url, init)), signal)
	if (signed?.headers === undefined) throw new TypeError('sign must return the signed Request')
	return { fetch, init: { ...init, headers: signed.headers } }
}

async function headersOf(call: Call, { headers: source }: Settings, hasBody: boolean): Promise<Headers> {
	const { headers, conditions, idempotencyKey, signal } = call
	const all = new Headers({ Accept: 'application/json' })
	if (hasBody) all.set('Content-Type', 'application/json')
	setAll(all, typeof source === 'function' ? await unlessAborted(source(), signal) : source)
	setAll(all, conditions)
	// A quoted string (RFC 9651 §3.3.3), because a token couldn't hold every key.
	if (idempotencyKey !== undefined)
		all.set('Idempotency-Key', `"${idempotencyKey.replaceAll(/["\\]/g, '\\$&')}"`)
	setAll(all, headers)
	return all
}

function setAll(all: Headers, more: unknown = {}): void {
	// `undefined` would be sent as text, and a `Headers` not at all.
	if (!isHeaders(more)) throw new TypeError(`headers must be ${HEADERS}`)
	for (const [name, value] of Object.entries(more)) all.set(name, value)
}

/** The platform's `fetch` is looked up at each attempt, and returned unbound: browsers refuse to call it as a method. */
function fetchFor(url: string, { fetch, sign }: Settings): Fetch {
	// Signing needs a Request, which needs an absolute URL.
	const needsOrigin = fetch === undefined || sign !== undefined
	if (needsOrigin && url.startsWith('/') && !('location' in globalThis))
		throw new TypeError(`outside a browser, ${url} needs an origin: write https://example.org${url}`)
	return fetch ?? globalThis.fetch
}

/**
 * The URL that a response redirects to (RFC 9110 §15.4); `undefined` if it is not a redirect. Only redirects within the
 * origin are followed: keys, signatures and bodies are for the endpoint alone, and `fetch` would forward them all,
 * except `Authorization`. In browsers, `fetch` hides the location, so no redirect is followed there.
 *
 * @param method the method on the wire
 * @throws ApiError for another origin, for a redirect that may turn a change into a GET, and for a hidden location
 */
function redirectUrl(call: Call, response: Response, method: string): string | undefined {
	const { status, headers, type, redirected } = response
	const location = headers.get('Location')
	// The option `fetch` may have followed the redirect already.
	const isHidden = type === 'opaqueredirect' || (redirected && method !== 'GET')
	if (!isHidden && (location === null || !/^30[12378]$/.test(`${status}`))) return undefined
	// The URL may be a path, if the option `fetch` adds the origin.
	const from = new URL(call.url, PLACEHOLDER_ORIGIN)
	const to = isUrl(location ?? '') ? new URL(location ?? '', from) : undefined
	const url = to?.href.replace(PLACEHOLDER_ORIGIN, '')
	// Two slashes at the beginning would name another host.
	const isElsewhere = to?.origin !== from.origin || url?.startsWith('//')
	if (isHidden || isElsewhere || (status < 304 && method !== 'GET'))
		throw unexpected(call, response, 'redirects elsewhere: give the client the endpoint there')
	return url
}

/** No real URL has port 0. */
const PLACEHOLDER_ORIGIN = 'http://a:0'

/** Time and randomness, which tests replace. */
export interface Timing {
	/** Milliseconds since 1970. */
	now(): number
	/** From 0 to less than 1. */
	random(): number
	/** Rejects with the signal's reason when it is aborted. */
	sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void>
}

export const PLATFORM: Timing = { now: () => Date.now(), random: () => Math.random(), sleep }

const TEMPORARY: readonly number[] = [408, 429, 502, 503, 504]
const FIRST_DELAY_MS = 250
const MAX_DELAY_MS = 10_000
/** For a longer `Retry-After`, the call fails instead of waiting. */
const MAX_RETRY_AFTER_SECONDS = 30

/**
 * Milliseconds until the next attempt: `Retry-After` plus an exponential backoff with jitter. `undefined` if the call
 * must not be retried.
 */
function retryDelay(attempt: number, call: Call, error: unknown, timing: Timing): number | undefined {
	if (!(error instanceof ApiError) || !isRetryable(call, error)) return undefined
	const { retryAfterSeconds = 0 } = error
	if (retryAfterSeconds > MAX_RETRY_AFTER_SECONDS) return undefined
	// Full jitter, so that clients that failed together don't retry together.
	return retryAfterSeconds * 1_000 + timing.random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt)
}

/** Whether the failure is temporary and the call idempotent. Not after `outcome_unknown`: a retry could do harm. */
function isRetryable(call: Call, { status, code, retryAfterSeconds }: ApiError): boolean {
	// Servers store idempotency keys for these methods, and for upserts and deletions of many.
	const isKeyed =
		call.idempotencyKey !== undefined && (call.takesKey === true || /^(?:POST|PATCH)$/.test(call.method))
	if (code === 'outcome_unknown' || !(isKeyed || /^(?:GET|QUERY)$/.test(call.method))) return false
	// A 409 with `Retry-After`: the first request with this key is still running.
	const isRunning = isKeyed && status === 409 && retryAfterSeconds !== undefined
	return code === 'network_error' || TEMPORARY.includes(status) || isRunning
}

async function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
	let timer: ReturnType<typeof setTimeout> | undefined
	const time = new Promise<void>((resolve) => {
		timer = setTimeout(resolve, milliseconds)
	})
	try {
		await unlessAborted(time, signal)
	} finally {
		clearTimeout(timer)
	}
}

/** The result of work, unless the signal is aborted first. @throws what the work throws; the signal's reason */
export function unlessAborted<T>(work: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
	return new Promise((resolve, reject) => {
		const abort = () => reject(signal?.reason)
		// If the signal was aborted while the work began, no event follows.
		if (signal?.aborted === true) abort()
		else signal?.addEventListener('abort', abort, { once: true })
		Promise.resolve(work)
			.then(resolve, reject)
			.finally(() => signal?.removeEventListener('abort', abort))
	})
}
