/** The tables that a command is about: opened, and planned. Called to serve them, and to write types and programs. */
import { setTimeout } from 'node:timers/promises'
import { nearest } from '../base/options.ts'
import type { Milliseconds } from '../base/time.ts'
import type { Model } from '../models/model.ts'
import { type Command, UsageError } from './arguments.ts'
import { type Plans, plansOf, reasonOf } from './handlers.ts'
import { problemOf } from './problems.ts'
import type { Source } from './source.ts'

/** Reading a catalog that takes longer is told of. */
const PATIENCE: Milliseconds = 1_000
/** The tables that the command names, or all of the database. */
export interface Found {
	readonly models: ReadonlyMap<string, Model>
	/** Why there are no views. */
	readonly failure: string | undefined
}

/** @throws UsageError for a database that can't be opened, and for a table that it doesn't have */
export async function find(
	{ tables }: Command,
	source: Source,
	print: (text: string) => void,
): Promise<Found> {
	const waiting = new AbortController()
	setTimeout(PATIENCE, undefined, { signal: waiting.signal, ref: false }).then(
		() => print(`Reading the tables of ${source.place} …`),
		() => {},
	)
	try {
		const { all, failure } = await openAll(source)
		for (const name of tables ?? [])
			if (!all.has(name))
				throw new UsageError(`${source.place} has no table ${name}${nearest(name, all.keys())}`)
		const models = tables === undefined ? all : new Map([...all].filter(([name]) => tables.includes(name)))
		return { models, failure }
	} catch (error) {
		throw problemOf(error, source.place)
	} finally {
		waiting.abort()
	}
}

/** Opens its tables without its views if one of these can't be opened: it may have lost its table. */
async function openAll(source: Source): Promise<{ all: Map<string, Model>; failure: string | undefined }> {
	try {
		return { all: new Map(Object.entries(await source.open(true))), failure: undefined }
	} catch (error) {
		const tables = await source.open(false).catch(() => undefined)
		if (tables === undefined) throw error
		return { all: new Map(Object.entries(tables)), failure: `views: ${reasonOf(error)}` }
	}
}

/** @throws UsageError if there is nothing to serve */
export async function plansIn(
	{ models, failure }: Found,
	{ isWritable }: Command,
	{ place }: Source,
): Promise<Plans> {
	const { plans, refused } = await plansOf(models, isWritable)
	const reasons = failure === undefined ? refused : [...refused, failure]
	if (plans.length > 0) return { plans, refused: reasons }
	if (reasons.length === 0) throw new UsageError(`${place} has no tables that this user can see`)
	throw new UsageError(`${place} has no table that can be served:\n  ${reasons.join('\n  ')}`)
}
