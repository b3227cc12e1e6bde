/**
 * `Lending`: those who wait for a connection of a pool. Pools keep everybody in their queue until a connection is
 * there, also who has long lost patience, and the queue of a pool that stays exhausted would grow with every
 * request. So whoever leaves here leaves their place to the next who comes. Used by the drivers of pg and mysql2.
 */

/** One who waits for a connection. */
export interface Borrower<Connection> {
	lend(connection: Connection): void
	fail(error: unknown): void
}

/** How the pool is asked for a connection, and what it calls then, once. */
export type AskPool<Connection> = (got: (error: unknown, connection?: Connection) => void) => void

export class Lending<Connection> {
	readonly #ask: AskPool<Connection>
	readonly #giveBack: (connection: Connection) => void
	/** First come, first served. */
	readonly #waiting = new Set<Borrower<Connection>>()
	/** How many connections the pool has been asked for, and hasn't answered. */
	#asked = 0

	/** @param giveBack for a connection that comes when nobody waits any more */
	constructor(ask: AskPool<Connection>, giveBack: (connection: Connection) => void) {
		this.#ask = ask
		this.#giveBack = giveBack
	}

	join(borrower: Borrower<Connection>): void {
		this.#waiting.add(borrower)
		if (this.#asked >= this.#waiting.size) return
		this.#asked++
		const got = (error: unknown, connection?: Connection) => {
			this.#asked--
			if (connection === undefined) this.#fail(borrower, error)
			else this.#lend(connection)
		}
		try {
			this.#ask(got)
		} catch (error) {
			got(error)
		}
	}

	leave(borrower: Borrower<Connection>): void {
		this.#waiting.delete(borrower)
	}

	#lend(connection: Connection): void {
		const [first] = this.#waiting
		if (first === undefined) this.#giveBack(connection)
		else {
			this.#waiting.delete(first)
			first.lend(connection)
		}
	}

	/** Whoever has asked, for whom there was no room in a queue, say; or, if they have left, who has their place. */
	#fail(asker: Borrower<Connection>, error: unknown): void {
		const [first] = this.#waiting
		const failed = this.#waiting.has(asker) ? asker : first
		if (failed === undefined) return
		this.#waiting.delete(failed)
		failed.fail(error)
	}
}
