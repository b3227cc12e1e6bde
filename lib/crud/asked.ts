/**
 * Parses what a request to a `CrudHandler` asks for, from the URL or the body of a QUERY: a list's query, or the fields and
 * related records of one record. Access to relations in the URL is checked before the body is read. Called by `operations.ts`.
 */
import { attach, attachment } from '../base/attached.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { exchangeOf } from '../handler/view.ts'
import type { Condition } from '../models/model.ts'
import type { Fields } from '../request/body/form.ts'
import { allOf } from './filter-comparison.ts'
import { type CrudQuery, QueryParams } from './list-query.ts'
import { OF_PAGES } from './many/remove.ts'
import type { CrudOperation } from './options.ts'
import type { CrudPlan } from './plan.ts'
import { translated } from './query-dialect.ts'
import { unknownName } from './query-values.ts'
import { relatedAccess, type Use } from './relations/access.ts'
import { NO_INCLUDE, type Requested } from './relations/parse-include.ts'
import { checkRelated } from './relations/scoping.ts'
import { exportFormat, exportPlan } from './transfer/format.ts'
import { beginState, type CrudFacts, type CrudView, FACTS, type RequestState } from './view.ts'

const ASKED: unique symbol = Symbol('verbena.asked')

/** The query that `checkAsked` has parsed, kept for the action. */
interface Asked {
	readonly plan: CrudPlan
	readonly query: CrudQuery | Requested
}

/**
 * Checks access to the relations in a request's URL, before the body is read.
 *
 * @param use another operation that the caller must be allowed: on a related handler, or `update` for an upsert
 * @throws RestError `bad_request`; `unauthorized` or `forbidden` as requests to the other handlers, as a rejection
 */
export function checkAsked(
	exchange: Exchange,
	facts: CrudFacts,
	operation: CrudOperation,
	use?: Use,
): Promise<void> | undefined {
	const isAsked = facts.plan.relations.size > 0 && exchange.queryText !== ''
	if (use === undefined && !isAsked) return undefined
	const access = relatedAccess(exchange)
	const check = async () => {
		if (use !== undefined) await access.check(use)
		if (!isAsked) return
		const { plan } = await access.factsFor(facts)
		const isList = operation === 'list' || operation === 'export' || operation === 'removeMany'
		const query = isList
			? listQueryIn(plan, exchange, false)
			: recordQueryIn(plan, exchange, parametersOf(operation))
		attach(exchange, ASKED, { plan, query } satisfies Asked)
		await checkRelated(access, { where: undefined, order: [], ...query })
	}
	return check()
}

/** The query that `checkAsked` has parsed; `undefined` if there is none, or if it is of another handler. */
function askedOf(exchange: Exchange, plan: CrudPlan): Asked['query'] | undefined {
	const asked = attachment(exchange, ASKED) as Asked | undefined // attached by `checkAsked`
	return asked?.plan === plan ? asked.query : undefined
}

/** Parses this request's query as a list does, for `listQuery()`. */
export function requestedList(view: CrudView, where?: Condition): CrudQuery {
	const query = queryOf(view, exchangeOf(view, 'listQuery'))
	return where === undefined ? query : { ...query, where: allOf(where, query.where) }
}

export function queryOf(view: CrudView, exchange: Exchange): CrudQuery {
	const { plan, defaultQuery } = view[FACTS]
	const isPlain = exchange.queryText === '' && exchange.method !== 'QUERY'
	if (isPlain && exportFormat(plan, exchange) === undefined) return defaultQuery
	const asked = exchange.method === 'QUERY' ? undefined : askedOf(exchange, plan)
	return asked !== undefined && 'order' in asked ? asked : listQueryIn(plan, exchange)
}

/** The query of a list, or of an export, which has no pages. */
function listQueryIn(plan: CrudPlan, exchange: Exchange, hasBody = exchange.method === 'QUERY'): CrudQuery {
	const isExport = exportFormat(plan, exchange) !== undefined
	const own = isExport ? exportPlan(plan) : plan
	// `removeMany` refuses page parameters itself, so messages must not list them.
	const isDeletion = exchange.action?.name === 'removeMany'
	const owner = isExport ? 'this export' : isDeletion ? 'a deletion' : undefined
	const offered = isDeletion ? own.parameters.filter((name) => !OF_PAGES.includes(name)) : own.parameters
	const params = new QueryParams(own, own.parameters, owner, offered)
	params.addText(fieldsOf(own, exchange))
	if (hasBody) {
		const body = exchange.body.decoded()
		if ('fields' in body) params.addText(body.fields)
		else params.addJson(exchange.body.fields())
	}
	return params.query(isExport ? 1 : undefined, !hasBody && exchange.method === 'QUERY')
}

/** The parameters of the URL; a dialect's are translated to this library's. */
function fieldsOf(plan: CrudPlan, exchange: Exchange): Fields {
	return plan.dialect === undefined ? exchange.query() : translated(plan, exchange.query())
}

function parametersOf(operation?: CrudOperation): readonly string[] {
	return operation === 'upsert' ? ['on'] : []
}

/** Creates the state of a request for one record, or several in its body, with the fields that its URL asks for. */
export function beginRecordState(
	view: CrudView,
	exchange: Exchange,
	operation?: CrudOperation,
): RequestState {
	const { plan } = view[FACTS]
	if (exchange.queryText === '')
		return beginState(view, { selection: plan.selections.all, include: NO_INCLUDE })
	// Parsed only if `checkAsked` hasn't.
	const asked = askedOf(exchange, plan) ?? recordQueryIn(plan, exchange, parametersOf(operation))
	const { selection, include = NO_INCLUDE, isDeleted = false } = asked
	return beginState(view, { selection, include, isDeleted })
}

const RECORD_PARAMETERS = ['fields', 'include', 'deleted'] as const

/**
 * The fields and related records that the URL of a record asks for.
 *
 * @param more other parameters that are allowed
 */
function recordQueryIn(plan: CrudPlan, exchange: Exchange, more: readonly string[]): Requested {
	const isRead = exchange.method === 'GET' || exchange.method === 'HEAD'
	const own = RECORD_PARAMETERS.filter(
		(name) => plan.parameters.includes(name) && (isRead || name !== 'deleted'),
	)
	const parameters: readonly string[] = [...own, ...more]
	const given = fieldsOf(plan, exchange)
	for (const name of Object.keys(given.last)) {
		if (parameters.includes(name) || plan.ignoreQuery.has(name)) continue
		throw unknownName(name, 'is not a parameter of a record: it takes', parameters)
	}
	const params = new QueryParams(plan, [...plan.parameters, ...more])
	params.addText(given)
	return params.requested()
}
