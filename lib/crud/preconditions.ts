/**
 * Conditional requests (RFC 9110 §13): the ETags of records, and `If-Match` and `If-None-Match`, evaluated before a change
 * or after a read. `openapi/` uses the comparisons for the ETag of its document.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isRestError, RestError } from '../base/error.ts'
import { ModelError } from '../models/model-error.ts'
import { withoutSuffixes } from '../reply/compression/compress.ts'
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
 * The tags of `If-Match` and `If-None-Match`; `undefined` without either. Tags of `If-Match` lose their compression
 * suffix, because the version is the same whether or not this instance compresses. Those of `If-None-Match` keep it: a
 * 304 confirms the exact bytes that the client has.
 */
export function conditionsOf(headers: IncomingHttpHeaders): Conditions | undefined {
	const match = headers['if-match']
	const noneMatch = headers['if-none-match']
	if (match === undefined && noneMatch === undefined) return undefined
	return { match: tagsOf(match && withoutSuffixes(match)), noneMatch: tagsOf(noneMatch) }
}

/** A malformed list counts as empty, so that nothing matches it, and a change is refused. */
function tagsOf(header: string | undefined): Tags | undefined {
	if (header === undefined) return undefined
	if (header.trim() === '*') return '*'
	return TAGS.test(header) ? (header.match(TAG) ?? []) : []
}

/** The ETag of a version: strong, because every change increments the version. */
export function etagOf(version: string): string {
	return `"${version}"`
}

/** Whether `If-Match` matches an existing record, by strong comparison (§8.8.3.2). */
function isMatched(tags: Tags, version: string | undefined): boolean {
	return tags === '*' || (version !== undefined && tags.includes(etagOf(version)))
}

/** Whether `If-None-Match` matches an existing record, by weak comparison. */
export function isWeaklyMatched(tags: Tags, version: string | undefined): boolean {
	if (tags === '*') return true
	return version !== undefined && tags.some((tag) => tag.replace(/^W\//, '') === etagOf(version))
}

/**
 * The version that the model can compare as part of the change: `If-Match` must have a single strong tag that is a
 * valid version. `undefined` if the record must be read first.
 */
function soleVersion({ match, noneMatch }: Conditions): string | undefined {
	if (noneMatch !== undefined || match === undefined || match === '*' || match.length !== 1) return undefined
	const version = match[0]?.slice(1, -1) ?? ''
	return VERSION.test(version) ? version : undefined
}

/**
 * The version that a record must have for a change; `undefined` for any. Without the option `version` records have no ETag:
 * `If-Match` with a tag is then 412, rather than ignored (RFC 9110 §13.1.1).
 *
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
	// The record must still have the compared version when it is changed.
	return match === undefined || match === '*' ? undefined : version
}

/**
 * Creates a record under the request's conditions. `If-None-Match: *` fails if there is a record with the same key.
 * `If-Match` with a tag always fails, because a collection has no ETag.
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
 * Whether the client already has this version of the record; if so, sets the status 304 (§13.1.2).
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
