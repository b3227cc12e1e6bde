/**
 * The actions on the related records of one record: `GET /7/comments`, `POST /7/comments`, `GET /7/author`, and many to many
 * `PUT` and `DELETE /7/tags/3`. Each reads the record by its handler's rules, and then does what the other handler would
 * do, limited to the related records.
 */
import { NOT_FOUND, RestError } from '../../base/error.ts'
import type { RouteMethod } from '../../base/http.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { OwnAction } from '../../handler/mount/methods.ts'
import { exchangeOf } from '../../handler/view.ts'
import { idOfKey } from '../../models/key.ts'
import type { Condition, Model } from '../../models/model.ts'
import { countRequest } from '../../pipeline/enforce-limits.ts'
import type { Validator } from '../../validate/validator.ts'
import { relatedShape, tieShape } from '../api-description.ts'
import { checkAsked } from '../asked.ts'
import { create, givenId, list, readAnswer } from '../operations.ts'
import type { CrudOperation } from '../options.ts'
import type { Relation } from '../plan.ts'
import { badQuery } from '../query-values.ts'
import { checkedId, modelId, modelToRead, resolveScope, translateModelErrors } from '../reads.ts'
import { EVERYTHING } from '../scope.ts'
import { inSession, sessionOf } from '../session.ts'
import type { NonNullValue } from '../value-from-text.ts'
import { type CrudFacts, type CrudView, FACTS, WITHIN } from '../view.ts'
import { BodyReader } from '../write.ts'
import { limitOf, narrowed, relatedAccess } from './access.ts'
import {
	fieldsNamed,
	idsOf,
	isEqual,
	isIdIn,
	nothing,
	recordsIn,
	relatableBy,
	scopeBelow,
	valuesOf,
} from './records.ts'
import { type Through, type Tie, tie, untie } from './ties.ts'

/**
 * @param validator the server's, for lists of rules; `undefined` for the built-in one
 * @throws TypeError for invalid rules of the other handlers
 */
export function relationActions(facts: CrudFacts, validator: Validator | undefined): OwnAction[] {
	if (!facts.plan.allow.has('read')) return []
	return [...facts.plan.relations.values()].flatMap((relation) => actionsOf(facts, relation, validator))
}

function actionsOf(facts: CrudFacts, relation: Relation, validator: Validator | undefined): OwnAction[] {
	const { name, to, link, handler, canTie } = relation
	const target = (handler as CrudView)[FACTS] // a CrudHandler, checked by `relations.ts`
	const action = (
		operation: 'list' | 'read' | 'create',
		methods: readonly RouteMethod[],
		run: (view: CrudView, segment: unknown) => unknown,
	): OwnAction => ({
		...{ name: `${operation} ${name}`, methods, segments: 2, second: name, accessOf: 'read' },
		shape: () => relatedShape(facts, relation, validator, operation),
		authorize: async (exchange) => {
			await checkAsked(exchange as Exchange, target, operation, { ...relation, operation })
			const limit = limitOf(handler, to, operation)
			if (limit !== undefined) await countRequest(exchange as Exchange, limit)
		},
		// The mount only calls it with a view of a CrudHandler as `this`.
		run(this: object, segment: unknown) {
			return narrowed(this as CrudView, (view) => run(view, segment))
		},
	})
	const actions: OwnAction[] = []
	if (!link.isMany) {
		if (to.allow.has('read'))
			actions.push(action('read', ['GET'], (view, segment) => readRelated(view, segment, relation)))
		return actions
	}
	if (to.allow.has('list'))
		actions.push(
			action('list', ['GET', 'QUERY'], async (view, segment) =>
				list(await viewWithin(view, segment, relation, 'list')),
			),
		)
	const { through } = link
	if (to.allow.has('create') && through === undefined) {
		const bodies = new BodyReader(to, target.rules, validator)
		const creating = action('create', ['POST'], async (view, segment) =>
			create(await viewWithin(view, segment, relation, 'create'), bodies),
		)
		// The other handler's rule decides who may create these records.
		actions.push({ ...creating, isDecided: true })
	}
	if (canTie && through !== undefined) {
		const ties = (name: 'tie' | 'untie', method: RouteMethod, change: typeof tie): OwnAction => ({
			...{ name: `${name} ${relation.name}`, methods: [method], segments: 3, second: relation.name },
			...{ accessOf: 'update', shape: () => tieShape(facts, relation, name) },
			authorize: (exchange) => relatedAccess(exchange as Exchange).check({ ...relation, operation: 'read' }),
			async run(this: object, segment: unknown, _name: unknown, other: unknown) {
				const view = this as CrudView // as above
				const asked = await tieOf(view, segment, other, relation, through)
				await change(view, asked, { ...through, model: await tieModel(view, relation, through) })
				view.status(204)
				return null
			},
		})
		actions.push(ties('tie', 'PUT', tie), ties('untie', 'DELETE', untie))
	}
	return actions
}

/** A view of the other handler, limited to the records that are related to one record. */
async function viewWithin(
	view: CrudView,
	segment: unknown,
	relation: Relation,
	operation: CrudOperation,
): Promise<CrudView> {
	const access = relatedAccess(exchangeOf(view, relation.name))
	await access.check({ ...relation, operation })
	const values = await linkValues(view, segment, relation, 'read')
	if (values === undefined && operation === 'create')
		throw new RestError(
			'conflict',
			'No record can refer to this one: the value to refer to is null, or out of range',
		)
	const target = await access.view({ ...relation, operation })
	return Object.defineProperty(target, WITHIN, { value: scopeBelow(relation, values) })
}

/**
 * The values of the link's fields in a record that the client may see; `undefined` if one is null.
 *
 * @param behind number of segments after the record's id
 * @throws RestError `not_found`
 */
async function linkValues(
	view: CrudView,
	segment: unknown,
	relation: Pick<Relation, 'link' | 'to'>,
	operation: 'read' | 'update',
	behind = 1,
): Promise<readonly NonNullValue[] | undefined> {
	const { plan, overridden } = view[FACTS]
	const { link } = relation
	const id = checkedId(view, givenId(view, segment, exchangeOf(view, 'read'), behind))
	if (overridden.has('read')) {
		const seen = await translateModelErrors(view, 'read', () => view.read(id))
		if (seen === null || seen === undefined) throw NOT_FOUND
	}
	const scope = await resolveScope(view, operation)
	const fields = fieldsNamed(plan, link.fields)
	const selection = plan.selections.extended(nothing(plan.selections), fields)
	const key = modelId(view, id, scope)
	const model = await modelToRead(view)
	const found = await translateModelErrors(view, 'read', () => model.read(key, selection, scope.where), scope)
	if (found === undefined) throw NOT_FOUND
	const { texts } = recordsIn(found.json, selection, fields)
	const [text] = texts
	return text === undefined ? undefined : relatableBy(relation)(valuesOf(text, link.fields, fields))
}

async function readRelated(view: CrudView, segment: unknown, relation: Relation): Promise<unknown> {
	const target = await viewWithin(view, segment, relation, 'read')
	return readAnswer(target, await idWithin(target, relation), exchangeOf(view, 'read'))
}

/** The id of the only record within a view's limits. @throws RestError `not_found` */
async function idWithin(target: CrudView, { link }: Relation): Promise<string> {
	const { plan } = target[FACTS]
	const { terms = [] } = target[WITHIN] ?? {}
	const values = terms.flatMap(({ values }) => values)
	if (terms.length > 0 && isIdIn(plan, link))
		return idOfKey(
			values,
			terms.map(({ field }) => field.field),
		)
	const { where } = await resolveScope(target, 'read')
	const { keys, selections } = plan
	const within = { model: await modelToRead(target), keys, selections }
	const [id] = await translateModelErrors(target, 'read', () => idsOf(within, where, 1))
	if (id === undefined) throw NOT_FOUND
	return id
}

/** The model of the junction records, in the session of this handler, or else in that of the other one. */
async function tieModel(view: CrudView, relation: Relation, { model }: Through): Promise<Model> {
	const isOwn = view[FACTS].plan.sessionBy !== undefined
	const asked = isOwn ? view : await relatedAccess(exchangeOf(view, relation.name)).view(relation)
	const { session } = await sessionOf(asked)
	return inSession(model, session)
}

/** @throws RestError `not_found` if the client doesn't see one of the records */
async function tieOf(
	view: CrudView,
	segment: unknown,
	other: unknown,
	relation: Relation,
	through: Through,
): Promise<Tie> {
	const { from, on } = through
	const exchange = exchangeOf(view, relation.name)
	if (exchange.queryText !== '') refuseParameters(view, exchange)
	const access = relatedAccess(exchange)
	const own = await linkValues(view, segment, relation, 'update', 2)
	if (own === undefined) throw NOT_FOUND
	const { link, comparing } = relation
	const target = await access.view(relation)
	const shared = sharedBy(relation, own)
	if (shared !== undefined) Object.defineProperty(target, WITHIN, { value: { ...EVERYTHING, where: shared } })
	const reverse = { to: relation.to, link: { ...link, fields: link.to, through: { ...through, from: on } } }
	const others = await linkValues(target, other, reverse, 'read', 0)
	if (others === undefined) throw NOT_FOUND
	const terms = [
		isEqual(from, own, comparing && { model: comparing, fields: link.fields }),
		isEqual(on, others, { model: link.model, fields: link.to }),
	]
	const values = Object.fromEntries([
		...from.map((name, at) => [name, own[at]]),
		...on.map((name, at) => [name, others[at]]),
	])
	return { values, where: { op: 'and', terms } }
}

/**
 * The condition on the other record where both foreign keys of the junction share columns: these have one value, so records
 * that differ in it can't be tied. `undefined` if none is shared.
 */
function sharedBy({ link, comparing }: Relation, own: readonly NonNullValue[]): Condition | undefined {
	const { from = [], on = [] } = link.through ?? {}
	const shared = on.flatMap((name, at) => {
		const its = from.indexOf(name)
		return its < 0 ? [] : [{ to: link.to[at] ?? '', field: link.fields[its] ?? '', value: own[its] ?? '' }]
	})
	if (shared.length === 0) return undefined
	const fields = shared.map(({ field }) => field)
	return isEqual(
		shared.map(({ to }) => to),
		shared.map(({ value }) => value),
		comparing && { model: comparing, fields },
	)
}

/** @throws RestError `bad_request` for any parameter */
function refuseParameters(view: CrudView, exchange: Exchange): void {
	const { ignoreQuery } = view[FACTS].plan
	const unknown = Object.keys(exchange.query().last).find((name) => !ignoreQuery.has(name))
	if (unknown !== undefined) throw badQuery(unknown, 'unknown', 'is not a parameter here: it takes none')
}
