/**
 * Submittables for pg that write their own protocol messages. pg's queries request a row description with each
 * execution and parse values by it. The classes here know their columns and take all values as text, which saves a
 * third of Node's time for reading a record. `PgBatch` executes its text with several lists of values in one transaction:
 * a single Sync ends it, so the server commits once. Used by `connections.ts`.
 */
import type { Rows, Statement } from '../../sql/driver.ts'
import { isReadOnly } from '../errors.ts'
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

/** One text, executed with each of `lists`. Has the properties of pg's queries, for tools that inspect or copy queries. */
export class PgStatement implements PgSubmittable, PgResult {
	text: string
	/** The prepared statement's name; empty if it isn't prepared. */
	name: string
	readonly values: readonly unknown[] | undefined
	readonly rowMode = 'array'
	rows: unknown[][] = []
	rowCount: number | null = null
	callback: PgCallback
	readonly #names: StatementNames
	readonly #lists: readonly unknown[][]

	constructor(
		text: string,
		name: string,
		names: StatementNames,
		lists: readonly (readonly unknown[])[],
		callback: PgCallback,
	) {
		this.text = text
		this.name = name
		this.#names = names
		this.#lists = lists.map((list) => list.map(toParameter))
		this.values = lists.length === 1 ? this.#lists[0] : this.#lists
		this.callback = callback
	}

	/** Sends all executions in one write to the socket. */
	submit(connection: PgConnection): null {
		connection.stream.cork()
		try {
			this.write(connection)
			connection.sync()
		} finally {
			connection.stream.uncork()
		}
		return null
	}

	/** Writes the messages, without the Sync. */
	write(connection: PgConnection): void {
		const { text, name } = this
		if (connection.parsedStatements[name] === undefined) {
			if (name !== '') this.#names.closeEvicted(connection)
			connection.parse({ name, text })
		}
		for (const values of this.#lists) {
			connection.bind({ statement: name, values })
			connection.execute({})
		}
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

export class PgBatch extends PgStatement {
	/** Valid only if the callback gets no error: before, the executions aren't committed. */
	readonly results: Rows[] = []

	override handleCommandComplete(message: { readonly text: string }): void {
		super.handleCommandComplete(message)
		this.results.push({ rows: this.rows, affected: this.rowCount ?? 0 })
		this.rows = []
	}
}

/** A statement and its name, which is empty if it isn't prepared. */
export interface NamedStatement {
	readonly statement: Statement
	readonly name: string
}

/**
 * A statement after another one that sets up the transaction of both. The server begins the transaction with the first one, and
 * ends it, with its settings, at the Sync after the second; after an error it skips everything up to the Sync.
 */
export class PgAfter extends PgStatement {
	/** Whether the first statement is done. */
	isSetUp = false
	readonly #main: NamedStatement
	readonly #names: StatementNames

	constructor(setup: NamedStatement, main: NamedStatement, names: StatementNames, callback: PgCallback) {
		super(setup.statement.text, setup.name, names, [setup.statement.values], callback)
		this.#main = main
		this.#names = names
	}

	override write(connection: PgConnection): void {
		super.write(connection)
		const { statement, name } = this.#main
		new PgStatement(statement.text, name, this.#names, [statement.values], this.callback).write(connection)
	}

	override handleCommandComplete(message: { readonly text: string }): void {
		super.handleCommandComplete(message)
		if (this.isSetUp) return
		this.isSetUp = true
		this.rows = []
		// pg reads these when the server has parsed a statement, to record it as prepared.
		this.name = this.#main.name
		this.text = this.#main.statement.text
	}

	/** Hides the SQLSTATE of a read that writes, in a function: it would be taken for a failover, and the connection closed. */
	override handleError(error: Error): void {
		const isOwn = isReadOnly(error) && !this.#main.statement.writes
		super.handleError(
			isOwn ? Object.assign(new Error(error.message, { cause: error }), { code: '25000' }) : error,
		)
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
