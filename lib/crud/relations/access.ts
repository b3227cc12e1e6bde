/**
 * What one request may see through relations: the access rules and scopes of the other handlers, each evaluated once per
 * request, so that related records are limited as in a request to the other handler itself.
 */
import type { Acl, Authenticator, User } from '../../auth/authenticator.ts'
import { attached } from '../../base/attached.ts'
import { RestError } from '../../base/error.ts'
import type { AccessRule, AccessRules } from '../../exchange/action.ts'
import type { App } from '../../exchange/app.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { RestHandler } from '../../handler/handler.ts'
import { accessRule, type Guards } from '../../handler/mount/declarations.ts'
import { exchangeOf, viewConstructor } from '../../handler/view.ts'
import { type CompiledLimit, compileLimit } from '../../limits/rate-limit.ts'
import { requireUser } from '../../pipeline/credentials.ts'
import { authenticateAsGuess } from '../../pipeline/enforce-limits.ts'
import {
	type FieldLimits,
	type Narrowing,
	NO_LIMITS,
	narrowedFacts,
	narrowing,
	readLimits,
} from '../narrow.ts'
import type { CrudOperation } from '../options.ts'
import type { CrudPlan, Relation } from '../plan.ts'
import { both, readScope, type Scope } from '../scope.ts'
import { beginState, type CrudFacts, type CrudView, FACTS, STATE } from '../view.ts'

/** The members of a `CrudHandler` that decide who may use it. */
interface Guarded {
	readonly access: AccessRules
	readonly authenticator?: Authenticator
	readonly acl?: Acl
}

const ACCESS: unique symbol = Symbol('verbena.relatedAccess')

export function relatedAccess(exchange: Exchange): RelatedAccess {
	return attached(exchange, ACCESS, () => new RelatedAccess(exchange))
}

/** Calls `run` with the view, limited to the fields that its request has. */
export function narrowed(view: CrudView, run: (view: CrudView) => unknown): unknown {
	const exchange = exchangeOf(view, 'fields')
	if (narrowing(view[FACTS], exchange).length === 0) return run(view)
	const limited = relatedAccess(exchange).narrow(view)
	return limited instanceof Promise ? limited.then(run) : run(limited)
}

/** An operation of a handler that a request needs access to. A `Relation` has these members, too. */
export interface Use {
	readonly handler: object
	readonly to: CrudPlan
	readonly operation: CrudOperation
}

export class RelatedAccess {
	readonly #exchange: Exchange
	readonly #users = new Map<object, Promise<User | null>>()
	/** The users that `this.requireAuth()` has found in other handlers' views. */
	readonly #required = new Map<object, User>()
	readonly #allowed = new Map<Guard, Promise<void>>()
	readonly #scopes = new Map<Guard, Promise<Scope>>()
	readonly #facts = new Map<CrudFacts, Promise<CrudFacts>>()
	readonly #limits = new Map<CrudPlan, Promise<FieldLimits>>()

	constructor(exchange: Exchange) {
		this.#exchange = exchange
	}

	/** @throws RestError `unauthorized` or `forbidden` as a request for the operation, as a rejection */
	check(use: Use): Promise<void> {
		const guard = this.#guardOf(use)
		return memo(this.#allowed, guard, () => this.#check(use, guard))
	}

	/** The scope of the operation. @throws RestError as {@link check}, as a rejection */
	async scope(use: Use): Promise<Scope> {
		await this.check(use)
		const { isScoped, living } = (use.handler as CrudView)[FACTS] // a CrudHandler, checked by `relations.ts`
		if (!isScoped) {
			// Invalid credentials are refused where none are required, too.
			await this.#userOf(use)
			return living
		}
		return memo(this.#scopes, this.#guardOf(use), async () => {
			const view = await this.view(use)
			return both(readScope(use.to, await view.scope(use.operation)), living)
		})
	}

	/** The facts of a handler for this request: without what its `fields()` hides. @param own its view, if there is one */
	factsFor(base: CrudFacts, own?: CrudView): CrudFacts | Promise<CrudFacts> {
		const all = narrowing(base, this.#exchange)
		return all.length === 0 ? base : memo(this.#facts, base, () => this.#narrowed(base, all, own))
	}

	async #narrowed(base: CrudFacts, all: readonly Narrowing[], own?: CrudView): Promise<CrudFacts> {
		const limits = new Map<CrudPlan, FieldLimits>()
		for (const { facts, relations } of all) {
			const { handler, plan } = facts
			const ask = async () => {
				const isOwn = own !== undefined && plan === base.plan
				const view = isOwn ? own : await this.#view({ handler, to: plan, operation: 'read' })
				return readLimits(plan, await view.fields())
			}
			const isUsable = relations === undefined || (await this.#mayUseAny(relations))
			limits.set(plan, isUsable ? await memo(this.#limits, plan, ask) : NO_LIMITS)
		}
		return narrowedFacts(base, limits)
	}

	/**
	 * Whether the client may use one of these relations. Where it may not, `fields()` isn't asked: it may rely on a user. A
	 * query that leads through such a relation is refused by `check`, whatever fields it names.
	 */
	async #mayUseAny(relations: readonly Relation[]): Promise<boolean> {
		for (const relation of relations) {
			const isAllowed = await this.check(relation).then(
				() => true,
				() => false,
			)
			if (isAllowed) return true
		}
		return false
	}

	/**
	 * Refuses a query that was parsed before `fields()` of the other handler was called: it may name hidden fields.
	 *
	 * @throws TypeError
	 */
	refuseUnnarrowed({ name, handler, to }: Relation): void {
		const { isNarrowed, plan } = (handler as CrudView)[FACTS] // a CrudHandler, checked by `relations.ts`
		if (isNarrowed && to === plan)
			throw new TypeError(
				`the query leads to ${name} and was read outside of the methods that a request calls`,
			)
	}

	/** Gives a view the facts of this request. */
	narrow(view: CrudView): CrudView | Promise<CrudView> {
		const facts = this.factsFor(view[FACTS], view)
		return facts instanceof Promise ? facts.then((one) => withFacts(view, one)) : view
	}

	/** A view of the other handler for this request. */
	async view(use: Use): Promise<CrudView> {
		return this.narrow(await this.#view(use))
	}

	async #view(use: Use): Promise<CrudView> {
		const { app, mount, user: own } = this.#exchange
		const guarded = use.handler as Guarded // a CrudHandler, checked by `relations.ts`
		const user = await this.#userOf(use)
		const acl = guarded.acl ?? app.acl
		const isSame =
			user === own && acl === mount?.acl && authenticatorOf(guarded, app) === mount?.authenticator
		const make = isSame
			? memo(attached(guarded, VIEWS, byApp<MakeView>), app, () => viewMaker(guarded, app, {}))
			: viewMaker(guarded, app, this.#identity(guarded, user, acl))
		return make(this.#exchange) as CrudView // a view of a CrudHandler
	}

	/** The members of a view that depend on who is asking, where the other handler has its own authenticator or acl. */
	#identity(guarded: Guarded, known: User | null, acl: Acl | undefined): PropertyDescriptorMap {
		const { app } = this.#exchange
		const userNow = (): User | null => this.#required.get(guarded) ?? known
		const can = (...resources: string[]): boolean => {
			if (acl === undefined) throw new TypeError('this.can() needs an acl, on the handler or on the server')
			const user = userNow()
			return user !== null && resources.every((resource) => acl.allows(user, resource) === true)
		}
		const requireAcl = (...resources: string[]): void => {
			if (userNow() === null) throw unauthorized(authenticatorOf(guarded, app))
			if (!can(...resources)) throw new RestError('forbidden')
		}
		const requireAuth = (authenticator = authenticatorOf(guarded, app)): Promise<User> =>
			requireUser(this.#exchange, authenticator, (user) => this.#required.set(guarded, user))
		const methods = { can, requireAcl, requireAuth }
		const members = Object.entries(methods).map(([name, value]) => [name, { value }])
		return { user: { get: userNow }, ...Object.fromEntries(members) }
	}

	/** Made again only if the handler's declarations have changed: one that isn't mounted isn't frozen. */
	#guardOf(use: Use): Guard {
		const { app } = this.#exchange
		const { handler, operation } = use
		const guards = memo(attached(handler, GUARDS, byApp<Map<CrudOperation, Guard>>), app, () => new Map())
		const known = guards.get(operation)
		if (known !== undefined && isCurrent(known, use, app)) return known
		const guard = guardOf(use, app)
		guards.set(operation, guard)
		return guard
	}

	async #check(use: Use, { access, authenticator, acl }: Guard): Promise<void> {
		if (!use.to.allow.has(use.operation)) throw new RestError('forbidden')
		if (!access.user) return
		const user = await this.#userOf(use)
		if (user === null) throw unauthorized(authenticator)
		for (const resource of access.resources)
			if (acl?.allows(user, resource) !== true) throw new RestError('forbidden')
	}

	/** The user that the other handler's authenticator finds; this request's if it is the same authenticator. */
	#userOf({ handler, to, operation }: Use): Promise<User | null> {
		const exchange = this.#exchange
		const { app, mount, user, credentials, request } = exchange
		const required = this.#required.get(handler)
		if (required !== undefined) return Promise.resolve(required)
		const authenticator = authenticatorOf(handler as Guarded, app) // a CrudHandler, as in `#view`
		if (authenticator === undefined || authenticator === mount?.authenticator) return Promise.resolve(user)
		const limit = limitOf(handler, to, operation)
		const ask = () => Promise.resolve(credentials.ask(authenticator, request))
		return memo(this.#users, authenticator, () =>
			limit === undefined ? ask() : authenticateAsGuess(exchange, limit, ask),
		)
	}
}

function withFacts(view: CrudView, facts: CrudFacts): CrudView {
	// Assignments would fail, because the view's prototype is frozen.
	Object.defineProperty(view, FACTS, { value: facts, configurable: true })
	if (Object.isFrozen(view[STATE]))
		return Object.defineProperty(view, STATE, { value: facts.state, configurable: true })
	beginState(view, facts.state)
	return view
}

function authenticatorOf(
	{ authenticator }: Guarded,
	app: Pick<Guards, 'authenticator'>,
): Authenticator | undefined {
	return authenticator ?? app.authenticator
}

function unauthorized(authenticator: Authenticator | undefined): RestError {
	return new RestError('unauthorized', undefined, { headers: authenticator?.challenge ?? {} })
}

const LIMITS: unique symbol = Symbol('verbena.relatedLimits')

/** The rate limit of another handler's operation: the same counters as of requests to the handler itself. */
export function limitOf(
	handler: object,
	{ owner }: CrudPlan,
	operation: CrudOperation,
): CompiledLimit | undefined {
	const { rateLimits, [FACTS]: facts } = handler as RestHandler & CrudView // a CrudHandler
	const name = rateLimits[operation] === undefined ? '*' : operation
	const given = rateLimits[name]
	if (given === undefined) return undefined
	const limits = attached(handler, LIMITS, () => new Map<string, CompiledLimit>())
	// Compiled by the first request, because the other handler may be mounted later: its path names the counters.
	const place = facts.paths[0]?.join('/') ?? owner
	return memo(limits, name, () => compileLimit(`${owner}.rateLimits.${name}`, name, given, place))
}

type MakeView = ReturnType<typeof viewConstructor>

const VIEWS: unique symbol = Symbol('verbena.relatedViews')

const GUARDS: unique symbol = Symbol('verbena.relatedGuards')

/** What is kept of a handler for each server: the rules of its operations, and the constructor of its views. */
const byApp = <T>(): WeakMap<App, T> => new WeakMap()

function viewMaker(handler: object, { cache }: App, more: PropertyDescriptorMap): MakeView {
	return viewConstructor(Object.freeze(Object.create(handler, { cache: { value: cache }, ...more })))
}

function memo<K, T>(
	known: { get(key: K): T | undefined; set(key: K, value: T): unknown },
	key: K,
	make: () => T,
): T {
	const value = known.get(key) ?? make()
	known.set(key, value)
	return value
}

/** The access rule of an operation, as its mount would apply it, and what it is checked with. */
export interface Guard {
	readonly authenticator: Authenticator | undefined
	readonly acl: Acl | undefined
	readonly access: AccessRule
	/** What the handler declares, from which `access` was made. */
	readonly declared: AccessRules[string] | undefined
}

/**
 * @param guards the server's
 * @throws TypeError for a wrong rule, and for access that nobody could be granted
 */
export function guardOf({ handler, to, operation }: Use, guards: Guards): Guard {
	const guarded = handler as Guarded // a CrudHandler, checked by `relations.ts`
	const own = { authenticator: authenticatorOf(guarded, guards), acl: guarded.acl ?? guards.acl }
	const name = guarded.access[operation] === undefined ? '*' : operation
	const declared = guarded.access[name]
	const place = `${to.owner}.access[${JSON.stringify(name)}]`
	return { ...own, declared, access: accessRule(place, declared ?? 'anyone', own) }
}

/** Whether {@link guardOf} would make the same. */
function isCurrent(
	{ declared, acl, authenticator }: Guard,
	{ handler, operation }: Use,
	guards: Guards,
): boolean {
	const guarded = handler as Guarded // as in `guardOf`
	return (
		declared === (guarded.access[operation] ?? guarded.access['*']) &&
		acl === (guarded.acl ?? guards.acl) &&
		authenticator === authenticatorOf(guarded, guards)
	)
}

/**
 * Checks the relations of a plan, and of those that they lead to.
 *
 * @param guards the server's
 * @throws TypeError as `relations.ts` and {@link guardOf}; RangeError for a limit out of range
 */
export function checkRelations(plan: CrudPlan, guards: Guards, checked: Set<CrudPlan> = new Set()): void {
	if (checked.has(plan)) return
	checked.add(plan)
	for (const relation of plan.relations.values()) {
		guardOf(relation, guards)
		checkRelations(relation.to, guards, checked)
	}
}
