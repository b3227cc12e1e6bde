/** What an answer says beside its value: the envelope's `meta`, or, without envelope, headers. */
import type { PageMeta } from '../wire/list.ts'
import { isRecord } from './answer.ts'

/** What lists say of their pages, as far as it was sent, and whatever else a method has given as `meta`. */
export type ApiMeta = Partial<PageMeta> & { readonly [name: string]: unknown }

/** `meta` as it was sent, without what isn't what a page's must be; empty where nothing was. */
export function metaOf(meta: unknown, headers: Headers): ApiMeta {
	const said = { ...(isRecord(meta) ? meta : fromHeaders(headers)) }
	for (const name of ['limit', 'offset', 'total']) if (typeof said[name] !== 'number') delete said[name]
	if (typeof said.next !== 'string' && said.next !== null) delete said.next
	return said
}

/** `Link: <…?cursor=…>; rel="next"` (RFC 8288) and `X-Total-Count`; across origins, CORS must expose both. */
function fromHeaders(headers: Headers): Record<string, unknown> {
	// Nothing is looked at again behind each `<`: of a thousand of them, that would take its time.
	const [, link = ''] = /<([^<>]*)>[^,<]*;\s*rel="?next(?![\w-])/i.exec(headers.get('Link') ?? '') ?? []
	const next = new URLSearchParams(link.split('?')[1])
	return {
		limit: wholeOf(next.get('limit')),
		next: next.get('cursor') ?? undefined,
		total: wholeOf(headers.get('X-Total-Count')),
	}
}

function wholeOf(digits: string | null): number | undefined {
	return /^\d+$/.test(digits ?? '') ? Number(digits) : undefined
}
