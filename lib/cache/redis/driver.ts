/** `ClientAdapter`: one interface for the Redis clients. `ioredis.ts` and `node-redis.ts` implement it, and `client.ts` chooses. */

export interface Cancellable {
	/** Aborted when the call is cancelled. Created when first read. */
	readonly signal: AbortSignal
}

export interface ClientListeners {
	/** A new connection is ready. */
	ready(): void
	/** A connection of a cluster was lost, or is new. */
	changed(): void
	/** The state may have become `ended`. */
	ended(): void
}

export interface ClientAdapter {
	/** Whether keys are spread over the servers of a Redis Cluster. */
	readonly isCluster: boolean
	/** `ended` if it won't reconnect by itself. */
	state(): 'ready' | 'connecting' | 'ended'
	/** The server that has a key. The same text for all keys if there is only one, or it isn't known. */
	serverOf(key: string): string
	/**
	 * Sends a command to the server of a key; never throws. A queued command is dropped when the signal is aborted, if the client
	 * supports it.
	 */
	send(args: readonly string[], key: string, caller: Cancellable): Promise<unknown>
	/** Closes the connection, so that the client reconnects: its address may belong to another server now. */
	reconnect(): void
	listen(listeners: ClientListeners): void
}
