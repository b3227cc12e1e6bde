/** What a record remembers of the answer that it came in: where it is, and its ETag. */
import { isRecord } from './answer.ts'

interface Origin {
	/** Where it was asked for: another selection of its fields has another. */
	readonly url: string
	readonly id: unknown
	/** `undefined` for none, and for what is none (RFC 9110 §8.8.3). */
	readonly etag: string | undefined
}

/**
 * A property of the record itself, as frameworks keep records behind proxies, which no WeakMap would know. One that
 * isn't enumerable: copies, JSON, comparisons and logs don't have it.
 */
const ORIGIN = Symbol.for('verbena.origin')
const ETAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/

/** Lets a record remember; `id` is what it was asked for by, where that was so. */
export function remember(record: unknown, url: string, id: unknown, etag: string | null): void {
	if (!isRecord(record)) return
	const value: Origin = { url, id, etag: ETAG.exec(etag ?? '')?.[0] }
	// Configurable, or else a proxy could answer nothing but this object, and no proxy of it.
	Object.defineProperty(record, ORIGIN, { value, configurable: true })
}

export function originOf(record: object): Origin | undefined {
	// Nobody but `remember` sets what has this symbol.
	return (record as { readonly [ORIGIN]?: Origin })[ORIGIN]
}

/**
 * The ETag that a record came with, as it was sent: `"7"`; `undefined` where it came without. A copy has none.
 *
 *     await articles.update(id, values, { ifMatch: etagOf(record) })
 */
export function etagOf(record: object): string | undefined {
	return originOf(record)?.etag
}
