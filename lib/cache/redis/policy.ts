/**
 * Whether Redis keeps what it holds: its `maxmemory-policy`. A Redis that evicts may forget a nonce before its
 * time, and the request that used it could be replayed; so it is read before anything is promised. Read with it is
 * `maxmemory`, of which callers have shares.
 */

import { type Bytes, type Clock, type Milliseconds, steadyClock } from '../../base/time.ts'
import { CacheUnavailable } from '../cache.ts'
import { isForbidden } from './errors.ts'
import type { Connection, Talk } from './line.ts'

/** A policy that was read is trusted for so long, on its connection: somebody may change it. */
const TRUSTED: Milliseconds = 60_000

interface Memory {
	/** `undefined` where Redis doesn't tell. */
	readonly policy: string | undefined
	/** 0 where there is no bound, or Redis doesn't tell. */
	readonly maxmemory: Bytes
}

interface Reading {
	readonly connection: Connection
	readonly until: Milliseconds
	readonly memory: Promise<Memory>
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
		const reading = await this.#read(talk)
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
	 * Redis' `maxmemory`; 0 where it has no bound, or doesn't tell.
	 *
	 * @throws CacheUnavailable where Redis can't answer
	 */
	async maxmemory(talk: Talk): Promise<Bytes> {
		return (await (await this.#read(talk)).memory).maxmemory
	}

	async #read(talk: Talk): Promise<Reading> {
		const connection = await talk.connection()
		const known = this.#reading
		if (known !== undefined && known.connection === connection && this.#clock() < known.until) return known
		const memory = memoryOf(talk)
		const reading = { connection, until: this.#clock() + TRUSTED, memory }
		this.#reading = reading
		memory.catch(() => this.#forget(reading))
		return reading
	}

	#forget(reading: Reading): void {
		if (this.#reading === reading) this.#reading = undefined
	}
}

async function memoryOf(talk: Talk): Promise<Memory> {
	let told = await byConfig(talk)
	if (told('maxmemory-policy') === undefined) told = await byInfo(talk)
	const maxmemory = Number(told('maxmemory'))
	return { policy: told('maxmemory-policy'), maxmemory: Number.isSafeInteger(maxmemory) ? maxmemory : 0 }
}

type Told = (name: string) => string | undefined

/** `['maxmemory', '0', 'maxmemory-policy', 'noeviction', …]`, or an object or Map of it, as RESP3 has it. */
async function byConfig(talk: Talk): Promise<Told> {
	const answer = await unlessForbidden(talk.ask('CONFIG', 'GET', 'maxmemory*'))
	return (name) => {
		if (typeof answer !== 'object' || answer === null) return undefined
		if (answer instanceof Map) return word(answer.get(name))
		if (!Array.isArray(answer)) return word(Reflect.get(answer, name))
		const at = answer.findIndex((one, place) => place % 2 === 0 && word(one) === name)
		return at === -1 ? undefined : word(answer[at + 1])
	}
}

/** Where a managed Redis forbids CONFIG. */
async function byInfo(talk: Talk): Promise<Told> {
	const answer = String(await unlessForbidden(talk.ask('INFO', 'memory')))
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
