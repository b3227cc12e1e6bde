/** The used parts of the Redis clients ioredis, iovalkey and node-redis, and a `ClientAdapter` for each. */
import { hasMethods } from '../../base/options.ts'

/** The used part of `Redis` of ioredis or iovalkey. */
export interface IoredisClient {
	/** `wait`, `connecting`, `connect`, `ready`, `close`, `reconnecting` or `end`. */
	readonly status: string
	readonly isCluster: boolean
	call(command: string, args: string[]): Promise<unknown>
	connect(): Promise<unknown>
	disconnect(reconnect: boolean): void
	on(event: 'ready' | 'end', listener: () => void): unknown
}

/** The used part of node-redis' client. */
export interface NodeRedisClient {
	readonly isOpen: boolean
	readonly isReady: boolean
	sendCommand(args: string[], options: { abortSignal: AbortSignal }): Promise<unknown>
	on(event: 'ready' | 'error' | 'end' | 'terminated', listener: () => void): unknown
	listenerCount(event: 'error'): number
}

/** A client of ioredis, iovalkey or node-redis for a single server, not a cluster. */
export type RedisClient = IoredisClient | NodeRedisClient

/** A call that can be cancelled. */
export interface Cancellable {
	/** Aborted when the call is cancelled. Created when first read. */
	readonly signal: AbortSignal
}

/** One interface for all clients. */
export interface ClientAdapter {
	/** `ended` if it won't reconnect by itself. */
	state(): 'ready' | 'connecting' | 'ended'
	/** Sends a command; never throws. A queued command is dropped when the signal is aborted, if the client supports it. */
	send(args: readonly string[], caller: Cancellable): Promise<unknown>
	/** Closes the connection, so that the client reconnects: its address may belong to another server now. */
	reconnect(): void
	/** Calls `onReady` whenever a new connection is ready, and `onEnd` when the state may have become `ended`. */
	listen(onReady: () => void, onEnd: () => void): void
}

/**
 * The adapter for a client; clients are distinguished by their methods.
 *
 * @throws TypeError unless it is a client of ioredis, iovalkey or node-redis for a single server
 */
export function adapterOf(client: RedisClient): ClientAdapter {
	if (isIoredis(client)) return new IoredisAdapter(client)
	if (isNodeRedis(client)) return new NodeRedisAdapter(client)
	throw new TypeError(
		'RedisCache needs a Redis of ioredis or iovalkey, or the result of createClient of node-redis; not a cluster, pool or sentinel',
	)
}

class IoredisAdapter implements ClientAdapter {
	readonly #client: IoredisClient

	constructor(client: IoredisClient) {
		this.#client = client
	}

	state(): 'ready' | 'connecting' | 'ended' {
		const { status } = this.#client
		// With lazyConnect the client connects at its first command. The cache sends none before, so it must connect here.
		if (status === 'wait') this.#client.connect().catch(ignore)
		if (status === 'ready') return 'ready'
		return status === 'end' ? 'ended' : 'connecting'
	}

	async send([command = '', ...args]: readonly string[]): Promise<unknown> {
		return this.#client.call(command, args)
	}

	reconnect(): void {
		this.#client.disconnect(true)
	}

	listen(onReady: () => void, onEnd: () => void): void {
		this.#client.on('ready', onReady)
		this.#client.on('end', onEnd)
	}
}

class NodeRedisAdapter implements ClientAdapter {
	readonly #client: NodeRedisClient

	constructor(client: NodeRedisClient) {
		this.#client = client
		// The client emits `error` for each lost or failed connection, which ends the process if there is no listener. The
		// error can be ignored: the client reconnects by itself. Programs that need the event add a listener before.
		if (client.listenerCount('error') === 0) client.on('error', ignore)
	}

	state(): 'ready' | 'connecting' | 'ended' {
		if (this.#client.isReady) return 'ready'
		return this.#client.isOpen ? 'connecting' : 'ended'
	}

	async send(args: readonly string[], { signal }: Cancellable): Promise<unknown> {
		return this.#client.sendCommand([...args], { abortSignal: signal })
	}

	// After `destroy` the client wouldn't reconnect. After QUIT the server closes the connection, so it does.
	reconnect(): void {
		const { signal } = new AbortController()
		this.#client.sendCommand(['QUIT'], { abortSignal: signal }).catch(ignore)
	}

	listen(onReady: () => void, onEnd: () => void): void {
		this.#client.on('ready', onReady)
		this.#client.on('end', onEnd)
		// Emitted when the client's reconnectStrategy has given up.
		this.#client.on('terminated', onEnd)
	}
}

function isIoredis(client: RedisClient): client is IoredisClient {
	return (
		hasMethods(client, 'call', 'connect', 'disconnect') &&
		typeof Reflect.get(client, 'status') === 'string' &&
		Reflect.get(client, 'isCluster') !== true
	)
}

/** Excludes clusters, sentinels and pools, whose `sendCommand` has other arguments or uses many connections. */
function isNodeRedis(client: RedisClient): client is NodeRedisClient {
	return (
		hasMethods(client, 'sendCommand', 'listenerCount') &&
		typeof Reflect.get(client, 'isReady') === 'boolean' &&
		!(hasMethods(client, 'acquire') || 'masters' in client || 'totalClients' in client)
	)
}

function ignore(): void {}
