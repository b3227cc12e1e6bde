/**
 * One of several processes that race for the same keys of a Redis, by `add` or by `increment`: prints `ready`,
 * waits for a message, and sends back what it was answered. With 0 rounds it ends after another message.
 *
 *     node --import tsx test/cache/redis/racer.ts <client> <port> <prefix> add <keys> <copies> <rounds> <timeoutSeconds>
 */
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { RedisCache } from '../../../lib/cache/redis/redis-cache.ts'
import { type ClientName, openClient } from './servers.ts'

/** What a racer sends. */
export interface Finish {
	/** For `add`: keys whose add returned true, in order. */
	readonly won: readonly number[]
	/** For `increment`: the returned numbers, by key. */
	readonly counts: readonly (readonly number[])[]
	/** Names of thrown errors, and their number. */
	readonly errors: Readonly<Record<string, number>>
	/** The longest time without a successful response. */
	readonly outage: number
}

/** Concurrent keys. */
const WINDOW = 10

const [
	name = 'ioredis',
	port = '',
	prefix = '',
	work = 'add',
	keys = '0',
	copies = '0',
	rounds = '1',
	seconds = '1',
] = process.argv.slice(2)

const won: number[] = []
const counts: number[][] = Array.from({ length: Number(keys) }, () => [])
const errors: Record<string, number> = {}
let outage = 0
let failed = 0

const opened = openClient(name as ClientName, Number(port))
const cache = new RedisCache(opened.client, { prefix, timeoutSeconds: Number(seconds) })
await cache.get('warm')
console.log('ready')
await once(process, 'message')
let answeredAt = performance.now()
// Without a number of rounds it runs until it gets a message, and then once more over all keys.
let left = Number(rounds) || Number.POSITIVE_INFINITY
process.once('message', () => {
	left = 2
})
for (; left > 0; left--) {
	for (let first = 0; first < Number(keys); first += WINDOW) {
		const before = failed
		await Promise.all(Array.from({ length: WINDOW * Number(copies) }, (_, at) => ask(first + (at % WINDOW))))
		// While Redis is down the keys must not be used up at once.
		if (failed > before) await setTimeout(20)
	}
}
const finish: Finish = { won, counts, errors, outage }
opened.close()
process.send?.(finish, () => process.disconnect())

async function ask(key: number): Promise<void> {
	try {
		if (work === 'increment') counts[key]?.push(await cache.increment(`count ${key}`, 600))
		else if (await cache.add(`key ${key}`, process.pid, 600)) won.push(key)
		outage = Math.max(outage, performance.now() - answeredAt)
		answeredAt = performance.now()
	} catch (error) {
		const kind = error instanceof Error ? error.name : String(error)
		errors[kind] = (errors[kind] ?? 0) + 1
		failed++
	}
}
