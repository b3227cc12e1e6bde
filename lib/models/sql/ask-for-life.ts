/** `askForLife`: what a model's `check` asks its server. */
import { ModelError } from '../model-error.ts'
import type { Asking } from './asking.ts'
import type { Dialect } from './dialect.ts'
import type { Statement } from './driver.ts'

/** Every dialect knows it, and no table is touched. */
const SIGN_OF_LIFE: Statement = { text: 'select 1', values: [], writes: false }

/**
 * @param writes whether the server must take changes
 * @throws ModelError `unavailable` where it can't be reached, or only reads
 */
export async function askForLife(
	asking: Asking,
	{ takesChanges, takesReads }: Dialect,
	writes: boolean,
): Promise<void> {
	if (!writes || takesChanges === undefined) {
		await asking.ask(
			takesReads === undefined ? SIGN_OF_LIFE : { text: takesReads, values: [], writes: false },
		)
		return
	}
	const { rows } = await asking.ask({ text: takesChanges, values: [], writes: false })
	if (rows.length > 0) return
	asking.driver.renew?.()
	throw new ModelError('unavailable', [], new Error('the server only reads: it is a replica now'))
}
