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
	readonly connection: Connection
	readonly until: Milliseconds
	readonly memory: Promise<Memory>
}

export class MaxmemoryPolicy {
	/** One reading, shared by concurrent calls. */
	#reading: Reading | undefined
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
		const reading = await this.#read(call)
		const { policy } = await reading.memory
		if (policy === 'noeviction') return
		this.#forget(reading)
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
		return (await (await this.#read(call)).memory).maxmemory
	}

	async #read(call: Call): Promise<Reading> {
		const connection = await call.connection()
		const known = this.#reading
		if (known !== undefined && known.connection === connection && this.#clock() < known.until) return known
		const memory = memoryOf(call)
		const reading = { connection, until: this.#clock() + CACHED_MS, memory }
		this.#reading = reading
		memory.catch(() => this.#forget(reading))
		return reading
	}

	#forget(reading: Reading): void {
		if (this.#reading === reading) this.#reading = undefined
	}
}

async function memoryOf(call: Call): Promise<Memory> {
	let setting = await fromConfig(call)
	if (setting('maxmemory-policy') === undefined) setting = await fromInfo(call)
	const maxmemory = Number(setting('maxmemory'))
	return { policy: setting('maxmemory-policy'), maxmemory: Number.isSafeInteger(maxmemory) ? maxmemory : 0 }
}

type Settings = (name: string) => string | undefined

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

/** For a managed Redis that forbids CONFIG. */
async function fromInfo(call: Call): Promise<Settings> {
	const reply = String(await unlessForbidden(call.send('INFO', 'memory')))
	return (name) => new RegExp(`^${name.replace('-', '_')}:([\\w-]+)\\r?$`, 'm').exec(reply)?.[1]
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
