/**
 * `Lending`: those who wait for a connection of a pool. Pools keep everybody in their queue until a connection is
 * there, also who has long lost patience, and the queue of a pool that stays exhausted would grow with every
 * request. So whoever leaves here leaves their place to the next who comes. Used by the drivers of pg and mysql2.
 */

/** One who waits for a connection. */
export interface Borrower<Connection> {
	lend(connection: Connection): void
	fail(error: unknown): void
	/** Its neighbours in the queue, and whether it is in it; kept by {@link Lending}. */
	earlier?: Borrower<Connection> | undefined
	later?: Borrower<Connection> | undefined
	waiting?: boolean
}

/** How the pool is asked for a connection, and what it calls then, once. */
export type AskPool<Connection> = (got: (error: unknown, connection?: Connection) => void) => void

export class Lending<Connection> {
	readonly #ask: AskPool<Connection>
	readonly #giveBack: (connection: Connection) => void
	/**
	 * First come, first served. A list through the borrowers themselves: a Set that lives long leaves its outgrown
	 * tables among the old objects, where they keep those who have waited, and what they were answered, until all
	 * of memory is swept (a sixth of the time of a list of 100).
	 */
	#first: Borrower<Connection> | undefined
	#last: Borrower<Connection> | undefined
	#size = 0
	/** How many connections the pool has been asked for, and hasn't answered. */
	#asked = 0

	/** @param giveBack for a connection that comes when nobody waits any more */
	constructor(ask: AskPool<Connection>, giveBack: (connection: Connection) => void) {
		this.#ask = ask
		this.#giveBack = giveBack
	}

	join(borrower: Borrower<Connection>): void {
		this.#add(borrower)
		if (this.#asked >= this.#size) return
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
		if (borrower.waiting !== true) return
		const { earlier, later } = borrower
		if (earlier === undefined) this.#first = later
		else earlier.later = later
		if (later === undefined) this.#last = earlier
		else later.earlier = earlier
		borrower.earlier = undefined
		borrower.later = undefined
		borrower.waiting = false
		this.#size--
	}

	#add(borrower: Borrower<Connection>): void {
		borrower.earlier = this.#last
		borrower.waiting = true
		if (this.#last === undefined) this.#first = borrower
		else this.#last.later = borrower
		this.#last = borrower
		this.#size++
	}

	#lend(connection: Connection): void {
		const first = this.#first
		if (first === undefined) this.#giveBack(connection)
		else {
			this.leave(first)
			first.lend(connection)
		}
	}

	/** Whoever has asked, for whom there was no room in a queue, say; or, if they have left, who has their place. */
	#fail(asker: Borrower<Connection>, error: unknown): void {
		const failed = asker.waiting === true ? asker : this.#first
		if (failed === undefined) return
		this.leave(failed)
		failed.fail(error)
	}
}
