/** What a caller may use of all that is mounted: pages show nothing else. */
import type { Authenticator, User } from '../auth/authenticator.ts'
import { isRestError } from '../base/error.ts'
import type { Milliseconds } from '../base/time.ts'
import type { Action } from '../exchange/action.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { authenticateAsGuess } from '../pipeline/rate-limits.ts'
import type { Mount, MountTree } from '../routing/routing.ts'
import type { Place } from './place.ts'

/** Longest wait for an authenticator that the answer itself didn't need. */
const LONGEST_WAIT: Milliseconds = 2_000

/** Headers that usually hold credentials: without any of them no authenticator is asked for the sake of a page. */
const CREDENTIALS = ['authorization', 'cookie', 'signature', 'x-api-key']

/**
 * The authenticator that credentials sent to a place are meant for: that of the handler there; on a map above handlers
 * the server's own, or else the only one that its handlers have. With several of them it can't be known.
 */
export function authenticatorFor(
	{ app }: Exchange,
	mounts: MountTree,
	{ mount }: Place,
	hasMap: boolean,
): Authenticator | undefined {
	if (mount !== undefined) return mount.authenticator
	if (!hasMap) return undefined
	if (app.authenticator !== undefined) return app.authenticator
	const all = new Set(mounts.all.flatMap(({ authenticator }) => authenticator ?? []))
	const [only] = all
	return all.size === 1 ? only : undefined
}

/** Asks one authenticator, once: credentials are meant for that one, and no other may see them. A refused caller is anonymous. */
export class Caller {
	readonly #exchange: Exchange
	readonly #authenticator: Authenticator | undefined
	/** Whether this answer's own action has asked it, and has counted a wrong guess. */
	readonly #isAsked: boolean
	readonly #isAnybody: boolean
	#user: Promise<User | null> | undefined

	constructor(exchange: Exchange, authenticator: Authenticator | undefined) {
		this.#exchange = exchange
		this.#authenticator = authenticator
		this.#isAsked = exchange.action !== undefined && exchange.mount?.authenticator === authenticator
		this.#isAnybody = CREDENTIALS.some((name) => exchange.headers[name] !== undefined)
	}

	/** Whether the caller may use an action, by what it declares; false for actions of another authenticator. */
	async may(mount: Mount, { access }: Action): Promise<boolean> {
		if (!access.user) return true
		if (mount.authenticator === undefined || mount.authenticator !== this.#authenticator) return false
		const user = await this.#userOf(mount, mount.authenticator)
		return user !== null && access.resources.every((resource) => allows(mount, user, resource))
	}

	/** The caller's id, where an authenticator was asked and knows it. */
	async name(): Promise<string | undefined> {
		return (this.#exchange.user ?? (await this.#user))?.id
	}

	#userOf(mount: Mount, authenticator: Authenticator): Promise<User | null> {
		const isAsked = this.#isAsked || this.#isAnybody
		this.#user ??= isAsked ? ask(this.#exchange, mount, authenticator, this.#isAsked) : Promise.resolve(null)
		return this.#user
	}
}

async function ask(
	exchange: Exchange,
	mount: Mount,
	authenticator: Authenticator,
	isAsked: boolean,
): Promise<User | null> {
	const limit = isAsked
		? undefined
		: mount.endpoints.find(({ action }) => action.limit !== undefined)?.action.limit
	try {
		// Where guesses at credentials are limited, the map must not be an unlimited way to try them.
		const asked = () => within(LONGEST_WAIT, exchange.credentials.ask(authenticator, exchange.request))
		if (isAsked) return await exchange.credentials.ask(authenticator, exchange.request)
		return await within(
			LONGEST_WAIT,
			limit === undefined ? asked() : authenticateAsGuess(exchange, limit, asked),
		)
	} catch (error) {
		if (!isAsked) tell(exchange, error)
		return null
	}
}

/** Anonymous, where it takes longer: an authenticator that hangs must not hold up the page. */
function within(time: Milliseconds, asked: Promise<User | null>): Promise<User | null> {
	let timer: NodeJS.Timeout | undefined
	const late = new Promise<null>((resolve) => {
		timer = setTimeout(() => resolve(null), time)
	})
	return Promise.race([asked, late]).finally(() => clearTimeout(timer))
}

/** Logs what an answer would have logged: guessing by the map leaves the same traces. */
function tell(exchange: Exchange, error: unknown): void {
	if (!isRestError(error) || error.status >= 500) exchange.log('error', 'an authenticator failed', error)
	else if (error.status === 401) exchange.log('warn', 'credentials were refused', error.cause)
}

/** An acl is the user's own code: one that throws allows nothing. */
function allows({ acl }: Mount, user: User, resource: string): boolean {
	try {
		return acl?.allows(user, resource) === true
	} catch {
		return false
	}
}
