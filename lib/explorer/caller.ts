/** What the caller may access, so that pages show only that. */
import type { Acl, Authenticator, User } from '../auth/authenticator.ts'
import { attempt } from '../base/attempt.ts'
import { isRestError } from '../base/error.ts'
import type { Milliseconds } from '../base/time.ts'
import { type Guard, guardOf, type Use } from '../crud/relations/access.ts'
import { relatedUse } from '../crud/relations/shown.ts'
import type { Action } from '../exchange/action.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { authenticateAsGuess } from '../pipeline/enforce-limits.ts'
import type { Mount, MountTree } from '../routing/routing.ts'
import type { Place } from './place.ts'

/** Timeout of an authenticator that is called only for the page, not for the reply. */
const AUTHENTICATOR_TIMEOUT: Milliseconds = 2_000

/** Headers that usually hold credentials: without any of them, no authenticator is called only for a page. */
const CREDENTIALS = ['authorization', 'cookie', 'signature', 'x-api-key']

/**
 * The authenticator that the request's credentials are meant for: at a handler's path, the handler's; for the map of
 * handlers, the server's, or else the one that all handlers share; `undefined` if they have several.
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

/**
 * The caller, identified by one authenticator, which is called at most once. No other authenticator may see the
 * credentials. A refused caller counts as anonymous.
 */
export class Caller {
	readonly #exchange: Exchange
	readonly #authenticator: Authenticator | undefined
	/**
	 * Whether the authenticator was called for the reply already: a failed attempt was then counted and logged. It wasn't if
	 * the reply refuses a caller who has used up their guesses.
	 */
	readonly #wasCalled: boolean
	#user: Promise<User | null> | undefined

	constructor(exchange: Exchange, authenticator: Authenticator | undefined) {
		this.#exchange = exchange
		this.#authenticator = authenticator
		this.#wasCalled = authenticator !== undefined && exchange.credentials.hasAsked(authenticator)
	}

	/**
	 * Whether the caller has the access that an action declares; for an action on related records, also that of the other
	 * handler. False for a mount with another authenticator.
	 */
	async may(mount: Mount, { access, name }: Pick<Action, 'access' | 'name'>): Promise<boolean> {
		const { authenticator, acl } = mount
		if (!(await this.#passes({ access, authenticator, acl }, mount))) return false
		const use = relatedUse(mount.handler, name)
		return use === undefined || this.mayUse(use, mount)
	}

	/** Whether the caller may use an operation of another handler through relations of this one. */
	async mayUse(use: Use, mount: Mount): Promise<boolean> {
		if (!use.to.allow.has(use.operation)) return false
		return this.#passes(guardOf(use, this.#exchange.app), mount)
	}

	async #passes({ access, authenticator, acl }: Omit<Guard, 'declared'>, mount: Mount): Promise<boolean> {
		if (!access.user) return true
		if (authenticator === undefined || authenticator !== this.#authenticator) return false
		this.#user ??= this.#authenticate(mount, authenticator)
		const user = await this.#user
		return user !== null && access.resources.every((resource) => allows(acl, user, resource))
	}

	/** The caller's id, if an authenticator has identified it. */
	async name(): Promise<string | undefined> {
		return (this.#exchange.user ?? (await this.#user))?.id
	}

	async #authenticate(mount: Mount, authenticator: Authenticator): Promise<User | null> {
		const exchange = this.#exchange
		const call = () => exchange.credentials.ask(authenticator, exchange.request)
		const hasCredentials = CREDENTIALS.some((name) => exchange.headers[name] !== undefined)
		if (!this.#wasCalled && !hasCredentials) return null
		try {
			if (this.#wasCalled) return await call()
			const limit = mount.endpoints.find(({ action }) => action.limit !== undefined)?.action.limit
			if (limit === undefined) return await withTimeout(call())
			// If attempts are limited, the map must not allow unlimited ones.
			return await withTimeout(authenticateAsGuess(exchange, limit, () => withTimeout(call())))
		} catch (error) {
			if (!this.#wasCalled) logFailure(exchange, error)
			return null
		}
	}
}

/** A caller whose authenticator takes longer is anonymous: one that hangs must not hold up the page. */
function withTimeout(user: Promise<User | null>): Promise<User | null> {
	let timer: NodeJS.Timeout | undefined
	const late = new Promise<null>((resolve) => {
		timer = setTimeout(() => resolve(null), AUTHENTICATOR_TIMEOUT)
	})
	return Promise.race([user, late]).finally(() => clearTimeout(timer))
}

/** Logs the same as the pipeline, so that guessing credentials through the map leaves the same traces. */
function logFailure(exchange: Exchange, error: unknown): void {
	if (!isRestError(error) || error.status >= 500) exchange.log('error', 'an authenticator failed', error)
	else if (error.status === 401) exchange.log('warn', 'credentials were refused', error.cause)
}

/** The ACL is the program's code: if it throws, nothing is allowed. */
function allows(acl: Acl | undefined, user: User, resource: string): boolean {
	return attempt(() => acl?.allows(user, resource)) === true
}
