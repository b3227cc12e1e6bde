/** What a caller may use, of all that is mounted: pages show nothing else. */
import type { Action } from '../action.ts'
import type { Authenticator, User } from '../auth/authenticator.ts'
import { isRestError } from '../error.ts'
import type { Exchange } from '../exchange.ts'
import type { Mount } from '../mount/mount.ts'
import { asGuess } from '../rate-limits.ts'
import type { Milliseconds } from '../time.ts'

/** How long authenticators that have nothing to do with the answer are waited for, all together. */
const LONGEST_WAIT: Milliseconds = 2_000
/** How long each of them may take, though others have used up the time. */
const SHORTEST_WAIT: Milliseconds = 100

/** Asks each authenticator once. Whoever is refused is nobody. */
export class Callers {
	readonly #exchange: Exchange
	#until: Milliseconds | undefined
	readonly #users = new Map<Authenticator, Promise<User | null>>()

	constructor(exchange: Exchange) {
		this.#exchange = exchange
	}

	/** Whether the caller may use an action, as far as what it declares. */
	async may(mount: Mount, { access }: Action): Promise<boolean> {
		if (!access.user) return true
		if (mount.authenticator === undefined) return false
		const user = await this.#userOf(mount, mount.authenticator)
		return user !== null && access.resources.every((resource) => allows(mount, user, resource))
	}

	/** Whether its authenticator has been asked, for this page. */
	hasAsked({ authenticator }: Mount): boolean {
		return authenticator !== undefined && this.#users.has(authenticator)
	}

	/** Who the caller is, to whoever was asked and knows; `undefined` for nobody. */
	async name(): Promise<string | undefined> {
		const users = await Promise.all(this.#users.values())
		return (this.#exchange.user ?? users.find((user) => user !== null))?.id
	}

	#userOf(mount: Mount, authenticator: Authenticator): Promise<User | null> {
		let user = this.#users.get(authenticator)
		if (user === undefined) {
			const now = this.#exchange.app.deadlines.clock()
			this.#until ??= now + LONGEST_WAIT
			user = ask(this.#exchange, mount, authenticator, Math.max(this.#until - now, SHORTEST_WAIT))
			this.#users.set(authenticator, user)
		}
		return user
	}
}

async function ask(
	exchange: Exchange,
	mount: Mount,
	authenticator: Authenticator,
	time: Milliseconds,
): Promise<User | null> {
	// Of this answer's own action it has been asked, and guesses have been counted.
	const isAsked = exchange.action !== undefined && exchange.mount?.authenticator === authenticator
	const limit = isAsked
		? undefined
		: mount.ways.find(({ action }) => action.limit !== undefined)?.action.limit
	try {
		// Where guesses at credentials are limited, the map must not tell which are good without a limit.
		const asked = () => exchange.ask(authenticator)
		const user = limit === undefined ? asked() : asGuess(exchange, limit, asked)
		return await (isAsked ? user : within(time, user))
	} catch (error) {
		if (!isAsked) tell(exchange, error)
		return null
	}
}

/** Nobody, where it takes longer: one authenticator that hangs must not take all pages along. */
function within(time: Milliseconds, asked: Promise<User | null>): Promise<User | null> {
	let timer: NodeJS.Timeout | undefined
	const late = new Promise<null>((resolve) => {
		timer = setTimeout(() => resolve(null), time)
	})
	return Promise.race([asked, late]).finally(() => clearTimeout(timer))
}

/** What an answer would have told the log: who guesses at the map leaves the same traces as anywhere. */
function tell(exchange: Exchange, error: unknown): void {
	if (!isRestError(error) || error.status >= 500) exchange.log('error', 'an authenticator failed', error)
	else if (error.status === 401) exchange.log('warn', 'credentials were refused', error.cause)
}

/** An acl is the user's own code: one that fails lets nobody in. */
function allows({ acl }: Mount, user: User, resource: string): boolean {
	try {
		return acl?.allows(user, resource) === true
	} catch {
		return false
	}
}
