/**
 * The operations of a `CrudHandler` that read, without calling overrides, and what all operations share: they call the model
 * within the scope, and translate its errors to `RestError`s. `changes.ts` has the operations that write. `…Record` functions
 * are for the handler's methods, and check values that programs pass; `…Within` functions are for `operations.ts`, which has
 * already resolved the scope and checked the values.
 */
import { NOT_FOUND } from '../base/error.ts'
import { exchangeOf } from '../handler/view.ts'
import type { Listed, Model, Selection } from '../models/model.ts'
import { refuseLarger } from '../models/model-error.ts'
import type { PageMeta } from '../wire/list.ts'
import { type CrudPage, type CrudRecord, pageOf, recordOf } from './answers.ts'
import { keysetCursor, offsetCursor } from './cursor.ts'
import { type AskedQuery, restErrorOf } from './database-errors.ts'
import { allOf } from './filter-comparison.ts'
import type { CrudQuery } from './list-query.ts'
import type { CrudOperation } from './options.ts'
import type { CrudPlan } from './plan.ts'
import { idSegment, wholeId } from './record-id.ts'
import { relatedAccess } from './relations/access.ts'
import type { Include } from './relations/parse-include.ts'
import { complete, type Related, related } from './relations/related.ts'
import { relationsOf } from './relations/scoping.ts'
import { fromReplica } from './replicas.ts'
import { both, EVERYTHING, readScope, type Scope, scopeOfDeleted } from './scope.ts'
import { sessionOf } from './session.ts'
import { type CrudView, FACTS, STATE, WITHIN } from './view.ts'

/** Values that a program passes, by their names for clients. */
export type GivenValues = Readonly<Record<string, unknown>>

/**
 * The scope of an operation. Not cached: each operation has its own, even within one request, such as when an
 * overridden `update()` reads first.
 *
 * @param isDeleted whether the operation is on deleted records
 */
export function resolveScope(
	view: CrudView,
	operation: CrudOperation,
	isDeleted = false,
): Scope | Promise<Scope> {
	const { isScoped, living, plan } = view[FACTS]
	const all = isDeleted ? scopeOfDeleted(plan, true) : living
	const within = view[WITHIN]
	const limits = within === undefined ? all : both(all, within)
	return isScoped ? ownScope(view, operation, isDeleted).then((own) => both(own, limits)) : limits
}

/** Only what `scope()` returns. */
async function ownScope(view: CrudView, operation: CrudOperation, isDeleted = false): Promise<Scope> {
	const own = readScope(view[FACTS].plan, await view.scope(operation))
	// Once deleted, a record must not stay public: only callers who may restore it can read it.
	return isDeleted && operation !== 'restore' ? both(own, await ownScope(view, 'restore')) : own
}

/** The model that an operation uses: the handler's, in its session if it has one. */
export function modelOf(view: CrudView): Model | Promise<Model> {
	const { plan, transaction } = view[FACTS]
	const isSet = plan.sessionBy === undefined || transaction !== undefined
	return isSet ? plan.model : sessionOf(view).then(({ model }) => model)
}

/** The model of an operation that only reads: it may read from a replica. */
export function modelToRead(view: CrudView): Model | Promise<Model> {
	const own = modelOf(view)
	if (!view[FACTS].plan.hasReplicas) return own
	return own instanceof Promise ? own.then((model) => fromReplica(view, model)) : fromReplica(view, own)
}

/**
 * The id in the key's canonical form. If a scope may complete it, it is checked later, by `wholeId`.
 *
 * @throws RestError `not_found` for a value that can't be a key
 * @throws TypeError for a number that may be another record's id, rounded; those of clients are refused before
 */
export function checkedId(view: CrudView, id: unknown): string {
	const { isScoped, plan } = view[FACTS]
	const isList = plan.keys.length > 1 && Array.isArray(id)
	const text = isList ? id.map((value) => encodeURIComponent(exactText(value))).join() : exactText(id)
	const canonical = plan.idOf(text)
	if (canonical !== undefined) return canonical
	if (isScoped && plan.keys.length > 1) return text
	throw NOT_FOUND
}

function exactText(value: unknown): string {
	if (!Number.isInteger(value) || Number.isSafeInteger(value)) return String(value)
	throw new TypeError(`an id must be text, a bigint or a whole number within ±2^53, got ${value}`)
}

/** The model's id for one from a URL, where a composite key may lack the fields that the scope fixes. */
export function modelId(view: CrudView, id: string, scope: Scope): string {
	const { plan } = view[FACTS]
	return plan.keys.length === 1 ? id : wholeId(plan, id, scope)
}

/** The id in a new record's URL: a composite key without the fields that both its scope and that of `read` fix. */
export async function segmentOf(view: CrudView, id: string, scope: Scope): Promise<string> {
	const { plan, isScoped } = view[FACTS]
	if (!isScoped) return id
	// A caller who may create may not be allowed to read: that must not fail the request, as the record is stored already.
	const readScope = await ownScope(view, 'read').catch(() => EVERYTHING)
	return idSegment(plan, id, [scope, readScope])
}

/**
 * Awaits `run`, which calls a model, directly or through an override.
 *
 * @throws RestError for a ModelError; any other error as it was thrown
 */
export async function translateModelErrors<T>(
	view: CrudView,
	operation: CrudOperation,
	run: () => T | PromiseLike<T>,
	scope?: Scope,
	written?: GivenValues,
	asked?: AskedQuery,
): Promise<T> {
	try {
		return await run()
	} catch (error) {
		throw restErrorOf(error, view[FACTS].plan, operation, scope, written, asked)
	}
}

export async function listRecords(view: CrudView, query: CrudQuery): Promise<CrudPage> {
	const { plan } = view[FACTS]
	if (query.isDeleted === true) await checkRestore(view)
	const resolved = resolveScope(view, 'list', query.isDeleted)
	const scope = resolved instanceof Promise ? await resolved : resolved
	const needed = withNeeded(view, query.selection)
	const relations = relationsOf(plan, query)
	const more = relations && (await related(view, query, relations, needed, true, query.limit))
	const { where: asked, order } = more ?? query
	const selection = more === undefined ? needed : more.selection
	const where = scope === EVERYTHING ? asked : allOf(scope.where, asked)
	const scoped = { ...query, where, order, selection, maxBytes: plan.maxPageBytes }
	const own = modelToRead(view)
	const model = own instanceof Promise ? await own : own
	const read = () => readPage(plan, model, scoped, more)
	// The position of an export comes from the database, not from the client.
	const sent = view[STATE].ends === undefined ? query : { ...query, after: undefined }
	const page = await translateModelErrors(view, 'list', read, scope, {}, sent)
	const { json, next, total } = page
	const { limit, offset, stamp, maxTotal } = query
	const cursor =
		next === undefined
			? null
			: plan.isKeyVisible
				? keysetCursor(stamp, next)
				: offsetCursor(stamp, offset + limit)
	const position = { limit, offset, next: cursor }
	const meta: PageMeta = total === undefined ? position : { ...position, ...totalOf(total, maxTotal) }
	const state = view[STATE]
	if (!Object.isFrozen(state)) {
		state.page = meta
		if (next !== undefined) state.ends?.set(meta, next)
	}
	return pageOf(view, json, meta, namesWith(query.selection, query.include))
}

/** The names of a record's members. */
function namesWith({ names }: Selection, include: readonly Include[] = []): readonly string[] {
	return include.length === 0 ? names : [...names, ...include.map(({ relation }) => relation.name)]
}

function totalOf(total: number, max = Number.POSITIVE_INFINITY): Pick<PageMeta, 'total' | 'more'> {
	return total > max ? { total: max, more: true } : { total }
}

async function readPage(
	plan: CrudPlan,
	model: Model,
	query: CrudQuery,
	more: Related | undefined,
): Promise<Listed> {
	if (query.limit === 0) return { json: '[]', next: undefined, total: await model.count(query.where) }
	const page = await model.list(query)
	// An application's own model may ignore `maxBytes`.
	refuseLarger(page.json, plan.maxPageBytes, page.next)
	if (more === undefined || more.rest.length === 0) return page
	return { ...page, json: await completeWithin(plan, more, page.json) }
}

export async function readRecord(view: CrudView, id: unknown): Promise<CrudRecord> {
	const key = checkedId(view, id)
	const { isDeleted } = view[STATE]
	if (isDeleted) await checkRestore(view)
	const scope = resolveScope(view, 'read', isDeleted)
	return readWithin(view, key, scope instanceof Promise ? await scope : scope)
}

/** Only callers who may restore records can read deleted ones. @throws RestError `unauthorized` or `forbidden` */
async function checkRestore(view: CrudView): Promise<void> {
	const { handler, plan } = view[FACTS]
	await relatedAccess(exchangeOf(view, 'restore')).check({ handler, to: plan, operation: 'restore' })
}

/** Whether deleted records may be read and restored; false outside of a request. */
export function mayRestore(view: CrudView): Promise<boolean> {
	return checkRestore(view).then(
		() => true,
		() => false,
	)
}

/** Reads a record within the scope of an operation. */
export async function readWithin(view: CrudView, id: string, scope: Scope): Promise<CrudRecord> {
	const own = modelToRead(view)
	const model = own instanceof Promise ? await own : own
	const key = modelId(view, id, scope)
	const more = view[STATE].include.length === 0 ? undefined : await recordRelated(view, true)
	const read = () => model.read(key, more?.selection ?? withNeeded(view), scope.where)
	const record = await translateModelErrors(view, 'read', read, scope, {}, view[STATE])
	if (record === undefined) throw NOT_FOUND
	if (more === undefined) return recordOf(view, key, record.json, record.version)
	return recordOf(view, key, await readCompleted(view, record.json, more), record.version)
}

/** The JSON of a record that was read, with its related records. */
export function readCompleted(view: CrudView, json: string, more: Related): Promise<string> {
	const run = () => completeWithin(view[FACTS].plan, more, json)
	return translateModelErrors(view, 'read', run, undefined, {}, view[STATE])
}

/** @throws ModelError `too_large` */
async function completeWithin(plan: CrudPlan, more: Related, json: string): Promise<string> {
	const completed = await complete(plan, more, json)
	refuseLarger(completed, plan.maxPageBytes)
	return completed
}

/** The related records that the request includes in one record; `undefined` for none. */
export function recordRelated(view: CrudView, embeds: boolean): Promise<Related> | undefined {
	const { include } = view[STATE]
	if (include.length === 0) return undefined
	const query = { where: undefined, order: [], include }
	const relations = relationsOf(view[FACTS].plan, query)
	return relations && related(view, query, relations, withNeeded(view), embeds)
}

/** The client's selection, with the fields that `needs()` has named. */
export function withNeeded(view: CrudView, selection = view[STATE].selection): Selection {
	const { needed } = view[STATE]
	return needed.length === 0 ? selection : view[FACTS].plan.selections.extended(selection, needed)
}
