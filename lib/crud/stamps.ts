/**
 * Columns that CRUD sets itself: the time of the last change (option `touch`) and that of the deletion (`softDelete`).
 * `plan.ts` checks the options; `changes.ts` writes the columns.
 */
import { timeOfDay } from '../base/time.ts'
import { keyNames } from '../models/key.ts'
import { type Changes, type Condition, type Field, type Model, NOW, type Value } from '../models/model.ts'
import { ModelError } from '../models/model-error.ts'
import type { CrudField } from './fields.ts'

/** The columns of a handler, if it has them. */
interface Stamps {
	readonly touch: CrudField | undefined
	readonly softDelete: CrudField | undefined
}

/** Why a column can't be one that CRUD sets; `false` if it can. */
export function whyUnstampable(
	option: keyof Stamps,
	model: Model,
	{ name, type, generated, nullable }: Field,
) {
	return (
		(type !== 'timestamp' && `is of type ${type}, not a timestamp`) ||
		(generated && 'is written by the store alone') ||
		(keyNames(model).includes(name) && 'is the key, which never changes') ||
		(option === 'softDelete' && !nullable && "can't be null, and is null in records that aren't deleted")
	)
}

/** The condition on records that aren't deleted; `undefined` for all records. */
export function living({ softDelete }: Pick<Stamps, 'softDelete'>): Condition | undefined {
	return softDelete && { op: 'null', field: softDelete.field.name, value: true }
}

/** The current time for a field: the store's, if it can set that. */
export function timeFor({ setsNow }: Model): Value | typeof NOW {
	return setsNow === true ? NOW : new Date(timeOfDay()).toISOString()
}

interface Stamped extends Stamps {
	readonly model: Model
}

/** Changes with the time of the change. */
export function touched<T extends Changes>({ touch, model }: Stamped, changes: T): T {
	return touch === undefined ? changes : { ...changes, [touch.field.name]: timeFor(model) }
}

/** The changes that delete a record, or restore it. */
export function deletion(stamped: Stamped, isRestored = false): Changes | undefined {
	const { softDelete, model } = stamped
	return softDelete && touched(stamped, { [softDelete.field.name]: isRestored ? null : timeFor(model) })
}

/**
 * The condition on the records that a write conflicts with; `undefined` if the store hasn't named the fields, or one has no value.
 *
 * @param written the values that were to be stored
 */
export function inTheWay(
	{ fields }: ModelError,
	written: Readonly<Record<string, unknown>>,
): Condition | undefined {
	const terms: Condition[] = []
	for (const field of fields) {
		const value = written[field]
		if (value === undefined || value === null || typeof value === 'symbol') return undefined
		terms.push({ op: 'eq', field, value: value as Exclude<Value, null> }) // a checked value, as the model takes it
	}
	return terms.length === 0 ? undefined : { op: 'and', terms }
}

/** The cause of a conflict with a record that is only marked as deleted. */
export class DeletedRecord extends Error {
	override readonly name = 'DeletedRecord' as const
}

export function takenByDeleted(error: ModelError): ModelError {
	const cause = new DeletedRecord('a deleted record has the value', { cause: error })
	return new ModelError(error.kind, error.fields, cause, error.raised, error.index)
}
