/**
 * Translates a model's errors to `RestError`s for clients. They name only fields that the client may write or see, so that
 * clients can't find out about other fields. Called by `reads.ts`, `answers.ts` and `relations/attach.ts`; `databaseError` is
 * for methods with their own SQL, and for `transaction.ts`.
 */
import { RestError } from '../base/error.ts'
import type { Bytes } from '../base/time.ts'
import { type Condition, DEFAULT, type FieldType, type Model } from '../models/model.ts'
import { MAX_PAGE_BYTES, MissingColumn, ModelError } from '../models/model-error.ts'
import { invalid } from '../validate/problem.ts'
import type { Detail } from '../wire/codes.ts'
import type { CrudField } from './fields.ts'
import type { CrudOperation } from './options.ts'
import type { CrudPlan } from './plan.ts'
import type { Include } from './relations/parse-include.ts'
import { dependsOn, EVERYTHING, type Scope } from './scope.ts'
import { DeletedRecord } from './stamps.ts'
import { type CrudView, FACTS } from './view.ts'

/** `Retry-After` in seconds: immediate retries would keep a busy database busy. */
const RETRY_SECONDS: Readonly<Record<'busy' | 'unavailable' | 'outcome_unknown', string>> = {
	busy: '1',
	unavailable: '5',
	outcome_unknown: '5',
}

/** The members of a plan that translating errors needs. */
type ErrorPlan = Pick<
	CrudPlan,
	'owner' | 'fields' | 'keys' | 'visible' | 'creatable' | 'updatable' | 'databaseMessages' | 'maxPageBytes'
>

/** The values that a model was given to store, by the model's field names. */
type Written = Readonly<Record<string, unknown>>

/** The parts of a client's query, of records or of totals, that may hold values for the database. */
export interface AskedQuery {
	readonly where?: Condition | undefined
	readonly after?: readonly unknown[] | undefined
	readonly include?: readonly Include[] | undefined
	readonly having?: object | undefined
	readonly by?: readonly { readonly part?: unknown }[]
}

/**
 * @param operation `undefined` for a custom method, which may have called any model
 * @returns a RestError for a ModelError; a TypeError, and so a 500, if the scope names a field whose column was
 *   dropped; any other error unchanged
 */
export function restErrorOf(
	error: unknown,
	plan: ErrorPlan,
	operation?: CrudOperation,
	{ where, fixed }: Scope = EVERYTHING,
	written: Written = {},
	asked: AskedQuery = {},
): unknown {
	if (!(error instanceof ModelError)) return error
	const { kind, raised, fields, cause } = error
	if (cause instanceof MissingColumn && where !== undefined && dependsOn(where, fields, false))
		return new TypeError(`${plan.owner}.scope() names ${fields.join(', ')}, whose column is gone`, {
			cause: error,
		})
	const writable = writableFields(plan, operation, fixed)
	const shown = raised && plan.databaseMessages.get(raised.code)
	const message = shown === true ? raised?.message : shown
	switch (kind) {
		case 'forbidden':
			return new RestError('forbidden', message, { cause: error })
		case 'refused':
			return new RestError('refused_by_database', message, { cause: error })
		case 'busy':
		case 'unavailable':
		case 'outcome_unknown':
			return new RestError(kind === 'busy' ? 'unavailable' : kind, undefined, {
				headers: { 'Retry-After': RETRY_SECONDS[kind] },
				cause: error,
			})
		case 'too_large':
			return operation === 'totals'
				? tooLargeTotals(error)
				: tooLarge(error, plan.maxPageBytes, asked.include)
		case 'unique':
			return conflict(
				details(
					fields,
					writable,
					'unique',
					isExclusion(cause)
						? 'conflicts with another record'
						: `is taken by ${cause instanceof DeletedRecord ? 'a deleted' : 'another'} record`,
				),
				error,
				message,
			)
		case 'foreign_key':
			if (operation === 'remove' || operation === 'removeMany')
				return new RestError('conflict', message ?? 'Other records refer to this one', { cause: error })
			// The operation isn't known: the error may come from a deletion, or from another model.
			if (operation === undefined) return conflict([], error, message)
			return conflict(
				details(fields, writable, 'foreign_key', 'refers to a record that does not exist'),
				error,
				message,
			)
		default:
			// An invalid value is 422 in a body, and 400 in a query.
			if (!isQueried(plan, operation, message))
				return (
					unwritable(error, plan, operation, message) ?? unstorable(error, plan, writable, written, message)
				)
			return fields.length > 0 || hasValues(plan, operation, asked)
				? new RestError('bad_request', 'A query value is not valid for its field', { cause: error })
				: new Error(`${plan.owner}: a record can't be read: does a view compute one of its values?`, {
						cause: error,
					})
	}
}

/** Whether an exclusion constraint of PostgreSQL has refused the values: they may differ from those of the other record. */
function isExclusion(cause: unknown): boolean {
	return cause instanceof Error && Reflect.get(cause, 'code') === '23P01'
}

/** Whether the invalid value is of the URL: of a deletion, only the id is, unless the database has raised an error itself. */
function isQueried(
	{ keys }: ErrorPlan,
	operation: CrudOperation | undefined,
	message: string | undefined,
): operation is 'list' | 'read' | 'totals' | 'remove' {
	if (operation === 'remove') return message === undefined && keys.some(isUnchecked)
	return operation === 'list' || operation === 'read' || operation === 'totals'
}

/** Whether the client has sent a value that the database may have refused. If not, the invalid value is in a record. */
function hasValues(
	{ keys }: ErrorPlan,
	operation: CrudOperation,
	{ where, after, include = [], having, by = [] }: AskedQuery,
): boolean {
	if ((operation === 'read' || operation === 'remove') && keys.some(isUnchecked)) return true
	// `after` may come from a forged cursor. With `part`, the database may not know the client's time zone.
	const isRead =
		[where, after, having].every((one) => one === undefined) && by.every(({ part }) => part === undefined)
	return !isRead || includesValues(include)
}

function includesValues(include: readonly Include[]): boolean {
	return include.some(({ where, include: inner }) => where !== undefined || includesValues(inner))
}

/** Key types that are checked as strictly as by any database, before it gets them. */
const CHECKED: ReadonlySet<FieldType> = new Set(['boolean', 'integer', 'bigint', 'uuid', 'date'])

/** Whether only the database can tell if a value is one of the key's: such as `10000-02-30`. */
function isUnchecked({ field: { type, besides } }: CrudField): boolean {
	return !CHECKED.has(type) || besides !== undefined
}

/** @param include the page's related records, or only those that are too large */
export function tooLarge(cause: ModelError, maxBytes: Bytes, include: readonly Include[] = []): RestError {
	const places = include.map(({ place }) => place)
	const isRelated = places.length > 0
	const message = isRelated ? 'has too much for so many records' : 'is too high for records of this size'
	const details = (isRelated ? places : ['limit']).map((field) => ({ field, code: 'max', message }))
	return new RestError(
		'too_large',
		`This page would have more than ${maxBytes} bytes${isRelated ? ` with ${places.join(' and ')}` : ''}: ask for fewer records with limit, or fewer fields with fields`,
		{ details, cause },
	)
}

function tooLargeTotals(cause: ModelError): RestError {
	return new RestError('too_large', 'There is too much to group: ask for fewer groups, or filter', { cause })
}

/** @param message the database's own text, if clients may read it */
function conflict(problems: readonly Detail[], cause: ModelError, message: string | undefined): RestError {
	const details = problems.map(withOtherFields)
	const [first] = details
	// Without fields, unique and foreign_key get the same message: the client may not be allowed to know which one
	// failed.
	const text = first === undefined ? 'Conflicts with existing records' : `${first.field} ${first.message}`
	return new RestError('conflict', message ?? text, { details, cause })
}

/** In a constraint on several fields, none is wrong by itself: each detail names the other fields too. */
function withOtherFields(detail: Detail, _at: number, all: readonly Detail[]): Detail {
	const others = all.filter((other) => other !== detail).map(({ field }) => field)
	if (others.length === 0) return detail
	const first = others.slice(0, -1).join(', ')
	const listed = `${first === '' ? '' : `${first} and `}${others.at(-1)}`
	return { ...detail, message: `${detail.message}, together with ${listed}` }
}

/** The error for a field that a new record needs, and that `fields()` shows this request without letting it write it. */
function unwritable(
	error: ModelError,
	{ visible, creatable }: ErrorPlan,
	operation: CrudOperation | undefined,
	message: string | undefined,
): RestError | undefined {
	const isCreate = operation !== undefined && CREATE.has(operation)
	if (error.kind !== 'not_null' || !isCreate || message !== undefined) return undefined
	const shown = [...visible.values()].filter(({ name }) => !creatable.has(name))
	const found = details(error.fields, shown, 'required', 'is required, but this request may not write it')
	return found.length === 0 ? undefined : invalid(found, error)
}

function unstorable(
	error: ModelError,
	plan: ErrorPlan,
	writable: readonly CrudField[],
	written: Written,
	message: string | undefined,
): RestError {
	const isNull = error.kind === 'not_null'
	const code = isNull ? 'required' : error.kind
	const isGuess = error.kind === 'invalid' && error.fields.length === 0
	const fields = isGuess ? uncheckedFields(plan, written) : error.fields
	const found = details(
		fields,
		writable,
		code,
		isNull ? 'must not be null' : "can't be stored with this value",
	)
	if (isGuess && found.length > 1) {
		const names = found.map(({ field }) => field).join(', ')
		return new RestError('invalid', message ?? `A value cannot be stored: one of ${names}`, { cause: error })
	}
	if (found.length > 0 && message === undefined) return invalid(found, error)
	return new RestError('invalid', message ?? 'A value cannot be stored', { details: found, cause: error })
}

/**
 * The written fields that may have the invalid value when the database doesn't name the column: those whose types only the
 * database checks (inet, a range, an array), and values beyond their type's format (the year 10000).
 */
function uncheckedFields({ fields }: ErrorPlan, written: Written): readonly string[] {
	return [...fields.values()]
		.map(({ field }) => field)
		.filter(({ name }) => (written[name] ?? DEFAULT) !== DEFAULT)
		.filter(
			({ name, type, besides }) =>
				type === 'other' || type === 'json' || besides?.test(String(written[name])) === true,
		)
		.map(({ name }) => name)
}

const CREATE: ReadonlySet<CrudOperation> = new Set(['create', 'createMany', 'upsert'])
const CHANGE: ReadonlySet<CrudOperation> = new Set(['update', 'updateMany', 'replace', 'upsert', 'restore'])

/**
 * The fields that the client may write.
 *
 * @param fixed those that the scope sets, by the model's names: clients can't write them
 */
function writableFields(
	{ creatable, updatable }: ErrorPlan,
	operation: CrudOperation | undefined,
	fixed: ReadonlySet<string>,
): readonly CrudField[] {
	const writable = new Map([
		...(operation === undefined || CREATE.has(operation) ? creatable : []),
		...(operation === undefined || CHANGE.has(operation) ? updatable : []),
	])
	return [...writable.values()].filter(({ field }) => !fixed.has(field.name))
}

/** One detail for each of the fields that the client may write. */
function details(
	fields: readonly string[],
	writable: readonly CrudField[],
	code: string,
	message: string,
): Detail[] {
	return writable
		.filter(({ field }) => fields.includes(field.name))
		.map(({ name }) => ({ field: name, code, message }))
}

/**
 * Translates an error of the database or its driver as the operations of a `CrudHandler` do: 409, 422 or 503.
 *
 *     try {
 *       await connection.query('update account set cents = cents - 5')
 *     } catch (error) {
 *       throw databaseError(error, accounts)
 *     }
 *
 * @param of the handler or model whose table the statement used. With a handler, the answer names the fields that clients may
 * write; with a model it names none, because they may be hidden
 * @returns a RestError; an error that isn't the database's is returned as it is
 */
export function databaseError(error: unknown, of: Model | { readonly model: Model }): unknown {
	const model = 'model' in of ? of.model : of
	const plan = FACTS in of ? (of as unknown as CrudView)[FACTS].plan : planOf(model) // only a CrudHandler has FACTS
	return restErrorOf(modelErrorOf(error, model), plan)
}

/** Translates a driver's error; also one that a transaction has translated without knowing the table, and so without fields. */
function modelErrorOf(error: unknown, model: Model): unknown {
	if (!(error instanceof ModelError)) return model.failureOf?.(error) ?? error
	const again = error.fields.length === 0 ? model.failureOf?.(error.cause) : undefined
	return again?.kind === error.kind ? again : error
}

function planOf({ name }: Model): ErrorPlan {
	const none = new Map()
	return {
		...{ owner: name, fields: none, keys: [], visible: none, creatable: none, updatable: none },
		...{ databaseMessages: none, maxPageBytes: MAX_PAGE_BYTES },
	}
}
