/** `reply()`: a value with a status and headers of its own. */

/** What an answer is given beside its value. */
export interface ReplyOptions {
	/** 200–599. @default 200 */
	readonly status?: number
	/** A list of values is sent as so many lines (Set-Cookie). */
	readonly headers?: Readonly<Record<string, string | number | readonly string[]>>
	/** Sent beside `data` in the envelope. */
	readonly meta?: Readonly<Record<string, unknown>>
}

/** A value and how it is to be sent: made by {@link reply}. */
export class CustomReply<T> {
	readonly value: T
	readonly options: ReplyOptions
	/** In the envelope whatever the handler's `wrap` says. */
	readonly enveloped: boolean

	constructor(value: T, options: ReplyOptions, enveloped: boolean) {
		this.value = value
		this.options = options
		this.enveloped = enveloped
	}
}

/**
 * A value with status and headers:
 *
 *     return reply(article, { status: 201, headers: { Location: '/blog/api/article/5' } })
 *     201 {"success":true,"data":{"id":5}}
 *
 * @throws TypeError for a promise, which would be answered as an empty object: await it first
 */
export function reply<T>(value: T, options: ReplyOptions = {}): CustomReply<T> {
	if (typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function')
		throw new TypeError('reply() was given a promise: await it first')
	return new CustomReply(value, options, false)
}
