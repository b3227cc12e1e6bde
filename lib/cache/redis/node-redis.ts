/** Used parts of node-redis, for one server, Sentinel or Redis Cluster, and a `ClientAdapter` for each. */
import { CacheUnavailable } from '../cache.ts'
import type { ClientAdapter } from './redis-link.ts'
import { slotOf } from './slots.ts'

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

export function nodeRedisAdapter(client: NodeRedisClient): ClientAdapter {
	ignoreErrors(client)
	return {
		isCluster: false,
		state: () => stateOf(client),
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
export function nodeRedisClusterAdapter(client: NodeRedisCluster): ClientAdapter {
	ignoreErrors(client)
	return {
		isCluster: true,
		state: () => stateOf(client),
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

export function nodeRedisSentinelAdapter(client: NodeRedisSentinel): ClientAdapter {
	ignoreErrors(client)
	return {
		isCluster: false,
		state: () => stateOf(client),
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
function stateOf({
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
