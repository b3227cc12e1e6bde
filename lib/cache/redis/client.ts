/**
 * The users' own Redis clients: what of ioredis, iovalkey and node-redis is called, how they are told apart,
 * and the `Link` that goes with each.
 */

/** What is called of a `Redis` of ioredis, or of iovalkey. */
export interface IoredisClient {
	/** `wait`, `connecting`, `connect`, `ready`, `close`, `reconnecting` or `end`. */
	readonly status: string
	readonly isCluster: boolean
	call(command: string, args: string[]): Promise<unknown>
	connect(): Promise<unknown>
	disconnect(reconnect: boolean): void
	on(event: 'ready' | 'end', listener: () => void): unknown
}

/** What is called of what node-redis' `createClient` answers. */
export interface NodeRedisClient {
	readonly isOpen: boolean
	readonly isReady: boolean
	sendCommand(args: string[], options: { abortSignal: AbortSignal }): Promise<unknown>
	on(event: 'ready' | 'error' | 'end' | 'terminated', listener: () => void): unknown
	listenerCount(event: 'error'): number
}

/** A connected client of ioredis, iovalkey or node-redis: one server's, not a cluster's. */
export type RedisClient = IoredisClient | NodeRedisClient

/** Who asks. */
export interface Caller {
	/** Aborted when nobody waits any more. Made when it is asked for. */
	readonly signal: AbortSignal
}

/** A client, whichever it is. */
export interface Link {
	/** `ended`: it will not connect again by itself. */
	state(): 'ready' | 'connecting' | 'ended'
	/**
	 * Sends a command; never throws, but rejects with what the client fails with. Where the signal is aborted
	 * before the command has gone out, and the client can, it is taken back.
	 */
	send(args: readonly string[], caller: Caller): Promise<unknown>
	/** Closes the connection, so that the client makes another: by its name or address there may be another server now. */
	renew(): void
	/** Calls back each time that a new connection can be used. */
	onReady(listener: () => void): void
	/** Calls back when it may have `ended`. */
	onEnd(listener: () => void): void
}

/**
 * The link of a client; told apart by what they can do.
 *
 * @throws TypeError for anything else
 */
export function linkOf(client: RedisClient): Link {
	const given: unknown = client
	if (typeof given === 'object' && given !== null) {
		if (isIoredis(client)) return new IoredisLink(client)
		if (isNodeRedis(client)) return new NodeRedisLink(client)
	}
	throw new TypeError(
		'RedisCache takes a Redis of ioredis or iovalkey, or what createClient of node-redis answers; not a cluster, a pool or a sentinel of node-redis',
	)
}

class IoredisLink implements Link {
	readonly #client: IoredisClient

	constructor(client: IoredisClient) {
		this.#client = client
	}

	state(): 'ready' | 'connecting' | 'ended' {
		const { status } = this.#client
		// With lazyConnect it waits for a first command, and ours wait for the connection.
		if (status === 'wait') this.#client.connect().catch(ignore)
		if (status === 'ready') return 'ready'
		return status === 'end' ? 'ended' : 'connecting'
	}

	async send([command = '', ...args]: readonly string[]): Promise<unknown> {
		return this.#client.call(command, args)
	}

	renew(): void {
		this.#client.disconnect(true)
	}

	onReady(listener: () => void): void {
		this.#client.on('ready', listener)
	}

	onEnd(listener: () => void): void {
		this.#client.on('end', listener)
	}
}

class NodeRedisLink implements Link {
	readonly #client: NodeRedisClient

	constructor(client: NodeRedisClient) {
		this.#client = client
		// It emits `error` for each connection that is lost or can't be made, and without a listener that ends
		// the process. It connects again by itself; who wants to know adds a listener before.
		if (client.listenerCount('error') === 0) client.on('error', ignore)
	}

	state(): 'ready' | 'connecting' | 'ended' {
		if (this.#client.isReady) return 'ready'
		return this.#client.isOpen ? 'connecting' : 'ended'
	}

	async send(args: readonly string[], { signal }: Caller): Promise<unknown> {
		return this.#client.sendCommand([...args], { abortSignal: signal })
	}

	// Its own `destroy` ends it for good: closed by the server, it connects again.
	renew(): void {
		const { signal } = new AbortController()
		this.#client.sendCommand(['QUIT'], { abortSignal: signal }).catch(ignore)
	}

	onReady(listener: () => void): void {
		this.#client.on('ready', listener)
	}

	onEnd(listener: () => void): void {
		this.#client.on('end', listener)
		// What its reconnectStrategy has given up.
		this.#client.on('terminated', listener)
	}
}

function isIoredis(client: RedisClient): client is IoredisClient {
	return (
		can(client, 'call') &&
		can(client, 'connect') &&
		can(client, 'disconnect') &&
		has(client, 'status', 'string') &&
		!isCluster(client)
	)
}

/** Its clusters, sentinels and pools have a `sendCommand` too, with other arguments or over many connections. */
function isNodeRedis(client: RedisClient): client is NodeRedisClient {
	const isOne = !can(client, 'acquire') && !('masters' in client) && !('totalClients' in client)
	return (
		isOne && can(client, 'sendCommand') && can(client, 'listenerCount') && has(client, 'isReady', 'boolean')
	)
}

function isCluster(client: RedisClient): boolean {
	return Reflect.get(client, 'isCluster') === true
}

function can(client: RedisClient, name: string): boolean {
	return has(client, name, 'function')
}

function has(client: RedisClient, name: string, kind: string): boolean {
	return typeof Reflect.get(client, name) === kind
}

function ignore(): void {}
