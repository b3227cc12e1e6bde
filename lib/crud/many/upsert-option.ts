/**
 * The option `upsertOn` and the parameter `on`: the unique fields by which `upsert.ts` finds existing records, and the access
 * that an upsert needs. The handler's constructor calls `checkUpsert`, the mount `updateOf`.
 */
import { attached } from '../../base/attached.ts'
import { nearest } from '../../base/options.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { RestHandler } from '../../handler/handler.ts'
import { isSameFields } from '../../models/key.ts'
import type { CrudField, FieldMap } from '../fields.ts'
import type { CrudOperation } from '../options.ts'
import { type CrudPlan, missingFields } from '../plan.ts'
import { badQuery } from '../query-values.ts'
import type { Use } from '../relations/access.ts'
import type { Scope } from '../scope.ts'
import type { CrudFacts } from '../view.ts'

/** The unique fields by which an upsert finds existing records, and the fields that it may write. */
export interface UpsertOn {
	readonly fields: readonly CrudField[]
	/** See `writableOf`. */
	readonly writable: FieldMap
}

/** Refuses an `upsert` in `allow` that could not work, or that would get around an override. @throws TypeError */
export function checkUpsert(plan: CrudPlan, isScoped: boolean, overridden: ReadonlySet<CrudOperation>): void {
	const { owner, model, allow, upsertOn, fields, creatable } = plan
	if (!allow.has('upsert')) return
	const unique = (model.unique ?? []).map((names) => names.map((name) => shownName(plan, name)))
	if (model.upsert === undefined || unique.length === 0)
		throw new TypeError(`${owner}: allow has upsert, but ${model.name} knows no unique fields to upsert on`)
	const there = unique.map((names) => `[${names.map((name) => `'${name}'`).join(', ')}]`).join(', ')
	if (upsertOn.length === 0)
		throw new TypeError(`${owner}: allow has upsert, which needs upsertOn: unique are ${there}`)
	const getsAround = (['create', 'update'] as const).find((name) => overridden.has(name))
	if (getsAround !== undefined && !overridden.has('upsert'))
		throw new TypeError(`${owner}: upsert would get around ${getsAround}(): override upsert(), too`)
	for (const on of upsertOn) {
		const place = `${owner}: upsertOn: ${on.join(', ')}`
		const unknown = on.find((name) => !fields.has(name))
		if (unknown !== undefined)
			throw new TypeError(
				`${owner}: upsertOn: there is no field ${unknown}${nearest(unknown, fields.keys())}`,
			)
		if (!unique.some((names) => isSameFields(names, on)))
			throw new TypeError(`${place} is not unique: unique are ${there}`)
		if (isScoped) continue
		const closed = on.find((name) => !creatable.has(name))
		if (closed !== undefined) throw new TypeError(`${place}: ${closed} must be creatable, or set by scope()`)
		const missing = missingFields(plan, writableOf(plan, on))
		if (missing !== '')
			throw new TypeError(
				`${owner}: allow has upsert, but no ${model.name} could be made without ${missing}: make it creatable and updatable, or set it in scope()`,
			)
	}
}

function shownName({ fields }: CrudPlan, column: string): string {
	return [...fields.values()].find(({ field }) => field.name === column)?.name ?? column
}

/**
 * The fields that an upsert may write: those that are both creatable and updatable, because the client doesn't know whether it
 * will create or change a record. `on` and the key need only be creatable: existing records keep theirs.
 */
export function writableOf({ creatable, updatable, keys }: CrudPlan, on: readonly string[]): FieldMap {
	const isKey = (field: CrudField) => keys.includes(field)
	return new Map(
		[...creatable].filter(([name, field]) => updatable.has(name) || on.includes(name) || isKey(field)),
	)
}

/** What a caller of `upsert` must be allowed besides `create`: nothing if `access` has a rule for upserts. */
export function updateOf({ handler, plan }: CrudFacts): Use | undefined {
	const { access } = handler as Pick<RestHandler, 'access'> // a CrudHandler
	if (Object.hasOwn(access, 'upsert')) return undefined
	// The rule of `update` applies even if `allow` doesn't have it.
	const to: CrudPlan = Object.create(plan, { allow: { value: new Set<CrudOperation>(['update']) } })
	return { handler, to, operation: 'update' }
}

const KNOWN: unique symbol = Symbol('verbena.upsertOn')

/** The fields that the parameter `on` names. @throws RestError `bad_request` that says what it may name */
export function upsertOnOf(plan: CrudPlan, exchange: Exchange, scope: Scope): UpsertOn {
	const known = attached(plan, KNOWN, () =>
		plan.upsertOn.map((names): UpsertOn & { readonly names: readonly string[] } => ({
			names,
			fields: names.flatMap((name) => plan.fields.get(name) ?? []),
			writable: writableOf(plan, names),
		})),
	)
	// `fields()` may hide some from this request.
	const usable = known.filter(({ fields, writable }) =>
		fields.every(({ name, field }) => writable.has(name) || scope.fixed.has(field.name)),
	)
	const given = exchange.query().last.on
	const asked = given?.split(',') ?? []
	const found = usable.find(({ names }) => isSameFields(names, asked))
	if (found !== undefined) return found
	if (usable.length === 0)
		throw badQuery('on', 'in', "can't be used here: this request may not write its fields")
	const all = usable.map(({ names }) => names.join()).join(' or ')
	const isMissing = given === undefined
	throw badQuery('on', isMissing ? 'required' : 'in', `must be ${all}`)
}
