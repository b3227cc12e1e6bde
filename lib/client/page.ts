/** A page of a list, made of an answer: with the envelope's `meta`, or, without envelope, of headers. */
import type { PageMeta } from '../wire/list.ts'
import { type Answer, type Call, isRecord, unexpected } from './answer.ts'
import type { ListQuery, Page } from './list-query.ts'

/** @throws ApiError where the answer is no list */
export function pageOf<T>(call: Call, { data, meta, response }: Answer, query: ListQuery<T>): Page<T> {
	if (!Array.isArray(data)) throw unexpected(call, response, 'is not a list', data)
	// The type of records is what the programmer has named it: nothing here can know better.
	const records = data as T[]
	return { data: records, meta: metaOf(meta, response.headers, query, data.length) }
}

function metaOf<T>(meta: unknown, headers: Headers, query: ListQuery<T>, length: number): PageMeta {
	const known = isRecord(meta) ? meta : fromHeaders(headers)
	const { limit, offset, next, total } = known
	return {
		limit: typeof limit === 'number' ? limit : (query.limit ?? length),
		offset: typeof offset === 'number' ? offset : (query.offset ?? 0),
		next: typeof next === 'string' ? next : null,
		...(typeof total === 'number' ? { total } : {}),
	}
}

/** `Link: <…?cursor=…>; rel="next"` (RFC 8288) and `X-Total-Count`; across origins, CORS must expose both. */
function fromHeaders(headers: Headers): { readonly [K in keyof PageMeta]?: unknown } {
	const [, link] = /<([^>]*)>[^,<]*;\s*rel="?next"?/i.exec(headers.get('Link') ?? '') ?? []
	const next = link === undefined ? undefined : new URLSearchParams(link.split('?')[1])
	const total = headers.get('X-Total-Count')
	const limit = next?.get('limit')
	return {
		next: next?.get('cursor'),
		...(total === null ? {} : { total: Number(total) }),
		...(limit === null || limit === undefined ? {} : { limit: Number(limit) }),
	}
}
