/**
 * `setupOf`: the statements that begin a session. `set_config(…, true)` is `set local`, which ends with the transaction:
 * after it, the connection is as before, also after an error, and for the next client of a pooler.
 */
import type { DatabaseSession } from '../../session.ts'
import type { SessionSetup } from '../../sql/runner.ts'

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
