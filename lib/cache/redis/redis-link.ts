/**
 * `RedisLink`: commands to Redis, each within a bounded time, and what their errors mean to a `Cache`. Clients queue
 * commands while there is no connection, by default for ever; here what can't be sent is refused, so that nothing piles up
 * and nothing is carried out long after its caller has gone.
 */
import { Deadlines, type Due } from '../../base/deadlines.ts'
import { type Milliseconds, type Seconds, steadyClock } from '../../base/time.ts'
import { CacheFull, CacheUnavailable } from '../cache.ts'
import type { Cancellable, ClientAdapter } from './client.ts'

/** One connection of the client; the next one may be to another server. */
export interface Connection {
	/**
	 * Set when a command timed out: until then no other is sent, as Redis answers in order, so that it would only wait
	 * behind that one.
	 */
	silentUntil: Milliseconds | undefined
}

/** A call that waits for a connection. */
interface Waiting {
	go(): void
	refuse(error: CacheUnavailable): void
}

/** Least time between two reconnects away from a replica: there may be no primary for a while. */
const ABANDON_AGAIN: Milliseconds = 250

export class RedisLink {
	readonly #client: ClientAdapter
	readonly #most: Milliseconds
	/** The grace period at the end of it. */
	readonly #last: Milliseconds
	readonly #deadlines: Deadlines
	#connection: Connection = { silentUntil: undefined }
	/** When a missing connection was first noticed. */
	#lostAt: Milliseconds | undefined
	#waiting: Waiting[] = []
	#abandonedAt: Milliseconds = Number.NEGATIVE_INFINITY

	constructor(client: ClientAdapter, timeoutSeconds: Seconds) {
		this.#client = client
		this.#most = timeoutSeconds * 1_000
		this.#last = this.#most / 8
		// Keeps the process alive, so that every call settles.
		this.#deadlines = new Deadlines(steadyClock, this.#most / 4, { keepsAlive: true })
		client.onReady(() => this.#renew())
		client.onEnd(() => this.#end())
	}

	/**
	 * Runs `work` within the timeout.
	 *
	 * @throws CacheUnavailable when it is over; a later result of `work` is dropped
	 */
	within<T>(work: (call: Call) => Promise<T>): Promise<T> {
		return new Promise((resolve, reject) => {
			const call = new Call(this)
			const item: Due = {
				due: this.now() + this.#most - this.#last,
				// Grace period: after an event-loop stall the reply may have arrived but not been read yet.
				expire: () => {
					item.due = this.now() + this.#last
					item.expire = () => reject(call.giveUp())
					this.#deadlines.add(item)
				},
			}
			this.#deadlines.add(item)
			work(call)
				.finally(() => this.#deadlines.delete(item))
				.then(resolve, reject)
		})
	}

	/**
	 * The connection; waits for the next one where it was lost less than the timeout ago.
	 *
	 * @throws CacheUnavailable where it was lost longer ago
	 */
	async connection(): Promise<Connection> {
		const now = this.now()
		const state = this.#client.state()
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
	 * Sends a command.
	 *
	 * @throws CacheUnavailable where an earlier one has timed out on this connection
	 */
	send(args: readonly string[], connection: Connection, caller: Cancellable): Promise<unknown> {
		if (connection.silentUntil !== undefined) {
			if (this.now() < connection.silentUntil)
				throw new CacheUnavailable('Redis does not respond; retrying later')
			this.distrust(connection)
		}
		return this.#client.send(args, caller)
	}

	/** Called when a command on a connection has timed out. */
	distrust(connection: Connection): void {
		connection.silentUntil = this.now() + this.#most
	}

	/**
	 * Reconnects away from a replica, which was the primary when the connection was made; the new primary may have the same
	 * name or address, now or soon.
	 */
	abandon(connection: Connection): void {
		if (!this.isCurrent(connection) || this.now() - this.#abandonedAt < ABANDON_AGAIN) return
		this.#abandonedAt = this.now()
		this.#client.renew()
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

	/** Refuses waiting calls once the client won't reconnect. */
	#end(): void {
		if (this.#client.state() !== 'ended') return
		const waiting = this.#waiting
		this.#waiting = []
		for (const { refuse } of waiting) refuse(ended())
	}
}

function ended(): CacheUnavailable {
	return new CacheUnavailable('the Redis client is closed, or was never connected')
}

/** The commands of one call of the cache; none is sent once its time is over. */
export class Call implements Cancellable {
	readonly #link: RedisLink
	#connection: Connection | undefined
	/** The connection of the command in progress. */
	#asked: Connection | undefined
	#isOver = false
	#abort: AbortController | undefined

	constructor(link: RedisLink) {
		this.#link = link
	}

	get signal(): AbortSignal {
		this.#abort ??= new AbortController()
		return this.#abort.signal
	}

	/** The connection that the call began on. */
	async connection(): Promise<Connection> {
		this.#connection ??= await this.#link.connection()
		return this.#connection
	}

	/**
	 * Sends a command and returns the reply.
	 *
	 * @throws CacheUnavailable where there is none, or an error
	 * @throws CacheFull where Redis is out of memory
	 */
	async ask(...args: readonly string[]): Promise<unknown> {
		const connection = await this.#link.connection()
		this.#connection ??= connection
		if (this.#isOver) throw new CacheUnavailable('Redis was not asked, as nobody waits for the answer')
		const sent = this.#link.send(args, connection, this)
		this.#asked = connection
		try {
			const answer = await sent
			connection.silentUntil = undefined
			return answer
		} catch (error) {
			// An aborted command says nothing about the connection.
			if (this.#abort?.signal.aborted !== true) connection.silentUntil = undefined
			if (isReadOnly(error)) this.#link.abandon(connection)
			throw failure(error)
		} finally {
			this.#asked = undefined
		}
	}

	/**
	 * The same, for a command that must not run twice. Clients repeat a command after a lost connection, maybe at another
	 * server, and the reply to the repeat is wrong: a nonce would be refused because it was added just before.
	 *
	 * @throws CacheUnavailable also where the connection has changed since the call began
	 */
	async askOnce(...args: readonly string[]): Promise<unknown> {
		const connection = await this.connection()
		const answer = await this.ask(...args)
		if (this.#link.isCurrent(connection)) return answer
		throw new CacheUnavailable(
			'the connection to Redis was lost; whether it had done what it was asked is not known',
		)
	}

	/** Ends the call and returns the error for it. */
	giveUp(): CacheUnavailable {
		this.#isOver = true
		this.#abort?.abort()
		const time = `within ${this.#link.seconds} s`
		if (this.#asked === undefined) return new CacheUnavailable(`Redis could not be reached ${time}`)
		this.#link.distrust(this.#asked)
		return new CacheUnavailable(
			`Redis has not answered ${time}; whether it did what it was asked is not known`,
		)
	}
}

/** Out of memory, as Redis words it; before Redis 7, an error within a script is wrapped in another. */
const FULL = /^(?:ERR Error running script .*: -)?OOM /

/** A command that the server doesn't know, or that this user may not run. */
const FORBIDDEN = /^(?:ERR|NOPERM) /

/**
 * A server that takes no writes: a replica, also one that was the primary before; one that can't save to disk, or has too
 * few replicas. Before Redis 7, wrapped in another error by scripts.
 */
const UNWRITABLE = /^(?:ERR Error running script .*: -)?(?:READONLY|MISCONF|NOREPLICAS|MASTERDOWN) /
/** The server is a replica. */
const READ_ONLY = /^(?:ERR Error running script .*: -)?(?:READONLY|MASTERDOWN) /

/** `CacheFull` for a Redis that is full, `CacheUnavailable` for everything else. */
export function failure(error: unknown): CacheFull | CacheUnavailable {
	if (FULL.test(messageOf(error))) return new CacheFull(undefined, 'maxmemory', { cause: error })
	if (UNWRITABLE.test(messageOf(error)))
		return new CacheUnavailable('this Redis takes no writes: it is a replica, or can not save', {
			cause: error,
		})
	return new CacheUnavailable('Redis refused a command, or was lost while it was under way', { cause: error })
}

/** Whether a command is unknown or not permitted, so that another may be tried. */
export function isForbidden(error: unknown): boolean {
	return error instanceof CacheUnavailable && FORBIDDEN.test(messageOf(error.cause))
}

/** Whether Redis doesn't know a script by its hash, and so did not run it. */
export function isUnknownScript(error: unknown): boolean {
	return error instanceof CacheUnavailable && messageOf(error.cause).startsWith('NOSCRIPT ')
}

/** Whether a server says that it is a replica. */
export function isReadOnly(error: unknown): boolean {
	return READ_ONLY.test(messageOf(error))
}

function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : ''
}
