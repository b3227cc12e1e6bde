/**
 * `PgRenewing`: asks a pool of pg for connections, and throws those away that lead to a server which only reads since
 * a failover: behind a name or a proxy another is the primary now. Used by `connections.ts`.
 */

import { type Milliseconds, steadyClock } from '../../../base/time.ts'
import { RENEWING_PAUSE } from '../../sql/driver.ts'
import { type Lease, leaseOf } from './lease.ts'
import type { PgClient, PgPool } from './pool.ts'

export class PgRenewing {
	readonly #pool: PgPool
	/** Since when each connection is known. */
	readonly #since = new WeakMap<PgClient, Milliseconds>()
	#renewed: Milliseconds = Number.NEGATIVE_INFINITY

	constructor(pool: PgPool) {
		this.#pool = pool
	}

	connect(got: (error: unknown, lease?: Lease) => void): void {
		this.#pool.connect((error, client, release) => {
			if (client === undefined || this.#isFresh(client)) got(error, leaseOf(client, release))
			else {
				release(new Error('its server only reads since a failover'))
				this.connect(got)
			}
		})
	}

	/** From now on, connections that were made before are closed instead of being used. */
	renew(): void {
		const now = steadyClock()
		if (now - this.#renewed >= RENEWING_PAUSE) this.#renewed = now
	}

	#isFresh(client: PgClient): boolean {
		let since = this.#since.get(client)
		if (since === undefined) {
			since = steadyClock()
			this.#since.set(client, since)
		}
		return since > this.#renewed
	}
}

/** Whether an error says that the server only reads. */
export function isReadOnly(error: unknown): boolean {
	return error instanceof Error && 'code' in error && error.code === '25006'
}
