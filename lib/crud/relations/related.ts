/**
 * The related records of a request: `related` checks access and scopes before the model is asked, limits the query, and
 * lets the model embed what it can; `complete` adds the rest to the model's answer. Called by `reads.ts`.
 */
import { exchangeOf } from '../../handler/view.ts'
import type { Condition, Order, Selection } from '../../models/model.ts'
import type { CrudPlan, Relation } from '../plan.ts'
import { fromReplica } from '../replicas.ts'
import { type CrudView, FACTS, membersWithin, setMembers } from '../view.ts'
import { relatedAccess } from './access.ts'
import { type Attaching, attach, linkFields } from './attach.ts'
import { embedded } from './embed.ts'
import { type Include, NO_INCLUDE } from './parse-include.ts'
import { recordsIn } from './records.ts'
import { type Relating, refuseApart, Scoping } from './scoping.ts'

/** A query limited to what the client may see, with the records to attach. */
export interface Related {
	readonly where: Condition | undefined
	readonly order: readonly Order[]
	/** For the model: with the records that it embeds, and the fields that {@link complete} needs. */
	readonly selection: Selection
	/** The members to keep of the model's records, besides the attached ones. */
	readonly kept: Selection
	readonly rest: readonly Include[]
	readonly attaching: Attaching
}

/**
 * Limits a query, and splits it between the model and {@link complete}.
 *
 * @param relations those that the query leads through
 * @param selection the fields to select, without related records
 * @param embeds whether the model may embed records: not in the answers of changes
 * @param limit maximum number of records
 * @throws RestError `unauthorized` or `forbidden` as requests to the other handlers, as a rejection
 */
export async function related(
	view: CrudView,
	query: Relating,
	relations: ReadonlySet<Relation>,
	selection: Selection,
	embeds: boolean,
	limit = 1,
): Promise<Related> {
	const { plan, transaction } = view[FACTS]
	const access = relatedAccess(exchangeOf(view, 'relations'))
	const scoping = await Scoping.of(access, view, relations)
	refuseApart(plan, query, scoping)
	const { include = NO_INCLUDE } = query
	/** The model within the transaction; `undefined` if it is of another session, or another database. */
	const joined = (to: CrudPlan) => {
		if (transaction === undefined || !scoping.sessions.isTogether(plan, to)) return undefined
		const model = scoping.sessions.modelOf(to)
		const inner = transaction.of(model)
		return inner === model ? undefined : inner
	}
	const split = embeds ? embedded(plan, selection, include, scoping, limit) : { selection, rest: include }
	return {
		where: scoping.condition(query.where),
		order: scoping.order(query.order),
		selection: plan.selections.extended(split.selection, linkFields(plan, split.rest)),
		...{ kept: split.selection, rest: split.rest },
		attaching: {
			...{ access, scoping, bytesLeft: plan.maxPageBytes, maxBytes: plan.maxPageBytes },
			modelOf: (to) => joined(to) ?? fromReplica(view, scoping.sessions.modelOf(to)),
			enter: (other) => {
				const model = joined(other[FACTS].plan)
				if (transaction !== undefined && model !== undefined)
					setMembers(other, membersWithin(other, transaction, model))
			},
		},
	}
}

/** Adds the records that the model hasn't embedded to its JSON, a record or an array of records. */
export async function complete(plan: CrudPlan, given: Related, json: string): Promise<string> {
	const { kept, rest, attaching } = given
	if (rest.length === 0) return json
	const texts = await attach(attaching, recordsIn(json, kept, linkFields(plan, rest)), rest)
	return json.trimStart().startsWith('[') ? `[${texts.join()}]` : texts.join()
}
