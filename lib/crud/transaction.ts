/**
 * `transaction`: several models or CRUD handlers in one transaction. Within it, a handler is a view of the same request, whose
 * plan has the transaction's model.
 */
import { attach, attached, attachment } from '../base/attached.ts'
import { RestError } from '../base/error.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { RestHandler } from '../handler/handler.ts'
import { findExchange } from '../handler/view.ts'
import type { Model, Within } from '../models/model.ts'
import type { DatabaseSession } from '../models/session.ts'
import { begun } from './begun.ts'
import { afterRollback } from './changes.ts'
import { databaseError } from './database-errors.ts'
import { relatedAccess } from './relations/access.ts'
import { noteWriter } from './replicas.ts'
import { commonSession, inSession } from './session.ts'
import { type CrudTransaction, type CrudView, FACTS, membersWithin, setMembers } from './view.ts'

/** A `CrudHandler`, by the members that matter here: it imports this file. */
type Handler = RestHandler & { readonly model: Model }

/** What can take part in a transaction: models and `CrudHandler`s. */
export type Transacting = Model | Handler

/** Options of `transaction`. */
export interface TransactionOptions {
	/**
	 * The `this` of the method that serves the request, if it isn't one of the models and handlers. When the request is over
	 * because it timed out or its client has gone, the transaction is rolled back.
	 *
	 * @default the request of the handlers, if they are in one
	 */
	readonly request?: RestHandler
}

/** Maximum depth of nested transactions: an override that begins one and calls itself in it would never end. */
const MAX_DEPTH = 16

/**
 * Calls `work` with the same models and handlers, whose changes are committed together, or rolled back if `work` rejects or
 * records an error with `this.error()`. All must be of one database object, such as a pool.
 *
 *     await transaction([this, items], async ([orders, items], connection) => {
 *       const order = await orders.create({ customer })
 *       await items.create({ order: order.id, product })
 *     })
 *
 * Handlers within it serve the request of `this`: with its user, scopes and checks of values. Within `work`, `this` takes part,
 * too, so that an override can call `super.create()`. A transaction within another one is a savepoint. If handlers have
 * `session()`, theirs must be the same; it holds for models and SQL by hand, too.
 *
 * @param work `connection` is the driver's own, for SQL by hand: a client of pg, the `sql` of a transaction of postgres.js
 * or PGlite, a connection of mysql2, the database of SQLite; `undefined` for a MemoryModel
 * @returns what `work` returns
 * @throws what `work` throws; TypeError for what can't be in one transaction; RestError `unavailable` if it can't begin, or
 * the request is over; `outcome_unknown` if the connection is lost during the commit. Without a request, ModelErrors
 */
export function transaction<
	const Of extends readonly [Transacting, ...Transacting[]],
	T,
	Connection = unknown,
>(
	of: Of,
	work: (of: Of, connection: Connection) => T | Promise<T>,
	options: TransactionOptions = {},
): Promise<T> {
	const views: unknown[] = [options.request, ...[of].flat()]
	const exchange = views.map((one) => (one instanceof Object ? findExchange(one) : undefined)).find(Boolean)
	return begun(exchange, 'transaction()', transact(of, work, options))
}

async function transact<Of extends readonly [Transacting, ...Transacting[]], T, Connection>(
	of: Of,
	work: (of: Of, connection: Connection) => T | Promise<T>,
	options: TransactionOptions,
): Promise<T> {
	const outer = outerOf(of)
	const members = membersOf(of, outer)
	const exchange = exchangeOf(members, options.request)
	const signal = exchange?.signal()
	signal?.throwIfAborted()
	const views = await Promise.all(members.map((member) => viewOf(member, exchange)))
	const session = await commonSession(views.filter((view) => view !== undefined))
	const depth = 1 + (outer?.depth ?? 0)
	if (depth > MAX_DEPTH) throw endless(members)
	let workFailure: { readonly error: unknown } | undefined
	const run = async (within: Within): Promise<T> => {
		const inner: CrudTransaction = {
			depth,
			of: (model) => within.of(outer?.of(model) ?? model),
			checkDeferred: async () => within.checkDeferred?.(),
		}
		const leaves: (() => void)[] = []
		const working = (async () => {
			signal?.throwIfAborted()
			const things = members.map(({ model }, at) => enter(model, views[at], inner, leaves))
			// The same models and handlers, and the connection as the caller has declared it.
			return work(things as unknown as Of, within.connection as Connection)
		})()
		const leave = () => {
			for (const one of leaves) one()
		}
		// `work` may go on after the request is over. Until it ends, the view stays in the closed transaction, so that its
		// statements are refused instead of committed.
		void working.then(leave, leave)
		try {
			const result = await untilOver(working, exchange)
			await untilOver(Promise.resolve(exchange?.pendingChecks()), exchange)
			if (exchange?.failure !== undefined) throw new RolledBack(result)
			return result
		} catch (error) {
			workFailure = { error: rolledBack(error) }
			throw error
		}
	}
	try {
		// A nested transaction has the session of the outer one.
		if (outer !== undefined) return await begin(members, run, {}, outer)
		const handlers = members.flatMap(({ handler }) => handler ?? [])
		const own = handlers.filter((handler) => findExchange(handler) !== undefined)
		const result = await inTurn(own, () => begin(members, run, session))
		// A retry with the same Idempotency-Key must not run it again, even if a later step fails: it may have changed something.
		if (exchange !== undefined) exchange.isDone = true
		return result
	} catch (error) {
		if (error instanceof RolledBack) return error.result as T // what `work` has returned
		if (workFailure?.error instanceof RestError) throw await afterRollback(workFailure.error)
		if (workFailure !== undefined || exchange === undefined) throw error
		throw databaseError(error, members[0]?.handler ?? of[0])
	} finally {
		if (exchange !== undefined) for (const { model } of members) noteWriter(exchange, model)
	}
}

interface Member {
	readonly model: Model
	readonly handler: (Handler & CrudView) | undefined
	/** For messages. */
	readonly name: string
}

/** The transaction that one of the handlers is in already; of several, the innermost. */
function outerOf(of: readonly unknown[]): CrudTransaction | undefined {
	let found: CrudTransaction | undefined
	for (const one of Array.isArray(of) ? of : []) {
		const own = isHandler(one) ? one[FACTS].transaction : undefined
		if ((own?.depth ?? 0) > (found?.depth ?? 0)) found = own
	}
	return found
}

/**
 * The members of a transaction. Those that aren't in `outer` join it: an override can't know whether its caller has begun one.
 *
 * @throws TypeError for anything that isn't a model or a CrudHandler, or that can't be in a transaction with the first
 */
function membersOf(of: readonly unknown[], outer: CrudTransaction | undefined): readonly Member[] {
	const given = Array.isArray(of) ? of.map(memberOf) : []
	const members = given.map((one) => ({ ...one, model: outer?.of(one.model) ?? one.model }))
	const [first, ...others] = members
	if (first === undefined)
		throw new TypeError(
			'transaction() takes a list of models or CRUD handlers: transaction([orders, items], …)',
		)
	for (const { model, name } of others) {
		if (model === first.model || first.model.transactsWith?.(model) === true) continue
		throw new TypeError(
			`transaction(): ${name} can't be in one transaction with ${first.name}: both must be of the same database object, such as a pool, and within a transaction both must be in it`,
		)
	}
	return members
}

/** Only a CrudHandler has FACTS. */
function isHandler(given: unknown): given is Handler & CrudView {
	return typeof given === 'object' && given !== null && FACTS in given
}

function memberOf(given: unknown, at: number): Member {
	if (typeof given === 'object' && given !== null) {
		if (isHandler(given)) {
			const { model } = given
			return { model, handler: given, name: given[FACTS].plan.owner }
		}
		if ('transaction' in given && 'fields' in given && 'key' in given) {
			const model = given as Model // by its members
			return { model, handler: undefined, name: model.name }
		}
	}
	const what = given instanceof Promise ? 'a promise: await its open() first' : `a ${typeof given}`
	throw new TypeError(`transaction() takes models and CRUD handlers, got ${what} at index ${at}`)
}

/** @throws TypeError for a `request` that isn't a request's `this`, and for handlers of different requests */
function exchangeOf(members: readonly Member[], request: RestHandler | undefined): Exchange | undefined {
	const given = request === undefined ? undefined : findExchange(request)
	if (request !== undefined && given === undefined)
		throw new TypeError("transaction(): request must be the `this` of a request's method")
	const found = members.flatMap(({ handler }) => (handler && findExchange(handler)) ?? [])
	const exchange = given ?? found[0]
	if (found.some((one) => one !== exchange))
		throw new TypeError('transaction(): the handlers belong to different requests')
	return exchange
}

/** The handler's view of the request. Made before the transaction begins, because an authenticator may use the same pool. */
async function viewOf({ handler }: Member, exchange: Exchange | undefined): Promise<CrudView | undefined> {
	if (handler === undefined) return undefined
	if (exchange === undefined || findExchange(handler) !== undefined) return handler
	return relatedAccess(exchange).view({ handler, to: handler[FACTS].plan, operation: 'read' })
}

function begin<T>(
	members: readonly Member[],
	work: (within: Within) => Promise<T>,
	session: DatabaseSession,
	outer?: CrudTransaction,
): Promise<T> {
	const [first, ...others] = members as readonly [Member, ...Member[]] // `membersOf` refuses an empty list
	const model = inSession(first.model, session)
	if (model.transactionWith !== undefined) {
		const audits = members.flatMap(({ handler }) => {
			const audit = handler?.[FACTS].audit?.model
			return audit === undefined ? [] : [outer?.of(audit) ?? audit]
		})
		return model.transactionWith([...others.map((other) => other.model), ...audits], work)
	}
	return model.transaction((inner) =>
		work({ connection: undefined, of: (one) => (one === first.model ? inner : one) }),
	)
}

const TURN: unique symbol = Symbol('verbena.turn')

/** Runs `work` after earlier transactions of the same views: a view can only be in one at a time. */
function inTurn<T>(views: readonly object[], work: () => Promise<T>): Promise<T> {
	const earlier = views.map((view) => attachment(view, TURN))
	const result = Promise.all(earlier).then(work)
	const ended = Promise.allSettled([result])
	for (const view of views) attach(view, TURN, ended)
	return result
}

/** The model, or a handler's view, within the transaction. */
function enter(
	model: Model,
	view: CrudView | undefined,
	transaction: CrudTransaction,
	leaves: (() => void)[],
): unknown {
	const inner = transaction.of(model)
	if (view === undefined) return inner
	const properties = membersWithin(view, transaction, inner)
	if (findExchange(view) !== undefined) leaves.push(enterItself(view, properties))
	const own: object = Object.create(view)
	setMembers(own, properties)
	return own
}

/** A stack of the members that a view takes on in transactions: the top ones are in use, the last ones its own. */
interface Entered {
	readonly properties: object
	readonly below: Entered | undefined
	isOver: boolean
}

const ENTERED: unique symbol = Symbol('verbena.entered')

/** Puts the request's view itself into the transaction; returns a function that takes it out again. */
function enterItself(
	view: CrudView & { [ENTERED]?: Entered; model?: Model },
	properties: object,
): () => void {
	const outside = { properties: { [FACTS]: view[FACTS], model: view.model }, below: undefined, isOver: false }
	const own = Object.hasOwn(view, ENTERED) ? view[ENTERED] : undefined
	const entered: Entered = { properties, below: own ?? outside, isOver: false }
	show(view, entered)
	return () => {
		entered.isOver = true
		// Transactions that run at the same time may end in any order.
		let top: Entered | undefined = view[ENTERED]
		while (top?.isOver === true) top = top.below
		if (top !== undefined) show(view, top)
	}
}

function show(view: object, entered: Entered): void {
	setMembers(view, { ...entered.properties, [ENTERED]: entered })
}

const OVER: unique symbol = Symbol('verbena.over')

/** A promise that rejects when the request is over, shared by all transactions of the request. */
function overOf(exchange: Exchange): Promise<never> {
	return attached(exchange, OVER, () => {
		const signal = exchange.signal()
		const over = new Promise<never>((_, reject) => {
			if (signal.aborted) reject(signal.reason)
			signal.addEventListener('abort', () => reject(signal.reason), { once: true })
		})
		over.catch(() => {})
		return over
	})
}

/** Settles as `promise` does, or rejects when the request is over. */
function untilOver<T>(promise: Promise<T>, exchange: Exchange | undefined): Promise<T> {
	return exchange === undefined ? promise : Promise.race([promise, overOf(exchange)])
}

/** Thrown to roll back after `this.error()`: the transaction returns what `work` has returned. */
class RolledBack extends Error {
	readonly result: unknown

	constructor(result: unknown) {
		super('the method has recorded an error')
		this.result = result
	}
}

/** A change whose outcome was unknown within the transaction is undone for certain after the rollback: it can be retried. */
function rolledBack(error: unknown): unknown {
	if (!(error instanceof RestError) || error.code !== 'outcome_unknown') return error
	return new RestError('unavailable', undefined, { headers: { 'Retry-After': '5' }, cause: error })
}

function endless(members: readonly Member[]): TypeError {
	const names = members.map(({ name }) => name).join(', ')
	return new TypeError(
		`transaction(): ${MAX_DEPTH} transactions of ${names} within each other: an override that begins one must call super, as in super.create(values)`,
	)
}

/**
 * Runs `work`, on several records, in a transaction.
 *
 * @param work `within` is the view, which takes part; outside of a request, the handler in the transaction
 */
export function together<T>(view: CrudView, work: (within: CrudView) => Promise<T>): Promise<T> {
	const handlers = [view as unknown as Transacting] as const // a CrudHandler's view
	const isInRequest = findExchange(view) !== undefined
	return transaction(handlers, ([within]) => work(isInRequest ? view : (within as unknown as CrudView)))
}
