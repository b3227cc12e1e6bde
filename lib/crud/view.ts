/** What the steps of a `CrudHandler` share: `FACTS`, of the handler, and `STATE`, of one request. */
import type { User } from '../auth/authenticator.ts'
import { findExchange } from '../handler/view.ts'
import type { Condition, Model, Selection } from '../models/model.ts'
import type { PageMeta } from '../wire/list.ts'
import type { Audit } from './audit.ts'
import type { CrudField } from './fields.ts'
import type { CrudQuery } from './list-query.ts'
import type { CrudOperation, CrudRules } from './options.ts'
import type { CrudPlan } from './plan.ts'
import type { Include, Requested } from './relations/parse-include.ts'
import type { Scope } from './scope.ts'
import type { TotalsRequest } from './totals/request.ts'
import type { WrittenValues } from './write.ts'

export const FACTS: unique symbol = Symbol('verbena.crud')
export const STATE: unique symbol = Symbol('verbena.crudState')
/** The scope of a view that is limited to the records that are related to one record. */
export const WITHIN: unique symbol = Symbol('verbena.crudWithin')

export interface CrudFacts {
	readonly handler: object
	readonly plan: CrudPlan
	readonly rules: CrudRules
	/** The query of a list without parameters. */
	readonly defaultQuery: CrudQuery
	/** Whether a subclass overrides `scope()`. */
	readonly isScoped: boolean
	/** The scope of all records that aren't deleted. */
	readonly living: Scope
	/** The model that changes are recorded in. */
	readonly audit: Audit | undefined
	/** Whether a subclass overrides `fields()`. */
	readonly isNarrowed: boolean
	/** The facts for requests with fewer fields, by what `fields()` returned: see `narrow.ts`. */
	readonly narrowed: Map<string, CrudFacts>
	/** The state of a request without parameters. */
	readonly state: RequestState
	/** Whether a subclass overrides `stripObject()`, which is then applied to all records. */
	readonly isStripped: boolean
	/** The operations that a subclass overrides. */
	readonly overridden: ReadonlySet<CrudOperation>
	/** Whether a read without parameters returns the model's text as it is. */
	readonly isPlainRead: boolean
	/** The transaction that the view's operations run in. */
	readonly transaction?: CrudTransaction
	/** The paths that the handler is mounted at. */
	readonly paths: (readonly string[])[]
}

export interface CrudTransaction {
	of(model: Model): Model
	/** See `Within`. */
	checkDeferred(): Promise<void>
	/** 1 for one that isn't within another. */
	readonly depth: number
}

/** Parameters and results of one request, without its id and values. The shared handler's state is frozen. */
export interface RequestState {
	readonly selection: Selection
	/** The related records in the record. */
	readonly include: readonly Include[]
	/** Whether a deleted record is read. */
	readonly isDeleted: boolean
	/** Fields named by `needs()`. */
	needed: readonly CrudField[]
	/** The version that the record must have for a change. */
	version: string | undefined
	/** The record that was created: the last segment of its URL, and its JSON. */
	created: { readonly segment: string; readonly text: string } | undefined
	/** The `meta` of the page that was read. */
	page: PageMeta | undefined
	/** For an export, where each page ends: what its model has returned as `next`. */
	readonly ends?: WeakMap<PageMeta, string>
}

/** The members of a `CrudHandler` that its steps use. */
export interface CrudView {
	readonly [FACTS]: CrudFacts
	readonly [STATE]: RequestState
	readonly [WITHIN]?: Scope
	/** Only in a request. */
	readonly user: User | null
	list(query: CrudQuery): unknown
	read(id: string): unknown
	create(values: WrittenValues): unknown
	createMany(values: readonly WrittenValues[]): unknown
	update(id: string, values: WrittenValues): unknown
	updateMany(records: readonly Readonly<Record<string, unknown>>[]): unknown
	replace(id: string, values: WrittenValues): unknown
	remove(id: string): unknown
	totals(query: TotalsRequest): unknown
	removeMany(where: Condition): unknown
	upsert(records: readonly Readonly<Record<string, unknown>>[], on: readonly string[]): unknown
	restore(id: string): unknown
	scope(operation: CrudOperation): unknown
	fields(): unknown
	session(): unknown
	stripObject(record: Record<string, unknown>): unknown
	header(name: string, value: string): void
	status(code: number): void
}

export function stateOf(
	{ selection, include, isDeleted = false }: Requested,
	needed: readonly CrudField[] = [],
): RequestState {
	return {
		selection,
		include,
		isDeleted,
		needed,
		version: undefined,
		created: undefined,
		page: undefined,
	}
}

/** Notes that a change is stored: a retry with the same Idempotency-Key must not run again, even if a later step fails. */
export function noteStored(view: CrudView): void {
	const exchange = view[FACTS].transaction === undefined ? findExchange(view) : undefined
	if (exchange !== undefined) exchange.isDone = true
}

/** The members of a view whose operations run in a transaction, where its model is `model`. */
export function membersWithin(
	view: CrudView,
	transaction: CrudTransaction,
	model: Model,
): { readonly [FACTS]: CrudFacts; readonly model: Model } {
	const { plan, audit, ...facts } = view[FACTS]
	const within: CrudFacts = {
		...facts,
		transaction,
		audit: audit && { ...audit, model: transaction.of(audit.model) },
		// Not a copy: relations are only known after the mount.
		plan: Object.create(plan, { model: { value: model } }),
	}
	return { [FACTS]: within, model }
}

/** Gives a view members of its own. Assignments would fail, because its prototype, the handler, is frozen. */
export function setMembers(view: object, members: object): void {
	for (const name of Reflect.ownKeys(members))
		Object.defineProperty(view, name, { value: Reflect.get(members, name), configurable: true })
}

/** Gives a request its own state. An assignment would fail, because the view's prototype, the handler, is frozen. */
export function beginState(view: CrudView, requested: Requested): RequestState {
	// A hook may have called `needs()`.
	const state = stateOf(requested, view[STATE].needed)
	Object.defineProperty(view, STATE, { value: state, configurable: true })
	return state
}
