/** Used parts of ioredis and iovalkey, for one server, Sentinel or Redis Cluster, and a `ClientAdapter` for each. */
import type { ClientAdapter, ClientListeners } from './driver.ts'
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
	/** By slot the addresses of its primary and replicas. */
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

export class IoredisAdapter implements ClientAdapter {
	readonly isCluster = false
	readonly #client: IoredisClient

	constructor(client: IoredisClient) {
		this.#client = client
	}

	state(): 'ready' | 'connecting' | 'ended' {
		return stateOf(this.#client)
	}

	serverOf(): string {
		return ''
	}

	async send([command = '', ...args]: readonly string[]): Promise<unknown> {
		return this.#client.call(command, args)
	}

	reconnect(): void {
		this.#client.disconnect(true)
	}

	listen({ ready, ended }: ClientListeners): void {
		this.#client.on('ready', ready)
		this.#client.on('end', ended)
	}
}

export class IoredisClusterAdapter implements ClientAdapter {
	readonly isCluster = true
	readonly #client: IoredisCluster

	constructor(client: IoredisCluster) {
		const { scaleReads = 'master' } = client.options
		// A replica may lack the latest counts, and answers to idempotency keys.
		if (scaleReads !== 'master') throw new TypeError("RedisCache needs a Cluster with scaleReads: 'master'")
		this.#client = client
	}

	state(): 'ready' | 'connecting' | 'ended' {
		return stateOf(this.#client)
	}

	serverOf(key: string): string {
		return this.#client.slots[slotOf(key)]?.[0] ?? ''
	}

	/** iovalkey finds the keys of a command by its name in small letters, and without keys sends it to any server. */
	async send([command = '', ...args]: readonly string[]): Promise<unknown> {
		return this.#client.call(command.toLowerCase(), args)
	}

	/** A demoted server of a cluster redirects to its successor, and the client follows. */
	reconnect(): void {}

	listen({ ready, changed, ended }: ClientListeners): void {
		this.#client.on('ready', ready)
		this.#client.on('end', ended)
		// Commands that were sent on a lost connection are repeated.
		const watch = (node: ClusterNode) => node.on('close', changed)
		for (const node of this.#client.nodes()) watch(node)
		this.#client.on('+node', watch)
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
