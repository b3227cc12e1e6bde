/** One call: its attempts, each a request of `fetch`, and what the answer means. */
import { unlessAborted } from './abort.ts'
import { type Answer, type Call, isRecord, readAnswer, titleOf } from './answer.ts'
import { ApiError } from './api-error.ts'
import { jsonScalar } from './conditions.ts'
import { requestOf } from './prepare.ts'
import { nextOf } from './redirect.ts'
import { PLATFORM, type Timing, waitAfter } from './retry.ts'
import type { Fetch, FetchInit, Settings } from './settings.ts'

/** `fetch` follows as many. */
const MOST_HOPS = 20

/**
 * Asks, and asks again where that does no harm and may help: each time with headers and a signature of its own.
 *
 * @throws ApiError for everything but a success; the signal's reason for an abort; as it is what the settings'
 *   `headers` or `sign` throw
 */
export async function send(call: Call, settings: Settings, timing: Timing = PLATFORM): Promise<Answer> {
	const { signal } = call
	// All attempts send the same bytes, whatever becomes of the values meanwhile.
	const text = jsonOf(call)
	let asked = call
	let hops = 0
	for (let attempt = 0; ; ) {
		signal?.throwIfAborted()
		const { fetch, init } = await requestOf(asked, text, settings)
		signal?.throwIfAborted()
		try {
			const work = ask(asked, fetch, init, { wrap: settings.wrap, now: timing.now })
			// Not every fetch looks at its signal; it has begun, as Node warns of more listeners than its own at once.
			const answer = await unlessAborted(work, signal)
			if (typeof answer !== 'string') return answer
			// Each request is made, and signed, for where it goes.
			asked = { ...call, url: answer }
			if (hops++ >= MOST_HOPS) throw unanswered(call, undefined, 'too many redirects')
		} catch (error) {
			const wait = attempt < settings.retries ? waitAfter(attempt++, call, error, timing) : undefined
			if (wait === undefined) throw error
			await timing.sleep(wait, signal)
		}
	}
}

/** The body as JSON. */
function jsonOf(call: Call): string | undefined {
	const { body } = call
	if (body === undefined) return undefined
	const text: string | undefined = JSON.stringify(
		body,
		function (this: Record<string, unknown>, name, value) {
			// Before any `toJSON`, which a Buffer has too.
			const given = this[name]
			if (isLost(given)) throw unsendable(call)
			return jsonScalar(given instanceof Date ? given : value)
		},
	)
	if (text === undefined) throw unsendable(call)
	return text
}

/** What JSON would make `{}` of, or an object of numbers. */
function isLost(value: unknown): boolean {
	if (ArrayBuffer.isView(value)) return true
	return isRecord(value) && !value.toJSON && /^\[object (?!Obj|Arr)/.test({}.toString.call(value))
}

function unsendable(call: Call): TypeError {
	return new TypeError(`${titleOf(call)}: a body is sent as JSON; send files and forms by fetch`)
}

/** What is answered, or where the request is sent on to. */
async function ask(
	call: Call,
	fetch: Fetch,
	init: FetchInit,
	{ wrap, now }: { readonly wrap: boolean; readonly now: () => number },
): Promise<Answer | string> {
	let response: Response | undefined
	let text: string | undefined
	try {
		response = await fetch(call.url, init)
		// All of it is read, also of a redirect, or else it would keep its connection.
		text = await (call.read ? call.read(response) : response.text())
	} catch (cause) {
		if (cause instanceof Error && /^(?:Abort|Timeout)Error$/.test(cause.name)) throw cause
		throw unanswered(call, response, cause)
	}
	return nextOf(call, response, init.method) ?? readAnswer(call, response, text, { wrap, now: now() })
}

function unanswered(call: Call, response: Response | undefined, cause: unknown): ApiError {
	const reason = cause instanceof Error ? cause.message : String(cause)
	const what = response === undefined ? 'no answer' : 'only a part of its answer'
	return new ApiError(`${titleOf(call)} got ${what}: ${reason}`, {
		...{ status: response?.status ?? 0, code: 'network_error', response, cause },
	})
}
