/**
 * Conditional requests (RFC 9110 §13): the ETags of records, and what `If-Match` and `If-None-Match` let through, before a
 * change or after a read. The comparisons serve the description's own ETag too.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isRestError, RestError } from '../base/error.ts'
import { ModelError } from '../models/model-error.ts'
import { unmarked } from '../reply/compression/compress.ts'
import { CrudRecord } from './crud-record.ts'
import type { Scope } from './scope.ts'
import { readWithin } from './store.ts'
import { type CrudView, FACTS } from './view.ts'

/** The entity tags of a header, `*` for any. */
type Tags = '*' | readonly string[]

interface Conditions {
	readonly match: Tags | undefined
	readonly noneMatch: Tags | undefined
}

const TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g
/** A list, with the empty elements that RFC 9110 §5.6.1 allows. */
const TAGS =
	/^[ \t]*(?:,[ \t]*)*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"[ \t]*(?:,[ \t]*(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"[ \t]*)?)*$/
const VERSION = /^(?:0|-?[1-9]\d{0,18})$/

/**
 * The tags of `If-Match` and `If-None-Match`; `undefined` where neither is there. The mark of compression is taken from
 * the tags of `If-Match`: it means the same version, whether or not this instance compresses. `If-None-Match` keeps it: a
 * 304 stands for the very bytes that the client has.
 */
export function conditionsOf(headers: IncomingHttpHeaders): Conditions | undefined {
	const match = headers['if-match']
	const noneMatch = headers['if-none-match']
	if (match === undefined && noneMatch === undefined) return undefined
	return { match: tagsOf(match && unmarked(match)), noneMatch: tagsOf(noneMatch) }
}

/** A malformed list has no tags, so that nothing matches it: a change is refused rather than made blindly. */
function tagsOf(header: string | undefined): Tags | undefined {
	if (header === undefined) return undefined
	if (header.trim() === '*') return '*'
	return TAGS.test(header) ? (header.match(TAG) ?? []) : []
}

/** The ETag of a version: strong, as every change raises it. */
export function etagOf(version: string): string {
	return `"${version}"`
}

/** Whether a tag of `If-Match` is that of a record which is there, compared strongly (§8.8.3.2). */
function isMatched(tags: Tags, version: string | undefined): boolean {
	return tags === '*' || (version !== undefined && tags.includes(etagOf(version)))
}

/** Whether a tag of `If-None-Match` is that of a record which is there, compared weakly. */
export function isWeaklyMatched(tags: Tags, version: string | undefined): boolean {
	if (tags === '*') return true
	return version !== undefined && tags.some((tag) => tag.replace(/^W\//, '') === etagOf(version))
}

/**
 * The version that the conditions ask for, where the model can compare it within the change: a single strong tag that can
 * be a version, and nothing else. `undefined` where the record must be read first.
 */
function soleVersion({ match, noneMatch }: Conditions): string | undefined {
	if (noneMatch !== undefined || match === undefined || match === '*' || match.length !== 1) return undefined
	const version = match[0]?.slice(1, -1) ?? ''
	return VERSION.test(version) ? version : undefined
}

/**
 * The version that a record must have for a change; `undefined` where any will do. Without the option `version` records
 * have no ETag: `If-Match` with a tag is then 412, rather than left to overwrite (RFC 9110 §13.1.1).
 *
 * @param scope what the change is confined to
 * @throws RestError `not_found`, `precondition_failed`
 */
export async function requiredVersion(
	view: CrudView,
	id: string,
	headers: IncomingHttpHeaders,
	scope: Scope,
): Promise<string | undefined> {
	const conditions = conditionsOf(headers)
	if (conditions === undefined) return undefined
	const isVersioned = view[FACTS].plan.version !== undefined
	const sole = isVersioned ? soleVersion(conditions) : undefined
	if (sole !== undefined) return sole
	const { version } = await readWithin(view, id, scope)
	const { match, noneMatch } = conditions
	if (match !== undefined && !isMatched(match, version)) throw new RestError('precondition_failed')
	if (noneMatch !== undefined && isWeaklyMatched(noneMatch, version))
		throw new RestError('precondition_failed')
	// The version that was compared must still be there when the change is made.
	return match === undefined || match === '*' ? undefined : version
}

/**
 * Makes a record under the request's conditions. `If-None-Match: *` asks for one that isn't there yet: a record with the
 * same key fails it. The collection itself has no ETag that `If-Match` could name.
 *
 * @throws RestError `precondition_failed`
 */
export async function createConditionally<T>(
	view: CrudView,
	headers: IncomingHttpHeaders,
	create: () => Promise<T>,
): Promise<T> {
	const conditions = conditionsOf(headers)
	if (conditions?.match !== undefined && conditions.match !== '*') throw new RestError('precondition_failed')
	try {
		return await create()
	} catch (error) {
		const cause = isRestError(error) ? error.cause : undefined
		const isKeyTaken =
			cause instanceof ModelError &&
			cause.kind === 'unique' &&
			cause.fields.includes(view[FACTS].plan.model.key)
		if (isKeyTaken && conditions?.noneMatch === '*') throw new RestError('precondition_failed')
		throw error
	}
}

/**
 * Whether the client has this record already: the answer is then 304 (§13.1.2).
 *
 * @throws RestError `precondition_failed` when `If-Match` names another version
 */
export function isNotModified(view: CrudView, headers: IncomingHttpHeaders, answer: unknown): boolean {
	const conditions = conditionsOf(headers)
	if (conditions === undefined || !(answer instanceof CrudRecord)) return false
	const { match, noneMatch } = conditions
	const { version } = answer
	if (match !== undefined && !isMatched(match, version)) throw new RestError('precondition_failed')
	if (noneMatch === undefined || version === undefined || !isWeaklyMatched(noneMatch, version)) return false
	view.header('ETag', etagOf(version))
	view.status(304)
	return true
}
