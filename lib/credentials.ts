/** What the headers alone decide: who is calling, and whether they may. No byte of the body is read before. */
import type { Action } from './action.ts'
import type { Authenticator } from './auth/authenticator.ts'
import { RestError } from './error.ts'
import type { Exchange } from './exchange.ts'
import type { Mount } from './mount/mount.ts'

/**
 * Asks the mount's authenticator, if there is one, and compares its answer with the access declared for
 * the action. Bad credentials are refused by every action, by open ones too.
 *
 * @throws RestError `unauthorized` or `forbidden`, by the promise
 */
export function checkCredentials(
	exchange: Exchange,
	mount: Mount,
	action: Action,
): Promise<void> | undefined {
	// Access that needs a user is refused at mount where there is no authenticator.
	return mount.authenticator === undefined ? undefined : check(exchange, mount.authenticator, mount, action)
}

async function check(
	exchange: Exchange,
	authenticator: Authenticator,
	mount: Mount,
	action: Action,
): Promise<void> {
	const user = await exchange.ask(authenticator)
	exchange.user = user
	if (!action.access.user) return
	if (user === null) throw new RestError('unauthorized')
	for (const resource of action.access.resources) {
		if (mount.acl?.allows(user, resource) !== true) throw new RestError('forbidden')
	}
}
