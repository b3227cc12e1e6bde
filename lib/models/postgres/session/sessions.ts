/**
 * `setupOf`: the statements that begin a session. `set_config(…, true)` is `set local`, which ends with the transaction:
 * after it, the connection is as before, also after an error, and for the next client of a pooler. `SessionModels`: the
 * models of a table by session, kept for the sessions used last.
 */
import type { Bytes } from '../../../base/time.ts'
import type { DatabaseSession } from '../../session.ts'
import type { SessionSetup } from '../../sql/runner.ts'
import { Lru, LruMap } from '../../sql/text-cache.ts'

/** The setup of a session that was checked. @param key see `sessionKey` */
export function setupOf(key: string, { role, settings = {} }: DatabaseSession): SessionSetup {
	const entries = Object.entries(settings)
	// The role is the last one: it might not be allowed to change the settings.
	if (role !== undefined) entries.push(['role', role])
	const values = entries.flat()
	const terms = entries.map((_, at) => setting(`$${2 * at + 1}`, `$${2 * at + 2}`))
	const readOnly = setting(`'transaction_read_only'`, `'on'`)
	return {
		key,
		reads: {
			text: `select ${[...terms.slice(0, -1), readOnly, ...terms.slice(-1)].join(', ')}`,
			values,
			writes: false,
		},
		writes: { text: `select ${terms.join(', ')}`, values, writes: true },
	}
}

/** Returns a boolean, because the value itself, such as a user's claims, would be sent back. */
function setting(name: string, value: string): string {
	return `set_config(${name}, ${value}, true) is null`
}

/** Maximum size of the models that a table keeps: about 700 with claims of 300 characters. */
const MAX_BYTES: Bytes = 1_048_576
/** Approximate size of a model besides its key, which its statements hold as well. */
const MODEL_BYTES: Bytes = 900

export class SessionModels<M> {
	readonly #kept = new LruMap<string, M>(new Lru(MAX_BYTES))

	/** The model of a session, made unless it is kept. */
	of(key: string, make: () => M): M {
		const known = this.#kept.get(key)
		if (known !== undefined) return known
		const model = make()
		this.#kept.add(key, model, MODEL_BYTES + 2 * key.length)
		return model
	}
}
