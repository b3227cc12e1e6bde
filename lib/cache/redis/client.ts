/**
 * The user's own Redis client: what is called of ioredis, iovalkey and node-redis, how they are told apart, and the
 * `ClientAdapter` for each.
 */

/** The part of ioredis' (or iovalkey's) `Redis` that is called. */
export interface IoredisClient {
	/** `wait`, `connecting`, `connect`, `ready`, `close`, `reconnecting` or `end`. */
	readonly status: string
	readonly isCluster: boolean
	call(command: string, args: string[]): Promise<unknown>
	connect(): Promise<unknown>
	disconnect(reconnect: boolean): void
	on(event: 'ready' | 'end', listener: () => void): unknown
}

/** The part of node-redis' client that is called. */
export interface NodeRedisClient {
	readonly isOpen: boolean
	readonly isReady: boolean
	sendCommand(args: string[], options: { abortSignal: AbortSignal }): Promise<unknown>
	on(event: 'ready' | 'error' | 'end' | 'terminated', listener: () => void): unknown
	listenerCount(event: 'error'): number
}

/** A connected client of ioredis, iovalkey or node-redis: one server's, not a cluster's. */
export type RedisClient = IoredisClient | NodeRedisClient

/** A call that can be given up. */
export interface Cancellable {
	/** Aborted when the call is given up. Created when first read. */
	readonly signal: AbortSignal
}

/** One interface for all clients. */
export interface ClientAdapter {
	/** `ended`: it won't reconnect by itself. */
	state(): 'ready' | 'connecting' | 'ended'
	/**
	 * Sends a command; never throws, but rejects with the client's error. A command that wasn't sent yet when the signal is
	 * aborted is dropped, where the client can.
	 */
	send(args: readonly string[], caller: Cancellable): Promise<unknown>
	/** Closes the connection, so that the client reconnects: its name or address may be another server's now. */
	renew(): void
	/** Calls back whenever a new connection is ready. */
	onReady(listener: () => void): void
	/** Calls back when the state may have become `ended`. */
	onEnd(listener: () => void): void
}

/**
 * The adapter for a client; clients are told apart by their methods.
 *
 * @throws TypeError for anything else
 */
export function adapterOf(client: RedisClient): ClientAdapter {
	const given: unknown = client
	if (typeof given === 'object' && given !== null) {
		if (isIoredis(client)) return new IoredisAdapter(client)
		if (isNodeRedis(client)) return new NodeRedisAdapter(client)
	}
	throw new TypeError(
		'RedisCache takes a Redis of ioredis or iovalkey, or what createClient of node-redis answers; not a cluster, a pool or a sentinel of node-redis',
	)
}

class IoredisAdapter implements ClientAdapter {
	readonly #client: IoredisClient

	constructor(client: IoredisClient) {
		this.#client = client
	}

	state(): 'ready' | 'connecting' | 'ended' {
		const { status } = this.#client
		// With lazyConnect the client waits for a first command, and ours wait for the connection.
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

class NodeRedisAdapter implements ClientAdapter {
	readonly #client: NodeRedisClient

	constructor(client: NodeRedisClient) {
		this.#client = client
		// It emits `error` for each lost or failed connection, which ends the process without a listener. It
		// reconnects by itself; programs that want to know add a listener before.
		if (client.listenerCount('error') === 0) client.on('error', ignore)
	}

	state(): 'ready' | 'connecting' | 'ended' {
		if (this.#client.isReady) return 'ready'
		return this.#client.isOpen ? 'connecting' : 'ended'
	}

	async send(args: readonly string[], { signal }: Cancellable): Promise<unknown> {
		return this.#client.sendCommand([...args], { abortSignal: signal })
	}

	// `destroy` would end it for good; closed by the server, it reconnects.
	renew(): void {
		const { signal } = new AbortController()
		this.#client.sendCommand(['QUIT'], { abortSignal: signal }).catch(ignore)
	}

	onReady(listener: () => void): void {
		this.#client.on('ready', listener)
	}

	onEnd(listener: () => void): void {
		this.#client.on('end', listener)
		// Its reconnectStrategy has given up.
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

/** Not a cluster, sentinel or pool, whose `sendCommand` has other arguments or uses many connections. */
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
