/** What is called of pg's `Pool` and of its clients. */

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
	/** Closes a prepared statement; the answer is nobody's. */
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
