/** What a model refuses, as what a client is told: of fields that it may write, and of nothing else. */
import { RestError } from '../base/error.ts'
import { DEFAULT } from '../models/model.ts'
import { GoneField, ModelError, type RaisedError } from '../models/model-error.ts'
import { invalid } from '../validate/problem.ts'
import type { Detail } from '../wire/codes.ts'
import type { FieldMap } from './fields.ts'
import type { CrudOperation, MessageMap } from './options.ts'
import type { CrudPlan } from './plan.ts'
import { EVERYTHING, type Scope } from './scope.ts'

/** Asked again sooner, whoever is busy would only be busier. */
const RETRY: Readonly<Record<'busy' | 'unavailable' | 'outcome_unknown', string>> = {
	busy: '1',
	unavailable: '5',
	outcome_unknown: '5',
}

const NONE: FieldMap = new Map()

/** What a model was given to store, by its names. */
type Written = Readonly<Record<string, unknown>>

const NOTHING: Written = Object.freeze({})

/** @param operation none where a method beside the operations has asked a model, which may be any */
export function restErrorOf(
	error: unknown,
	plan: CrudPlan,
	operation?: CrudOperation,
	scope: Scope = EVERYTHING,
	written: Written = NOTHING,
): unknown {
	if (!(error instanceof ModelError)) return error
	const gone = error.cause instanceof GoneField ? namedBy(scope, error) : undefined
	if (gone !== undefined)
		return new TypeError(`${plan.owner}.scope() names ${gone}, whose column is gone`, { cause: error })
	const { kind } = error
	const message = shownMessage(plan.databaseMessages, error.raised)
	switch (kind) {
		case 'forbidden':
			return new RestError('forbidden', message, { cause: error })
		case 'refused':
			return new RestError('refused_by_database', message, { cause: error })
		case 'busy':
		case 'unavailable':
		case 'outcome_unknown':
			return new RestError(kind === 'busy' ? 'unavailable' : kind, undefined, {
				headers: { 'Retry-After': RETRY[kind] },
				cause: error,
			})
		case 'too_large':
			return new RestError(
				'too_large',
				`This page would have more than ${plan.maxPageBytes} bytes: ask for fewer records by limit, or for fewer fields by fields`,
				{
					details: [
						{ field: 'limit', code: 'max', message: 'is more than one answer can hold of these records' },
					],
					cause: error,
				},
			)
		case 'unique':
			return conflict(
				together(details(error, plan, operation, 'unique', 'is taken by another record')),
				error,
				message,
			)
		case 'foreign_key':
			if (operation === 'remove')
				return new RestError('conflict', message ?? 'Other records refer to this one', { cause: error })
			// It may be a deletion, or another model's.
			if (operation === undefined) return conflict([], error, message)
			return conflict(
				together(details(error, plan, operation, 'foreign_key', 'refers to a record that is not there')),
				error,
				message,
			)
		default:
			return unstorable(named(error, plan, written), plan, operation, message)
	}
}

/** What a client is told of an error that a rule of the database raised; `undefined` for nothing. */
function shownMessage(messages: MessageMap, raised: RaisedError | undefined): string | undefined {
	const words = raised && messages.get(raised.code)
	return words === true ? raised?.message : words
}

/**
 * A database that refuses a value doesn't say of which column. Most types are checked before it: it is one of those that
 * it alone knows (inet, a range, an array).
 */
function named(error: ModelError, { fields }: CrudPlan, written: Written): ModelError {
	if (error.kind !== 'invalid' || error.fields.length > 0) return error
	const unchecked = [...fields.values()].filter(
		({ field: { name, type } }) =>
			(type === 'other' || type === 'json') && (written[name] ?? DEFAULT) !== DEFAULT,
	)
	return new ModelError(
		error.kind,
		unchecked.map(({ field }) => field.name),
		error,
		error.raised,
	)
}

function namedBy(scope: Scope, { fields }: ModelError): string | undefined {
	return scope.terms.find(({ field }) => fields.includes(field.field.name))?.field.name
}

/** Of several fields none is at fault alone: each is told together with the others. */
function together(details: readonly Detail[]): readonly Detail[] {
	if (details.length < 2) return details
	return details.map((detail) => {
		const others = details.filter((other) => other !== detail).map(({ field }) => field)
		return { ...detail, message: `${detail.message}, together with ${listed(others)}` }
	})
}

function listed(names: readonly (string | undefined)[]): string {
	return names.length === 1 ? `${names[0]}` : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

/** @param message what a rule of the database has raised and clients may read */
function conflict(details: readonly Detail[], cause: ModelError, message: string | undefined): RestError {
	const [first] = details
	// For a value that is taken as for a reference to nothing: which it is may be all that is hidden.
	const words = first === undefined ? 'It does not fit the records that are there' : sentence(first)
	return new RestError('conflict', message ?? words, { details, cause })
}

function sentence({ field, message }: Detail): string {
	return `${field} ${message}`
}

/** A value that can't be stored is 422; one that can't even be compared with, in a query, is 400. */
function unstorable(
	error: ModelError,
	plan: CrudPlan,
	operation: CrudOperation | undefined,
	raised: string | undefined,
): RestError {
	if (operation === 'list' || operation === 'read')
		return new RestError('bad_request', 'A value of the query can be none of its field', { cause: error })
	const code = error.kind === 'not_null' ? 'required' : error.kind
	const message = error.kind === 'not_null' ? 'must not be null' : "can't be stored with this value"
	const found = details(error, plan, operation, code, message)
	if (error.cause instanceof ModelError && found.length > 1) {
		const names = found.map(({ field }) => field).join(', ')
		return new RestError('invalid', raised ?? `A value can not be stored: one of ${names}`, { cause: error })
	}
	if (found.length > 0 && raised === undefined) return invalid(found)
	return new RestError('invalid', raised ?? 'A value can not be stored', { details: found, cause: error })
}

/** One detail for each of the fields that the caller may write: of others it may not even know that they are. */
function details(
	error: ModelError,
	plan: CrudPlan,
	operation: CrudOperation | undefined,
	code: string,
	message: string,
): Detail[] {
	const fields = writableBy(plan, operation)
	return [...fields.values()]
		.filter(({ field }) => error.fields.includes(field.name))
		.map(({ name }) => ({ field: name, code, message }))
}

function writableBy(plan: CrudPlan, operation: CrudOperation | undefined): FieldMap {
	if (operation === undefined) return new Map([...plan.creatable, ...plan.updatable])
	if (operation === 'create') return plan.creatable
	return operation === 'update' || operation === 'replace' ? plan.updatable : NONE
}
