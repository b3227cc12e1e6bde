/** A page of a list, made of an answer. */
import type { PageMeta } from '../wire/list.ts'
import { type Answer, type Call, unexpected } from './answer.ts'
import type { ListQuery, Page } from './list-query.ts'
import { type ApiMeta, metaOf } from './meta.ts'

/** @throws ApiError where the answer is no list */
export function pageOf<T>(call: Call, { data, meta, response }: Answer, query: ListQuery<T>): Page<T> {
	if (!Array.isArray(data)) throw unexpected(call, response, 'is not a list', data)
	// The type of records is what the programmer has named it: nothing here can know better.
	const records = data as T[]
	const page = { data: records, meta: pageMeta(metaOf(meta, response.headers), query, data.length) }
	// A cache that doesn't look at the query would let `pages` go round for ever.
	if (page.meta.next === null || page.meta.next !== query.cursor) return page
	throw unexpected(call, response, 'is followed by itself', data)
}

/** Where nothing is said of it, a page is what was asked for, and the last. */
function pageMeta<T>(said: ApiMeta, query: ListQuery<T>, length: number): PageMeta {
	const { limit = query.limit ?? length, offset = query.offset ?? 0, next = null, total } = said
	return { limit, offset, next, ...(total === undefined ? {} : { total }) }
}
