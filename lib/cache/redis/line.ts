/**
 * `Line`: the way to Redis, on which nobody waits longer than was agreed. Clients hold commands back while there
 * is no connection, by default for ever; here what can't be sent is refused, so that nothing piles up and
 * nothing is carried out long after its caller has gone.
 */

import { Deadlines, type Due } from '../../base/deadlines.ts'
import { type Milliseconds, type Seconds, steadyClock } from '../../base/time.ts'
import { CacheUnavailable } from '../cache.ts'
import type { Caller, Link } from './client.ts'
import { failure, isReadOnly } from './errors.ts'

/** One connection that the client has made: after it there may be another, to another server. */
export interface Connection {
	/**
	 * From when on one more command is risked, where an earlier one had no answer in time. Redis answers in
	 * turn, so the others would only wait behind it.
	 */
	silentUntil: Milliseconds | undefined
}

/** Who waits for a connection. */
interface Waiting {
	go(): void
	refuse(error: CacheUnavailable): void
}

/** Where the next server is a replica too, it isn't left at once: until there is a new primary, this goes on. */
const ABANDON_AGAIN: Milliseconds = 250

export class Line {
	readonly #link: Link
	readonly #most: Milliseconds
	/** Of that, the last part. */
	readonly #last: Milliseconds
	readonly #deadlines: Deadlines
	#connection: Connection = { silentUntil: undefined }
	/** When it was first seen that there is no connection. */
	#lostAt: Milliseconds | undefined
	#waiting: Waiting[] = []
	#abandonedAt: Milliseconds = Number.NEGATIVE_INFINITY

	constructor(link: Link, timeoutSeconds: Seconds) {
		this.#link = link
		this.#most = timeoutSeconds * 1_000
		this.#last = this.#most / 8
		// Who awaits an answer gets one, be it that there is nothing else to keep the program running.
		this.#deadlines = new Deadlines(steadyClock, this.#most / 4, { keepsAlive: true })
		link.onReady(() => this.#renew())
		link.onEnd(() => this.#end())
	}

	/**
	 * Runs `work`, all of it within the time that was agreed.
	 *
	 * @throws CacheUnavailable when that is over; what `work` does later is nobody's
	 */
	within<T>(work: (talk: Talk) => Promise<T>): Promise<T> {
		return new Promise((resolve, reject) => {
			const talk = new Talk(this)
			const item: Due = {
				due: this.now() + this.#most - this.#last,
				// The last part begins when it is seen to: where this process was busy for longer than all of it, the
				// answer may be there, unread.
				expire: () => {
					item.due = this.now() + this.#last
					item.expire = () => reject(talk.giveUp())
					this.#deadlines.add(item)
				},
			}
			this.#deadlines.add(item)
			work(talk)
				.finally(() => this.#deadlines.delete(item))
				.then(resolve, reject)
		})
	}

	/**
	 * The connection; waits for the next where it has just been lost.
	 *
	 * @throws CacheUnavailable where it was lost longer ago
	 */
	async connection(): Promise<Connection> {
		const now = this.now()
		const state = this.#link.state()
		if (state === 'ended') throw ended()
		if (state === 'connecting') {
			this.#lostAt ??= now
			if (now - this.#lostAt >= this.#most) throw new CacheUnavailable('there is no connection to Redis')
			await new Promise<void>((go, refuse) => this.#waiting.push({ go, refuse }))
			return this.#connection
		}
		this.#lostAt = undefined
		return this.#connection
	}

	/**
	 * Sends a command at once.
	 *
	 * @throws CacheUnavailable where an earlier one waits for its answer too long already
	 */
	send(args: readonly string[], connection: Connection, caller: Caller): Promise<unknown> {
		if (connection.silentUntil !== undefined) {
			if (this.now() < connection.silentUntil)
				throw new CacheUnavailable('Redis is silent, and not asked again yet')
			this.distrust(connection)
		}
		return this.#link.send(args, caller)
	}

	/** Notes that a connection has not answered in time. */
	distrust(connection: Connection): void {
		connection.silentUntil = this.now() + this.#most
	}

	/**
	 * Throws a connection to a replica away: it was made to what was the primary then. By the same name or address there
	 * may be the new one, or soon.
	 */
	abandon(connection: Connection): void {
		if (!this.isCurrent(connection) || this.now() - this.#abandonedAt < ABANDON_AGAIN) return
		this.#abandonedAt = this.now()
		this.#link.renew()
	}

	isCurrent(connection: Connection): boolean {
		return connection === this.#connection
	}

	now(): Milliseconds {
		return this.#deadlines.clock()
	}

	get seconds(): Seconds {
		return this.#most / 1_000
	}

	#renew(): void {
		this.#connection = { silentUntil: undefined }
		this.#lostAt = undefined
		const waiting = this.#waiting
		this.#waiting = []
		for (const { go } of waiting) go()
	}

	/** Nobody waits for a connection that will not be. */
	#end(): void {
		if (this.#link.state() !== 'ended') return
		const waiting = this.#waiting
		this.#waiting = []
		for (const { refuse } of waiting) refuse(ended())
	}
}

function ended(): CacheUnavailable {
	return new CacheUnavailable('the Redis client is closed, or was never connected')
}

/** What one call asks of Redis: nothing more once its time is over. */
export class Talk implements Caller {
	readonly #line: Line
	#connection: Connection | undefined
	/** Of a command that is under way. */
	#asked: Connection | undefined
	#isOver = false
	#abort: AbortController | undefined

	constructor(line: Line) {
		this.#line = line
	}

	get signal(): AbortSignal {
		this.#abort ??= new AbortController()
		return this.#abort.signal
	}

	/** The connection that it began on. */
	async connection(): Promise<Connection> {
		this.#connection ??= await this.#line.connection()
		return this.#connection
	}

	/**
	 * The answer to a command.
	 *
	 * @throws CacheUnavailable where there is none, or an error
	 * @throws CacheFull where Redis is out of memory
	 */
	async ask(...args: readonly string[]): Promise<unknown> {
		const connection = await this.#line.connection()
		this.#connection ??= connection
		if (this.#isOver) throw new CacheUnavailable('Redis was not asked, as nobody waits for the answer')
		const sent = this.#line.send(args, connection, this)
		this.#asked = connection
		try {
			const answer = await sent
			connection.silentUntil = undefined
			return answer
		} catch (error) {
			// What was taken back says nothing of the connection.
			if (this.#abort?.signal.aborted !== true) connection.silentUntil = undefined
			if (isReadOnly(error)) this.#line.abandon(connection)
			throw failure(error)
		} finally {
			this.#asked = undefined
		}
	}

	/**
	 * The same, for a command that counts. Clients repeat what was under way when a connection was lost, maybe at
	 * another server, and an answer to that is not one: a nonce would be refused because it was added just before.
	 *
	 * @throws CacheUnavailable too where the connection isn't any more the one that the talk began on
	 */
	async askOnce(...args: readonly string[]): Promise<unknown> {
		const connection = await this.connection()
		const answer = await this.ask(...args)
		if (this.#line.isCurrent(connection)) return answer
		throw new CacheUnavailable(
			'the connection to Redis was lost; whether it had done what it was asked is not known',
		)
	}

	/** Ends it; answers why. */
	giveUp(): CacheUnavailable {
		this.#isOver = true
		this.#abort?.abort()
		const time = `within ${this.#line.seconds} s`
		if (this.#asked === undefined) return new CacheUnavailable(`Redis could not be reached ${time}`)
		this.#line.distrust(this.#asked)
		return new CacheUnavailable(
			`Redis has not answered ${time}; whether it did what it was asked is not known`,
		)
	}
}
