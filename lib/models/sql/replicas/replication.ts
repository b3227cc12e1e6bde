/** `Replication`: how the servers of a database report their positions. An adapter's `replicas/replication.ts` implements it. */

/** How far a server is in the sequence of changes. */
export interface Position<At> {
	/** Whether it accepts changes. */
	readonly isPrimary: boolean
	/** The latest change that it has made or replicated. */
	readonly at: At
}

export interface Replication<At = unknown> {
	/** SQL expressions by name. A replica must have the same values as the primary. */
	readonly same: Readonly<Record<string, string>>
	/** SQL expressions whose values `read` is given. */
	readonly position: readonly string[]
	/** @throws Error if the server can't report its position */
	read(values: readonly unknown[]): Position<At>
	/** Whether a server at `server` has all changes that the primary had at `primary`. */
	hasReached(server: At, primary: At): boolean
	/**
	 * What to do after a read has failed at a replica: `'down'` if the replica can't be used for now, `'again'` if another
	 * server may succeed; `undefined` if the read would fail there as well, or has taken long already.
	 */
	consequenceOf(error: unknown): 'down' | 'again' | undefined
}
