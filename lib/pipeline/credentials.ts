/** Step 7: authentication, rate limits and access rules, decided by the headers alone, before the body is read. */
import type { Authenticator, User } from '../auth/authenticator.ts'
import { RestError } from '../base/error.ts'
import type { Exchange, Routed } from '../exchange/exchange.ts'
import { authenticateAsGuess, countRequest } from './enforce-limits.ts'

/** Whether there is anything to check. Rules in `access` need an authenticator: without one they are refused at mount. */
export function needsCredentials({ mount, action }: Routed): boolean {
	return mount.authenticator !== undefined || action.limit !== undefined || action.authorize !== undefined
}

/**
 * Asks the mount's authenticator, if there is one, counts the request against the action's rate limit, and checks the
 * access rule. Invalid credentials are refused even where none are required.
 *
 * @throws RestError `unauthorized`, `too_many_requests` or `forbidden`, as a rejection
 */
export function checkCredentials(exchange: Routed): Promise<void> | undefined {
	const { authenticator } = exchange.mount
	const { limit, authorize } = exchange.action
	if (authenticator === undefined && limit === undefined) return authorize?.(exchange)
	exchange.watch?.step('auth')
	if (authenticator !== undefined) return check(exchange, authenticator)
	const counted = limit && countRequest(exchange, limit)
	return authorize === undefined ? counted : Promise.resolve(counted).then(() => authorize(exchange))
}

async function check(exchange: Routed, authenticator: Authenticator): Promise<void> {
	const { mount, action } = exchange
	const ask = (): Promise<User | null> => exchange.credentials.ask(authenticator, exchange.request)
	const user = await (action.limit === undefined ? ask() : authenticateAsGuess(exchange, action.limit, ask))
	exchange.user = user
	if (action.limit !== undefined) await countRequest(exchange, action.limit)
	if (action.access.user) {
		if (user === null) throw new RestError('unauthorized')
		for (const resource of action.access.resources) {
			if (mount.acl?.allows(user, resource) !== true) throw new RestError('forbidden')
		}
	}
	if (action.authorize !== undefined) await action.authorize(exchange)
}

/**
 * Requires a user, for `this.requireAuth()`. A refusal replaces the method's answer even if the method doesn't await
 * the promise.
 *
 * @param become called with the user. @default the exchange's user is set
 * @throws TypeError without an authenticator; RestError `unauthorized`, as a rejection
 */
export function requireUser(
	exchange: Exchange,
	authenticator: Authenticator | undefined,
	become = (user: User): unknown => (exchange.user = user),
): Promise<User> {
	if (authenticator === undefined) {
		throw new TypeError(
			'this.requireAuth() needs an authenticator: pass one, or declare it on the handler or the server',
		)
	}
	const authenticate = async (): Promise<User> => {
		const user = await exchange.credentials.ask(authenticator, exchange.request)
		if (user === null)
			throw new RestError('unauthorized', undefined, { headers: authenticator.challenge ?? {} })
		become(user)
		return user
	}
	const check = authenticate()
	exchange.addCheck(check)
	return check
}
