/**
 * `reply()`: a value with a status and headers of its own. Imports nothing from Node: the client's types refer to this
 * file, and are compiled for browsers too.
 */
import { isThenable } from '../base/thenable.ts'

/** Options of `reply()`. */
export interface ReplyOptions {
	/** 200–599. @default 200 */
	readonly status?: number
	/** A list of values is sent as several lines (Set-Cookie). */
	readonly headers?: Readonly<Record<string, string | number | readonly string[]>>
	/** `meta` in the envelope, next to `data`. */
	readonly meta?: Readonly<Record<string, unknown>>
}

/** A value and how to send it: made by {@link reply}. */
export class CustomReply<T> {
	readonly value: T
	readonly options: ReplyOptions
	/** Whether the value gets the envelope even if the handler's `wrap` is false. */
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
 * @throws TypeError for a promise, which would be sent as an empty object: await it first
 */
export function reply<T>(value: T, options: ReplyOptions = {}): CustomReply<T> {
	if (isThenable(value)) throw new TypeError('reply() was given a promise: await it first')
	return new CustomReply(value, options, false)
}
