/** `RedisClient`: the clients that a `RedisCache` takes; `adapterOf` distinguishes them. */
import { hasMethods } from '../../base/options.ts'
import { type IoredisClient, type IoredisCluster, ioredisAdapter, ioredisClusterAdapter } from './ioredis.ts'
import {
	type NodeRedisClient,
	type NodeRedisCluster,
	type NodeRedisSentinel,
	nodeRedisAdapter,
	nodeRedisClusterAdapter,
	nodeRedisSentinelAdapter,
} from './node-redis.ts'
import type { ClientAdapter } from './redis-link.ts'

export type { IoredisClient, IoredisCluster, NodeRedisClient, NodeRedisCluster, NodeRedisSentinel }

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
