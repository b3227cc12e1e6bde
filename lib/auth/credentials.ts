/** `Credentials`: the results of authenticators for one request. Each authenticator is called at most once. */
import type { Request } from '../request/request.ts'
import type { Authenticator, User } from './authenticator.ts'

export class Credentials {
	readonly #users = new Map<Authenticator, Promise<User | null>>()

	/** Resolves to the user, or to null if no credentials were sent. Rejects if `authenticate()` does. */
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
	// An authenticator may return `users.get(key)`: undefined, for an unknown key, must not count as anonymous.
	if (user === null || typeof user?.id === 'string') return user
	throw new TypeError("authenticate() must return a user, { id: '…' }, or null for no credentials")
}
