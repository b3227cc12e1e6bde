/**
 * Names of prepared statements, one for each text, the same on all connections of a pool. Each costs the server memory on
 * every connection: of what is no longer named, a connection is told before it is to prepare something more, or it is
 * made anew. Used by the drivers of pg and postgres.js.
 */
import { createHash } from 'node:crypto'
import { attached } from '../../../base/attached.ts'
import type { Bytes } from '../../../base/time.ts'
import { PreparedTexts } from '../../sql/text-cache.ts'
import type { PgConnection } from './pool.ts'

const PREFIX = 'verbena_'
/** As much may have lost its name until a connection that can't be told is made anew. */
const MOST_LEFT = 500
const MOST_BYTES_LEFT: Bytes = 524_288

export class StatementNames {
	readonly #texts = new PreparedTexts<string>((text, name) => this.#leave(text, name))
	/** Those that are in use. */
	readonly #names = new Set<string>()
	/** How many had left when a connection was last told. */
	readonly #told = new WeakMap<PgConnection, number>()
	#left = 0
	/** Since the connections were made anew. */
	#leftSince = 0
	#bytesLeftSince: Bytes = 0
	#renewals = 0
	#isOff = false

	/** The text's name; `undefined` when it is asked for the first time, so that it goes unprepared. */
	of(text: string): string | undefined {
		const known = this.#texts.get(text)
		if (known !== undefined) return known
		if (this.#isOff || !this.#texts.isSeenAgain(text)) return undefined
		// Of the text, so that two programs behind one pooler have one name for it.
		const name = `${PREFIX}${createHash('sha1').update(text).digest('base64url')}`
		this.#names.add(name)
		this.#texts.add(text, name)
		return name
	}

	/** Gives the text another name: what is prepared under this one can't be used any more. */
	renew(text: string, name: string): void {
		// Another connection may have met it before.
		if (this.#texts.get(text) !== name) return
		this.#renewals++
		const renewed = `${name.slice(0, 40)}_${this.#renewals}`
		this.#leave(text, name)
		this.#names.add(renewed)
		this.#texts.replace(text, renewed)
	}

	/** Prepares nothing any more: between us and the server is something that mixes connections up. */
	turnOff(): void {
		this.#isOff = true
		this.#texts.clear()
		this.#names.clear()
	}

	/** Before something is prepared on a connection: closes there what has no name any more. */
	makeRoom(connection: PgConnection): void {
		if (this.#told.get(connection) === this.#left) return
		this.#told.set(connection, this.#left)
		for (const name of Object.keys(connection.parsedStatements)) {
			if (!name.startsWith(PREFIX) || this.#names.has(name)) continue
			connection.close({ type: 'S', name })
			delete connection.parsedStatements[name]
		}
	}

	/** Whether connections that can't be told are to be made anew now: those of postgres.js, and of pg's that aren't its own. */
	mustRenew(): boolean {
		if (this.#leftSince < MOST_LEFT && this.#bytesLeftSince < MOST_BYTES_LEFT) return false
		this.#leftSince = 0
		this.#bytesLeftSince = 0
		return true
	}

	#leave(text: string, name: string): void {
		this.#names.delete(name)
		this.#left++
		this.#leftSince++
		this.#bytesLeftSince += text.length
	}
}

const NAMES: unique symbol = Symbol.for('verbena.statementNames')

/** The names of a pool, whose connections its models share. */
export function namesOf(pool: object): StatementNames {
	return attached(pool, NAMES, () => new StatementNames())
}
