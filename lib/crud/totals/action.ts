/** The action `GET /totals`: parses the query, applies the scopes of the handler and of its relations, and asks the model. */
import { attach, attachment } from '../../base/attached.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { OwnAction } from '../../handler/mount/methods.ts'
import { exchangeOf } from '../../handler/view.ts'
import type { Order, TotalsKey } from '../../models/model.ts'
import { refuseLarger } from '../../models/model-error.ts'
import { RawJson } from '../../wire/raw-json.ts'
import { allOf } from '../filter-comparison.ts'
import { QueryParams } from '../list-query.ts'
import type { CrudPlan } from '../plan.ts'
import { badQuery } from '../query-values.ts'
import { modelToRead, resolveScope, translateModelErrors } from '../reads.ts'
import { narrowed, relatedAccess } from '../relations/access.ts'
import { checkRelated, type Relating, refuseApart, relationsOf, Scoping } from '../relations/scoping.ts'
import { EVERYTHING } from '../scope.ts'
import { type CrudFacts, type CrudView, FACTS } from '../view.ts'
import { checkTotals, totalsPlan } from './plan.ts'
import { type TotalsRequest, totalsRequest } from './request.ts'
import { totalsShape } from './shape.ts'

/** @throws TypeError for options that don't fit */
export function totalsActions(facts: CrudFacts): OwnAction[] {
	const { plan } = facts
	checkTotals(plan)
	if (!plan.allow.has('totals')) return []
	return [
		{
			...{ name: 'totals', methods: ['GET', 'QUERY'], segments: 1, resource: 'totals' },
			shape: () => totalsShape(facts),
			...(plan.relations.size === 0
				? {}
				: { authorize: (exchange: object) => authorize(exchange as Exchange, facts) }),
			// The mount only calls it with a view of a CrudHandler as `this`.
			run(this: object) {
				return narrowed(this as CrudView, run)
			},
		},
	]
}

const ASKED: unique symbol = Symbol('verbena.askedTotals')

/** Checks the relations that a URL leads through, before a body is read. */
async function authorize(exchange: Exchange, facts: CrudFacts): Promise<void> {
	// What a QUERY asks for may be in its body.
	if (exchange.method === 'QUERY') return
	const access = relatedAccess(exchange)
	const { plan } = await access.factsFor(facts)
	const query = totalsRequest(plan, parsedUrl(plan, exchange))
	attach(exchange, ASKED, query)
	await checkRelated(access, relatingOf(query))
}

function parsedUrl(plan: CrudPlan, exchange: Exchange): QueryParams {
	const params = new QueryParams(plan, totalsPlan(plan).parameters, 'these totals')
	params.addText(exchange.query())
	return params
}

async function run(view: CrudView): Promise<unknown> {
	const exchange = exchangeOf(view, 'totals')
	const query = queryOf(view, exchange)
	if (!view[FACTS].overridden.has('totals')) return totalRecords(view, query)
	return translateModelErrors(view, 'totals', () => view.totals(query), undefined, {}, query)
}

/** This request's query, read as that of totals. */
export function queryOf(view: CrudView, exchange: Exchange): TotalsRequest {
	const { plan } = view[FACTS]
	const asked = attachment(exchange, ASKED) as TotalsRequest | undefined // attached by `authorize`
	if (asked !== undefined) return asked
	const params = parsedUrl(plan, exchange)
	if (exchange.method === 'QUERY') {
		const body = exchange.body.decoded()
		if ('fields' in body) params.addText(body.fields)
		else params.addJson(exchange.body.fields())
	}
	return totalsRequest(plan, params)
}

/** The parts of a query that may lead through relations, with `by` as a list's order. */
function relatingOf({ where, by }: TotalsRequest): Relating {
	const order = by.map(
		({ field, via }): Order => ({ field, descending: false, ...(via === undefined ? {} : { via }) }),
	)
	return { where, order }
}

/** @throws RestError `bad_request` for more groups than the handler allows */
export async function totalRecords(view: CrudView, query: TotalsRequest): Promise<RawJson> {
	const { plan } = view[FACTS]
	const { maxPageBytes: maxBytes } = plan
	const model = await modelToRead(view)
	const { maxGroups } = totalsPlan(plan)
	const scope = await resolveScope(view, 'totals')
	const { by, where } = await scopedQuery(view, query)
	const { limit } = query
	const asked = {
		...{ ...query, by, maxBytes, limit: limit ?? maxGroups + 1 },
		where: scope === EVERYTHING ? where : allOf(scope.where, where),
	}
	const { json, groups } = await translateModelErrors(
		view,
		'totals',
		async () => {
			if (model.totals === undefined) throw new TypeError(`the model of ${model.name} has no totals()`)
			const found = await model.totals(asked)
			// An application's own model may ignore `maxBytes`.
			refuseLarger(found.json, maxBytes)
			return found
		},
		scope,
		{},
		query,
	)
	if (limit === undefined && groups > maxGroups)
		throw badQuery(
			'by',
			'max',
			`makes more than ${maxGroups} groups: filter, or ask for the first with limit`,
		)
	return new RawJson(json)
}

/** Limits related records to those that the client may see. Records whose related record is hidden are grouped under null. */
async function scopedQuery(
	view: CrudView,
	query: TotalsRequest,
): Promise<Pick<TotalsRequest, 'by' | 'where'>> {
	const relating = relatingOf(query)
	const relations = relationsOf(view[FACTS].plan, relating)
	if (relations === undefined) return query
	const scoping = await Scoping.of(relatedAccess(exchangeOf(view, 'totals')), view, relations)
	refuseApart(view[FACTS].plan, relating, scoping)
	const order = scoping.order(relating.order)
	return {
		where: scoping.condition(query.where),
		by: query.by.map((key, at): TotalsKey => {
			const via = order[at]?.via
			return via === undefined ? key : { ...key, via }
		}),
	}
}
