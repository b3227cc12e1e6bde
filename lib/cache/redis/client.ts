/** `RedisClient`: the clients that a `RedisCache` takes, and a `ClientAdapter` for each; `adapterOf` distinguishes them. */
import { hasMethods } from '../../base/options.ts'
import { CacheUnavailable } from '../cache.ts'
import type { ClientAdapter } from './redis-link.ts'
import { slotOf } from './slots.ts'

/** The used part of `Redis` of ioredis or iovalkey, with or without sentinels. */
export interface IoredisClient {
	/** `wait`, `connecting`, `connect`, `ready`, `close`, `reconnecting` or `end`. */
	readonly status: string
	readonly isCluster: boolean
	call(command: string, args: string[]): Promise<unknown>
	connect(): Promise<unknown>
	disconnect(reconnect: boolean): void
	on(event: 'ready' | 'end', listener: () => void): unknown
}

/** The used part of `Cluster` of ioredis or iovalkey. */
export interface IoredisCluster {
	readonly status: string
	readonly isCluster: boolean
	readonly options: { readonly scaleReads?: unknown }
	/** For each slot the addresses of its primary and replicas. */
	readonly slots: readonly (readonly string[])[]
	call(command: string, args: string[]): Promise<unknown>
	connect(): Promise<unknown>
	nodes(): readonly ClusterNode[]
	on(event: 'ready' | 'end', listener: () => void): unknown
	on(event: '+node', listener: (node: ClusterNode) => void): unknown
}

/** The used part of a cluster's client for one of its servers. */
interface ClusterNode {
	on(event: 'close', listener: () => void): unknown
}

/** The used part of node-redis' client. */
export interface NodeRedisClient {
	readonly isOpen: boolean
	readonly isReady: boolean
	sendCommand(args: string[], options: { abortSignal: AbortSignal }): Promise<unknown>
	on(event: 'ready' | 'error' | 'end' | 'terminated', listener: () => void): unknown
	listenerCount(event: 'error'): number
}

/** The used part of the result of node-redis' `createCluster`. */
export interface NodeRedisCluster {
	readonly isOpen: boolean
	readonly isReady?: boolean
	/** For each slot its primary, and more. */
	readonly slots: readonly { readonly master?: { readonly address: string } }[]
	readonly masters: readonly unknown[]
	sendCommand(
		firstKey: string,
		isReadonly: boolean,
		args: string[],
		options: { abortSignal: AbortSignal },
	): Promise<unknown>
	on(event: 'connect' | 'disconnect' | 'error' | 'node-ready', listener: () => void): unknown
	listenerCount(event: 'error'): number
}

/** The used part of the result of node-redis' `createSentinel`. */
export interface NodeRedisSentinel {
	readonly isOpen: boolean
	readonly isReady: boolean
	getMasterNode(): unknown
	_execute(
		isReadonly: boolean,
		run: (client: Pick<NodeRedisClient, 'sendCommand'>) => Promise<unknown>,
	): Promise<unknown>
	on(event: 'ready' | 'end' | 'error', listener: () => void): unknown
	listenerCount(event: 'error'): number
}

/** A client of ioredis, iovalkey or node-redis: for one server, for Redis Cluster, or for Sentinel. */
export type RedisClient =
	| IoredisClient
	| IoredisCluster
	| NodeRedisClient
	| NodeRedisCluster
	| NodeRedisSentinel

/**
 * The adapter for a client; clients are distinguished by their methods.
 *
 * @throws TypeError unless it is a supported client, and for one that reads from replicas
 */
export function adapterOf(client: RedisClient): ClientAdapter {
	if (isIoredis(client)) return isCluster(client) ? ioredisClusterAdapter(client) : ioredisAdapter(client)
	if (isSentinel(client)) return nodeRedisSentinelAdapter(client)
	if (isNodeRedis(client))
		return 'masters' in client ? nodeRedisClusterAdapter(client) : nodeRedisAdapter(client)
	throw new TypeError(
		'RedisCache needs a Redis or Cluster of ioredis or iovalkey, or the result of createClient, createCluster or createSentinel of node-redis; not a pool',
	)
}

function isIoredis(client: RedisClient): client is IoredisClient | IoredisCluster {
	return hasMethods(client, 'call', 'connect') && typeof Reflect.get(client, 'status') === 'string'
}

function isCluster(client: IoredisClient | IoredisCluster): client is IoredisCluster {
	return client.isCluster && 'slots' in client
}

function isSentinel(client: RedisClient): client is NodeRedisSentinel {
	return hasMethods(client, '_execute', 'getMasterNode', 'listenerCount')
}

/** Excludes pools: the cache sends its commands on one connection, without waiting for replies, and needs no other. */
function isNodeRedis(client: RedisClient): client is NodeRedisClient | NodeRedisCluster {
	return (
		hasMethods(client, 'sendCommand', 'listenerCount') &&
		typeof Reflect.get(client, 'isOpen') === 'boolean' &&
		!('totalClients' in client)
	)
}

function ioredisAdapter(client: IoredisClient): ClientAdapter {
	return {
		isCluster: false,
		state: () => stateOf(client),
		serverOf: () => '',
		send: async ([command = '', ...args]) => client.call(command, args),
		reconnect: () => client.disconnect(true),
		listen({ ready, ended }) {
			client.on('ready', ready)
			client.on('end', ended)
		},
	}
}

function ioredisClusterAdapter(client: IoredisCluster): ClientAdapter {
	const { scaleReads = 'master' } = client.options
	// A replica may lack the latest counts, and answers to idempotency keys.
	if (scaleReads !== 'master') throw new TypeError("RedisCache needs a Cluster with scaleReads: 'master'")
	return {
		isCluster: true,
		state: () => stateOf(client),
		serverOf: (key) => client.slots[slotOf(key)]?.[0] ?? '',
		// In lower case: only then iovalkey finds the command's keys, without which it sends the command to any server.
		send: async ([command = '', ...args]) => client.call(command.toLowerCase(), args),
		// A demoted server of a cluster redirects to its successor, and the client follows.
		reconnect() {},
		listen({ ready, changed, ended }) {
			client.on('ready', ready)
			client.on('end', ended)
			// Commands that were sent on a lost connection are repeated.
			const watch = (node: ClusterNode) => node.on('close', changed)
			for (const node of client.nodes()) watch(node)
			client.on('+node', watch)
		},
	}
}

function stateOf(client: IoredisClient | IoredisCluster): 'ready' | 'connecting' | 'ended' {
	const { status } = client
	// With lazyConnect the client connects at its first command. The cache sends none before, so it must connect here.
	if (status === 'wait') client.connect().catch(ignore)
	if (status === 'ready') return 'ready'
	return status === 'end' ? 'ended' : 'connecting'
}

function nodeRedisAdapter(client: NodeRedisClient): ClientAdapter {
	ignoreErrors(client)
	return {
		isCluster: false,
		state: () => openState(client),
		serverOf: () => '',
		send: async (args, _key, { signal }) => client.sendCommand([...args], { abortSignal: signal }),
		// After `destroy` the client wouldn't reconnect. After QUIT the server closes the connection, so it does.
		reconnect() {
			const { signal } = new AbortController()
			client.sendCommand(['QUIT'], { abortSignal: signal }).catch(ignore)
		},
		listen({ ready, ended }) {
			client.on('ready', ready)
			client.on('end', ended)
			// Emitted when the client's reconnectStrategy has given up.
			client.on('terminated', ended)
		},
	}
}

/** Repeats only redirected commands. It is always told that they write, so that it reads from no replica. */
function nodeRedisClusterAdapter(client: NodeRedisCluster): ClientAdapter {
	ignoreErrors(client)
	return {
		isCluster: true,
		state: () => openState(client),
		serverOf: (key) => client.slots[slotOf(key)]?.master?.address ?? '',
		send: async (args, key, { signal }) => client.sendCommand(key, false, [...args], { abortSignal: signal }),
		// A demoted server of a cluster redirects to its successor, and the client follows.
		reconnect() {},
		listen({ ready, changed, ended }) {
			client.on('connect', ready)
			client.on('node-ready', changed)
			client.on('disconnect', ended)
		},
	}
}

function nodeRedisSentinelAdapter(client: NodeRedisSentinel): ClientAdapter {
	ignoreErrors(client)
	return {
		isCluster: false,
		state: () => openState(client),
		serverOf: () => '',
		// With `sendCommand` the client would repeat a command whose connection was lost, and emit no event: here the
		// repetition is seen, and refused. A command that a replica has refused may be repeated.
		async send(args, _key, { signal }) {
			let isUnknown = false
			return client._execute(false, async (server) => {
				if (isUnknown)
					throw new CacheUnavailable(
						'the connection to Redis was lost; the command may have been carried out',
					)
				if (signal.aborted) throw signal.reason
				isUnknown = true
				try {
					return await server.sendCommand([...args], { abortSignal: signal })
				} catch (error) {
					isUnknown = !String(error).includes('READONLY ')
					throw error
				}
			})
		},
		// The client itself asks the sentinels when a server turns out to be a replica.
		reconnect() {},
		listen({ ready, ended }) {
			client.on('ready', ready)
			client.on('end', ended)
		},
	}
}

/** A cluster may not say whether it is ready. */
function openState({
	isOpen,
	isReady = isOpen,
}: Pick<NodeRedisCluster, 'isOpen' | 'isReady'>): 'ready' | 'connecting' | 'ended' {
	if (isReady) return 'ready'
	return isOpen ? 'connecting' : 'ended'
}

/**
 * These clients emit `error` for each lost or failed connection, which ends the process if there is no listener. The error can be
 * ignored: they reconnect by themselves. Programs that need the event add a listener before.
 */
function ignoreErrors(client: NodeRedisClient | NodeRedisCluster | NodeRedisSentinel): void {
	if (client.listenerCount('error') === 0) client.on('error', ignore)
}

function ignore(): void {}
