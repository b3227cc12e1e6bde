/** `Lease`: a connection of a pg pool that is ours for a while. */
import type { PgClient } from './pg-pool.ts'

export class Lease {
	readonly client: PgClient
	/** Why it can't be used any more. */
	broken: Error | undefined
	readonly #release: (error?: Error) => void

	constructor(client: PgClient, release: (error?: Error) => void) {
		this.client = client
		this.#release = release
		// While it is ours the pool doesn't listen; the statement is told of it too.
		client.on('error', ignore)
	}

	spoil(error: Error): void {
		this.broken ??= error
	}

	/** Gives it back; a broken one is closed. */
	release(): void {
		this.client.removeListener('error', ignore)
		this.#release(this.broken)
	}
}

export function leaseOf(client: PgClient | undefined, release: (error?: Error) => void): Lease | undefined {
	return client === undefined ? undefined : new Lease(client, release)
}

/** Whether the connection is no good after an error: all but those of the server about a statement. */
export function isBreaking(error: Error): boolean {
	const code = 'code' in error ? error.code : undefined
	// `EPIPE` has five letters too, but is Node's.
	if (typeof code !== 'string' || 'syscall' in error || !/^[0-9A-Z]{5}$/.test(code)) return true
	return /^(?:08|57P|25P0[345])/.test(code)
}

function ignore(): void {}
