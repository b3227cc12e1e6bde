/**
 * Whether Redis keeps what it holds: its `maxmemory-policy`. A Redis that evicts may forget a nonce before its
 * time, and the request that used it could be replayed; so it is read before anything is promised.
 */
import { CacheUnavailable } from '../../cache/cache.ts'
import { type Clock, type Milliseconds, steadyClock } from '../../time.ts'
import { isForbidden } from './failure.ts'
import type { Connection, Talk } from './line.ts'

/** A policy that was read is trusted for so long, on its connection: somebody may change it. */
const TRUSTED: Milliseconds = 60_000

interface Reading {
	readonly connection: Connection
	readonly until: Milliseconds
	readonly done: Promise<void>
}

export class MaxmemoryPolicy {
	/** One reading for all who ask meanwhile. */
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
	async check(talk: Talk): Promise<void> {
		const connection = await talk.connection()
		const known = this.#reading
		if (known !== undefined && known.connection === connection && this.#clock() < known.until)
			return known.done
		const reading = { connection, until: this.#clock() + TRUSTED, done: refuseEvicting(talk) }
		this.#reading = reading
		try {
			await reading.done
		} catch (error) {
			if (this.#reading === reading) this.#reading = undefined
			throw error
		}
	}
}

async function refuseEvicting(talk: Talk): Promise<void> {
	const policy = (await byConfig(talk)) ?? (await byInfo(talk))
	if (policy === 'noeviction') return
	throw new CacheUnavailable(
		policy === undefined
			? "Redis doesn't tell its maxmemory-policy: allow CONFIG GET or INFO, or, if it is noeviction, say so by the option maxmemoryPolicy"
			: `Redis may forget nonces and counters before their time, as its maxmemory-policy is ${policy}: set maxmemory-policy noeviction`,
	)
}

/** `['maxmemory-policy', 'noeviction']`, or an object or Map of it, as RESP3 has it. */
async function byConfig(talk: Talk): Promise<string | undefined> {
	const answer = await unlessForbidden(talk.ask('CONFIG', 'GET', 'maxmemory-policy'))
	if (Array.isArray(answer)) return word(answer[1])
	if (answer instanceof Map) return word(answer.get('maxmemory-policy'))
	return typeof answer === 'object' && answer !== null
		? word(Reflect.get(answer, 'maxmemory-policy'))
		: undefined
}

/** Where a managed Redis forbids CONFIG. */
async function byInfo(talk: Talk): Promise<string | undefined> {
	const answer = await unlessForbidden(talk.ask('INFO', 'memory'))
	return /^maxmemory_policy:([\w-]+)\r?$/m.exec(String(answer))?.[1]
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
