/** `together`: the transaction of an operation on several records. */
import { type Transacting, transaction } from '../transaction.ts'
import { type CrudView, FACTS } from '../view.ts'

/** Runs `work` in a transaction that the view itself takes part in, and what records its changes. */
export function together<T>(view: CrudView, work: () => Promise<T>): Promise<T> {
	const itself = view as unknown as Transacting // a CrudHandler's view
	const { audit } = view[FACTS]
	return transaction(audit === undefined ? [itself] : [itself, audit.model], work)
}
