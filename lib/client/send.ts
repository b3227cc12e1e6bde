/** One call: a request of `fetch`, and what its answer means. */
import { type Answer, type Call, readAnswer, titleOf } from './answer.ts'
import { ApiError } from './api-error.ts'
import { jsonScalar } from './conditions.ts'

/** What a `fetch` is called with. */
export interface FetchInit {
	readonly method: string
	readonly headers: Headers
	readonly body?: string
	readonly signal?: AbortSignal
}

/** The part of `fetch` that is used. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>

/** Headers, or what makes them anew for each call: a token that is renewed. */
export type HeaderSource =
	| Readonly<Record<string, string>>
	| (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>)

/** What holds for all calls of a client. */
export interface Settings {
	readonly fetch: Fetch | undefined
	readonly headers: HeaderSource | undefined
	/** Whether values come in the envelope. */
	readonly wrap: boolean
}

/** @throws ApiError for everything but a success; what was thrown by `fetch`, as it is, for an abort */
export async function send(call: Call, settings: Settings): Promise<Answer> {
	const { method, url, signal } = call
	const body =
		call.body === undefined ? undefined : JSON.stringify(call.body, (_name, value) => jsonScalar(value))
	const init = {
		method,
		headers: await headersOf(call, settings, body !== undefined),
		...(body === undefined ? {} : { body }),
		...(signal === undefined ? {} : { signal }),
	}
	const fetch = settings.fetch ?? platformFetch(url)
	let response: Response | undefined
	let text: string
	try {
		response = await fetch(url, init)
		text = await response.text()
	} catch (cause) {
		if (isAbort(cause, signal)) throw cause
		throw unanswered(call, response, cause)
	}
	return readAnswer(call, response, text, settings.wrap)
}

async function headersOf({ headers }: Call, settings: Settings, hasBody: boolean): Promise<Headers> {
	const { headers: source = {} } = settings
	const all = new Headers({ Accept: 'application/json' })
	if (hasBody) all.set('Content-Type', 'application/json')
	const general = typeof source === 'function' ? await source() : source
	for (const [name, value] of [...Object.entries(general), ...Object.entries(headers ?? {})])
		all.set(name, value)
	return all
}

/** The platform's, looked up at each call; called unbound, as browsers refuse it as somebody's method. */
function platformFetch(url: string): Fetch {
	if (url.startsWith('/') && !('location' in globalThis))
		throw new TypeError(
			`outside of a page, ${url} needs an origin: write https://example.org${url}, or give the client a fetch`,
		)
	return globalThis.fetch
}

function isAbort(thrown: unknown, signal: AbortSignal | undefined): boolean {
	if (signal?.aborted === true) return true
	return thrown instanceof Error && (thrown.name === 'AbortError' || thrown.name === 'TimeoutError')
}

function unanswered(call: Call, response: Response | undefined, cause: unknown): ApiError {
	const reason = cause instanceof Error ? cause.message : String(cause)
	const what = response === undefined ? 'no answer' : 'only a part of its answer'
	return new ApiError(`${titleOf(call)} got ${what}: ${reason}`, {
		...{ status: response?.status ?? 0, code: 'network_error', response, cause },
	})
}
