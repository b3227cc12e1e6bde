/**
 * The operations of a `CrudHandler` where no subclass overrides them: they ask the model, within the scope, and turn its
 * errors into `RestError`s. Those with values come in two: one for values that code gives, called by the handler's
 * methods, and one for values that `Writer` has checked already, called by `operations.ts` with the scope they were
 * checked by.
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
import { countText, cursorText } from './cursor.ts'
import { allOf } from './filter.ts'
import type { CrudQuery } from './list-query.ts'
import { restErrorOf } from './model-errors.ts'
import type { CrudOperation } from './options.ts'
import type { CrudPlan } from './plan.ts'
import { EVERYTHING, readScope, refuseLeaving, type Scope, withScope } from './scope.ts'
import { givenChanges } from './value-from-json.ts'
import { type CrudView, FACTS, STATE } from './view.ts'

type WriteOperation = 'update' | 'replace'

/** Values by clients' names, as code gives them. */
type GivenValues = Readonly<Record<string, unknown>>

/**
 * What an operation is confined to. Never remembered: the scope of one operation must not decide another, as where an
 * overridden `update()` reads first.
 */
export async function resolveScope(view: CrudView, operation: CrudOperation): Promise<Scope> {
	const { isScoped, plan } = view[FACTS]
	return isScoped ? readScope(plan, await view.scope(operation)) : EVERYTHING
}

/** The id as the key writes it. @throws RestError `not_found` for one that can't be the key's */
export function checkedId(view: CrudView, id: unknown): string {
	const known = view[FACTS].plan.idOf(String(id))
	if (known === undefined) throw NOT_FOUND
	return known
}

/**
 * Waits for `ask`, which asks a model: a step of ours, or an override.
 *
 * @throws RestError for what the model has refused; anything else as it was thrown
 */
export async function translateModelErrors<T>(
	view: CrudView,
	operation: CrudOperation,
	ask: () => T | PromiseLike<T>,
	scope?: Scope,
	written?: GivenValues,
): Promise<T> {
	try {
		return await ask()
	} catch (error) {
		throw restErrorOf(error, view[FACTS].plan, operation, scope, written)
	}
}

export async function listRecords(view: CrudView, query: CrudQuery): Promise<CrudPage> {
	const { isScoped, plan } = view[FACTS]
	const scope = isScoped ? await resolveScope(view, 'list') : EVERYTHING
	const where = isScoped ? allOf(scope.where, query.where) : query.where
	const selection = fetched(view, query.selection)
	const asking = isScoped || selection !== query.selection ? { ...query, where, selection } : query
	const { json, next, total } = await translateModelErrors(view, 'list', () => readPage(plan, asking), scope)
	const { limit, offset, stamp } = query
	const cursor =
		next === undefined ? null : plan.isKeyVisible ? cursorText(stamp, next) : countText(stamp, offset + limit)
	const meta = total === undefined ? { limit, offset, next: cursor } : { limit, offset, next: cursor, total }
	const state = view[STATE]
	if (!Object.isFrozen(state)) state.page = meta
	return pageOf(view, json, meta, query.selection.names)
}

async function readPage({ model, maxPageBytes }: CrudPlan, query: CrudQuery): Promise<Listed> {
	if (query.limit === 0) return { json: '[]', next: undefined, total: await model.count(query.where) }
	const page = await model.list({ ...query, maxBytes: maxPageBytes })
	// A user's own model may not know `maxBytes`.
	refuseLarger(page.json, maxPageBytes, page.next)
	return page
}

export async function readRecord(view: CrudView, id: unknown): Promise<CrudRecord> {
	const key = checkedId(view, id)
	return readWithin(view, key, view[FACTS].isScoped ? await resolveScope(view, 'read') : EVERYTHING)
}

/** Reads a record for another operation, within that one's scope. */
export async function readWithin(view: CrudView, key: string, scope: Scope): Promise<CrudRecord> {
	const { model } = view[FACTS].plan
	const read = () => model.read(key, fetched(view), scope.where)
	return existing(view, key, (await translateModelErrors(view, 'read', read, scope)) ?? 'missing')
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
	const create = () => model.create(all, fetched(view))
	const created = await translateModelErrors(view, 'create', create, scope, values)
	const state = view[STATE]
	if (!Object.isFrozen(state)) state.createdId = created.id
	return recordOf(view, created.id, created.json, created.version)
}

/** A new record's field gets its default by being given no value. */
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
 * The version of a new record. One that began at 1 would come back when a record is deleted and its key is used again:
 * an ETag of the old record would match the new one. Where the field has room it is the time in microseconds, which no
 * number of changes outruns. Else it is random, in the lower half of the field's range, so that the upper half is left
 * for changes; not among the first numbers, which programs that insert beside the API count from.
 */
export function firstVersion({ max }: Field, now: Milliseconds = Date.now()): number {
	const most = Number(max ?? Number.MAX_SAFE_INTEGER)
	if (most >= Number.MAX_SAFE_INTEGER) return now * 1_000 + Math.floor(Math.random() * 1_000)
	const greatest = Math.floor(most / 2)
	const least = Math.ceil(greatest / 64)
	return least + Math.floor(Math.random() * (greatest - least + 1))
}

/** `update` and `replace`, which differ in what they are given. */
export async function changeRecord(
	view: CrudView,
	operation: WriteOperation,
	id: string,
	given: GivenValues,
): Promise<CrudRecord> {
	const key = checkedId(view, id)
	const changes = givenChanges(view[FACTS].plan, operation, given)
	return changeWithin(view, operation, key, await resolveScope(view, operation), changes)
}

export async function changeWithin(
	view: CrudView,
	operation: WriteOperation,
	key: string,
	scope: Scope,
	changes: Changes,
): Promise<CrudRecord> {
	const { model } = view[FACTS].plan
	const { version } = view[STATE]
	const { where } = scope
	refuseLeaving(changes, scope)
	if (Object.keys(changes).length > 0) {
		const update = () => model.update(key, changes, fetched(view), { where, version })
		return existing(view, key, await translateModelErrors(view, operation, update, scope, changes))
	}
	// Nothing is to be changed: the record stays as it is, and so does its version.
	const read = () => model.read(key, fetched(view), where)
	const record = (await translateModelErrors(view, operation, read, scope)) ?? 'missing'
	const isStale = record !== 'missing' && version !== undefined && record.version !== version
	return existing(view, key, isStale ? 'stale' : record)
}

export async function removeRecord(view: CrudView, id: string): Promise<CrudRecord> {
	const key = checkedId(view, id)
	return removeWithin(view, key, await resolveScope(view, 'remove'))
}

export async function removeWithin(view: CrudView, key: string, scope: Scope): Promise<CrudRecord> {
	const { model } = view[FACTS].plan
	const { version } = view[STATE]
	const remove = () => model.delete(key, fetched(view), { where: scope.where, version })
	return existing(view, key, await translateModelErrors(view, 'remove', remove, scope))
}

/** The answer of a record that is there, and has the version asked for. */
function existing(view: CrudView, key: string, record: Found | Absent): CrudRecord {
	if (record === 'missing') throw NOT_FOUND
	if (record === 'stale') throw new RestError('precondition_failed')
	return recordOf(view, key, record.json, record.version)
}

/** The selection for the model: the client's, and the fields that a subclass needs. */
function fetched(view: CrudView, selection = view[STATE].selection): Selection {
	const { needed } = view[STATE]
	return needed.length === 0 ? selection : view[FACTS].plan.selections.wider(selection, needed)
}
