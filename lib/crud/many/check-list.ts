/**
 * Checks a list of records in a request, for `createMany`, `updateMany` and `upsert`, and names the places of problems in it:
 * `3.title` is the field of the record with index 3.
 */
import { isRestError, RestError } from '../../base/error.ts'
import { isPlain } from '../../base/options.ts'
import { isThenable } from '../../base/thenable.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { ModelError } from '../../models/model-error.ts'
import { conditionsOf } from '../../reply/etag.ts'
import { invalid, MAX_PROBLEMS } from '../../validate/problem.ts'
import type { Detail } from '../../wire/codes.ts'
import { textInList } from '../answers.ts'
import type { CrudPlan } from '../plan.ts'
import { type CrudView, STATE } from '../view.ts'

/** Calls `check` for each record in the body. @throws RestError `invalid` with the problems of all records */
export async function checkedEach<T>(
	{ maxBatch }: CrudPlan,
	exchange: Exchange,
	check: (body: Readonly<Record<string, unknown>>) => T | PromiseLike<T>,
): Promise<readonly T[]> {
	const { value } = exchange.body.decoded()
	if (!Array.isArray(value)) throw new RestError('invalid', 'The body must be a list of records')
	if (value.length > maxBatch)
		throw invalid([{ field: '', code: 'max', message: `The body must have at most ${maxBatch} records` }])
	const problems: Detail[] = []
	const records = await collectEach(value, problems, '', check)
	if (problems.length > 0) throw invalid(problems)
	return records
}

/**
 * Calls `check` for each record, and adds the problems of those that it refuses to `problems`.
 *
 * @param prefix of the places that problems name: `comments.` in `comments.3.text`
 */
export async function collectEach<T>(
	given: readonly unknown[],
	problems: Detail[],
	prefix: string,
	check: (body: Readonly<Record<string, unknown>>) => T | PromiseLike<T>,
): Promise<readonly T[]> {
	const records: T[] = []
	for (const [index, body] of given.entries()) {
		if (problems.length >= MAX_PROBLEMS) break
		const place = `${prefix}${index}`
		if (!isPlain(body)) {
			problems.push({ field: place, code: 'object', message: 'must be an object with named fields' })
			continue
		}
		try {
			const checked = check(body as Readonly<Record<string, unknown>>) // a plain object
			records.push(isThenable(checked) ? await checked : checked)
		} catch (error) {
			addProblems(problems, placed(error, place))
		}
	}
	return records
}

/** Adds what is wrong with a body to the problems. @throws any other error */
export function addProblems(problems: Detail[], error: unknown): undefined {
	if (!isRestError(error) || error.code !== 'invalid') throw error
	problems.push(...(error.details ?? []))
}

/** @throws RestError `bad_request` */
export function refuseInclude(view: CrudView): void {
	if (view[STATE].include.length > 0)
		throw new RestError('bad_request', 'include is for one record: read the records to include more')
}

/**
 * A collection exists and has no ETag, so tags never match (RFC 9110 §13.1); the versions of its records are in the list.
 *
 * @throws RestError `precondition_failed` for `If-Match` with a tag, and for `If-None-Match: *`
 */
export function refuseTags({ headers }: Exchange): void {
	const { match = '*', noneMatch } = conditionsOf(headers) ?? {}
	if (match !== '*' || noneMatch === '*') throw new RestError('precondition_failed')
}

/**
 * Limits the bytes of the answers to a list of records: a short request may ask for long records.
 *
 * @returns a function that counts an answer, as it is before `stripObject`, and returns it. It throws a RestError `too_large`
 * beyond `maxPageBytes`, which rolls back the whole list
 */
export function boundAnswers({ maxPageBytes }: CrudPlan): <T>(answer: T) => T {
	// `[`, and a comma or `]` after each answer.
	let left = maxPageBytes - 1
	return (answer) => {
		left -= Buffer.byteLength(textInList(answer)) + 1
		if (left >= 0) return answer
		throw new RestError(
			'too_large',
			`The answer would have more than ${maxPageBytes} bytes: send fewer records, or ask for fewer fields with fields`,
		)
	}
}

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
