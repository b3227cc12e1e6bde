/** What a request's conditions let through: looked at before a change, or after a read. */
import type { IncomingHttpHeaders } from 'node:http'
import { isRestError, RestError } from '../base/error.ts'
import { ModelError } from '../models/model-error.ts'
import { conditionsOf, etagOf, isAmongNone, isMatched, soleVersion } from './preconditions.ts'
import { CrudRecord } from './record.ts'
import type { Scope } from './scope.ts'
import { readWithin } from './store.ts'
import { type CrudView, FACTS } from './view.ts'

/**
 * The version that a record must have for a change; `undefined` where any will do. Without the option `version`
 * no record has an ETag, so that none matches: a client which believes in one is told so, by 412, rather than
 * left to overwrite (RFC 9110 §13.1.1).
 *
 * @param scope what the change is confined to
 * @throws RestError `not_found`, `precondition_failed`
 */
export async function guardedVersion(
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
	if (noneMatch !== undefined && isAmongNone(noneMatch, version)) throw new RestError('precondition_failed')
	// What was just compared must still hold when the change is made.
	return match === undefined || match === '*' ? undefined : version
}

/**
 * Runs a create under its conditions. `If-None-Match: *` asks for a record that isn't there yet: one with the same
 * key fails it. The collection itself has no ETag that `If-Match` could name.
 *
 * @throws RestError `precondition_failed`
 */
export async function guardedCreate<T>(
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
		const isTaken =
			cause instanceof ModelError &&
			cause.kind === 'unique' &&
			cause.fields.includes(view[FACTS].plan.model.key)
		if (isTaken && conditions?.noneMatch === '*') throw new RestError('precondition_failed')
		throw error
	}
}

/**
 * Whether the client has this record already, so that it is answered 304 (§13.1.2).
 *
 * @throws RestError `precondition_failed` when `If-Match` names another one
 */
export function isKnown(view: CrudView, headers: IncomingHttpHeaders, answer: unknown): boolean {
	const conditions = conditionsOf(headers)
	if (conditions === undefined || !(answer instanceof CrudRecord)) return false
	const { match, noneMatch } = conditions
	const { version } = answer
	if (match !== undefined && !isMatched(match, version)) throw new RestError('precondition_failed')
	if (noneMatch === undefined || version === undefined || !isAmongNone(noneMatch, version)) return false
	view.header('ETag', etagOf(version))
	view.status(304)
	return true
}
