/** The `Driver` for a `Database` of `libsql/promise`: one connection, shared by all models. */
import {
	type Driver,
	type Rows,
	runTransaction,
	type Session,
	type Statement,
} from '../../../../lib/models/sql/index.ts'
import { rollsBack } from './errors.ts'

const DRIVER = Symbol('driver')

/** The part of a `Database` that is used. */
export interface NewDatabase {
	prepare(text: string): Promise<Prepared>
	exec(text: string): Promise<unknown>
	[DRIVER]?: Driver
}

interface Prepared {
	/** Whether the statement returns rows. */
	readonly reader: boolean
	raw(): Prepared
	safeIntegers(): Prepared
	all(values: readonly unknown[]): Promise<unknown[][]>
	run(values: readonly unknown[]): { readonly changes: number }
}

/** One driver per database, shared by its models: a model's statement must not run within another's transaction. */
export function driverOf(database: NewDatabase): Driver {
	database[DRIVER] ??= makeDriver(database)
	return database[DRIVER]
}

function makeDriver(database: NewDatabase): Driver {
	let last: Promise<unknown> = Promise.resolve()
	function inTurn<T>(work: () => Promise<T>): Promise<T> {
		const turn = last.then(work)
		last = turn.catch(() => undefined)
		return turn
	}
	const session: Session = {
		run: (statement) => send(database, statement),
		control: (text) => database.exec(text),
		leaves: (error) => (rollsBack(error) ? 'nothing' : 'everything'),
	}
	// If a rollback fails, libSQL has rolled back already. A pooled connection would have to be closed.
	const rollbackFailed = () => undefined
	return {
		query: (statement) => inTurn(() => send(database, statement)),
		transaction: (work) => inTurn(() => runTransaction(session, work, rollbackFailed, 'begin immediate')),
	}
}

async function send(database: NewDatabase, { text, values }: Statement): Promise<Rows> {
	const prepared = (await database.prepare(text)).raw().safeIntegers()
	if (!prepared.reader) return { rows: [], affected: prepared.run(values).changes }
	const rows = await prepared.all(values)
	return { rows, affected: rows.length }
}
