/** Caches that each violate one promise, and the correct `Remote`, for the test of the cache contract. */

import type { Clock } from '../../lib/base/time.ts'
import { type Cache, CacheFull, type JsonValue } from '../../lib/cache/cache.ts'
import { MemoryCache } from '../../lib/cache/memory-cache.ts'

/** Acts when it is asked and answers later, as what lies behind a network seems to. */
export class Remote implements Cache {
	protected readonly inner: MemoryCache

	constructor(inner: MemoryCache) {
		this.inner = inner
	}

	async get(key: string): Promise<JsonValue | undefined> {
		const held = this.inner.get(key)
		await this.later()
		return held
	}

	async set(key: string, value: JsonValue, ttlSeconds: number): Promise<void> {
		this.inner.set(key, value, ttlSeconds)
		await this.later()
	}

	async delete(key: string): Promise<boolean> {
		const answer = this.inner.delete(key)
		await this.later()
		return answer
	}

	async add(key: string, value: JsonValue, ttlSeconds: number): Promise<boolean> {
		const answer = this.inner.add(key, value, ttlSeconds)
		await this.later()
		return answer
	}

	async increment(key: string, ttlSeconds: number): Promise<number> {
		const answer = this.inner.increment(key, ttlSeconds)
		await this.later()
		return answer
	}

	protected later(): Promise<void> {
		return new Promise(setImmediate)
	}
}

export class TwoSteps extends Remote {
	override async add(key: string, value: JsonValue, ttlSeconds: number): Promise<boolean> {
		const held = await this.get(key)
		if (held !== undefined) return false
		await this.set(key, value, ttlSeconds)
		return true
	}

	override async increment(key: string, ttlSeconds: number): Promise<number> {
		const count = Number((await this.get(key)) ?? 0) + 1
		await this.set(key, count, ttlSeconds)
		return count
	}
}

class Local extends MemoryCache {
	constructor(clock: Clock, max: number) {
		super({ max, clock })
	}
}

export class Retimed extends Local {
	readonly #retime: (ttlSeconds: number) => number

	constructor(clock: Clock, max: number, retime: (ttlSeconds: number) => number) {
		super(clock, max)
		this.#retime = retime
	}

	override set(key: string, value: JsonValue, ttlSeconds: number): void {
		super.set(key, value, this.#retime(ttlSeconds))
	}

	override add(key: string, value: JsonValue, ttlSeconds: number): boolean {
		return super.add(key, value, this.#retime(ttlSeconds))
	}
}

export class Rekeyed extends Local {
	readonly #rekey: (key: string) => string

	constructor(clock: Clock, max: number, rekey: (key: string) => string) {
		super(clock, max)
		this.#rekey = rekey
	}

	override get(key: string): JsonValue | undefined {
		return super.get(this.#rekey(key))
	}

	override set(key: string, value: JsonValue, ttlSeconds: number): void {
		super.set(this.#rekey(key), value, ttlSeconds)
	}
}

export class Sharing extends Local {
	readonly #objects = new Map<string, JsonValue>()

	override get(key: string): JsonValue | undefined {
		return super.get(key) === undefined ? undefined : this.#objects.get(key)
	}

	override set(key: string, value: JsonValue, ttlSeconds: number): void {
		super.set(key, value, ttlSeconds)
		this.#objects.set(key, value)
	}
}

export class Unsaid extends Local {
	override add(key: string, value: JsonValue, ttlSeconds: number): boolean {
		try {
			return super.add(key, value, ttlSeconds)
		} catch (error) {
			if (error instanceof CacheFull) return true
			throw error
		}
	}
}

export class Releasing extends Local {
	override set(key: string, value: JsonValue, ttlSeconds: number): void {
		super.delete(key)
		super.set(key, value, ttlSeconds)
	}
}

export class Throwing extends Local {
	override set(key: string, value: JsonValue, ttlSeconds: number): void {
		super.set(key, value, ttlSeconds)
		if (super.get(key) === undefined) throw new CacheFull(1)
	}
}

export class Deleting extends Local {
	override delete(key: string): boolean {
		super.delete(key)
		return true
	}
}

export class InObject implements Cache {
	readonly #values: Record<string, JsonValue> = {}

	get(key: string): JsonValue | undefined {
		return this.#values[key]
	}

	set(key: string, value: JsonValue): void {
		this.#values[key] = value
	}

	delete(key: string): boolean {
		return delete this.#values[key]
	}

	add(key: string, value: JsonValue): boolean {
		if (key in this.#values) return false
		this.#values[key] = value
		return true
	}

	increment(key: string): number {
		const count = Number(this.#values[key] ?? 0) + 1
		this.#values[key] = count
		return count
	}
}
