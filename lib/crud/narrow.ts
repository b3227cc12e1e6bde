/**
 * Applies what `fields()` returns to the facts of a handler, for one request: the plan loses the hidden fields, so that they are
 * refused like unknown ones wherever a request may name them. The plans of related handlers are narrowed with it. Called by
 * `relations/access.ts`, which calls each handler's `fields()`.
 */
import { attached } from '../base/attached.ts'
import { isPlain, nearest } from '../base/options.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { sortTerm } from './check-fields.ts'
import { type CrudField, dropOldest, type FieldMap, Selections } from './fields.ts'
import { defaultQuery } from './list-query.ts'
import type { CrudFieldName } from './options.ts'
import type { CrudPlan, Relation } from './plan.ts'
import { NO_INCLUDE } from './relations/parse-include.ts'
import { type CrudFacts, type CrudView, FACTS, stateOf } from './view.ts'

/**
 * What `fields()` returns: the fields that this request doesn't have, and those that it can't write, by clients' names.
 *
 * @template T a record with all fields: the compiler then checks the names. @default any names
 */
// Conditional, because TypeScript would otherwise compare two of these by the variance of T instead of by their members.
export type CrudFieldLimits<T = Record<string, unknown>> = T extends unknown
	? { readonly hidden?: readonly CrudFieldName<T>[]; readonly readOnly?: readonly CrudFieldName<T>[] }
	: never

/** A handler with `fields()` that a request may involve. */
export interface Narrowing {
	readonly facts: CrudFacts
	/** The relations that lead to it; `undefined` for the handler that the request is sent to. */
	readonly relations: readonly Relation[] | undefined
}

/** The handlers with `fields()` that a request may involve: this one, and those that its relations lead to. */
export function narrowing(base: CrudFacts, { queryText, method }: Exchange): readonly Narrowing[] {
	const { own, all } = attached(base, NARROWINGS, () => narrowingsOf(base))
	const isAlone = queryText === '' && method !== 'QUERY'
	return isAlone ? own : all
}

const NARROWINGS: unique symbol = Symbol('verbena.narrowings')

function narrowingsOf(base: CrudFacts): {
	readonly own: readonly Narrowing[]
	readonly all: readonly Narrowing[]
} {
	const own = base.isNarrowed ? [{ facts: base, relations: undefined }] : []
	const behind = handlersBehind(base.plan)
	return { own, all: [...own, ...behind.filter(({ facts }) => facts !== base)] }
}

/** The facts of a handler without the fields that the limits hide, also in the handlers that its relations lead to. */
export function narrowedFacts(base: CrudFacts, limits: ReadonlyMap<CrudPlan, FieldLimits>): CrudFacts {
	const key = JSON.stringify(Array.from(limits.values(), (one) => [[...one.hidden], [...one.readOnly]]))
	const facts = base.narrowed.get(key) ?? factsOf(base, narrowedPlan(base.plan, limits))
	// Moved to the end: the cache drops the least recently used one, which is first.
	base.narrowed.delete(key)
	base.narrowed.set(key, facts)
	dropOldest(base.narrowed)
	return facts
}

function factsOf(base: CrudFacts, plan: CrudPlan): CrudFacts {
	const state = Object.freeze(stateOf({ selection: plan.selections.all, include: NO_INCLUDE }))
	return { ...base, plan, defaultQuery: defaultQuery(plan), state }
}

/** The handlers with `fields()` that a request may reach through relations. */
function handlersBehind(plan: CrudPlan): readonly Narrowing[] {
	const found = new Map<CrudFacts, Set<Relation>>()
	const follow = ({ relations }: CrudPlan, depth: number): void => {
		if (depth === 0) return
		for (const relation of relations.values()) {
			const facts = (relation.handler as CrudView)[FACTS] // a CrudHandler, checked by `relations.ts`
			if (facts.isNarrowed) found.set(facts, (found.get(facts) ?? new Set()).add(relation))
			follow(relation.to, depth - 1)
		}
	}
	follow(plan, plan.includeDepth)
	return Array.from(found, ([facts, relations]) => ({ facts, relations: [...relations] }))
}

/** The fields that a request doesn't have, and those that it can't write, by their names for clients. */
export interface FieldLimits {
	readonly hidden: ReadonlySet<string>
	readonly readOnly: ReadonlySet<string>
}

/** Reads what `fields()` returns. @throws TypeError unless it is an object with lists of fields */
export function readLimits({ owner, fields }: CrudPlan, given: unknown): FieldLimits {
	const place = `${owner}.fields()`
	if (!isPlain(given))
		throw new TypeError(`${place} must return an object, such as { hidden: ['salary'] }, or {} for no limits`)
	const unknown = Object.keys(given).find((name) => name !== 'hidden' && name !== 'readOnly')
	if (unknown !== undefined)
		throw new TypeError(`${place} returned ${unknown}: there are hidden and readOnly`)
	const named = (option: keyof CrudFieldLimits): ReadonlySet<string> => {
		const listed: unknown = Object.hasOwn(given, option) ? Reflect.get(given, option) : []
		if (!Array.isArray(listed)) throw new TypeError(`${place}.${option} must be a list of fields`)
		for (const name of listed)
			if (!fields.has(name))
				throw new TypeError(
					`${place}.${option} names ${String(name)}, which is not a field${nearest(String(name), fields.keys())}`,
				)
		// Sorted, so that the same fields have the same key; a copy, because the list may be a shared or frozen one.
		return new Set([...listed].sort())
	}
	return { hidden: named('hidden'), readOnly: named('readOnly') }
}

/** A plan without the hidden fields of its handler, and of those that its relations lead to. */
function narrowedPlan(
	plan: CrudPlan,
	limits: ReadonlyMap<CrudPlan, FieldLimits>,
	made: Map<CrudPlan, CrudPlan> = new Map(),
): CrudPlan {
	const known = made.get(plan)
	if (known !== undefined) return known
	const { hidden, readOnly } = limits.get(plan) ?? NO_LIMITS
	const shown = (fields: FieldMap) => without(fields, hidden)
	const writable = (fields: FieldMap) => without(shown(fields), readOnly)
	const visible = shown(plan.visible)
	const searchable = shown(plan.searchable)
	let relations: ReadonlyMap<string, Relation> | undefined
	const narrowed: CrudPlan = {
		...plan,
		...{ visible, searchable, filterable: shown(plan.filterable), sortable: shown(plan.sortable) },
		sort: plan.sort.filter((term) => !hidden.has(sortTerm(term, plan.sortable).name)),
		...{ creatable: writable(plan.creatable), updatable: writable(plan.updatable) },
		isKeyVisible: plan.keys.length > 0 && plan.keys.every(({ name }) => visible.has(name)),
		parameters: plan.parameters.filter((name) => name !== 'search' || searchable.size > 0),
		selections: new Selections([...visible.values()], plan.version),
		// Lazy, because relations may be circular.
		get relations() {
			relations ??= new Map(
				Array.from(plan.relations, ([name, one]) => [name, narrowedRelation(one, limits, made)]),
			)
			return relations
		},
	}
	made.set(plan, narrowed)
	return narrowed
}

export const NO_LIMITS: FieldLimits = { hidden: new Set(), readOnly: new Set() }

function narrowedRelation(
	relation: Relation,
	limits: ReadonlyMap<CrudPlan, FieldLimits>,
	made: Map<CrudPlan, CrudPlan>,
): Relation {
	const copy: Relation = {
		...relation,
		to: narrowedPlan(relation.to, limits, made),
		get link() {
			return link
		},
	}
	const link = { ...relation.link, relation: copy }
	return copy
}

function without(fields: FieldMap, names: ReadonlySet<string>): ReadonlyMap<string, CrudField> {
	return names.size === 0 ? fields : new Map([...fields].filter(([name]) => !names.has(name)))
}
