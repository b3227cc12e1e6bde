/**
 * What drivers need of a pool: `WaitQueue` for those who wait for a connection, `Renewal` for the connections that were
 * made before a failover, and the errors for a connection that could not be had or has fallen silent.
 */
import type { Deadlines, Due } from '../../base/deadlines.ts'
import { type Linked, RecencyList } from '../../base/recency-list.ts'
import { type Milliseconds, steadyClock } from '../../base/time.ts'

/** No connection could be had, so the statement was never sent. */
export class NoConnection extends Error {
	override readonly name = 'NoConnection'

	constructor(cause?: unknown) {
		super('no connection to the database could be had', { cause })
	}
}

/** The statement was sent, and not answered in time. */
export class NoAnswer extends Error {
	override readonly name = 'NoAnswer'

	constructor() {
		super('the database has not answered in time')
	}
}

/** Asks the pool for a connection. It calls `got` once. */
export type AskPool<Connection> = (got: (error: unknown, connection?: Connection) => void) => void

/**
 * Those who wait for a connection, first come, first served. A pool keeps everyone in its own queue until there is a
 * connection, also those who have given up: the queue of an exhausted pool would grow with every request. Here the place
 * of one who gives up is taken by the next to come.
 */
export class WaitQueue<Connection> {
	readonly #deadlines: Deadlines
	readonly #ask: AskPool<Connection>
	readonly #giveBack: (connection: Connection) => void
	/**
	 * Linked through the borrowers: a long-lived Set would keep its outgrown tables, and by them those who have waited and
	 * their answers, until a full garbage collection (a sixth of the time of a list of 100).
	 */
	readonly #waiting = new RecencyList<Borrower<Connection>>()
	#size = 0
	/** Connections that the pool was asked for and has not answered. */
	#asked = 0

	/** @param giveBack for a connection that arrives when the queue is empty */
	constructor(deadlines: Deadlines, ask: AskPool<Connection>, giveBack: (connection: Connection) => void) {
		this.#deadlines = deadlines
		this.#ask = ask
		this.#giveBack = giveBack
	}

	/** Calls `lend` with a connection, or `fail` if there is an error or none in time; the latter has no `cause`. */
	borrow(
		lend: (connection: Connection) => void,
		fail: (error: NoConnection) => void,
		time: Milliseconds,
	): void {
		const borrower: Borrower<Connection> = {
			due: this.#deadlines.clock() + time,
			...{ earlier: undefined, later: undefined, isWaiting: false, older: undefined, newer: undefined },
			...{ isQueued: true, lend, fail },
			expire: () => {
				this.#remove(borrower)
				fail(new NoConnection())
			},
		}
		this.#deadlines.add(borrower)
		this.#waiting.add(borrower)
		this.#size++
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

	#remove(borrower: Borrower<Connection>): void {
		this.#deadlines.delete(borrower)
		this.#waiting.remove(borrower)
		borrower.isQueued = false
		this.#size--
	}

	#lend(connection: Connection): void {
		const first = this.#waiting.oldest
		if (first === undefined) {
			this.#giveBack(connection)
			return
		}
		this.#remove(first)
		first.lend(connection)
	}

	/** Fails the borrower for whom the pool was asked; if that one has given up, the first in the queue. */
	#fail(asker: Borrower<Connection>, error: unknown): void {
		const failed = asker.isQueued ? asker : this.#waiting.oldest
		if (failed === undefined) return
		this.#remove(failed)
		failed.fail(new NoConnection(error))
	}
}

interface Borrower<Connection> extends Due, Linked<Borrower<Connection>> {
	isQueued: boolean
	readonly lend: (connection: Connection) => void
	readonly fail: (error: NoConnection) => void
}

/**
 * Time between two renewals: a server may be meant to be read only, and a change that is tried there again and again must
 * not cost all connections each time. Half of the second within which a new primary is used.
 */
const RENEWAL_PAUSE: Milliseconds = 500

/**
 * Tells the connections that were made before the last failover, which lead to a server that only reads now: the name or
 * the proxy leads the next ones to the new primary.
 */
export class Renewal {
	/** When each connection was first seen. */
	readonly #since = new WeakMap<object, Milliseconds>()
	#renewed: Milliseconds = Number.NEGATIVE_INFINITY

	/** Makes all connections old that exist now; returns whether it did. */
	renew(): boolean {
		const now = steadyClock()
		if (now - this.#renewed < RENEWAL_PAUSE) return false
		this.#renewed = now
		return true
	}

	isFresh(connection: object): boolean {
		let since = this.#since.get(connection)
		if (since === undefined) {
			since = steadyClock()
			this.#since.set(connection, since)
		}
		return since > this.#renewed
	}
}
