/** `together`: the transaction of an operation on several records. */
import { type Transacting, transaction } from '../transaction.ts'
import type { CrudView } from '../view.ts'

/** Runs `work` in a transaction that the view itself takes part in. */
export function together<T>(view: CrudView, work: () => Promise<T>): Promise<T> {
	return transaction([view as unknown as Transacting], work) // a CrudHandler's view
}
