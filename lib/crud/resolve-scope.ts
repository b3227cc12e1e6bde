/** The scope of an operation: what `scope()` returns, read by `scope.ts`, with the limits of the view. Every operation begins here. */
import type { CrudOperation } from './options.ts'
import { both, readScope, type Scope, scopeOfDeleted } from './scope.ts'
import { type CrudView, FACTS, WITHIN } from './view.ts'

/**
 * The scope of an operation. Not cached: each operation has its own, even within one request, such as when an
 * overridden `update()` reads first.
 *
 * @param isDeleted whether it is of the deleted records
 */
export function resolveScope(
	view: CrudView,
	operation: CrudOperation,
	isDeleted = false,
): Scope | Promise<Scope> {
	const { isScoped, living, plan } = view[FACTS]
	const all = isDeleted ? scopeOfDeleted(plan, true) : living
	const within = view[WITHIN]
	const limits = within === undefined ? all : both(all, within)
	return isScoped ? ownScope(view, operation, isDeleted).then((own) => both(own, limits)) : limits
}

/** Only what `scope()` returns. */
export async function ownScope(view: CrudView, operation: CrudOperation, isDeleted = false): Promise<Scope> {
	const own = readScope(view[FACTS].plan, await view.scope(operation))
	// A record that was public must not stay so: once it is deleted, it is read by those who may restore it.
	return isDeleted && operation !== 'restore' ? both(own, await ownScope(view, 'restore')) : own
}
