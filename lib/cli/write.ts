/** What `verbena types` and `verbena eject` write to standard output. */
import { escaped } from '../base/error-text.ts'
import { FACTS } from '../crud/view.ts'
import type { Command } from './arguments.ts'
import { ejected } from './eject.ts'
import { handlersOf, type TablePlan } from './handlers.ts'
import { type RelatedTable, recordTypes } from './record-types.ts'
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
		return recordTypes(tablesOf(plans), source.place)
	} finally {
		await source.close()
	}
}

/** Tables with their relations, as their handlers have them. */
function tablesOf(plans: readonly TablePlan[]): RelatedTable[] {
	const handlers = handlersOf(plans)
	const nameOf = new Map(plans.map(({ name, path }) => [handlers[path]?.model, name]))
	return plans.map(({ name, path, model }) => {
		const relations = [...(handlers[path]?.[FACTS].plan.relations.values() ?? [])]
		const related = relations.map(({ name, to, link }) => ({
			...{ name, table: nameOf.get(to.model) ?? name, isMany: link.isMany },
		}))
		return { name, model, related }
	})
}
