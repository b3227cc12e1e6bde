/**
 * Submittables for pg that write their own protocol messages. pg's queries request a row description with each
 * execution and parse values by it. The classes here know their columns and take all values as text, which saves a
 * third of Node's time for reading a record. `PgStatement` executes one statement. `PgBatch` executes one text with
 * several lists of values in one transaction: a single Sync ends it, so the server commits once. Used by
 * `connections.ts`.
 */
import type { Rows, Statement } from '../../sql/driver.ts'
import type { PgCallback, PgClient, PgConnection, PgResult, PgSubmittable } from './pool.ts'
import type { StatementNames } from './statement-names.ts'

/** Whether a client's connection supports {@link PgStatement}. */
export function takesStatements({ connection, pipeline }: PgClient): boolean {
	if (connection === undefined || connection === null || pipeline === true) return false
	const { stream, parsedStatements } = connection
	return (
		MESSAGES.every((name) => typeof connection[name] === 'function') &&
		typeof parsedStatements === 'object' &&
		typeof stream?.cork === 'function'
	)
}

const MESSAGES = ['parse', 'close', 'bind', 'execute', 'sync'] as const

/** One statement. Has the properties of pg's queries, for tools that inspect or copy queries. */
export class PgStatement implements PgSubmittable, PgResult {
	readonly text: string
	/** The prepared statement's name; empty if it isn't prepared. */
	readonly name: string
	readonly values: unknown[]
	readonly rowMode = 'array'
	readonly rows: unknown[][] = []
	rowCount: number | null = null
	callback: PgCallback
	readonly #names: StatementNames

	constructor({ text, values }: Statement, name: string, names: StatementNames, callback: PgCallback) {
		this.text = text
		this.name = name
		this.#names = names
		this.values = values.map(toParameter)
		this.callback = callback
	}

	submit(connection: PgConnection): null {
		sendExecutions(connection, this, this.#names, [this.values])
		return null
	}

	/** The server only sends one if a proxy has requested it. */
	handleRowDescription(): void {}

	handleDataRow({ fields }: { readonly fields: unknown[] }): void {
		this.rows.push(fields)
	}

	handleCommandComplete({ text }: { readonly text: string }): void {
		this.rowCount = countOf(text)
	}

	handleEmptyQuery(): void {}

	handleReadyForQuery(): void {
		this.callback(null, this)
	}

	handleError(error: Error): void {
		this.callback(error, undefined)
	}
}

/** Executes a text with each list of values, in one transaction and one write to the socket. */
function sendExecutions(
	connection: PgConnection,
	{ text, name }: { readonly text: string; readonly name: string },
	names: StatementNames,
	lists: readonly unknown[][],
): void {
	connection.stream.cork()
	try {
		if (connection.parsedStatements[name] === undefined) {
			if (name !== '') names.closeEvicted(connection)
			connection.parse({ name, text })
		}
		for (const values of lists) {
			connection.bind({ statement: name, values })
			connection.execute({})
		}
		connection.sync()
	} finally {
		connection.stream.uncork()
	}
}

/** The row count at the end of `INSERT 0 1` or `SELECT 100`; null for `BEGIN`. */
function countOf(command: string): number | null {
	const count = Number(command.slice(command.lastIndexOf(' ') + 1))
	return Number.isNaN(count) ? null : count
}

/** Converts values to text, except bytes. */
function toParameter(value: unknown): unknown {
	if (typeof value === 'string' || value === null || Buffer.isBuffer(value)) return value
	return value === undefined ? null : String(value)
}

/** A text with lists of values to execute it with. */
export interface Executions {
	readonly text: string
	/** The prepared statement's name; empty if it isn't prepared. */
	readonly name: string
	readonly names: StatementNames
	readonly lists: readonly (readonly unknown[])[]
	/** Filled with the results, which are valid only if the callback gets no error. */
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

	constructor({ text, name, names, lists, results }: Executions, callback: PgCallback) {
		this.text = text
		this.name = name
		this.#names = names
		this.values = lists.map((list) => list.map(toParameter))
		this.callback = callback
		this.#results = results
	}

	submit(connection: PgConnection): null {
		sendExecutions(connection, this, this.#names, this.values)
		return null
	}

	/** The server only sends one if a proxy has requested it. */
	handleRowDescription(): void {}

	handleDataRow({ fields }: { readonly fields: unknown[] }): void {
		this.#rows.push(fields)
	}

	/** One list of values has been executed, but not committed. */
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
