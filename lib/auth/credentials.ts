/** `Credentials`: what authenticators have said of one request. Each is asked once, wherever and however often it is used. */
import type { Request } from '../request/request.ts'
import type { Authenticator, User } from './authenticator.ts'

export class Credentials {
	readonly #answers = new Map<Authenticator, Promise<User | null>>()

	/** The user, or null without credentials. Rejects as `authenticate()` does. */
	ask(authenticator: Authenticator, request: Request): Promise<User | null> {
		let answer = this.#answers.get(authenticator)
		if (answer === undefined) {
			answer = askOnce(authenticator, request)
			this.#answers.set(authenticator, answer)
		}
		return answer
	}
}

async function askOnce(authenticator: Authenticator, request: Request): Promise<User | null> {
	const answer = await authenticator.authenticate(request)
	// `users.get(key)` answers undefined for a wrong key, which must not pass for a user.
	if (answer === null || typeof answer?.id === 'string') return answer
	throw new TypeError("authenticate() must answer a user, { id: '…' }, or null for no credentials")
}
