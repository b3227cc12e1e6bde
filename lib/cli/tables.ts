/** Opens and plans the tables that a command is about. Called by `serve.ts` and `write.ts`. */
import { setTimeout } from 'node:timers/promises'
import { nearest } from '../base/options.ts'
import type { Milliseconds } from '../base/time.ts'
import type { Model } from '../models/model.ts'
import { type Command, UsageError } from './arguments.ts'
import { type Plans, plansOf } from './handlers.ts'
import { isConnectionProblem, problemOf, reasonOf } from './problems.ts'
import type { Source } from './source.ts'

/** If opening takes longer, a message says so. */
const SLOW_OPENING: Milliseconds = 1_000

/** The tables that the command names, or all of the database. */
export interface OpenedTables {
	readonly models: ReadonlyMap<string, Model>
	/** Why views are missing, by their names: they may have lost their tables. */
	readonly broken: ReadonlyMap<string, string>
}

/** @throws UsageError for a database that can't be opened, and for a table that it doesn't have */
export async function openTables(
	{ tables }: Command,
	source: Source,
	print: (text: string) => void,
): Promise<OpenedTables> {
	const waiting = new AbortController()
	setTimeout(SLOW_OPENING, undefined, { signal: waiting.signal, ref: false }).then(
		() => print(`Reading the tables of ${source.place} …`),
		() => {},
	)
	try {
		const { models, broken } = await openAll(source)
		if (tables === undefined) return { models, broken }
		for (const name of tables)
			if (!models.has(name) && !broken.has(name))
				throw new UsageError(`${source.place} has no table ${name}${nearest(name, models.keys())}`)
		const named = <T>(all: ReadonlyMap<string, T>) =>
			new Map([...all].filter(([name]) => tables.includes(name)))
		return { models: named(models), broken: named(broken) }
	} catch (error) {
		throw problemOf(error, source.place)
	} finally {
		waiting.abort()
	}
}

async function openAll(source: Source): Promise<OpenedTables> {
	const broken = new Map<string, string>()
	const models = await source.open((name, error) => {
		if (isConnectionProblem(error)) throw error
		broken.set(name, reasonOf(error))
	})
	return { models: new Map(Object.entries(models)), broken }
}

/** @throws UsageError if there is nothing to serve, or the database can't be reached */
export async function plansIn(
	{ models, broken }: OpenedTables,
	{ isWritable }: Command,
	{ place }: Source,
): Promise<Plans> {
	const { plans, refused } = await plansOf(models, isWritable).catch((error) => {
		throw problemOf(error, place)
	})
	const reasons = [...refused, ...[...broken].map(([name, reason]) => `${name}: ${reason}`)]
	if (plans.length > 0) return { plans, refused: reasons }
	if (reasons.length === 0) throw new UsageError(`${place} has no tables that this user can see`)
	throw new UsageError(`${place} has no table that can be served:`, ...reasons.map((one) => `  ${one}`))
}
