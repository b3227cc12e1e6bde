/**
 * `PgBatch`: one prepared statement with several lists of values, in one transaction: all are written, or none.
 * One Sync ends them all, so the server commits once. Used by `connections.ts`.
 */
import type { Rows } from '../../sql/driver.ts'
import type { StatementNames } from '../statement-names.ts'
import type { PgCallback, PgConnection, PgSubmittable } from './pool.ts'
import { asSent, countOf, sendRuns } from './statement.ts'

/** What is to be run, and where it is told what each list of values has brought. */
export interface Runs {
	readonly text: string
	/** Under which it stays prepared; empty for not at all. */
	readonly name: string
	readonly names: StatementNames
	readonly lists: readonly (readonly unknown[])[]
	/** Nothing of it is true before the callback was told of no error. */
	readonly results: Rows[]
}

export class PgBatch implements PgSubmittable {
	readonly text: string
	readonly name: string
	readonly values: readonly unknown[][]
	readonly rowMode = 'array'
	callback: PgCallback
	readonly #names: StatementNames
	readonly #results: Rows[]
	#rows: unknown[][] = []

	constructor({ text, name, names, lists, results }: Runs, callback: PgCallback) {
		this.text = text
		this.name = name
		this.#names = names
		this.values = lists.map((list) => list.map(asSent))
		this.callback = callback
		this.#results = results
	}

	submit(connection: PgConnection): null {
		sendRuns(connection, this, this.#names, this.values)
		return null
	}

	/** Comes only where somebody between us and the server has asked for it. */
	handleRowDescription(): void {}

	handleDataRow({ fields }: { readonly fields: unknown[] }): void {
		this.#rows.push(fields)
	}

	/** One list of values is done; not yet committed. */
	handleCommandComplete({ text }: { readonly text: string }): void {
		this.#results.push({ rows: this.#rows, affected: countOf(text) ?? 0 })
		this.#rows = []
	}

	handleEmptyQuery(): void {}

	handleReadyForQuery(): void {
		this.callback(null, undefined)
	}

	handleError(error: Error): void {
		this.callback(error, undefined)
	}
}
