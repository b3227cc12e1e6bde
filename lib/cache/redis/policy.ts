/**
 * Reads Redis' `maxmemory-policy` before anything is promised: a Redis that evicts may forget a nonce before its time, and
 * the request that used it could be replayed. `maxmemory`, of which callers have shares, is read with it.
 */
import { type Bytes, type Clock, type Milliseconds, steadyClock } from '../../base/time.ts'
import { CacheUnavailable } from '../cache.ts'
import { type Call, type Connection, isForbidden } from './redis-link.ts'

/** How long a policy is trusted, on its connection: it may be changed. */
const TRUSTED: Milliseconds = 60_000

interface Memory {
	/** `undefined` where it can't be read. */
	readonly policy: string | undefined
	/** 0 where there is no bound, or it can't be read. */
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
	 * Resolves where nothing is evicted.
	 *
	 * @throws CacheUnavailable where something may be, or where the policy can't be read
	 */
	async check(call: Call): Promise<void> {
		const reading = await this.#read(call)
		const { policy } = await reading.memory
		if (policy === 'noeviction') return
		this.#forget(reading)
		throw new CacheUnavailable(
			policy === undefined
				? "Redis doesn't tell its maxmemory-policy: allow CONFIG GET or INFO, or, if it is noeviction, say so by the option maxmemoryPolicy"
				: `Redis may forget nonces and counters before their time, as its maxmemory-policy is ${policy}: set maxmemory-policy noeviction`,
		)
	}

	/**
	 * Redis' `maxmemory`; 0 where there is no bound, or it can't be read.
	 *
	 * @throws CacheUnavailable where Redis can't answer
	 */
	async maxmemory(call: Call): Promise<Bytes> {
		return (await (await this.#read(call)).memory).maxmemory
	}

	async #read(call: Call): Promise<Reading> {
		const connection = await call.connection()
		const known = this.#reading
		if (known !== undefined && known.connection === connection && this.#clock() < known.until) return known
		const memory = memoryOf(call)
		const reading = { connection, until: this.#clock() + TRUSTED, memory }
		this.#reading = reading
		memory.catch(() => this.#forget(reading))
		return reading
	}

	#forget(reading: Reading): void {
		if (this.#reading === reading) this.#reading = undefined
	}
}

async function memoryOf(call: Call): Promise<Memory> {
	let told = await byConfig(call)
	if (told('maxmemory-policy') === undefined) told = await byInfo(call)
	const maxmemory = Number(told('maxmemory'))
	return { policy: told('maxmemory-policy'), maxmemory: Number.isSafeInteger(maxmemory) ? maxmemory : 0 }
}

type Told = (name: string) => string | undefined

/** `['maxmemory', '0', 'maxmemory-policy', 'noeviction', …]`, or an object or Map of it, as RESP3 has it. */
async function byConfig(call: Call): Promise<Told> {
	const answer = await unlessForbidden(call.ask('CONFIG', 'GET', 'maxmemory*'))
	return (name) => {
		if (typeof answer !== 'object' || answer === null) return undefined
		if (answer instanceof Map) return word(answer.get(name))
		if (!Array.isArray(answer)) return word(Reflect.get(answer, name))
		const at = answer.findIndex((one, place) => place % 2 === 0 && word(one) === name)
		return at === -1 ? undefined : word(answer[at + 1])
	}
}

/** Where a managed Redis forbids CONFIG. */
async function byInfo(call: Call): Promise<Told> {
	const answer = String(await unlessForbidden(call.ask('INFO', 'memory')))
	return (name) => new RegExp(`^${name.replace('-', '_')}:([\\w-]+)\\r?$`, 'm').exec(answer)?.[1]
}

async function unlessForbidden(asked: Promise<unknown>): Promise<unknown> {
	try {
		return await asked
	} catch (error) {
		if (isForbidden(error)) return undefined
		throw error
	}
}

function word(value: unknown): string | undefined {
	return value === undefined || value === null ? undefined : String(value)
}
