/**
 * What `CrudHandler`'s methods do where no subclass has changed them: they ask the model, within the scope, and
 * tell its errors in the words of clients.
 */
import { NOT_FOUND, RestError } from '../base/error.ts'
import {
	type Absent,
	type Changes,
	DEFAULT,
	type Found,
	type Listed,
	type Selection,
	type Value,
} from '../models/model.ts'
import { refuseLarger } from '../models/model-error.ts'
import { stripped } from './answer.ts'
import { countText, cursorText } from './cursor.ts'
import type { CrudQuery } from './list-query.ts'
import { retold } from './model-errors.ts'
import { neededOf, type Parted, part, UNPARTED } from './needed.ts'
import { allOf } from './operator.ts'
import type { CrudOperation } from './options.ts'
import type { CrudPlan } from './plan.ts'
import { firstVersion } from './preconditions.ts'
import { CrudPage, CrudRecord } from './record.ts'
import { EVERYTHING, refuseLeaving, type Scope, scopeCondition, scopeOf, withScope } from './scope.ts'
import { givenChanges } from './value-from-json.ts'
import { ASKED, type CrudView, FACTS } from './view.ts'
import { checkedChanges, type WrittenValues } from './write.ts'

/**
 * What an operation is confined to. Never remembered: the scope of one operation must not decide another, as where an
 * overridden `update()` reads first.
 */
export async function confine(view: CrudView, operation: CrudOperation): Promise<Scope> {
	const { isScoped, plan } = view[FACTS]
	return isScoped ? scopeOf(plan, await view.scope(operation)) : EVERYTHING
}

/** The id as the key writes it. @throws RestError `not_found` for one that can't be the key's */
export function checkedId(view: CrudView, id: unknown): string {
	const known = view[FACTS].plan.idOf(String(id))
	if (known === undefined) throw NOT_FOUND
	return known
}

export async function listRecords(view: CrudView, query: CrudQuery): Promise<CrudPage> {
	const { isScoped, plan } = view[FACTS]
	const scope = isScoped ? await confine(view, 'list') : EVERYTHING
	const where = isScoped ? allOf(scopeCondition(scope), query.where) : query.where
	const selection = fetched(view, query.selection)
	const asking = isScoped || selection !== query.selection ? { ...query, where, selection } : query
	const { json, next, total } = await retold(plan, 'list', () => listed(plan, asking), scope)
	const { limit, offset } = query
	const cursor =
		next === undefined
			? null
			: plan.isKeyVisible
				? cursorText(query.stamp, next)
				: countText(query.stamp, offset + limit)
	const meta = total === undefined ? { limit, offset, next: cursor } : { limit, offset, next: cursor, total }
	const asked = view[ASKED]
	if (!Object.isFrozen(asked)) asked.page = meta
	const { json: text, needed } = parted(view, query.selection, json)
	return new CrudPage(text, meta, needed, stripOf(view))
}

async function listed({ model, maxPageBytes }: CrudPlan, query: CrudQuery): Promise<Listed> {
	if (query.limit === 0) return { json: '[]', next: undefined, total: await model.count(query.where) }
	const page = await model.list({ ...query, maxBytes: maxPageBytes })
	// Models of a user's own may know nothing of the bound.
	refuseLarger(page.json, maxPageBytes, page.next)
	return page
}

export async function readRecord(view: CrudView, id: string): Promise<CrudRecord> {
	const key = checkedId(view, id)
	return readWithin(view, key, view[FACTS].isScoped ? await confine(view, 'read') : EVERYTHING)
}

/** The record as another operation finds it, within that one's scope. */
export async function readWithin(view: CrudView, key: string, scope: Scope): Promise<CrudRecord> {
	const { plan } = view[FACTS]
	const where = scopeCondition(scope)
	const found = await retold(plan, 'read', () => plan.model.read(key, fetched(view), where), scope)
	if (found === undefined) throw NOT_FOUND
	return answerOf(view, key, found)
}

/** @param given what somebody's code gives: it is checked as far as their types go */
export function createRecord(view: CrudView, given: Readonly<Record<string, unknown>>): Promise<CrudRecord> {
	return createWith(view, undefined, () => givenChanges(view[FACTS].plan, 'create', given))
}

/**
 * @param scope the operation's, by which the values were checked
 * @param checked what `Writer` has checked, and nobody could have changed since
 */
export function createChecked(view: CrudView, scope: Scope, checked: WrittenValues): Promise<CrudRecord> {
	return createWith(view, scope, () => checkedChanges(view[FACTS].plan, checked))
}

async function createWith(
	view: CrudView,
	known: Scope | undefined,
	changes: () => Changes,
): Promise<CrudRecord> {
	const { plan } = view[FACTS]
	const given = withoutDefaults(changes())
	const scope = known ?? (await confine(view, 'create'))
	const values = withScope(given, scope)
	const { field } = plan.version ?? {}
	const versioned =
		field === undefined || Object.hasOwn(values, field.name)
			? values
			: { ...values, [field.name]: firstVersion(field) }
	const asked = view[ASKED]
	const create = () => plan.model.create(versioned, fetched(view))
	const created = await retold(plan, 'create', create, scope, given)
	if (!Object.isFrozen(asked)) asked.createdId = created.id
	return answerOf(view, created.id, created)
}

/** A new record gets its defaults by being given nothing. */
function withoutDefaults(changes: Changes): Readonly<Record<string, Value>> {
	if (isWithoutDefaults(changes)) return changes
	const values: Record<string, Value> = {}
	for (const name of Object.keys(changes)) {
		const value = changes[name]
		if (value !== undefined && value !== DEFAULT) values[name] = value
	}
	return values
}

function isWithoutDefaults(changes: Changes): changes is Readonly<Record<string, Value>> {
	for (const name in changes) if (changes[name] === DEFAULT) return false
	return true
}

/** `update` and `replace`, which differ in what they are given. */
export function changeRecord(
	view: CrudView,
	operation: 'update' | 'replace',
	id: string,
	given: Readonly<Record<string, unknown>>,
): Promise<CrudRecord> {
	return changeWith(view, operation, id, undefined, () => givenChanges(view[FACTS].plan, operation, given))
}

/** The same with what `Writer` has checked by the operation's scope, and nobody could have changed since. */
export function changeChecked(
	view: CrudView,
	operation: 'update' | 'replace',
	id: string,
	scope: Scope,
	checked: WrittenValues,
): Promise<CrudRecord> {
	return changeWith(view, operation, id, scope, () => checkedChanges(view[FACTS].plan, checked))
}

async function changeWith(
	view: CrudView,
	operation: 'update' | 'replace',
	id: string,
	known: Scope | undefined,
	changed: () => Changes,
): Promise<CrudRecord> {
	const { plan } = view[FACTS]
	const { version } = view[ASKED]
	const selection = fetched(view)
	const key = checkedId(view, id)
	const changes = changed()
	const scope = known ?? (await confine(view, operation))
	refuseLeaving(changes, scope)
	const where = scopeCondition(scope)
	if (Object.keys(changes).length > 0)
		return recordOf(
			view,
			key,
			await retold(
				plan,
				operation,
				() => plan.model.update(key, changes, selection, { where, version }),
				scope,
				changes,
			),
		)
	// Nothing is to be changed: the record is as it is, and so is its version.
	const found = await retold(plan, operation, () => plan.model.read(key, selection, where), scope)
	const isStale = version !== undefined && found !== undefined && found.version !== version
	return recordOf(view, key, isStale ? 'stale' : (found ?? 'missing'))
}

/** @param known what `remove` is confined to, where that was asked for it already */
export async function removeRecord(view: CrudView, id: string, known?: Scope): Promise<CrudRecord> {
	const { plan } = view[FACTS]
	const { version } = view[ASKED]
	const key = checkedId(view, id)
	const scope = known ?? (await confine(view, 'remove'))
	const where = scopeCondition(scope)
	return recordOf(
		view,
		key,
		await retold(plan, 'remove', () => plan.model.delete(key, fetched(view), { where, version }), scope),
	)
}

function recordOf(view: CrudView, id: string, found: Found | Absent): CrudRecord {
	if (found === 'missing') throw NOT_FOUND
	if (found === 'stale') throw new RestError('precondition_failed')
	return answerOf(view, id, found)
}

/** What the model is asked for: what the client has asked for, and what a subclass needs. */
function fetched(view: CrudView, selection = view[ASKED].selection): Selection {
	const { needed } = view[ASKED]
	return needed.length === 0 ? selection : view[FACTS].plan.selections.wider(selection, needed)
}

/** What was fetched, taken apart. */
function parted(view: CrudView, selection: Selection, json: string): Parted {
	const { needed } = view[ASKED]
	if (needed.length === 0) return { json, needed: UNPARTED }
	const names = needed.map(({ name }) => name)
	return part(json, selection.names, names)
}

function answerOf(view: CrudView, id: string, { json, version }: Found): CrudRecord {
	const { json: text, needed } = parted(view, view[ASKED].selection, json)
	return new CrudRecord(text, id, version, neededOf(needed), stripOf(view))
}

function stripOf(view: CrudView): ((value: unknown) => unknown) | undefined {
	return view[FACTS].strips ? (value) => stripped(view, value) : undefined
}
