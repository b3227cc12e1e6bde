/** The request of a `CrudClient` for one record, or for the collection that it belongs to. */
import type { Call } from './answer.ts'
import type { ChangeOptions, CreateOptions } from './call-options.ts'
import { type AnyQuery, selectionText } from './list-query.ts'
import { changeCondition, idOf, readCondition, segmentOf } from './origin.ts'
import { type CallOptions, checkedKey, checkNames } from './settings.ts'

/** The options of every call. */
export const OPTIONS: readonly string[] = ['signal', 'headers'] satisfies (keyof CallOptions)[]

/** Options of a call that may have an idempotency key, as in {@link CreateOptions}. */
export type KeyedOptions = CallOptions & Pick<CreateOptions<object>, 'idempotencyKey'>

/** Passed instead of a record if the URL has no id: a collection's, or that of a to-one relation. */
export const NO_ID: unique symbol = Symbol('noId')

interface RecordRequest {
	readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
	/** The collection's. */
	readonly url: string
	readonly key: readonly string[]
	readonly of: unknown
	readonly body: unknown
	readonly options: CallOptions &
		Pick<AnyQuery, 'fields' | 'include'> &
		Pick<ChangeOptions<object>, 'ifMatch'> &
		Pick<CreateOptions<object>, 'idempotencyKey'>
	/** Appended to the record's URL: `/restore`, `?on=slug`. */
	readonly below: string
}

/** `url` is the record's, with `fields` and `include` but without `below`. */
export function recordCall({ method, url: collection, key, of, body, options, below }: RecordRequest): {
	readonly call: Call
	readonly id: unknown
	readonly url: string
} {
	const own = method === 'GET' ? [] : [of === NO_ID ? 'idempotencyKey' : 'ifMatch']
	checkNames(`${method} ${collection}`, options, [...OPTIONS, 'fields', 'include', ...own])
	const { fields, include, ifMatch, idempotencyKey, ...rest } = options
	const id = of === NO_ID ? undefined : idOf(of, key)
	const path = of === NO_ID ? collection : `${collection}/${segmentOf(id)}`
	const selection = selectionText({ fields, include })
	const url = path + selection
	const conditions = method === 'GET' ? readCondition(of, url) : changeCondition(of, ifMatch)
	const call = {
		...{ ...rest, method, body, conditions, takesKey: of === NO_ID },
		url: path + below + (below.startsWith('?') ? selection.replace('?', '&') : selection),
		idempotencyKey: checkedKey(idempotencyKey),
	}
	return { call, id, url }
}

/** As {@link callOf}, with an idempotency key if there is one. */
export function keyedCallOf({ idempotencyKey, ...options }: KeyedOptions = {}, encoded: Call): Call {
	checkNames('a deletion', options, [...OPTIONS, 'idempotencyKey'])
	return { ...options, ...encoded, takesKey: true, idempotencyKey: checkedKey(idempotencyKey) }
}

export function callOf(options: CallOptions = {}, encoded: Call): Call {
	checkNames('a list', options, OPTIONS)
	return { ...options, ...encoded }
}
