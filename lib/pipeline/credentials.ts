/** What the headers alone decide: who is calling, and whether they may. No byte of the body is read before. */

import type { Authenticator, User } from '../auth/authenticator.ts'
import { RestError } from '../base/error.ts'
import type { Action } from '../exchange/action.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Mount } from '../routing/mount.ts'
import { asGuess, countRequest } from './rate-limits.ts'

/**
 * Asks the mount's authenticator, if there is one, counts the request against the action's rate limit, and
 * compares the user with the access declared. Bad credentials are refused by every action, by open ones too.
 *
 * @throws RestError `unauthorized`, `too_many_requests` or `forbidden`, by the promise
 */
export function checkCredentials(
	exchange: Exchange,
	mount: Mount,
	action: Action,
): Promise<void> | undefined {
	if (mount.authenticator !== undefined || action.limit !== undefined) exchange.watch?.step('auth')
	// Access that needs a user is refused at mount where there is no authenticator.
	return mount.authenticator === undefined
		? countRequest(exchange, action)
		: check(exchange, mount.authenticator, mount, action)
}

async function check(
	exchange: Exchange,
	authenticator: Authenticator,
	mount: Mount,
	action: Action,
): Promise<void> {
	const user = await authenticated(exchange, authenticator, action)
	exchange.user = user
	const counting = countRequest(exchange, action)
	if (counting !== undefined) await counting
	if (!action.access.user) return
	if (user === null) throw new RestError('unauthorized')
	for (const resource of action.access.resources) {
		if (mount.acl?.allows(user, resource) !== true) throw new RestError('forbidden')
	}
}

function authenticated(
	exchange: Exchange,
	authenticator: Authenticator,
	{ limit }: Action,
): Promise<User | null> {
	return limit === undefined
		? exchange.ask(authenticator)
		: asGuess(exchange, limit, () => exchange.ask(authenticator))
}

/**
 * The user of whoever calls `this.requireAuth()`. The check is remembered: left un-awaited, its refusal still
 * wins over the answer.
 *
 * @throws TypeError when there is no authenticator to ask; RestError `unauthorized` by the promise
 */
export function requireUser(exchange: Exchange, authenticator: Authenticator | undefined): Promise<User> {
	const asked = authenticator ?? exchange.mount?.authenticator
	if (asked === undefined) {
		throw new TypeError(
			'this.requireAuth() needs an authenticator: pass one, or declare it on the handler or the server',
		)
	}
	const check = exchange.requireUser(asked)
	exchange.addCheck(check)
	return check
}
