/** The parts of pg's `Pool` and clients that are used, and `Lease`, a connection that is checked out of the pool. */
import type { Deadlines } from '../../../base/deadlines.ts'
import type { Milliseconds } from '../../../base/time.ts'
import { codeOf } from '../errors.ts'
import { type CancelTarget, cancel } from './cancel.ts'

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
	readonly idleCount?: number
	readonly options?: { readonly query_timeout?: number | undefined; readonly max?: number | undefined }
}

export interface PgClient extends CancelTarget {
	query(query: PgQuery, values: unknown[], callback: PgCallback): unknown
	query(query: PgSubmittable): unknown
	on(event: 'error', listener: (error: Error) => void): unknown
	removeListener(event: 'error', listener: (error: Error) => void): unknown
	/** `undefined` for pg-native. */
	readonly connection?: PgConnection
	/** Whether the client pipelines statements, which works only with pg's own queries. */
	readonly pipeline?: boolean
}

export type PgCallback = (error: Error | null, result: PgResult | undefined) => void

/** A query that writes its own protocol messages, like the queries of pg-cursor and pg-query-stream. */
export interface PgSubmittable {
	callback: PgCallback
	/** Returns an error if nothing was written. */
	submit(connection: PgConnection): Error | null
	handleDataRow(message: { readonly fields: unknown[] }): void
	handleCommandComplete(message: { readonly text: string }): void
	handleReadyForQuery(): void
	handleError(error: Error): void
}

/** Each method writes one message of the protocol. */
export interface PgConnection {
	readonly stream: { cork(): void; uncork(): void }
	/** The client's record of prepared texts, by name. */
	readonly parsedStatements: Record<string, unknown>
	parse(message: { readonly name: string; readonly text: string }): void
	/** Closes a prepared statement; the response is ignored. */
	close(message: { readonly type: 'S'; readonly name: string }): void
	bind(message: { readonly statement: string; readonly values: unknown[] }): void
	execute(message: object): void
	sync(): void
	/** Emitted when the server has finished a statement. */
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

/** Time for a cancelled statement to end, which takes milliseconds; a server that takes longer is silent. */
const CANCEL_TIMEOUT: Milliseconds = 1_000

export class Lease {
	readonly client: PgClient
	/** Why the connection can't be reused. */
	broken: Error | undefined
	readonly #release: (error?: Error) => void
	#isHeld = false
	#isReleased = false

	constructor(client: PgClient, release: (error?: Error) => void) {
		this.client = client
		this.#release = release
		// The pool has no listener while the client is checked out. The statement gets the error as well.
		client.on('error', ignore)
	}

	markBroken(error: Error): void {
		this.broken ??= error
	}

	/**
	 * Cancels the statement and delays `release` until it ends: the server must not run more than the pool allows.
	 *
	 * @param silent called when it hasn't ended in time
	 */
	abandon(deadlines: Deadlines, silent: () => void): void {
		this.#isHeld = true
		this.client.connection?.once?.('readyForQuery', () => this.endHold())
		cancel(this.client)
		deadlines.after(CANCEL_TIMEOUT, () => {
			if (this.#isHeld) silent()
			this.endHold()
		})
	}

	/** Called when the abandoned statement has ended, or {@link CANCEL_TIMEOUT} has passed. */
	endHold(): void {
		if (!this.#isHeld) return
		this.#isHeld = false
		if (this.#isReleased) this.#returnToPool()
	}

	/** Returns the connection to the pool, which closes a broken one. */
	release(): void {
		this.#isReleased = true
		if (!this.#isHeld) this.#returnToPool()
	}

	#returnToPool(): void {
		this.client.removeListener('error', ignore)
		this.#release(this.broken)
	}
}

/** Whether an error makes the connection unusable: all do, except the server's errors about a statement. */
export function isBreaking(error: Error): boolean {
	const code = codeOf(error)
	// `EPIPE` has five letters too, but comes from Node.
	if (code === undefined || 'syscall' in error || !/^[0-9A-Z]{5}$/.test(code)) return true
	// 25006: the server became read-only in a failover.
	return /^(?:08|57P|25P0[345]|25006)/.test(code)
}

function ignore(): void {}
