/** Makes selections with related records, for models that write those into each record's JSON themselves. */
import type { Bytes } from '../../base/time.ts'
import type { Condition, Related, Selection } from '../../models/model.ts'
import { keysetCursor, offsetCursor } from '../cursor.ts'
import { allOf } from '../filter-comparison.ts'
import type { CrudPlan, RelationLink } from '../plan.ts'
import type { Include } from './parse-include.ts'
import type { Scoping } from './scoping.ts'

export interface Embedded {
	readonly selection: Selection
	/** What the model can't embed: `attach.ts` adds it to the records. */
	readonly rest: readonly Include[]
}

/**
 * Adds to a selection what its model can embed. The same object for the same static query: see `Selection`.
 *
 * @param limit maximum number of records
 */
export function embedded(
	plan: CrudPlan,
	selection: Selection,
	include: readonly Include[],
	scoping: Scoping,
	limit: number,
): Embedded {
	const { selections } = plan
	const own = include.filter((one) => canEmbed(plan, one, scoping))
	const rest = own.length === include.length ? [] : include.filter((one) => !own.includes(one))
	if (own.length === 0) return { selection, rest }
	const copies = own.reduce((sum, one) => sum + copiesOf(one, limit), 0)
	const maxBytes = maxRecordBytes(copies, plan)
	const make = () => own.map((one) => relatedOf(one, scoping, maxBytes))
	if (!own.every((one) => isStatic(one, scoping)))
		return { selection: Object.freeze({ ...selection, related: make() }), rest }
	const key = `${maxBytes} ${own.map(({ key }) => key).join()}`
	return { selection: selections.related(selection, key, make), rest }
}

/** How much larger than a page all embedded records may be together. */
const LARGER = 2
const MIN_BYTES: Bytes = 8_388_608

/**
 * Maximum size of an embedded record of which the database may make this many copies. A power of two, so that few different
 * statements are prepared. A larger record is read once, by itself.
 */
function maxRecordBytes(copies: number, { maxPageBytes }: CrudPlan): Bytes {
	return 2 ** Math.floor(Math.log2((LARGER * Math.max(maxPageBytes, MIN_BYTES)) / Math.max(1, copies)))
}

/** The number of related records of an include, with those within them, if each list is as long as its limit. */
function copiesOf({ limit, include }: Include, outer: number): number {
	const records = outer * limit
	return include.reduce((sum, one) => sum + copiesOf(one, records), records)
}

/** Whether a model can write these related records, and those within them. */
function canEmbed(plan: CrudPlan, { relation, include }: Include, scoping: Scoping): boolean {
	const { to, link, isOverridden, isStripped } = relation
	const { through } = link
	const { model } = plan
	if (!scoping.sessions.isTogether(plan, to)) return false
	if (isOverridden || isStripped || model.embeds?.(to.model) !== true) return false
	if (through !== undefined && model.embeds(through.model) !== true) return false
	return include.every((one) => canEmbed(to, one, scoping))
}

/** Whether nothing in an include differs between requests: no scope, and no condition. */
function isStatic({ relation, key, order, include }: Include, scoping: Scoping): boolean {
	if (key === undefined || !isUnscoped(relation.link, scoping.whereOf(relation))) return false
	const scoped = scoping.order(order)
	return (
		scoped.every(({ via = [] }) => via.every(({ link, where }) => isUnscoped(link, where))) &&
		include.every((one) => isStatic(one, scoping))
	)
}

/** Whether a condition on related records is the same in all requests. */
function isUnscoped({ relation }: Partial<RelationLink>, where: Condition | undefined): boolean {
	return where === undefined || where === relation?.to.living
}

function relatedOf(asked: Include, scoping: Scoping, maxBytes: Bytes): Related {
	const { relation, selection, include } = asked
	const related = include.map((one) => relatedOf(one, scoping, maxBytes))
	return {
		name: relation.name,
		link: relation.link,
		selection: related.length === 0 ? selection : { ...selection, related },
		...{ where: whereOf(asked, scoping), maxBytes },
		list: relation.link.isMany
			? {
					order: scoping.order(asked.order),
					limit: asked.limit,
					count: asked.count,
					cursor: (next) => cursorOf(asked, next),
				}
			: undefined,
	}
}

/** The condition of included records: the scope's, and the client's own. */
export function whereOf({ relation, where }: Include, scoping: Scoping): Related['where'] {
	return allOf(scoping.whereOf(relation), scoping.condition(where))
}

/** The cursor of the related records after the included ones. */
export function cursorOf({ relation, stamp, limit }: Include, next: string): string {
	return relation.to.isKeyVisible ? keysetCursor(stamp, next) : offsetCursor(stamp, limit)
}
