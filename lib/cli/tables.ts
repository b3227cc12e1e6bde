/** The tables that a command is about: opened, and planned. Called to serve them, and to write types and programs. */
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
	/** Why there are no views. */
	readonly failure: string | undefined
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
		const { models, failure } = await openAll(source)
		if (tables === undefined) return { models, failure }
		for (const name of tables)
			if (!models.has(name))
				throw new UsageError(`${source.place} has no table ${name}${nearest(name, models.keys())}`)
		return { models: new Map([...models].filter(([name]) => tables.includes(name))), failure }
	} catch (error) {
		throw problemOf(error, source.place)
	} finally {
		waiting.abort()
	}
}

/** Opens the tables alone if a view can't be opened: it may have lost its table. */
async function openAll(source: Source): Promise<OpenedTables> {
	try {
		return { models: new Map(Object.entries(await source.open(true))), failure: undefined }
	} catch (error) {
		if (error instanceof UsageError || isConnectionProblem(error)) throw error
		return { models: new Map(Object.entries(await source.open(false))), failure: `views: ${reasonOf(error)}` }
	}
}

/** @throws UsageError if there is nothing to serve, or the database can't be reached */
export async function plansIn(
	{ models, failure }: OpenedTables,
	{ isWritable }: Command,
	{ place }: Source,
): Promise<Plans> {
	const { plans, refused } = await plansOf(models, isWritable).catch((error) => {
		throw problemOf(error, place)
	})
	const reasons = failure === undefined ? refused : [...refused, failure]
	if (plans.length > 0) return { plans, refused: reasons }
	if (reasons.length === 0) throw new UsageError(`${place} has no tables that this user can see`)
	throw new UsageError(`${place} has no table that can be served:`, ...reasons.map((one) => `  ${one}`))
}
