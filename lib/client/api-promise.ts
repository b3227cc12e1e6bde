/** `ApiPromise`: what a call of `client()` answers, the value or all that came with it. */
import type { Answer } from './answer.ts'
import { type ApiMeta, metaOf } from './meta.ts'

/** A value, and what came beside it. */
export interface ApiResponse<T> {
	readonly data: T
	/**
	 * The `meta` of the envelope: of a list `limit`, `offset`, `next` and `total`. Without envelope it comes from the
	 * headers `Link` and `X-Total-Count`. Empty where there is none.
	 */
	readonly meta: ApiMeta
	/** The HTTP status, 200 to 299. */
	readonly status: number
	/** `ETag`, `Location`, and so on; across origins, those that CORS exposes. */
	readonly headers: Headers
}

/** A promise of a call's value. */
export interface ApiPromise<T> extends Promise<T> {
	/**
	 * The value with what came beside it. It is the same call: nothing is asked again.
	 *
	 *     const { data, meta, headers } = await api.get.articles().response()
	 */
	response(): Promise<ApiResponse<T>>
}

export function apiPromise(work: Promise<Answer>): ApiPromise<unknown> {
	const data = work.then((answer) => answer.data)
	return Object.assign(data, {
		async response() {
			// A failure is told to who waits for the response; to this promise, nobody may be listening.
			data.catch(() => {})
			const answer = await work
			const { status, headers } = answer.response
			return { data: answer.data, meta: metaOf(answer.meta, headers), status, headers }
		},
	})
}
