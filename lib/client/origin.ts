/**
 * Where a record came from: its URL, its id and its ETag, which the record keeps, so that a later call needs only the
 * record. For `CrudClient`.
 */
import { idSegment } from './address.ts'
import { isRecord } from './answer.ts'

/**
 * `If-None-Match` for a record that is read again. With other `fields` the URL differs, and the ETag isn't valid for it.
 */
export function readCondition(of: unknown, url: string): Record<string, string> {
	const { url: own, etag } = (isRecord(of) ? originOf(of) : undefined) ?? {}
	return etag !== undefined && own === url ? { 'If-None-Match': etag } : {}
}

const IF_MATCH = /^(?:W\/(?="))?(\*|"[\x21\x23-\x7e\x80-\xff]*")$/

/** The given id, or the id of the given record. @throws TypeError for a record whose id isn't known */
export function idOf(of: unknown, key: readonly string[]): unknown {
	if (!isRecord(of) || Array.isArray(of)) return of
	const id = originOf(of)?.id ?? valuesOf(of, key)
	if (id !== undefined) return id
	throw new TypeError(
		`the record has no ${key.join()}, so its id isn't known: pass the id, or set the client's key`,
	)
}

/** The values of the key, if the record has all of them. */
export function valuesOf(
	record: Readonly<Record<string, unknown>>,
	key: readonly string[],
): unknown[] | undefined {
	const values = key.map((name) => record[name])
	return values.includes(undefined) ? undefined : values
}

export function segmentOf(id: unknown): string {
	const [only, ...more] = Array.isArray(id) ? id : [id]
	if (more.length === 0) return idSegment(only)
	return [only, ...more].map((value) => idSegment(value, false)).join()
}

/**
 * `If-Match` of a change: the given ETag, or else the record's own. Removes the `W/` that a compressing proxy adds,
 * because a weak tag never matches (RFC 9110 §13.1.1). If the server's own tags are weak, it then refuses the change,
 * which is better than an unconditional one.
 *
 * @throws TypeError for an invalid `ifMatch`
 */
export function changeCondition(of: unknown, ifMatch: string | undefined): Record<string, string> {
	const [, tag] = IF_MATCH.exec(ifMatch ?? (isRecord(of) ? originOf(of)?.etag : undefined) ?? '') ?? []
	if (tag !== undefined) return { 'If-Match': tag }
	if (ifMatch === undefined) return {}
	throw new TypeError(`ifMatch must be an ETag, like '"7"', or '*'`)
}

/** Where a record came from. */
interface Origin {
	/** The URL that the record was read from, with the selected fields. */
	readonly url: string
	readonly id: unknown
	/** `undefined` if absent or malformed (RFC 9110 §8.8.3). */
	readonly etag: string | undefined
}

/**
 * A property of the record itself, because frameworks wrap records in proxies, which a WeakMap wouldn't find. Not
 * enumerable, so copies, JSON, comparisons and logs don't have it.
 */
const ORIGIN = Symbol.for('verbena.origin')
const ETAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/

export function setOrigin(record: unknown, url: string, id: unknown, etag: string | null): void {
	if (!isRecord(record)) return
	const value: Origin = { url, id, etag: ETAG.exec(etag ?? '')?.[0] }
	// Configurable: for other properties, a framework's proxy must return the original object, and couldn't wrap it.
	Object.defineProperty(record, ORIGIN, { value, configurable: true })
}

function originOf(record: object): Origin | undefined {
	// Only `setOrigin` sets this symbol.
	return (record as { readonly [ORIGIN]?: Origin })[ORIGIN]
}

/**
 * The ETag that a record came with, as sent: `"7"`; `undefined` if there was none, and for copies of a record.
 *
 *     await articles.update(id, values, { ifMatch: etagOf(record) })
 */
export function etagOf(record: object): string | undefined {
	return originOf(record)?.etag
}
