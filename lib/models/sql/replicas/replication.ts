/** `Replication`: how the servers of a database say how far they are. An adapter's `replicas/replication.ts` implements it. */

/** How far a server is. */
export interface Position<At> {
	/** Whether it accepts changes. */
	readonly isPrimary: boolean
	/** The latest of its changes: those that it has made, or taken over. */
	readonly at: At
}

export interface Replication<At = unknown> {
	/** SQL expressions by what they are. A replica must have the same values as the primary. */
	readonly same: Readonly<Record<string, string>>
	/** SQL expressions whose values `read` is given. */
	readonly position: readonly string[]
	/** @throws Error if the server can't tell how far it is */
	read(values: readonly unknown[]): Position<At>
	/** Whether a server has the changes that the primary had when it was there. */
	hasReached(server: At, primary: At): boolean
	/**
	 * What follows from a read that has failed at a replica: `'down'` if it can't be used for now, and `'again'` if another
	 * server may succeed. `undefined` if the read would fail there as well, or has taken long already.
	 */
	consequenceOf(error: unknown): 'down' | 'again' | undefined
}
