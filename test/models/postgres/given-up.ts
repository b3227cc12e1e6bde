/** Writes to a record that another client has locked: for tests of statements that time out. */
import pg from 'pg'
import * as assert from 'uvu/assert'
import type { Model, Selection } from '../../../lib/models/model.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { SERVER } from '../../helpers/postgres.ts'

/** The table of the trials: `id int primary key, a int`, with a record 1. */
export const TABLE = `pgad_cancel_${process.pid}`
export const SELECTION: Selection = { fields: ['id', 'a'], names: ['id', 'a'], version: undefined }
const FREE = { where: undefined, version: undefined }

/**
 * Runs `work` while the record 1 is locked by a change that sets `a` to 2, made by `unlock`; `waiting` tells how many
 * backends wait for it.
 */
export async function holdingLock(
	work: (waiting: () => Promise<number>, unlock: () => Promise<void>) => Promise<void>,
): Promise<void> {
	const holder = new pg.Client(SERVER)
	await holder.connect()
	// Within a transaction `pg_stat_activity` is a snapshot: another connection reads it.
	const observer = new pg.Client(SERVER)
	await observer.connect()
	const waiting = async (): Promise<number> => {
		const { rows } = await observer.query(
			`select count(*)::int as n from pg_stat_activity where datname = current_database()
			and query like '%${TABLE}%' and wait_event_type = 'Lock'`,
		)
		return rows[0].n
	}
	try {
		await holder.query(`begin; update ${TABLE} set a = 2 where id = 1`)
		await work(waiting, async () => void (await holder.query('commit')))
	} finally {
		await holder.end()
		await observer.end()
	}
}

/**
 * Three concurrent writes are outcome_unknown. One whose connection wasn't open in time is unavailable, as it was never sent:
 * it is repeated.
 */
export async function assertGivenUp(model: Model): Promise<void> {
	const failure = async (a: number, attempts: number): Promise<unknown> => {
		const error = await model.update('1', { a }, SELECTION, FREE).catch((error: unknown) => error)
		const kind = error instanceof ModelError ? error.kind : error
		return kind === 'unavailable' && attempts > 1 ? failure(a, attempts - 1) : kind
	}
	for (const kind of await Promise.all([3, 4, 5].map((a) => failure(a, 5))))
		assert.is(kind, 'outcome_unknown')
}
