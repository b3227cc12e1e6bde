/** The `Driver` for a PGlite, which begins and commits transactions itself. */
import { type Driver, type Rows, type Statement, within } from '../../../../lib/models/sql/index.ts'

interface Queryable {
	query(
		text: string,
		values: unknown[],
		options: { readonly rowMode: 'array' },
	): Promise<{ readonly rows: unknown[]; readonly affectedRows?: number }>
}

/** What is called of a PGlite. */
export interface NewDatabase extends Queryable {
	transaction<T>(work: (transaction: Queryable) => Promise<T>): Promise<T>
}

export function driverOf(database: NewDatabase): Driver {
	return {
		query: (statement) => send(database, statement),
		transaction: (work) =>
			database.transaction((transaction) => {
				const run = (statement: Statement) => send(transaction, statement)
				const control = (text: string) => run({ text, values: [], writes: false })
				return within({ run, control, leaves: () => 'savepoint' }, work)
			}),
	}
}

async function send(database: Queryable, { text, values }: Statement): Promise<Rows> {
	const { rows, affectedRows } = await database.query(text, [...values], { rowMode: 'array' })
	// rowMode 'array' makes every row an array.
	return { rows: rows as readonly unknown[][], affected: affectedRows ?? 0 }
}
