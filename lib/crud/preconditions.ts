/** ETags of records, and the conditions that requests put on them (RFC 9110 §13). */
import type { IncomingHttpHeaders } from 'node:http'
import type { Milliseconds } from '../base/time.ts'
import type { Field } from '../models/model.ts'
import { unmarked } from '../reply/compression/compress.ts'

/** The entity tags of a header, `*` for any. */
export type Tags = '*' | readonly string[]

export interface Conditions {
	readonly match: Tags | undefined
	readonly noneMatch: Tags | undefined
}

const TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g
/** A list, with the empty elements that RFC 9110 §5.6.1 lets pass. */
const TAGS =
	/^[ \t]*(?:,[ \t]*)*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"[ \t]*(?:,[ \t]*(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"[ \t]*)?)*$/
const WHOLE = /^(?:0|-?[1-9]\d{0,18})$/

/**
 * What `If-Match` and `If-None-Match` say; `undefined` where neither is there. `If-Match` may name the tag of an answer
 * that another instance has compressed, or this one before that was switched off: the version is the same. A 304 is of
 * the very bytes that the client has: where we wouldn't compress them, it gets them anew.
 */
export function conditionsOf(headers: IncomingHttpHeaders): Conditions | undefined {
	const match = headers['if-match']
	const noneMatch = headers['if-none-match']
	if (match === undefined && noneMatch === undefined) return undefined
	return { match: tagsOf(match && unmarked(match)), noneMatch: tagsOf(noneMatch) }
}

/** What is no list of tags has none, so that nothing matches it: a change is rather refused than made blindly. */
function tagsOf(header: string | undefined): Tags | undefined {
	if (header === undefined) return undefined
	if (header.trim() === '*') return '*'
	return TAGS.test(header) ? (header.match(TAG) ?? []) : []
}

/**
 * The version of a new record. One that begins at 1 comes back when a record is deleted and its key is given again, and
 * an ETag of the old record would then be one of the new. Where the field has room: the time in microseconds, which no
 * number of changes outruns. Else a random one, so that half of the field's numbers are left for changes; none of the
 * first numbers, which programs that insert beside the API count from.
 */
export function firstVersion({ max }: Field, now: Milliseconds = Date.now()): number {
	const most = Number(max ?? Number.MAX_SAFE_INTEGER)
	if (most >= Number.MAX_SAFE_INTEGER) return now * 1_000 + Math.floor(Math.random() * 1_000)
	const greatest = Math.floor(most / 2)
	const least = Math.ceil(greatest / 64)
	return least + Math.floor(Math.random() * (greatest - least + 1))
}

/** The ETag of a version: strong, as every change raises it. */
export function etagOf(version: string): string {
	return `"${version}"`
}

/** Whether `If-Match` holds for a record that is there, compared strongly (§8.8.3.2). */
export function isMatched(tags: Tags, version: string | undefined): boolean {
	return tags === '*' || (version !== undefined && tags.includes(etagOf(version)))
}

/** Whether a tag of `If-None-Match` is the record's, compared weakly. */
export function isAmongNone(tags: Tags, version: string | undefined): boolean {
	if (tags === '*') return true
	return version !== undefined && tags.some((tag) => tag.replace(/^W\//, '') === etagOf(version))
}

/**
 * The version that the conditions ask for, where it can be left to the model to compare it within its change: one
 * strong tag that can be a version, and nothing else. `undefined` where the record must be looked at first.
 */
export function soleVersion({ match, noneMatch }: Conditions): string | undefined {
	if (noneMatch !== undefined || match === undefined || match === '*' || match.length !== 1) return undefined
	const version = match[0]?.slice(1, -1) ?? ''
	return WHOLE.test(version) ? version : undefined
}
