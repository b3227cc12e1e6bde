/** What is in an answer: its value without the envelope, its error and problems. */
import type { AnswerData } from '../page-data.ts'
import { type App, reasonOf } from './app.ts'
import { isList, isRecord, type JsonValue, parseJson } from './json-value.ts'

/** The value of an answer, without its envelope. */
export interface Content {
	readonly data: JsonValue | undefined
	readonly meta: JsonValue | undefined
}

export function contentOf({ body, status }: Pick<AnswerData, 'body' | 'status'>): Content {
	const whole = parseJson(body)
	if (!isRecord(whole) || status >= 400) return { data: whole, meta: undefined }
	const isEnveloped = whole.get('success') === true && whole.has('data')
	return isEnveloped ? { data: whole.get('data'), meta: whole.get('meta') } : { data: whole, meta: undefined }
}

/** What is in the page's answer. */
export function shownContent(app: App): Content {
	return app.once('content', () => contentOf(app.data.answer ?? { body: '', status: 404 }))
}

/** A problem with a field or a parameter, from an answer. */
export interface Problem {
	readonly field: string
	readonly message: string
}

/** @param name of the member that lists them: `details` of an error */
export function problemsIn(data: JsonValue | undefined, name = 'details'): Problem[] {
	const details = isRecord(data) ? data.get(name) : undefined
	if (!isList(details)) return []
	return details.flatMap((one) => {
		const [field, message] = isRecord(one) ? [one.get('field'), one.get('message')] : []
		return typeof message === 'string' ? [{ field: typeof field === 'string' ? field : '', message }] : []
	})
}

/** What an error says, with its status. */
export function messageOf({ status, reason, body }: Pick<AnswerData, 'status' | 'reason' | 'body'>): string {
	const { data } = contentOf({ status, body })
	const error = isRecord(data) ? data.get('error') : undefined
	return `${typeof error === 'string' ? error : `${status} ${reason}`} (${status})`
}

export interface Asked extends Content {
	readonly headers: Headers | undefined
	/** Why there is no value, in words. */
	readonly error: string | undefined
}

/** The JSON at a URL, with the session's credentials; or, in words, why there is none. Never rejects. */
export async function ask(app: App, url: string): Promise<Asked> {
	try {
		const answer = await app.fetch(url, { headers: { Accept: 'application/json' } })
		const { status, statusText: reason } = answer
		const body = await answer.text()
		const error = status < 400 ? undefined : messageOf({ status, reason, body })
		return { ...contentOf({ status, body }), headers: answer.headers, error }
	} catch (error) {
		return { data: undefined, meta: undefined, headers: undefined, error: reasonOf(error) }
	}
}
