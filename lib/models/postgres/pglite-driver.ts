/**
 * The `Driver` for a PGlite, which is PostgreSQL in this process, with one connection: statements wait for one
 * another, and for transactions.
 */
import type { Driver, Rows, Statement } from '../sql/driver.ts'
import { within } from './within.ts'

/** What is called of a PGlite, and of its transactions. */
export interface PGliteQueryable {
	query(
		text: string,
		values: unknown[],
		options: { readonly rowMode: 'array' },
	): Promise<{ readonly rows: unknown[]; readonly affectedRows?: number }>
}

export interface PGliteDatabase extends PGliteQueryable {
	exec(text: string): Promise<unknown>
	transaction<T>(work: (transaction: PGliteQueryable) => Promise<T>): Promise<T>
}

export class PGliteDriver implements Driver {
	readonly #database: PGliteDatabase

	constructor(database: PGliteDatabase) {
		this.#database = database
	}

	query(statement: Statement): Promise<Rows> {
		return run(this.#database, statement)
	}

	transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		return this.#database.transaction((transaction) =>
			within((statement) => run(transaction, statement), work),
		)
	}
}

async function run(database: PGliteQueryable, { text, values }: Statement): Promise<Rows> {
	const { rows, affectedRows } = await database.query(text, [...values], { rowMode: 'array' })
	// rowMode 'array' makes every row an array.
	return { rows: rows as readonly unknown[][], affected: affectedRows ?? 0 }
}
