/**
 * Conditional requests for records (RFC 9110 §13): `If-Match` and `If-None-Match`, evaluated before a change or after a
 * read. A single `If-Match` tag is left to the model, which compares it as part of the change (`models/sql/writes.ts`).
 * `reply/etag.ts` parses and compares the tags, and `answers.ts` sends them.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isRestError, RestError } from '../base/error.ts'
import { ModelError } from '../models/model-error.ts'
import { type Conditions, conditionsOf, etagOf, isStronglyMatched, isWeaklyMatched } from '../reply/etag.ts'
import { CrudRecord } from './answers.ts'
import { readWithin } from './reads.ts'
import type { Scope } from './scope.ts'
import { CANONICAL_INTEGER } from './value-from-text.ts'
import { type CrudView, FACTS } from './view.ts'

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
	if (match !== undefined && !isStronglyMatched(match, version)) throw new RestError('precondition_failed')
	if (noneMatch !== undefined && isWeaklyMatched(noneMatch, version))
		throw new RestError('precondition_failed')
	// The record must still have the compared version when it is changed.
	return match === undefined || match === '*' ? undefined : version
}

/**
 * The version that the model can compare as part of the change: `If-Match` must have a single strong tag that is a
 * valid version. `undefined` if the record must be read first.
 */
function soleVersion({ match, noneMatch }: Conditions): string | undefined {
	if (noneMatch !== undefined || match === undefined || match === '*' || match.length !== 1) return undefined
	const version = match[0]?.slice(1, -1) ?? ''
	return CANONICAL_INTEGER.test(version) ? version : undefined
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
	// Most creates have none.
	if (headers['if-match'] === undefined && headers['if-none-match'] === undefined) return create()
	const conditions = conditionsOf(headers)
	if (conditions?.match !== undefined && conditions.match !== '*') throw new RestError('precondition_failed')
	try {
		return await create()
	} catch (error) {
		const cause = isRestError(error) ? error.cause : undefined
		const isKeyTaken =
			cause instanceof ModelError &&
			cause.kind === 'unique' &&
			view[FACTS].plan.keys.every(({ field }) => cause.fields.includes(field.name))
		if (isKeyTaken && conditions?.noneMatch === '*') throw new RestError('precondition_failed')
		throw error
	}
}

/**
 * Whether the client already has this version of the record; if so, sets the status 304 (§13.1.2). Never with `fields()` or
 * `stripObject()`, which may show callers different parts of the same version: a browser that two users share would show one of
 * them what it has cached for the other.
 *
 * @throws RestError `precondition_failed` when `If-Match` names another version
 */
export function isNotModified(view: CrudView, headers: IncomingHttpHeaders, answer: unknown): boolean {
	const conditions = conditionsOf(headers)
	if (conditions === undefined || !(answer instanceof CrudRecord)) return false
	const { match, noneMatch } = conditions
	const { version } = answer
	if (match !== undefined && !isStronglyMatched(match, version)) throw new RestError('precondition_failed')
	const { isNarrowed, isStripped } = view[FACTS]
	if (noneMatch === undefined || version === undefined || isNarrowed || isStripped) return false
	if (!isWeaklyMatched(noneMatch, version)) return false
	view.header('ETag', etagOf(version))
	view.status(304)
	return true
}
