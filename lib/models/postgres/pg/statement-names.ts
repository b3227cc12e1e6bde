/**
 * Names of prepared statements: one per text, the same on all connections of a pool. A prepared statement takes the
 * server's memory on every connection, so evicted ones are closed before a connection prepares another one. If the
 * driver can't close them, the connection is replaced. Used by the drivers of pg and postgres.js.
 */
import { createHash } from 'node:crypto'
import { attached } from '../../../base/attached.ts'
import type { Bytes } from '../../../base/time.ts'
import { PreparedTexts } from '../../sql/text-cache.ts'
import type { PgConnection } from './pool.ts'

const PREFIX = 'verbena_'
/** Number and length of the evicted texts after which connections that can't close statements are replaced. */
const MAX_EVICTED = 500
const MAX_EVICTED_BYTES: Bytes = 524_288

export class StatementNames {
	readonly #texts = new PreparedTexts<string>((text, name) => this.#evict(text, name))
	readonly #names = new Set<string>()
	/** Value of `#evicted` when a connection last closed evicted statements. */
	readonly #closedAt = new WeakMap<PgConnection, number>()
	#evicted = 0
	/** Evictions since connections were last replaced. */
	#evictedSince = 0
	#evictedBytesSince: Bytes = 0
	#renewals = 0
	#isOff = false

	/** The text's name; `undefined` at its first use, so that it isn't prepared. */
	of(text: string): string | undefined {
		const known = this.#texts.get(text)
		if (known !== undefined) return known
		if (this.#isOff || !this.#texts.isSeenAgain(text)) return undefined
		// A hash, so that all programs behind a pooler use the same name.
		const name = `${PREFIX}${createHash('sha1').update(text).digest('base64url')}`
		this.#names.add(name)
		this.#texts.add(text, name)
		return name
	}

	/** Gives the text a new name: the statement that was prepared as `name` is unusable. */
	renew(text: string, name: string): void {
		// Another connection may have renewed it before.
		if (this.#texts.get(text) !== name) return
		this.#renewals++
		const renewed = `${name.slice(0, 40)}_${this.#renewals}`
		this.#evict(text, name)
		this.#names.add(renewed)
		this.#texts.replace(text, renewed)
	}

	/** Stops preparing: a pooler in front of the server switches connections. */
	turnOff(): void {
		this.#isOff = true
		this.#texts.clear()
		this.#names.clear()
	}

	/** Closes evicted statements on a connection, before it prepares another one. */
	closeEvicted(connection: PgConnection): void {
		if (this.#closedAt.get(connection) === this.#evicted) return
		this.#closedAt.set(connection, this.#evicted)
		for (const name of Object.keys(connection.parsedStatements)) {
			if (!name.startsWith(PREFIX) || this.#names.has(name)) continue
			connection.close({ type: 'S', name })
			delete connection.parsedStatements[name]
		}
	}

	/** Whether to replace connections that can't close statements: of postgres.js, and of clients that resemble pg's. */
	mustRenew(): boolean {
		if (this.#evictedSince < MAX_EVICTED && this.#evictedBytesSince < MAX_EVICTED_BYTES) return false
		this.#evictedSince = 0
		this.#evictedBytesSince = 0
		return true
	}

	#evict(text: string, name: string): void {
		this.#names.delete(name)
		this.#evicted++
		this.#evictedSince++
		this.#evictedBytesSince += text.length
	}
}

const NAMES: unique symbol = Symbol('verbena.statementNames')

/** The names that all models over a pool share. */
export function namesOf(pool: object): StatementNames {
	return attached(pool, NAMES, () => new StatementNames())
}
