/**
 * `RedisLink`: sends commands to Redis with a timeout, and translates errors. Without a connection, clients queue commands, by
 * default for ever. Here a command that can't be sent is refused, so that commands neither pile up nor run long after their
 * callers have gone.
 */
import { Deadlines, type Due } from '../../base/deadlines.ts'
import { type Milliseconds, type Seconds, steadyClock } from '../../base/time.ts'
import { CacheFull, CacheUnavailable } from '../cache.ts'

interface Cancellable {
	/** Aborted when the call is cancelled. Created when first read. */
	readonly signal: AbortSignal
}

interface ClientListeners {
	/** A new connection is ready. */
	ready(): void
	/** A connection of a cluster was lost, or is new. */
	changed(): void
	/** The state may have become `ended`. */
	ended(): void
}

/** One interface for the Redis clients: `client.ts` implements it for each, and chooses. */
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

/** A connection of the client to a server; the next one may be to another server. */
export interface Connection {
	/** As `ClientAdapter.serverOf` returns it. */
	readonly server: string
	/** No command is sent before this time, because one timed out: Redis replies in order, so others would wait for it. */
	pausedUntil: Milliseconds | undefined
}

/** A call that waits for a connection. */
interface Waiting {
	resolve(): void
	reject(error: CacheUnavailable): void
}

/** Minimum time between two reconnects away from a replica: there may be no primary for a while. */
const MIN_RECONNECT_MS: Milliseconds = 250

export class RedisLink {
	readonly #client: ClientAdapter
	readonly #timeout: Milliseconds
	/** The part of the timeout that is a grace period at its end. */
	readonly #grace: Milliseconds
	readonly #deadlines: Deadlines
	/** By server; more than one in a Redis Cluster. */
	readonly #connections = new Map<string, Connection>()
	/** When the loss of the connection was noticed. */
	#lostAt: Milliseconds | undefined
	readonly #waiting: Waiting[] = []
	#reconnectedAt: Milliseconds = Number.NEGATIVE_INFINITY

	constructor(client: ClientAdapter, timeoutSeconds: Seconds) {
		this.#client = client
		this.#timeout = timeoutSeconds * 1_000
		this.#grace = this.#timeout / 8
		// Keeps the process alive, so that every call settles.
		this.#deadlines = new Deadlines(steadyClock, this.#timeout / 4, { keepsAlive: true })
		client.listen({
			ready: () => this.#ready(),
			changed: () => this.#connections.clear(),
			ended: () => this.#end(),
		})
	}

	/**
	 * Runs `work` with the timeout. Its commands are about one key, or keys of the same slot.
	 *
	 * @throws CacheUnavailable after the timeout; a later result of `work` is dropped
	 */
	withTimeout<T>(key: string, work: (call: Call) => Promise<T>): Promise<T> {
		return new Promise((resolve, reject) => {
			const call = new Call(this, key)
			const item: Due = {
				due: this.now() + this.#timeout - this.#grace,
				// Grace period: after an event-loop stall the reply may have arrived but not been read yet.
				expire: () => {
					item.due = this.now() + this.#grace
					item.expire = () => reject(call.timeOut())
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
	 * The connection to a key's server; if it was lost less than the timeout ago, waits for the next one.
	 *
	 * @throws CacheUnavailable if it was lost longer ago
	 */
	async connection(key: string): Promise<Connection> {
		const state = this.#client.state()
		if (state === 'ended') throw ended()
		if (state === 'ready') this.#lostAt = undefined
		else {
			this.#lostAt ??= this.now()
			if (this.now() - this.#lostAt >= this.#timeout)
				throw new CacheUnavailable('there is no connection to Redis')
			await new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }))
		}
		const server = this.#client.serverOf(key)
		const known = this.#connections.get(server)
		if (known !== undefined) return known
		const connection = { server, pausedUntil: undefined }
		this.#connections.set(server, connection)
		return connection
	}

	/** Sends a command. @throws CacheUnavailable if an earlier command has timed out on this connection */
	send(args: readonly string[], connection: Connection, call: Call): Promise<unknown> {
		if (connection.pausedUntil !== undefined) {
			if (this.now() < connection.pausedUntil)
				throw new CacheUnavailable('Redis does not respond; retrying later')
			this.pause(connection)
		}
		return this.#client.send(args, call.key, call)
	}

	/** Called when a command on a connection has timed out. */
	pause(connection: Connection): void {
		connection.pausedUntil = this.now() + this.#timeout
	}

	/** Reconnects away from a replica. The new primary may have the same address, now or soon. */
	leaveReplica(connection: Connection): void {
		if (!this.isCurrent(connection) || this.now() - this.#reconnectedAt < MIN_RECONNECT_MS) return
		this.#reconnectedAt = this.now()
		this.#client.reconnect()
	}

	isCurrent(connection: Connection): boolean {
		return connection === this.#connections.get(connection.server)
	}

	now(): Milliseconds {
		return this.#deadlines.clock()
	}

	get isCluster(): boolean {
		return this.#client.isCluster
	}

	get seconds(): Seconds {
		return this.#timeout / 1_000
	}

	#ready(): void {
		this.#connections.clear()
		this.#lostAt = undefined
		for (const { resolve } of this.#waiting.splice(0)) resolve()
	}

	/** Rejects waiting calls once the client won't reconnect. */
	#end(): void {
		if (this.#client.state() !== 'ended') return
		for (const { reject } of this.#waiting.splice(0)) reject(ended())
	}
}

function ended(): CacheUnavailable {
	return new CacheUnavailable('the Redis client is closed, or was never connected')
}

/** The commands of one call of the cache; none is sent after its timeout. */
export class Call implements Cancellable {
	readonly #link: RedisLink
	/** The key that the commands are about. */
	readonly key: string
	#connection: Connection | undefined
	/** The connection of the command in progress. */
	#sentOn: Connection | undefined
	#hasTimedOut = false
	#abort: AbortController | undefined

	constructor(link: RedisLink, key: string) {
		this.key = key
		this.#link = link
	}

	get signal(): AbortSignal {
		this.#abort ??= new AbortController()
		return this.#abort.signal
	}

	get isCluster(): boolean {
		return this.#link.isCluster
	}

	/** The connection that the call began on. */
	async connection(): Promise<Connection> {
		this.#connection ??= await this.#link.connection(this.key)
		return this.#connection
	}

	/**
	 * Sends a command and returns the reply.
	 *
	 * @throws CacheUnavailable if there is no reply, or the reply is an error
	 * @throws CacheFull if Redis is out of memory
	 */
	async send(...args: readonly string[]): Promise<unknown> {
		const connection = await this.#link.connection(this.key)
		this.#connection ??= connection
		if (this.#hasTimedOut) throw new CacheUnavailable('the call has timed out before a command was sent')
		const sent = this.#link.send(args, connection, this)
		this.#sentOn = connection
		try {
			const reply = await sent
			connection.pausedUntil = undefined
			return reply
		} catch (error) {
			// An aborted command says nothing about the connection.
			if (this.#abort?.signal.aborted !== true) connection.pausedUntil = undefined
			if (isReadOnly(error)) this.#link.leaveReplica(connection)
			throw failure(error)
		} finally {
			this.#sentOn = undefined
		}
	}

	/**
	 * Sends a command that must not run twice. Clients repeat commands after a lost connection, maybe at another server, and
	 * the second reply is wrong: a nonce would be refused because the first command has just added it.
	 *
	 * @throws CacheUnavailable also if the connection has changed since the call began
	 */
	async sendOnce(...args: readonly string[]): Promise<unknown> {
		const connection = await this.connection()
		const reply = await this.send(...args)
		if (this.#link.isCurrent(connection)) return reply
		throw new CacheUnavailable('the connection to Redis was lost; the command may have been carried out')
	}

	/** Ends the call and returns its error. */
	timeOut(): CacheUnavailable {
		this.#hasTimedOut = true
		this.#abort?.abort()
		const time = `within ${this.#link.seconds} s`
		if (this.#sentOn === undefined) return new CacheUnavailable(`Redis could not be reached ${time}`)
		this.#link.pause(this.#sentOn)
		return new CacheUnavailable(`Redis has not answered ${time}; the command may have been carried out`)
	}
}

/** Redis is out of memory. Before Redis 7, an error within a script is wrapped in another. */
const OUT_OF_MEMORY = /^(?:ERR Error running script .*: -)?OOM /

/** A command that is unknown, or not permitted to this user. */
const FORBIDDEN = /^(?:ERR|NOPERM) /

/** A server that refuses writes: a replica, or one that can't save to disk or has too few replicas. */
const UNWRITABLE = /^(?:ERR Error running script .*: -)?(?:READONLY|MISCONF|NOREPLICAS|MASTERDOWN) /
/** The server is a replica. */
const READ_ONLY = /^(?:ERR Error running script .*: -)?(?:READONLY|MASTERDOWN) /

/** `CacheFull` if Redis is out of memory, otherwise `CacheUnavailable`. */
export function failure(error: unknown): CacheFull | CacheUnavailable {
	if (OUT_OF_MEMORY.test(messageOf(error))) return new CacheFull(undefined, 'maxmemory', { cause: error })
	if (UNWRITABLE.test(messageOf(error)))
		return new CacheUnavailable('this Redis refuses writes: it is a replica, or cannot save', {
			cause: error,
		})
	return new CacheUnavailable('Redis refused a command, or the connection was lost', { cause: error })
}

/** Whether a command is unknown or not permitted, so that another may be tried. */
export function isForbidden(error: unknown): boolean {
	return error instanceof CacheUnavailable && FORBIDDEN.test(messageOf(error.cause))
}

/** Whether Redis has no script with this hash, and so has run none. */
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
