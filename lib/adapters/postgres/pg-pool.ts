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
}

export interface PgClient {
	query(
		query: PgQuery,
		values: unknown[],
		callback: (error: Error | null, result: PgResult | undefined) => void,
	): unknown
	on(event: 'error', listener: (error: Error) => void): unknown
	removeListener(event: 'error', listener: (error: Error) => void): unknown
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
