/**
 * The operations of a `CrudHandler` without overrides: they call the model, within the scope, and translate its errors
 * to `RestError`s. `…Record` functions are for the handler's methods, and check values that programs pass; `…Within`
 * functions are for `operations.ts`, which has already read the scope and checked the values.
 */
import { NOT_FOUND, RestError } from '../base/error.ts'
import type { Milliseconds } from '../base/time.ts'
import {
	type Absent,
	type Changes,
	DEFAULT,
	type Field,
	type Found,
	type Listed,
	type Selection,
	type Value,
} from '../models/model.ts'
import { refuseLarger } from '../models/model-error.ts'
import { type CrudPage, type CrudRecord, pageOf, recordOf } from './crud-record.ts'
import { keysetCursor, offsetCursor } from './cursor.ts'
import { allOf } from './filter.ts'
import type { CrudQuery } from './list-query.ts'
import { restErrorOf } from './model-errors.ts'
import type { CrudOperation } from './options.ts'
import type { CrudPlan } from './plan.ts'
import { idSegment, wholeId } from './record-id.ts'
import { EVERYTHING, readScope, refuseLeaving, type Scope, withScope } from './scope.ts'
import { givenChanges } from './value-from-json.ts'
import { type CrudView, FACTS, STATE } from './view.ts'

type WriteOperation = 'update' | 'replace'

/** Values that a program passes, by their names for clients. */
type GivenValues = Readonly<Record<string, unknown>>

/**
 * The scope of an operation. Not cached: each operation has its own, even within one request, such as when an
 * overridden `update()` reads first.
 */
export function resolveScope(view: CrudView, operation: CrudOperation): Scope | Promise<Scope> {
	return view[FACTS].isScoped ? ownScope(view, operation) : EVERYTHING
}

async function ownScope(view: CrudView, operation: CrudOperation): Promise<Scope> {
	return readScope(view[FACTS].plan, await view.scope(operation))
}

/**
 * The id in the key's canonical form. If a scope may complete it, it is checked later, by `wholeId`.
 *
 * @throws RestError `not_found` for a value that can't be a key
 */
export function checkedId(view: CrudView, id: unknown): string {
	const { isScoped, plan } = view[FACTS]
	const isList = plan.keys.length > 1 && Array.isArray(id)
	const text = isList ? id.map((value) => encodeURIComponent(String(value))).join() : String(id)
	const canonical = plan.idOf(text)
	if (canonical !== undefined) return canonical
	if (isScoped && plan.keys.length > 1) return text
	throw NOT_FOUND
}

/** The model's id for one of a URL, which may lack what the scope fixes of a key of several fields. */
export function modelId(view: CrudView, id: string, scope: Scope): string {
	const { plan } = view[FACTS]
	return plan.keys.length === 1 ? id : wholeId(plan, id, scope)
}

/** Where a new record is read: without what its scope, and that of `read`, fix of a key of several fields. */
async function segmentOf(view: CrudView, id: string, scope: Scope): Promise<string> {
	const { plan, isScoped } = view[FACTS]
	if (!isScoped) return id
	// Who may create may not be allowed to read; the record is created all the same.
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
): Promise<T> {
	try {
		return await run()
	} catch (error) {
		throw restErrorOf(error, view[FACTS].plan, operation, scope, written)
	}
}

export async function listRecords(view: CrudView, query: CrudQuery): Promise<CrudPage> {
	const { isScoped, plan } = view[FACTS]
	const scope = isScoped ? await ownScope(view, 'list') : EVERYTHING
	const where = isScoped ? allOf(scope.where, query.where) : query.where
	const selection = withNeeded(view, query.selection)
	const scoped = isScoped || selection !== query.selection ? { ...query, where, selection } : query
	const { json, next, total } = await translateModelErrors(view, 'list', () => readPage(plan, scoped), scope)
	const { limit, offset, stamp } = query
	const cursor =
		next === undefined
			? null
			: plan.isKeyVisible
				? keysetCursor(stamp, next)
				: offsetCursor(stamp, offset + limit)
	const meta = total === undefined ? { limit, offset, next: cursor } : { limit, offset, next: cursor, total }
	const state = view[STATE]
	if (!Object.isFrozen(state)) state.page = meta
	return pageOf(view, json, meta, query.selection.names)
}

async function readPage({ model, maxPageBytes }: CrudPlan, query: CrudQuery): Promise<Listed> {
	if (query.limit === 0) return { json: '[]', next: undefined, total: await model.count(query.where) }
	const page = await model.list({ ...query, maxBytes: maxPageBytes })
	// An application's own model may ignore `maxBytes`.
	refuseLarger(page.json, maxPageBytes, page.next)
	return page
}

export async function readRecord(view: CrudView, id: unknown): Promise<CrudRecord> {
	const key = checkedId(view, id)
	return readWithin(view, key, view[FACTS].isScoped ? await ownScope(view, 'read') : EVERYTHING)
}

/** Reads a record for another operation, within the scope of that operation. */
export async function readWithin(view: CrudView, id: string, scope: Scope): Promise<CrudRecord> {
	const { model } = view[FACTS].plan
	const key = modelId(view, id, scope)
	const read = () => model.read(key, withNeeded(view), scope.where)
	return presentRecord(view, key, (await translateModelErrors(view, 'read', read, scope)) ?? 'missing')
}

export async function createRecord(view: CrudView, given: GivenValues): Promise<CrudRecord> {
	const values = givenChanges(view[FACTS].plan, 'create', given)
	return createWithin(view, await resolveScope(view, 'create'), values)
}

export async function createWithin(view: CrudView, scope: Scope, given: Changes): Promise<CrudRecord> {
	const { model, version } = view[FACTS].plan
	const values = withoutDefaults(given)
	const scoped = scope === EVERYTHING ? values : withScope(values, scope)
	const needsVersion = version !== undefined && !Object.hasOwn(scoped, version.field.name)
	const all = needsVersion ? { ...scoped, [version.field.name]: firstVersion(version.field) } : scoped
	const create = () => model.create(all, withNeeded(view))
	const created = await translateModelErrors(view, 'create', create, scope, values)
	const state = view[STATE]
	const isPlain = view[FACTS].plan.keys.length === 1
	if (!Object.isFrozen(state))
		state.createdSegment = isPlain ? encodeURIComponent(created.id) : await segmentOf(view, created.id, scope)
	return recordOf(view, created.id, created.json, created.version)
}

/** Leaves out fields set to their default: a new record gets the defaults of missing fields. */
function withoutDefaults(changes: Changes): Readonly<Record<string, Value>> {
	if (isWithoutDefaults(changes)) return changes
	const values: Record<string, Value> = {}
	for (const [name, value] of Object.entries(changes)) if (value !== DEFAULT) values[name] = value
	return values
}

function isWithoutDefaults(changes: Changes): changes is Readonly<Record<string, Value>> {
	for (const name in changes) if (changes[name] === DEFAULT) return false
	return true
}

/**
 * The version of a new record. If versions began at 1, a deleted record's ETag would match a new record with the same
 * key. In a field of 64 bits, the version is the time in microseconds, which increments never catch up with. In a
 * smaller field it is random, from the lower half of the range, so that the upper half is left for changes. The first
 * numbers are left out: programs that insert without the API begin there.
 */
export function firstVersion({ max }: Field, now: Milliseconds = Date.now()): number {
	const limit = Number(max ?? Number.MAX_SAFE_INTEGER)
	if (limit >= Number.MAX_SAFE_INTEGER) return now * 1_000 + Math.floor(Math.random() * 1_000)
	const last = Math.floor(limit / 2)
	const first = Math.ceil(last / 64)
	return first + Math.floor(Math.random() * (last - first + 1))
}

/** `update` or `replace`, which differ only in the values they are given. */
export async function changeRecord(
	view: CrudView,
	operation: WriteOperation,
	id: unknown,
	given: GivenValues,
): Promise<CrudRecord> {
	const key = checkedId(view, id)
	const changes = givenChanges(view[FACTS].plan, operation, given)
	return changeWithin(view, operation, key, await resolveScope(view, operation), changes)
}

export async function changeWithin(
	view: CrudView,
	operation: WriteOperation,
	id: string,
	scope: Scope,
	changes: Changes,
): Promise<CrudRecord> {
	const { model } = view[FACTS].plan
	const key = modelId(view, id, scope)
	const { version } = view[STATE]
	const { where } = scope
	refuseLeaving(changes, scope)
	if (Object.keys(changes).length > 0) {
		const update = () => model.update(key, changes, withNeeded(view), { where, version })
		return presentRecord(view, key, await translateModelErrors(view, operation, update, scope, changes))
	}
	// Nothing to change: the record keeps its version.
	const read = () => model.read(key, withNeeded(view), where)
	const record = (await translateModelErrors(view, operation, read, scope)) ?? 'missing'
	const isStale = record !== 'missing' && version !== undefined && record.version !== version
	return presentRecord(view, key, isStale ? 'stale' : record)
}

export async function removeRecord(view: CrudView, id: unknown): Promise<CrudRecord> {
	const key = checkedId(view, id)
	return removeWithin(view, key, await resolveScope(view, 'remove'))
}

export async function removeWithin(view: CrudView, id: string, scope: Scope): Promise<CrudRecord> {
	const { model } = view[FACTS].plan
	const key = modelId(view, id, scope)
	const { version } = view[STATE]
	const remove = () => model.delete(key, withNeeded(view), { where: scope.where, version })
	return presentRecord(view, key, await translateModelErrors(view, 'remove', remove, scope))
}

/** @throws RestError `not_found` or `precondition_failed` for an absent record */
function presentRecord(view: CrudView, key: string, record: Found | Absent): CrudRecord {
	if (record === 'missing') throw NOT_FOUND
	if (record === 'stale') throw new RestError('precondition_failed')
	return recordOf(view, key, record.json, record.version)
}

/** The client's selection, and the fields that a subclass needs. */
function withNeeded(view: CrudView, selection = view[STATE].selection): Selection {
	const { needed } = view[STATE]
	return needed.length === 0 ? selection : view[FACTS].plan.selections.extended(selection, needed)
}
