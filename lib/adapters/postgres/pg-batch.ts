/**
 * `PgBatch`: one prepared statement with several lists of values, in one transaction: all are written, or none.
 * One message asks for the end of all of them, so that the server commits once. Used by `together.ts`.
 */
import type { Rows } from '../../sql/driver.ts'
import type { PgCallback, PgConnection, PgSubmittable } from './pg-pool.ts'
import { asSent, countOf } from './pg-statement.ts'

export class PgBatch implements PgSubmittable {
	readonly text: string
	/** Under which it stays prepared. */
	readonly name: string
	readonly values: readonly unknown[][]
	readonly rowMode = 'array'
	/** What each list of values has brought; nothing of it is true before the callback was told of no error. */
	readonly results: Rows[] = []
	callback: PgCallback
	#rows: unknown[][] = []

	constructor(text: string, name: string, values: readonly (readonly unknown[])[], callback: PgCallback) {
		this.text = text
		this.name = name
		this.values = values.map((list) => list.map(asSent))
		this.callback = callback
	}

	submit(connection: PgConnection): null {
		const { text, name } = this
		connection.stream.cork()
		try {
			if (connection.parsedStatements[name] === undefined) connection.parse({ name, text })
			for (const values of this.values) {
				connection.bind({ statement: name, values })
				connection.execute({})
			}
			connection.sync()
		} finally {
			connection.stream.uncork()
		}
		return null
	}

	/** Comes only where somebody between us and the server has asked for it. */
	handleRowDescription(): void {}

	handleDataRow({ fields }: { readonly fields: unknown[] }): void {
		this.#rows.push(fields)
	}

	/** One list of values is done; not yet committed. */
	handleCommandComplete({ text }: { readonly text: string }): void {
		this.results.push({ rows: this.#rows, affected: countOf(text) ?? 0 })
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
