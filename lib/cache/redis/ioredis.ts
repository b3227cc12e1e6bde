/** Used parts of ioredis and iovalkey, for one server, Sentinel or Redis Cluster, and a `ClientAdapter` for each. */
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

export function ioredisAdapter(client: IoredisClient): ClientAdapter {
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

export function ioredisClusterAdapter(client: IoredisCluster): ClientAdapter {
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

function ignore(): void {}
