/** `Disposals`: calls `dispose()` of handlers when the last server that has mounted them is closed. For `controller.ts`. */
import { setTimeout } from 'node:timers/promises'
import { logSafely } from '../base/logger.ts'
import type { Milliseconds } from '../base/time.ts'
import type { App } from '../exchange/app.ts'
import { HandlerHooks } from './handler.ts'

const REFERENCES: unique symbol = Symbol('verbena.references')

/** The reference count of a handler. Stored on the handler, because several servers may have mounted it. */
interface References {
	/** Open servers that have mounted it. */
	servers: number
	isDisposed: boolean
}

type Counted = HandlerHooks & { readonly [REFERENCES]?: References }

interface Entry {
	readonly instance: HandlerHooks
	readonly references: References
	readonly silent: boolean
	/** The promise of its `init`, if it has one. */
	readonly init: () => Promise<void> | undefined
}

/** The handlers of one server that have a `dispose()`, in the order in which they were mounted. */
export class Disposals {
	readonly #entries = new Map<HandlerHooks, Entry>()
	#isClosed = false

	/** @throws TypeError for a handler that was disposed of already, or whose `dispose()` would never be called */
	check(instance: Counted): void {
		if (!disposes(instance)) return
		const { name } = instance.constructor
		const references = instance[REFERENCES]
		if (references === undefined && Object.isFrozen(instance))
			throw new TypeError(
				`${name} is frozen already, so its dispose() could never be called: mount it before freezing it`,
			)
		if (references?.isDisposed === true)
			throw new TypeError(`${name} was disposed of with the server that had mounted it: mount a new one`)
		if (this.#isClosed)
			throw new TypeError(`${name}.dispose() would never be called, because the server has been closed`)
	}

	/** Adds a mounted handler, which must not be frozen yet. */
	add(instance: Counted, silent: boolean, init: () => Promise<void> | undefined): void {
		if (!disposes(instance) || this.#entries.has(instance)) return
		const references: References = instance[REFERENCES] ?? { servers: 0, isDisposed: false }
		if (instance[REFERENCES] === undefined) Object.defineProperty(instance, REFERENCES, { value: references })
		references.servers++
		this.#entries.set(instance, { instance, references, silent, init })
	}

	/** Releases all handlers without disposing of them, when creating the server has failed. */
	release(): void {
		for (const { references } of this.#entries.values()) references.servers--
		this.#entries.clear()
	}

	/**
	 * Disposes of the handlers that no other server has mounted, one at a time, in reverse order. Logs failures, and
	 * handlers that haven't finished when `timeout`, which covers all of them together, expires.
	 */
	async run({ logger }: Pick<App, 'logger'>, timeout: Milliseconds): Promise<void> {
		const log = ({ instance, silent }: Entry, message: string, fields: object = {}): void => {
			if (!silent) logSafely(logger, 'error', { handler: instance.constructor.name, ...fields }, message)
		}
		this.#isClosed = true
		const entries = [...this.#entries.values()].reverse()
		this.#entries.clear()
		const timer = new AbortController()
		const timedOut = setTimeout(timeout, 'timeout' as const, { signal: timer.signal }).catch(
			() => 'timeout' as const,
		)
		for (const entry of entries) {
			if (--entry.references.servers > 0) continue
			entry.references.isDisposed = true
			const done = dispose(entry).catch((err: unknown) => {
				log(entry, 'a handler could not be disposed of', { err })
			})
			if ((await Promise.race([done, timedOut])) === 'timeout')
				log(entry, `a handler was not disposed of within ${timeout} ms`)
		}
		timer.abort()
	}
}

export function disposes(instance: HandlerHooks): boolean {
	return instance.dispose !== HandlerHooks.prototype.dispose
}

async function dispose({ instance, init }: Entry): Promise<void> {
	try {
		await init()
	} catch {
		// A handler whose `init` has failed has nothing to dispose of.
		return
	}
	await instance.dispose()
}
