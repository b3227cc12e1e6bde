/**
 * Checks Redis' `maxmemory-policy` before `add` and `increment`: a Redis that evicts may delete a nonce early, and the request
 * that used it could be replayed. At the same time it reads `maxmemory`, which is divided into callers' shares.
 */
import { type Bytes, type Clock, type Milliseconds, steadyClock } from '../../base/time.ts'
import { CacheUnavailable } from '../cache.ts'
import { type Call, type Connection, isForbidden } from './redis-link.ts'

/** How long a reading is cached, per connection: the settings may be changed. */
const CACHED_MS: Milliseconds = 60_000

interface Memory {
	/** `undefined` if it can't be read. */
	readonly policy: string | undefined
	/** 0 if there is no limit, or it can't be read. */
	readonly maxmemory: Bytes
}

interface Reading {
	readonly until: Milliseconds
	readonly memory: Promise<Memory>
}

export class MaxmemoryPolicy {
	/** A reading for each connection, shared by concurrent calls: the servers of a cluster may have different settings. */
	readonly #readings = new WeakMap<Connection, Reading>()
	readonly #clock: Clock

	constructor(clock: Clock = steadyClock) {
		this.#clock = clock
	}

	/**
	 * Resolves if Redis evicts nothing.
	 *
	 * @throws CacheUnavailable if it may evict entries, or the policy can't be read
	 */
	async check(call: Call): Promise<void> {
		const connection = await call.connection()
		const reading = this.#read(connection, call)
		const { policy } = await reading.memory
		if (policy === 'noeviction') return
		this.#forget(connection, reading)
		throw new CacheUnavailable(
			policy === undefined
				? "Redis doesn't report its maxmemory-policy: allow CONFIG GET or INFO, or if it is noeviction, set the option maxmemoryPolicy"
				: `Redis may evict nonces and counters, because its maxmemory-policy is ${policy}: set maxmemory-policy noeviction`,
		)
	}

	/**
	 * Redis' `maxmemory`; 0 if there is no limit, or it can't be read.
	 *
	 * @throws CacheUnavailable if Redis can't respond
	 */
	async maxmemory(call: Call): Promise<Bytes> {
		return (await this.#read(await call.connection(), call).memory).maxmemory
	}

	#read(connection: Connection, call: Call): Reading {
		const known = this.#readings.get(connection)
		if (known !== undefined && this.#clock() < known.until) return known
		const memory = memoryOf(call)
		const reading = { until: this.#clock() + CACHED_MS, memory }
		this.#readings.set(connection, reading)
		memory.catch(() => this.#forget(connection, reading))
		return reading
	}

	#forget(connection: Connection, reading: Reading): void {
		if (this.#readings.get(connection) === reading) this.#readings.delete(connection)
	}
}

async function memoryOf(call: Call): Promise<Memory> {
	const setting = await settingsOf(call)
	const maxmemory = Number(setting('maxmemory'))
	return { policy: setting('maxmemory-policy'), maxmemory: Number.isSafeInteger(maxmemory) ? maxmemory : 0 }
}

type Settings = (name: string) => string | undefined

const INFO = "return redis.call('INFO', 'memory')"

/** By CONFIG, or by INFO for a managed Redis that forbids CONFIG. */
async function settingsOf(call: Call): Promise<Settings> {
	// The client of a cluster sends a command without keys to any server, but a script to that of its key. Scripts can't use CONFIG.
	if (call.isCluster) return parsedInfo(await unlessForbidden(call.send('EVAL', INFO, '1', call.key)))
	const settings = await fromConfig(call)
	if (settings('maxmemory-policy') !== undefined) return settings
	return parsedInfo(await unlessForbidden(call.send('INFO', 'memory')))
}

/** Parses `['maxmemory', '0', 'maxmemory-policy', 'noeviction', …]`, or an object or Map in RESP3. */
async function fromConfig(call: Call): Promise<Settings> {
	const reply = await unlessForbidden(call.send('CONFIG', 'GET', 'maxmemory*'))
	return (name) => {
		if (typeof reply !== 'object' || reply === null) return undefined
		if (reply instanceof Map) return toText(reply.get(name))
		if (!Array.isArray(reply)) return toText(Reflect.get(reply, name))
		const at = reply.findIndex((one, place) => place % 2 === 0 && toText(one) === name)
		return at === -1 ? undefined : toText(reply[at + 1])
	}
}

/** Parses `maxmemory_policy:noeviction` etc. */
function parsedInfo(reply: unknown): Settings {
	const text = String(reply)
	return (name) => new RegExp(`^${name.replace('-', '_')}:([\\w-]+)\\r?$`, 'm').exec(text)?.[1]
}

async function unlessForbidden(reply: Promise<unknown>): Promise<unknown> {
	try {
		return await reply
	} catch (error) {
		if (isForbidden(error)) return undefined
		throw error
	}
}

function toText(value: unknown): string | undefined {
	return value === undefined || value === null ? undefined : String(value)
}
