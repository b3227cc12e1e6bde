/** The operations of a `CrudHandler` that change records, without calling overrides. `reads.ts` has those that read. */
import { attach, attachment } from '../base/attached.ts'
import { NOT_FOUND, RestError } from '../base/error.ts'
import type { Milliseconds } from '../base/time.ts'
import { findExchange } from '../handler/view.ts'
import { keyText } from '../models/key.ts'
import {
	type Absent,
	type Changes,
	DEFAULT,
	type Field,
	type Found,
	type Guard,
	type Model,
	type Selection,
	type Values,
} from '../models/model.ts'
import { ModelError } from '../models/model-error.ts'
import { joinId, splitId } from '../wire/record-id.ts'
import { type CrudRecord, recordOf } from './answers.ts'
import { audited } from './audit.ts'
import { NOTHING } from './fields.ts'
import { allOf } from './filter-comparison.ts'
import type { CrudOperation } from './options.ts'
import type { CrudPlan } from './plan.ts'
import {
	checkedId,
	type GivenValues,
	mayRestore,
	modelId,
	modelOf,
	readCompleted,
	recordRelated,
	resolveScope,
	segmentOf,
	translateModelErrors,
	withNeeded,
} from './reads.ts'
import { complete, type Related } from './relations/related.ts'
import { dependsOn, EVERYTHING, movedOutside, refuseLeaving, type Scope, withScope } from './scope.ts'
import { deletion, inTheWay, takenByDeleted, touched } from './stamps.ts'
import { givenChanges } from './value-from-json.ts'
import { type CrudView, FACTS, noteStored, STATE, WITHIN } from './view.ts'

type WriteOperation = 'update' | 'replace'

export async function createRecord(view: CrudView, given: GivenValues): Promise<CrudRecord> {
	const values = givenChanges(view[FACTS].plan, 'create', given)
	return createWithin(view, await resolveScope(view, 'create'), values)
}

export async function createWithin(view: CrudView, scope: Scope, given: Changes): Promise<CrudRecord> {
	const { plan } = view[FACTS]
	const all = newRecord(plan, scope, given)
	const more = await recordRelated(view, false)
	const create = (into: Model) => into.create(all, more?.selection ?? withNeeded(view))
	const run = () => changed(view, { operation: 'create', scope, mayMove: scope.isOpen }, create)
	const created = await translateWriteErrors(view, 'create', run, scope, all)
	const record = recordOf(view, created.id, await completed(view, created.json, more), created.version)
	const state = view[STATE]
	const isPlain = plan.keys.length === 1
	if (!Object.isFrozen(state)) {
		const segment = isPlain ? encodeURIComponent(created.id) : await segmentOf(view, created.id, scope)
		state.created = { segment, text: record.text }
	}
	return record
}

/** Adds to the values of a new record those of its scope, its version, and the time. @throws RestError `forbidden` */
export function newRecord(plan: CrudPlan, scope: Scope, given: Changes): Values {
	const { version } = plan
	const values = withoutDefaults(given)
	const scoped = scope === EVERYTHING ? values : withScope(values, scope, plan)
	const needsVersion = version !== undefined && !Object.hasOwn(scoped, version.field.name)
	const versioned = needsVersion ? { ...scoped, [version.field.name]: firstVersion(version.field) } : scoped
	return plan.touch === undefined ? versioned : touched(plan, versioned)
}

/** Adds related records to a changed record's JSON. @throws RestError `outcome_unknown` if that fails after the change */
async function completed(view: CrudView, json: string, more: Related | undefined): Promise<string> {
	if (more === undefined) return json
	try {
		return await complete(view[FACTS].plan, more, json)
	} catch (cause) {
		const message = 'The change was made, but the related records could not be read: read the record again'
		throw new RestError('outcome_unknown', message, { headers: { 'Retry-After': '5' }, cause })
	}
}

/** Leaves out fields set to their default: a new record gets the defaults of missing fields. */
function withoutDefaults(changes: Changes): Values {
	if (isWithoutDefaults(changes)) return changes
	const values: Record<string, Values[string]> = {}
	for (const [name, value] of Object.entries(changes)) if (value !== DEFAULT) values[name] = value
	return values
}

function isWithoutDefaults(changes: Changes): changes is Values {
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
	const { plan } = view[FACTS]
	const model = await modelOf(view)
	const key = modelId(view, id, scope)
	const { version } = view[STATE]
	const { where } = scope
	refuseLeaving(changes, scope, plan)
	const more = await recordRelated(view, false)
	const selection = more?.selection ?? withNeeded(view)
	if (Object.keys(changes).length > 0) {
		const all = plan.touch === undefined ? changes : touched(plan, changes)
		const after = idAfter(plan, key, changes)
		const change = { operation, scope, before: key, after, mayMove: mayMove(plan, scope, changes) }
		const update = (into: Model) => into.update(key, all, selection, { where, version })
		const run = () => changed(view, change, update)
		const done = await translateWriteErrors(view, operation, run, scope, changes)
		return presentRecord(view, key, done, more)
	}
	// Nothing to change: the record keeps its version.
	const read = () => model.read(key, selection, where)
	const record = (await translateModelErrors(view, operation, read, scope)) ?? 'missing'
	const isStale = record !== 'missing' && version !== undefined && record.version !== version
	return presentRecord(view, key, isStale ? 'stale' : record, more, readCompleted)
}

interface Change {
	readonly operation: CrudOperation
	readonly scope: Scope
	/** Its ids before and after; `undefined` for a new record. */
	readonly before?: string | undefined
	readonly after?: string
	/** Whether the change may move the record out of the scope. */
	readonly mayMove?: boolean
	/** Whether an upsert leaves an existing record as it is. */
	readonly isEmpty?: boolean
}

/** Makes a change; in a transaction, if it must be audited, or the record checked to be still within the scope. */
export async function changed<T extends Found | Absent>(
	view: CrudView,
	{ operation, scope, before, after, mayMove = false, isEmpty = false }: Change,
	run: (into: Model) => Promise<T>,
): Promise<T> {
	const { audit, plan } = view[FACTS]
	const model = await modelOf(view)
	const checked = async (into: Model): Promise<T> => {
		const done = await run(into)
		if (typeof done === 'string') return done
		const { id }: Found & { readonly id?: string } = done // T may be a Created
		await refuseMoved(into, id ?? after ?? '', scope)
		return done
	}
	const make = mayMove ? checked : run
	const store = (): Promise<T> => {
		if (audit === undefined) return mayMove ? model.transaction(make) : make(model)
		// Not the exchange's user: a related handler may have an authenticator of its own.
		const who = findExchange(view) && view.user?.id
		const deletes = operation === 'remove' && deletion(plan) === undefined
		const change = { model, audit, who, operation, before, after, where: scope.where, isEmpty, deletes }
		return audited(change, make)
	}
	const done = await store()
	if (typeof done !== 'string') noteStored(view)
	return done
}

/** Whether only the store can tell if a record is still within the scope after a change. */
function mayMove({ model, keys }: CrudPlan, { isOpen, where }: Scope, changes: Changes): boolean {
	if (!isOpen || where === undefined) return false
	const computed = model.fields.filter((field) => field.generated && !keys.some((key) => key.field === field))
	return dependsOn(where, [...Object.keys(changes), ...computed.map(({ name }) => name)])
}

/**
 * Within the transaction of a write, checks that the record is within the scope.
 *
 * @throws RestError `forbidden`, which rolls back the transaction
 */
export async function refuseMoved(model: Model, id: string, { where }: Scope): Promise<void> {
	if ((await model.read(id, NOTHING, where)) === undefined) throw movedOutside()
}

/** The id of a record after a change: an override may change its key. */
function idAfter({ keys }: CrudPlan, id: string, changes: Changes): string {
	if (!keys.some(({ field }) => Object.hasOwn(changes, field.name))) return id
	const before = splitId(id, keys.length) ?? []
	return joinId(
		keys.map(({ field: { name, type } }, at) =>
			Object.hasOwn(changes, name) ? keyText(changes[name], type) : (before[at] ?? ''),
		),
	)
}

export async function removeRecord(view: CrudView, id: unknown): Promise<CrudRecord> {
	const key = checkedId(view, id)
	return removeWithin(view, key, await resolveScope(view, 'remove'))
}

export function removeWithin(view: CrudView, id: string, scope: Scope): Promise<CrudRecord> {
	const { plan } = view[FACTS]
	const marked = deletion(plan)
	return changeGuarded(view, 'remove', id, scope, (into, key, selection, guard) =>
		marked === undefined ? into.delete(key, selection, guard) : into.update(key, marked, selection, guard),
	)
}

export async function restoreRecord(view: CrudView, id: unknown): Promise<CrudRecord> {
	const key = checkedId(view, id)
	return restoreWithin(view, key, await resolveScope(view, 'restore', true))
}

/** @throws RestError `not_found` for a record that isn't deleted */
export async function restoreWithin(view: CrudView, id: string, scope: Scope): Promise<CrudRecord> {
	const { plan } = view[FACTS]
	const changes = deletion(plan, true)
	if (changes === undefined) throw new TypeError(`${plan.owner}.restore() needs the option softDelete`)
	return changeGuarded(view, 'restore', id, scope, (into, key, selection, guard) =>
		into.update(key, changes, selection, guard),
	)
}

/** Calls `run` for a record within the scope that has the required version, and presents what it returns. */
async function changeGuarded(
	view: CrudView,
	operation: 'remove' | 'restore',
	id: string,
	scope: Scope,
	run: (into: Model, key: string, selection: Selection, guard: Guard) => Promise<Found | Absent>,
): Promise<CrudRecord> {
	const key = modelId(view, id, scope)
	const guard = { where: scope.where, version: view[STATE].version }
	const more = await recordRelated(view, false)
	const selection = more?.selection ?? withNeeded(view)
	const ids = operation === 'remove' ? { before: key } : { after: key }
	const change = (into: Model) => run(into, key, selection, guard)
	const changing = () => changed(view, { operation, scope, ...ids }, change)
	return presentRecord(view, key, await translateModelErrors(view, operation, changing, scope), more)
}

/**
 * Like `translateModelErrors`; the message of a conflict also says if it is with a deleted record that the client could restore.
 *
 * @param written the values that were to be stored
 */
export function translateWriteErrors<T>(
	view: CrudView,
	operation: 'create' | WriteOperation,
	run: () => Promise<T>,
	scope: Scope,
	written: Changes,
): Promise<T> {
	const runAndLook = async (): Promise<T> => {
		try {
			return await run()
		} catch (error) {
			if (!(error instanceof ModelError) || error.kind !== 'unique') throw error
			attach(error, CONFLICT, { view, written } satisfies Conflict)
			throw (await isOnlyDeleted(view, error, written)) ? takenByDeleted(error) : error
		}
	}
	return translateModelErrors(view, operation, runAndLook, scope, written)
}

interface Conflict {
	readonly view: CrudView
	readonly written: Changes
}

const CONFLICT: unique symbol = Symbol('verbena.conflict')

/** The error to send after a rollback: only then can the record that caused a conflict be looked up. */
export async function afterRollback(error: RestError): Promise<RestError> {
	const { cause, code, status, message, headers, details = [] } = error
	const conflict =
		cause instanceof ModelError ? (attachment(cause, CONFLICT) as Conflict | undefined) : undefined
	if (!(cause instanceof ModelError) || conflict === undefined) return error
	if (!(await isOnlyDeleted(conflict.view, cause, conflict.written))) return error
	const told = (text: string) => text.replace('is taken by another record', 'is taken by a deleted record')
	return new RestError(code ?? status, told(message), {
		...{ headers, cause },
		details: details.map((one) => ({ ...one, message: told(one.message) })),
	})
}

/** Whether a conflict is only with a deleted record, which the client could restore. */
async function isOnlyDeleted(view: CrudView, conflict: ModelError, written: Changes): Promise<boolean> {
	const { plan, transaction } = view[FACTS]
	const { living } = plan
	// In a transaction, PostgreSQL refuses all statements after the conflict.
	const same = transaction === undefined ? living && inTheWay(conflict, written) : undefined
	if (same === undefined || !(await mayRestore(view))) return false
	const model = await modelOf(view)
	// The deleted record may belong to another parent record.
	const anywhere: CrudView = Object.create(view, { [WITHIN]: { value: undefined } })
	const { where } = await resolveScope(anywhere, 'restore', true)
	if ((await model.count(allOf(same, where))) === 0) return false
	// A partial unique index may ignore deleted records: then the conflict is with one that isn't deleted.
	return (await model.count(allOf(same, living))) === 0
}

/**
 * @param addRelated `readCompleted` if nothing was changed
 * @throws RestError `not_found` or `precondition_failed` for an absent record
 */
async function presentRecord(
	view: CrudView,
	key: string,
	record: Found | Absent,
	more: Related | undefined,
	addRelated: typeof readCompleted = completed,
): Promise<CrudRecord> {
	if (record === 'missing') throw NOT_FOUND
	if (record === 'stale') throw new RestError('precondition_failed')
	const json = more === undefined ? record.json : await addRelated(view, record.json, more)
	return recordOf(view, key, json, record.version)
}
