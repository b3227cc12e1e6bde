/** What `verbena types` and `verbena eject` write to standard output. */
import { escaped } from '../base/error-text.ts'
import type { Command } from './arguments.ts'
import { ejected } from './eject.ts'
import { recordTypes } from './record-types.ts'
import type { Source } from './source.ts'
import { openTables, plansIn } from './tables.ts'

/**
 * Opens the database, writes, and closes it.
 *
 * @param tell writes to the user: what takes long, and what was left out
 * @throws UsageError for a database that can't be opened, or has nothing to write about
 */
export async function written(
	command: Command,
	source: Source,
	tell: (text: string) => void,
): Promise<string> {
	try {
		const { plans, refused } = await plansIn(await openTables(command, source, tell), command, source)
		for (const reason of refused) tell(escaped(`left out: ${reason}`))
		if (command.action === 'eject') return ejected(plans, source)
		return recordTypes(new Map(plans.map(({ name, model }) => [name, model])), source.place)
	} finally {
		await source.close()
	}
}
