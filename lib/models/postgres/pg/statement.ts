/**
 * Statements that write themselves to a connection of pg. pg's own queries ask for a description of the columns with each
 * run, and make their rows by it; ours know their columns, and take every value as text. That saves a third of Node's time
 * for the query of a record. `PgStatement` runs one, `PgBatch` one text with several lists of values in one transaction:
 * one Sync ends them all, so the server commits once. Used by `connections.ts`.
 */
import type { Rows, Statement } from '../../sql/driver.ts'
import type { PgCallback, PgClient, PgConnection, PgResult, PgSubmittable } from './pool.ts'
import type { StatementNames } from './statement-names.ts'

/** Whether a client's connection is one that a `PgStatement` knows to write to. */
export function takesStatements({ connection, pipeline }: PgClient): boolean {
	if (connection === undefined || connection === null || pipeline === true) return false
	const { stream, parsedStatements } = connection
	return (
		WRITES.every((name) => typeof connection[name] === 'function') &&
		typeof parsedStatements === 'object' &&
		typeof stream?.cork === 'function'
	)
}

const WRITES = ['parse', 'close', 'bind', 'execute', 'sync'] as const

/** Its own properties are those of pg's queries: tools that look at queries, or copy them, find what they expect. */
export class PgStatement implements PgSubmittable, PgResult {
	readonly text: string
	/** Under which it stays prepared; empty for not at all. */
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
		this.values = values.map(asSent)
		this.callback = callback
	}

	submit(connection: PgConnection): null {
		sendRuns(connection, this, this.#names, [this.values])
		return null
	}

	/** Comes only where somebody between us and the server has asked for it. */
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

/** Writes a statement with each list of values, all in one transaction, and in one write to the socket. */
function sendRuns(
	connection: PgConnection,
	{ text, name }: { readonly text: string; readonly name: string },
	names: StatementNames,
	lists: readonly unknown[][],
): void {
	connection.stream.cork()
	try {
		if (connection.parsedStatements[name] === undefined) {
			if (name !== '') names.makeRoom(connection)
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

/** `INSERT 0 1`, `SELECT 100`: the number of rows is the last word. Null where there is none: `BEGIN`. */
function countOf(command: string): number | null {
	const count = Number(command.slice(command.lastIndexOf(' ') + 1))
	return Number.isNaN(count) ? null : count
}

/** Values go as text; bytes as they are. */
function asSent(value: unknown): unknown {
	if (typeof value === 'string' || value === null || Buffer.isBuffer(value)) return value
	return value === undefined ? null : String(value)
}

/** A text, its lists of values, and where their results go. */
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
