/**
 * Applies `session()`: makes models whose statements run as a role of the database, and compares the sessions of two handlers
 * before one statement reads the records of both. `session()` is called once per request for each handler.
 */
import { attached } from '../base/attached.ts'
import { exchangeOf } from '../handler/view.ts'
import type { Model } from '../models/model.ts'
import { type DatabaseSession, readSession, sessionKey, takesSessions } from '../models/session.ts'
import type { RelatedHandler } from './options.ts'
import type { CrudPlan } from './plan.ts'
import { type CrudView, FACTS } from './view.ts'

/** A handler's session in one request. */
interface OwnSession {
	/** See `sessionKey`. */
	readonly key: string
	readonly session: DatabaseSession
	readonly model: Model
}

/** @throws TypeError for the model of a handler with `session()` that can't run statements in one */
export function checkSession(owner: string, model: Model): void {
	if (takesSessions(model)) return
	throw new TypeError(
		`${owner} has session(), but ${model.name} can't run statements in a session: only a PostgresModel can`,
	)
}

const SESSIONS: unique symbol = Symbol('verbena.crudSessions')

/** @throws TypeError outside of a request, and unless `session()` returns a session, as a rejection */
export async function sessionOf(view: CrudView): Promise<OwnSession> {
	const { plan } = view[FACTS]
	const { sessionBy } = plan
	if (sessionBy === undefined) return { key: '', session: {}, model: plan.model }
	const exchange = exchangeOf(view, 'session')
	// Keyed by handler, not by plan: with `fields()`, a request has its own plans.
	const sessions = attached(exchange, SESSIONS, () => new Map<object, Promise<OwnSession>>())
	const session = sessions.get(sessionBy) ?? askSession(view, plan)
	sessions.set(sessionBy, session)
	return session
}

async function askSession(view: CrudView, plan: CrudPlan): Promise<OwnSession> {
	const session = readSession(`${plan.owner}.session()`, await view.session())
	const { model } = view[FACTS].handler as RelatedHandler // not that of a transaction
	return { key: sessionKey(session), session, model: inSession(model, session) }
}

/** The session of a transaction of handlers. @throws TypeError if they have different ones, as a rejection */
export async function commonSession(views: readonly CrudView[]): Promise<DatabaseSession> {
	const [first, ...others] = await Promise.all(views.map(sessionOf))
	const at = others.findIndex(({ key }) => key !== first?.key)
	if (first === undefined || at === -1) return first?.session ?? {}
	const [owner, other] = [views[0], views[at + 1]].map((view) => view?.[FACTS].plan.owner)
	throw new TypeError(
		`transaction(): ${owner} and ${other} have different sessions, and a transaction has only one`,
	)
}

/** A model in a session. @throws TypeError if it can't run statements in one */
export function inSession(model: Model, session: DatabaseSession): Model {
	if (sessionKey(session) === '') return model
	if (takesSessions(model)) return model.withSession(session)
	throw new TypeError(`${model.name} can't run statements in a session: only a PostgresModel can`)
}

/** The sessions of the handlers that one query involves. */
export class Sessions {
	readonly #sessions = new Map<object, OwnSession>()

	async add(view: CrudView): Promise<void> {
		const { sessionBy } = view[FACTS].plan
		if (sessionBy !== undefined) this.#sessions.set(sessionBy, await sessionOf(view))
	}

	/** The model of a handler that was added. @throws TypeError for another one that has `session()` */
	modelOf(plan: CrudPlan): Model {
		return this.#of(plan)?.model ?? plan.model
	}

	/** Whether the query has no sessions but the database's own. */
	get areNone(): boolean {
		return this.#sessions.size === 0
	}

	/** Whether records of two handlers may be in one statement, which has one session. */
	isTogether(plan: CrudPlan, other: CrudPlan): boolean {
		return (this.#of(plan)?.key ?? '') === (this.#of(other)?.key ?? '')
	}

	#of({ owner, sessionBy }: CrudPlan): OwnSession | undefined {
		const session = sessionBy && this.#sessions.get(sessionBy)
		if (session === undefined && sessionBy !== undefined)
			throw new TypeError(`the session of ${owner} was not asked for`)
		return session
	}
}
