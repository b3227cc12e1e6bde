/** `Lease`: a connection of a pg pool that is ours for a while. */
import type { Deadlines } from '../../../base/deadlines.ts'
import type { Milliseconds } from '../../../base/time.ts'
import { cancel } from './cancel.ts'
import type { PgClient } from './pool.ts'

/** How long a statement that was cancelled has to end, before its connection is closed under it. */
const ENDING: Milliseconds = 5_000

export class Lease {
	readonly client: PgClient
	/** Why it can't be used any more. */
	broken: Error | undefined
	readonly #release: (error?: Error) => void
	#isHeld = false
	#isReleased = false

	constructor(client: PgClient, release: (error?: Error) => void) {
		this.client = client
		this.#release = release
		// While it is ours the pool doesn't listen; the statement is told of it too.
		client.on('error', ignore)
	}

	spoil(error: Error): void {
		this.broken ??= error
	}

	/**
	 * Cancels what it runs, and keeps its place in the pool, whoever releases it, until the server has ended that. Were
	 * its place free before, there would be more at work in the server than the pool has places.
	 */
	giveUp(deadlines: Deadlines): void {
		this.#isHeld = true
		this.client.connection?.once?.('readyForQuery', () => this.letGo())
		cancel(this.client)
		deadlines.add({ due: deadlines.clock() + ENDING, expire: () => this.letGo() })
	}

	/** What it ran has ended, or nobody waits for that any more. */
	letGo(): void {
		if (!this.#isHeld) return
		this.#isHeld = false
		if (this.#isReleased) this.#giveBack()
	}

	/** Gives it back, at once or when it isn't held any more; a broken one is closed. */
	release(): void {
		this.#isReleased = true
		if (!this.#isHeld) this.#giveBack()
	}

	#giveBack(): void {
		this.client.removeListener('error', ignore)
		this.#release(this.broken)
	}
}

/** Whether the connection is no good after an error: all but those of the server about a statement. */
export function isBreaking(error: Error): boolean {
	const code = 'code' in error ? error.code : undefined
	// `EPIPE` has five letters too, but is Node's.
	if (typeof code !== 'string' || 'syscall' in error || !/^[0-9A-Z]{5}$/.test(code)) return true
	// 25006: it leads to a server that only reads since a failover.
	return /^(?:08|57P|25P0[345]|25006)/.test(code)
}

function ignore(): void {}
