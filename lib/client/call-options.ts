/** What one call of a `CrudClient` has beside its values, and the records that a call can be about. */
import type { Id } from './address.ts'
import { isRecord } from './answer.ts'
import type { FieldName } from './list-query.ts'
import { originOf } from './origin.ts'

/** What every call takes. */
export interface CallOptions {
	/** Ends the call, and the wait between its attempts: it rejects with the signal's reason. */
	readonly signal?: AbortSignal | undefined
	/** Headers of this request; they win over all others. */
	readonly headers?: Readonly<Record<string, string>> | undefined
}

/** What a call that answers a record takes. */
export interface RecordOptions<T, F extends FieldName<T> = FieldName<T>> extends CallOptions {
	/** The fields to answer; all that are visible, where nothing is given. */
	readonly fields?: readonly F[] | undefined
}

/** What `create` takes. */
export interface CreateOptions<T, F extends FieldName<T> = FieldName<T>> extends RecordOptions<T, F> {
	/**
	 * 1 to 255 characters of printable ASCII, new for each record: a server that keeps such keys creates it once,
	 * however often it is asked, so that the call is tried again as a read is.
	 *
	 * @default none: a create is tried once
	 */
	readonly idempotencyKey?: string | undefined
}

/** What `update`, `replace` and `delete` take. */
export interface ChangeOptions<T, F extends FieldName<T> = FieldName<T>> extends RecordOptions<T, F> {
	/** An ETag, `"7"`: only that version is changed; `*`: only what is there. @default the record's own */
	readonly ifMatch?: string | undefined
}

/** The id of a record, or the record. */
export type RecordOrId<T> = Id | Readonly<Partial<T>>

const MATCHING = /^(?:W\/(?="))?(\*|"[\x21\x23-\x7e\x80-\xff]*")$/

/**
 * What is given for an id, or the id of a record that is given. `idSegment` checks what it is.
 *
 * @throws TypeError for a record whose id isn't known
 */
export function idOf(of: unknown, key: string): unknown {
	if (!isRecord(of)) return of
	const id = originOf(of)?.id ?? of[key]
	if (id !== undefined) return id
	throw new TypeError(
		`the record has no ${key}, so that its id isn't known: give the id, or the client its key`,
	)
}

/**
 * What guards a change: the ETag that is given, else the record's own. The server's are strong, and a weak one would
 * match nothing (RFC 9110 §13.1.1): one that a proxy has weakened, as it compressed the answer, stands for the same
 * version. Of a server whose tags are weak themselves the change is refused then, rather than made unguarded.
 *
 * @throws TypeError for an `ifMatch` that can match nothing
 */
export function matching(of: unknown, ifMatch: string | undefined): Record<string, string> {
	const [, tag] = MATCHING.exec(ifMatch ?? (isRecord(of) ? originOf(of)?.etag : undefined) ?? '') ?? []
	if (tag !== undefined) return { 'If-Match': tag }
	if (ifMatch === undefined) return {}
	throw new TypeError(`ifMatch must be an ETag, like '"7"', or '*'`)
}

/** @throws TypeError for what is no key */
export function checkedKey(key: string | undefined): string | undefined {
	if (key === undefined || (typeof key === 'string' && /^[\x20-\x7e]{1,255}$/.test(key))) return key
	throw new TypeError('an idempotencyKey must be 1 to 255 characters of ASCII')
}
