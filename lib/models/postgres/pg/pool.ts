/** What is called of pg's `Pool` and of its clients; and `Lease`, a connection of a pool that is ours for a while. */
import type { Deadlines } from '../../../base/deadlines.ts'
import type { Milliseconds } from '../../../base/time.ts'
import { cancel } from './cancel.ts'

export interface PgPool {
	connect(
		callback: (
			error: Error | undefined,
			client: PgClient | undefined,
			release: (error?: Error) => void,
		) => void,
	): void
	query(text: string): unknown
	on(event: 'error', listener: (error: Error) => void): unknown
	listenerCount(event: 'error'): number
	readonly totalCount: number
	/** What it was made with. */
	readonly options?: { readonly query_timeout?: number | undefined }
}

export interface PgClient {
	query(query: PgQuery, values: unknown[], callback: PgCallback): unknown
	query(query: PgSubmittable): unknown
	on(event: 'error', listener: (error: Error) => void): unknown
	removeListener(event: 'error', listener: (error: Error) => void): unknown
	/** Not there where libpq is below it. */
	readonly connection?: PgConnection
	/** Where it leads, and what its backend is known by: of clients in JavaScript. */
	readonly host?: unknown
	readonly port?: unknown
	readonly processID?: unknown
	readonly secretKey?: unknown
	readonly ssl?: object | boolean | null
	/** Whether statements are sent before the earlier ones are answered: of its own kind only. */
	readonly pipeline?: boolean
}

export type PgCallback = (error: Error | null, result: PgResult | undefined) => void

/** A query that writes itself to the connection, as those of pg-cursor and pg-query-stream do. */
export interface PgSubmittable {
	callback: PgCallback
	/** Answers an error where nothing was written. */
	submit(connection: PgConnection): Error | null
	handleDataRow(message: { readonly fields: unknown[] }): void
	handleCommandComplete(message: { readonly text: string }): void
	handleReadyForQuery(): void
	handleError(error: Error): void
}

/** Each function writes one message of the protocol. */
export interface PgConnection {
	readonly stream: { cork(): void; uncork(): void }
	/** Texts that the server has prepared, by name; kept by the client. */
	readonly parsedStatements: Record<string, unknown>
	parse(message: { readonly name: string; readonly text: string }): void
	/** Closes a prepared statement; its answer is ignored. */
	close(message: { readonly type: 'S'; readonly name: string }): void
	bind(message: { readonly statement: string; readonly values: unknown[] }): void
	execute(message: object): void
	sync(): void
	/** Told when the server has ended what it was asked. */
	once?(event: 'readyForQuery', listener: () => void): unknown
}

export interface PgQuery {
	readonly text: string
	readonly rowMode: 'array'
	readonly name?: string
}

export interface PgResult {
	readonly rows: unknown[][]
	readonly rowCount: number | null
}

/** How long a statement that was cancelled has to end, before its connection is closed under it. */
const ENDING: Milliseconds = 5_000

export class Lease {
	readonly client: PgClient
	/** Why it can't be used any more. */
	broken: Error | undefined
	readonly #release: (error?: Error) => void
	#isHeld = false
	#isReleased = false

	constructor(client: PgClient, release: (error?: Error) => void) {
		this.client = client
		this.#release = release
		// The pool doesn't listen while the connection is leased; the statement gets the error as well.
		client.on('error', ignore)
	}

	markBroken(error: Error): void {
		this.broken ??= error
	}

	/**
	 * Cancels what it runs, and keeps its place in the pool, also after `release`, until the server has ended that. Were
	 * its place free before, there would be more at work in the server than the pool has places.
	 */
	abandon(deadlines: Deadlines): void {
		this.#isHeld = true
		this.client.connection?.once?.('readyForQuery', () => this.endHold())
		cancel(this.client)
		deadlines.add({ due: deadlines.clock() + ENDING, expire: () => this.endHold() })
	}

	/** Ends what `abandon` began: the statement has ended, or its time is over. */
	endHold(): void {
		if (!this.#isHeld) return
		this.#isHeld = false
		if (this.#isReleased) this.#giveBack()
	}

	/** Gives it back, at once or when it isn't held any more; a broken one is closed. */
	release(): void {
		this.#isReleased = true
		if (!this.#isHeld) this.#giveBack()
	}

	#giveBack(): void {
		this.client.removeListener('error', ignore)
		this.#release(this.broken)
	}
}

/** Whether the connection is no good after an error: all but those of the server about a statement. */
export function isBreaking(error: Error): boolean {
	const code = 'code' in error ? error.code : undefined
	// `EPIPE` has five letters too, but is Node's.
	if (typeof code !== 'string' || 'syscall' in error || !/^[0-9A-Z]{5}$/.test(code)) return true
	// 25006: it leads to a server that only reads since a failover.
	return /^(?:08|57P|25P0[345]|25006)/.test(code)
}

function ignore(): void {}
