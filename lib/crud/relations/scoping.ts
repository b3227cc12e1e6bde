/** Limits a query to what the client may see of related records, by the access rules and scopes of their handlers. */
import type { Condition, Order } from '../../models/model.ts'
import { allOf } from '../filter-comparison.ts'
import type { CrudPlan, Relation, RelationLink } from '../plan.ts'
import { badQuery } from '../query-values.ts'
import type { Scope } from '../scope.ts'
import { Sessions } from '../session.ts'
import { type CrudView, FACTS } from '../view.ts'
import type { RelatedAccess } from './access.ts'
import type { Include } from './parse-include.ts'

/** The parts of a query that may lead through relations. */
export interface Relating {
	readonly where: Condition | undefined
	readonly order: readonly Order[]
	readonly include?: readonly Include[]
}

/** The relations that a query leads through, each once; `undefined` for none. */
export function relationsOf({ relations }: CrudPlan, query: Relating): ReadonlySet<Relation> | undefined {
	const all = relations.size === 0 ? undefined : relationsIn(query)
	return all?.size === 0 ? undefined : all
}

function relationsIn({ where, order, include = [] }: Relating): Set<Relation> {
	const relations = new Set<Relation>()
	const addLink = (link: Partial<RelationLink>) => {
		if (link.relation !== undefined) relations.add(link.relation)
	}
	const addCondition = (condition: Condition | undefined): void => {
		if (condition === undefined) return
		if (condition.op === 'and' || condition.op === 'or') condition.terms.forEach(addCondition)
		else if (condition.op === 'not') addCondition(condition.term)
		else if (condition.op === 'some' || condition.op === 'count') {
			addLink(condition.link)
			addCondition(condition.where)
			if (condition.op === 'some') addCondition(condition.fails)
		}
	}
	const addOrder = (terms: readonly Order[]) => {
		for (const { via = [] } of terms) for (const { link } of via) addLink(link)
	}
	const addIncludes = (all: readonly Include[]): void => {
		for (const one of all) {
			relations.add(one.relation)
			addCondition(one.where)
			addOrder(one.order)
			addIncludes(one.include)
		}
	}
	addCondition(where)
	addOrder(order)
	addIncludes(include)
	return relations
}

/**
 * Checks that the client may use all relations of a query.
 *
 * @throws RestError `unauthorized` or `forbidden`, as a rejection
 */
export async function checkRelated(access: RelatedAccess, query: Relating): Promise<void> {
	for (const relation of relationsIn(query)) await access.check(relation)
}

/**
 * Refuses conditions and orders that lead to records of another session: a statement has only one.
 *
 * @throws RestError `bad_request`
 */
export function refuseApart(
	plan: CrudPlan,
	{ where, order, include = [] }: Relating,
	scoping: Scoping,
): void {
	if (scoping.sessions.areNone) return
	for (const { to, name } of relationsIn({ where, order }))
		if (!scoping.sessions.isTogether(plan, to))
			throw badQuery(
				name,
				'session',
				'is read as another user of the database: records can be neither filtered nor sorted by it',
			)
	for (const one of include) refuseApart(one.relation.to, one, scoping)
}

/** Limits a query to what the client may see of related records. */
export class Scoping {
	readonly #scopes = new Map<Relation, Scope>()
	readonly sessions = new Sessions()

	/** Asks the scopes and sessions of a query's relations. @throws RestError as {@link checkRelated} */
	static async of(access: RelatedAccess, own: CrudView, relations: ReadonlySet<Relation>): Promise<Scoping> {
		const scoping = new Scoping()
		if (own[FACTS].plan.sessionBy !== undefined) await scoping.sessions.add(own)
		for (const relation of relations) {
			access.refuseUnnarrowed(relation)
			scoping.#scopes.set(relation, await access.scope(relation))
			if (relation.to.sessionBy !== undefined) await scoping.sessions.add(await access.view(relation))
		}
		return scoping
	}

	/** The condition that the scope adds to a relation's records; `undefined` for all records. */
	whereOf(relation: Relation): Condition | undefined {
		return this.#scopes.get(relation)?.where
	}

	condition(condition: Condition | undefined): Condition | undefined {
		return condition === undefined ? undefined : this.#scoped(condition)
	}

	order(terms: readonly Order[]): readonly Order[] {
		if (terms.every(({ via }) => via === undefined)) return terms
		return terms.map((term) => {
			if (term.via === undefined) return term
			return { ...term, via: term.via.map(({ link }) => ({ link, where: this.#ofLink(link) })) }
		})
	}

	#scoped(condition: Condition): Condition {
		switch (condition.op) {
			case 'and':
			case 'or':
				return { ...condition, terms: condition.terms.map((term) => this.#scoped(term)) }
			case 'not':
				return { ...condition, term: this.#scoped(condition.term) }
			case 'some':
				return {
					...condition,
					where: allOf(this.#ofLink(condition.link), this.condition(condition.where)),
					...(condition.fails === undefined ? {} : { fails: this.#scoped(condition.fails) }),
				}
			case 'count':
				return { ...condition, where: allOf(this.#ofLink(condition.link), this.condition(condition.where)) }
			default:
				return condition
		}
	}

	#ofLink(link: Partial<RelationLink>): Condition | undefined {
		return link.relation === undefined ? undefined : this.whereOf(link.relation)
	}
}
