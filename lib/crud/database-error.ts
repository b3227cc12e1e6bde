/** `databaseError`: the answer to a database's error in a method with SQL by hand, as the operations would give it. */
import type { Model } from '../models/model.ts'
import { MAX_PAGE_BYTES, ModelError } from '../models/model-error.ts'
import { type ErrorPlan, restErrorOf } from './model-errors.ts'
import { type CrudView, FACTS } from './view.ts'

/**
 * Translates an error of the database or its driver as the operations of a `CrudHandler` do: 409, 422 or 503.
 *
 *     try {
 *       await connection.query('update account set cents = cents - 5')
 *     } catch (error) {
 *       throw databaseError(error, accounts)
 *     }
 *
 * @param of whose table the statement was about. The answer names the fields that clients may write if this is a
 * handler; for a model it names none, because they may be hidden
 * @returns a RestError; any other error, such as one of the program's own, as it is
 */
export function databaseError(error: unknown, of: Model | { readonly model: Model }): unknown {
	const model = 'model' in of ? of.model : of
	const plan = FACTS in of ? (of as unknown as CrudView)[FACTS].plan : planOf(model) // only a CrudHandler has FACTS
	return restErrorOf(modelErrorOf(error, model), plan)
}

/** An error that a transaction has translated without a table names no fields: this one knows the table. */
function modelErrorOf(error: unknown, model: Model): unknown {
	if (!(error instanceof ModelError)) return model.failureOf?.(error) ?? error
	const again = error.fields.length === 0 ? model.failureOf?.(error.cause) : undefined
	return again?.kind === error.kind ? again : error
}

function planOf({ name }: Model): ErrorPlan {
	const none = new Map()
	return {
		...{ owner: name, fields: none, creatable: none, updatable: none },
		...{ databaseMessages: none, maxPageBytes: MAX_PAGE_BYTES },
	}
}
