/**
 * What drivers need around a connection pool: a wait queue with timeouts, the detection of connections that were made
 * before a failover, and the errors for no connection and for no response.
 */
import { attached } from '../../base/attached.ts'
import type { Deadlines, Due } from '../../base/deadlines.ts'
import { type Linked, RecencyList } from '../../base/recency-list.ts'
import { type Milliseconds, steadyClock } from '../../base/time.ts'

/** There was no connection, so the statement was never sent. */
export class NoConnection extends Error {
	override readonly name = 'NoConnection'

	constructor(cause?: unknown) {
		super('could not get a connection to the database', { cause })
	}
}

/** The statement was sent, but there was no response in time. */
export class NoAnswer extends Error {
	override readonly name = 'NoAnswer'

	constructor() {
		super('the database has not responded in time')
	}
}

/** Requests a connection from the pool, which calls `callback` once. */
export type GetConnection<Connection> = (callback: (error: unknown, connection?: Connection) => void) => void

/**
 * FIFO queue of callers that wait for a connection. The drivers' pools keep a caller in their own queue until a
 * connection is free, even after it has timed out, so the queue of an exhausted pool would grow with every HTTP request.
 * Here the next caller takes over the pending call of one that timed out.
 */
export class WaitQueue<Connection> {
	readonly #deadlines: Deadlines
	readonly #getConnection: GetConnection<Connection>
	readonly #release: (connection: Connection) => void
	/**
	 * A linked list: a long-lived Set would keep its outgrown tables until a full garbage collection, and with them
	 * former waiters and their results. (A Set cost a sixth of the time of listing 100 records.)
	 */
	readonly #waiting = new RecencyList<Waiter<Connection>>()
	#size = 0
	/** Number of requests that the pool has not answered yet. */
	#requested = 0

	/** @param release called with a connection that arrives when nobody waits */
	constructor(
		deadlines: Deadlines,
		getConnection: GetConnection<Connection>,
		release: (connection: Connection) => void,
	) {
		this.#deadlines = deadlines
		this.#getConnection = getConnection
		this.#release = release
	}

	/** Number of callers that wait. */
	get size(): number {
		return this.#size
	}

	/** Calls `resolve` with a connection, or `reject` after an error or the timeout, whose error has no `cause`. */
	acquire(
		resolve: (connection: Connection) => void,
		reject: (error: NoConnection) => void,
		time: Milliseconds,
	): void {
		const waiter: Waiter<Connection> = {
			due: this.#deadlines.clock() + time,
			...{ earlier: undefined, later: undefined, isWaiting: false, older: undefined, newer: undefined },
			...{ resolve, reject },
			expire: () => {
				this.#remove(waiter)
				reject(new NoConnection())
			},
		}
		this.#deadlines.add(waiter)
		this.#waiting.add(waiter)
		this.#size++
		if (this.#requested >= this.#size) return
		this.#requested++
		const callback = (error: unknown, connection?: Connection) => {
			this.#requested--
			if (connection === undefined) this.#rejectOne(waiter, error)
			else this.#resolveNext(connection)
		}
		try {
			this.#getConnection(callback)
		} catch (error) {
			callback(error)
		}
	}

	#remove(waiter: Waiter<Connection>): void {
		this.#deadlines.delete(waiter)
		this.#waiting.remove(waiter)
		this.#size--
	}

	#resolveNext(connection: Connection): void {
		const next = this.#waiting.oldest
		if (next === undefined) {
			this.#release(connection)
			return
		}
		this.#remove(next)
		next.resolve(connection)
	}

	/** Rejects the waiter that made the request or, if that waiter has timed out, the first one in the queue. */
	#rejectOne(requester: Waiter<Connection>, error: unknown): void {
		const rejected = requester.isWaiting ? requester : this.#waiting.oldest
		if (rejected === undefined) return
		this.#remove(rejected)
		rejected.reject(new NoConnection(error))
	}
}

interface Waiter<Connection> extends Due, Linked<Waiter<Connection>> {
	readonly resolve: (connection: Connection) => void
	readonly reject: (error: NoConnection) => void
}

/**
 * Minimum time between two renewals. A server may be read-only on purpose, and repeated writes to it must not close all
 * connections each time. A new primary should be used within a second; this is half of it.
 */
const MIN_RENEWAL_INTERVAL: Milliseconds = 500

const RENEWAL: unique symbol = Symbol('verbena.renewal')

/**
 * Recognizes connections that were made before the last failover. They lead to a server that is read-only now, while
 * the host name or the proxy leads new connections to the new primary.
 */
export class Renewal {
	/** When each connection was first seen. */
	readonly #since = new WeakMap<object, Milliseconds>()
	#renewed: Milliseconds = Number.NEGATIVE_INFINITY

	/** The `Renewal` that all models over a pool share. */
	static of(pool: object): Renewal {
		return attached(pool, RENEWAL, () => new Renewal())
	}

	/** Marks all existing connections as outdated. Does nothing and returns false if the last renewal was too recent. */
	renew(): boolean {
		const now = steadyClock()
		if (now - this.#renewed < MIN_RENEWAL_INTERVAL) return false
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
