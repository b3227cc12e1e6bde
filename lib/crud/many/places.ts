/** Places in a request's list of records: `3.title` is the field of the record with index 3. */
import { isRestError, RestError } from '../../base/error.ts'
import { ModelError } from '../../models/model-error.ts'

/** Errors about a record; any other one is about the request. */
const ABOUT_RECORDS: ReadonlySet<string> = new Set([
	...['conflict', 'invalid', 'refused_by_database', 'forbidden', 'not_found', 'precondition_failed'],
])

/** The error of one record, with its place; any other error as it is. */
export function placed(error: unknown, index: number | string): unknown {
	if (!isRestError(error) || !ABOUT_RECORDS.has(error.code ?? '')) return error
	const { code, message, headers, details = [] } = error
	const own = details.length > 0 ? details : [{ field: '', code: code ?? '', message }]
	const field = details[0]?.field
	const text =
		field !== undefined && message.startsWith(field) ? `${index}.${message}` : `${index}: ${message}`
	return new RestError(code ?? error.status, text, {
		headers,
		cause: error.cause ?? error,
		details: own.map((one) => ({
			...one,
			field: one.field === '' ? String(index) : `${index}.${one.field}`,
		})),
	})
}

/** The error of several records, with the place that the model has named. */
export function placedByModel(error: unknown): unknown {
	const cause = isRestError(error) ? error.cause : undefined
	return cause instanceof ModelError && cause.index !== undefined ? placed(error, cause.index) : error
}
