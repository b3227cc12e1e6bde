/** `Disposals`: calls the `dispose()` of handlers when all servers that have mounted them are closed. For `controller.ts`. */
import { setTimeout } from 'node:timers/promises'
import type { Milliseconds } from '../base/time.ts'
import type { App } from '../exchange/app.ts'
import { HandlerHooks } from './handler.ts'

const HELD: unique symbol = Symbol('verbena.held')

/** Kept on the handler, as it may be mounted in many servers. */
interface Hold {
	/** Open servers that have mounted it. */
	servers: number
	isDisposed: boolean
}

type Holdable = HandlerHooks & { readonly [HELD]?: Hold }

/** A handler that is mounted in the server. */
interface Held {
	readonly instance: HandlerHooks
	readonly hold: Hold
	readonly silent: boolean
	/** Its `init`, if it has one. */
	readonly setUp: () => Promise<void> | undefined
}

/** The handlers of one server that have a `dispose()`, each once, in the order in which they were mounted. */
export class Disposals {
	readonly #all = new Map<HandlerHooks, Held>()
	#isClosed = false

	/** @throws TypeError for a handler that is disposed of already, or never could be */
	check(instance: Holdable): void {
		if (!disposes(instance)) return
		const { name } = instance.constructor
		const hold = instance[HELD]
		if (hold === undefined && Object.isFrozen(instance))
			throw new TypeError(
				`${name} is frozen already, so that its dispose() could not be called at its end: mount it as it is made`,
			)
		if (hold?.isDisposed === true)
			throw new TypeError(`${name} was disposed of with the server that had mounted it: mount a new one`)
		if (this.#isClosed)
			throw new TypeError(`${name}.dispose() would never be called, as the server has been closed`)
	}

	/** Adds a mounted handler, which must not be frozen yet. */
	add(instance: Holdable, silent: boolean, setUp: () => Promise<void> | undefined): void {
		if (!disposes(instance) || this.#all.has(instance)) return
		const hold: Hold = instance[HELD] ?? { servers: 0, isDisposed: false }
		if (instance[HELD] === undefined) Object.defineProperty(instance, HELD, { value: hold })
		hold.servers++
		this.#all.set(instance, { instance, hold, silent, setUp })
	}

	/** Releases all handlers, where the server could not be made. */
	release(): void {
		for (const { hold } of this.#all.values()) hold.servers--
		this.#all.clear()
	}

	/**
	 * Disposes of the handlers that no other server has mounted, one after another, the last first. Failures, and what isn't
	 * done within `time` for all of them, are logged.
	 */
	async run({ logger }: Pick<App, 'logger'>, time: Milliseconds): Promise<void> {
		const log = ({ instance, silent }: Held, message: string, fields: object = {}): void => {
			// A failing logger must not keep the other handlers open, nor `close()` from ending.
			try {
				if (!silent) logger.error({ handler: instance.constructor.name, ...fields }, message)
			} catch {}
		}
		this.#isClosed = true
		const all = [...this.#all.values()].reverse()
		this.#all.clear()
		const stop = new AbortController()
		const over = setTimeout(time, 'over' as const, { signal: stop.signal }).catch(() => 'over' as const)
		for (const held of all) {
			if (--held.hold.servers > 0) continue
			held.hold.isDisposed = true
			const done = dispose(held).catch((err: unknown) => {
				log(held, 'a handler could not be disposed of', { err })
			})
			if ((await Promise.race([done, over])) === 'over')
				log(held, `a handler was not disposed of within ${time} ms`)
		}
		stop.abort()
	}
}

export function disposes(instance: HandlerHooks): boolean {
	return instance.dispose !== HandlerHooks.prototype.dispose
}

/** Not called where `init` has failed. */
async function dispose({ instance, setUp }: Held): Promise<void> {
	try {
		await setUp()
	} catch {
		return
	}
	await instance.dispose()
}
