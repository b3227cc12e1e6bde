/** `Credentials`: the results of authenticators for one request. Each authenticator is called at most once. */
import type { Request } from '../request/request.ts'
import type { Authenticator, User } from './authenticator.ts'

export class Credentials {
	readonly #users = new Map<Authenticator, Promise<User | null>>()

	/** The user, or null without credentials. Rejects as `authenticate()` does. */
	ask(authenticator: Authenticator, request: Request): Promise<User | null> {
		let user = this.#users.get(authenticator)
		if (user === undefined) {
			user = authenticate(authenticator, request)
			this.#users.set(authenticator, user)
		}
		return user
	}
}

async function authenticate(authenticator: Authenticator, request: Request): Promise<User | null> {
	const user = await authenticator.authenticate(request)
	// `users.get(key)` returns undefined for an unknown key, which must not pass for a user.
	if (user === null || typeof user?.id === 'string') return user
	throw new TypeError("authenticate() must answer a user, { id: '…' }, or null for no credentials")
}
