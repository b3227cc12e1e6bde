/**
 * What `CrudHandler`'s methods do where no subclass has changed them: they ask the model, within the scope, and
 * tell its errors in the words of clients.
 */
import { NOT_FOUND, RestError } from '../error.ts'
import type { CrudPlan } from './crud-plan.ts'
import { CrudPage, CrudRecord } from './crud-record.ts'
import { ASKED, type CrudView, FACTS } from './crud-view.ts'
import { countText, cursorText } from './cursor.ts'
import { checkedChanges, givenChanges } from './given-value.ts'
import type { CrudQuery } from './list-query.ts'
import { type Absent, type Changes, DEFAULT, type Found, type Listed, type Value } from './model.ts'
import { retold } from './model-errors.ts'
import { allOf } from './operator.ts'
import { EVERYTHING, refuseLeaving, type Scope, scopeCondition, scopeOf, withScope } from './scope.ts'
import type { WrittenValues } from './write.ts'

/** What the view is confined to; asked once a request where it is asked for more than once. */
export async function confine(view: CrudView): Promise<Scope> {
	const { isScoped, plan } = view[FACTS]
	if (!isScoped) return EVERYTHING
	const asked = view[ASKED]
	const scope = asked.scope ?? scopeOf(plan, await view.scope())
	if (!Object.isFrozen(asked)) asked.scope = scope
	return scope
}

/** The id as the key writes it. @throws RestError `not_found` for one that can't be the key's */
export function checkedId(view: CrudView, id: unknown): string {
	const known = view[FACTS].plan.idOf(String(id))
	if (known === undefined) throw NOT_FOUND
	return known
}

export async function listRecords(view: CrudView, query: CrudQuery): Promise<CrudPage> {
	const { isScoped, plan } = view[FACTS]
	const asking = isScoped
		? { ...query, where: allOf(scopeCondition(await confine(view)), query.where) }
		: query
	const { json, next, total } = await retold(plan, 'list', () => listed(plan, asking))
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
	return new CrudPage(json, meta)
}

async function listed({ model }: CrudPlan, query: CrudQuery): Promise<Listed> {
	if (query.limit > 0) return model.list(query)
	return { json: '[]', next: undefined, total: await model.count(query.where) }
}

export async function readRecord(view: CrudView, id: string): Promise<CrudRecord> {
	const { isScoped, plan } = view[FACTS]
	const key = checkedId(view, id)
	const where = isScoped ? scopeCondition(await confine(view)) : undefined
	const found = await retold(plan, 'read', () => plan.model.read(key, view[ASKED].selection, where))
	if (found === undefined) throw NOT_FOUND
	return new CrudRecord(found.json, key, found.version)
}

/** @param given what somebody's code gives: it is checked as far as their types go */
export function createRecord(view: CrudView, given: Readonly<Record<string, unknown>>): Promise<CrudRecord> {
	return createWith(view, () => givenChanges(view[FACTS].plan, 'create', given))
}

/** @param checked what `Writer` has checked, and nobody could have changed since */
export function createChecked(view: CrudView, checked: WrittenValues): Promise<CrudRecord> {
	return createWith(view, () => checkedChanges(view[FACTS].plan, checked))
}

async function createWith(view: CrudView, changes: () => Changes): Promise<CrudRecord> {
	const { plan } = view[FACTS]
	const values = withScope(withoutDefaults(changes()), await confine(view))
	const { field } = plan.version ?? {}
	const versioned =
		field === undefined || field.hasDefault || Object.hasOwn(values, field.name)
			? values
			: { ...values, [field.name]: 1 }
	const asked = view[ASKED]
	const { json, id, version } = await retold(plan, 'create', () =>
		plan.model.create(versioned, asked.selection),
	)
	if (!Object.isFrozen(asked)) asked.createdId = id
	return new CrudRecord(json, id, version)
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
	return changeWith(view, operation, id, () => givenChanges(view[FACTS].plan, operation, given))
}

/** The same with what `Writer` has checked, and nobody could have changed since. */
export function changeChecked(
	view: CrudView,
	operation: 'update' | 'replace',
	id: string,
	checked: WrittenValues,
): Promise<CrudRecord> {
	return changeWith(view, operation, id, () => checkedChanges(view[FACTS].plan, checked))
}

async function changeWith(
	view: CrudView,
	operation: 'update' | 'replace',
	id: string,
	changed: () => Changes,
): Promise<CrudRecord> {
	const { plan } = view[FACTS]
	const { selection, version } = view[ASKED]
	const key = checkedId(view, id)
	const changes = changed()
	const scope = await confine(view)
	refuseLeaving(changes, scope)
	const where = scopeCondition(scope)
	if (Object.keys(changes).length > 0)
		return recordOf(
			key,
			await retold(plan, operation, () => plan.model.update(key, changes, selection, { where, version })),
		)
	// Nothing is to be changed: the record is as it is, and so is its version.
	const found = await retold(plan, operation, () => plan.model.read(key, selection, where))
	const isStale = version !== undefined && found !== undefined && found.version !== version
	return recordOf(key, isStale ? 'stale' : (found ?? 'missing'))
}

export async function removeRecord(view: CrudView, id: string): Promise<CrudRecord> {
	const { plan } = view[FACTS]
	const { selection, version } = view[ASKED]
	const key = checkedId(view, id)
	const where = scopeCondition(await confine(view))
	return recordOf(
		key,
		await retold(plan, 'remove', () => plan.model.delete(key, selection, { where, version })),
	)
}

function recordOf(id: string, found: Found | Absent): CrudRecord {
	if (found === 'missing') throw NOT_FOUND
	if (found === 'stale') throw new RestError('precondition_failed')
	return new CrudRecord(found.json, id, found.version)
}
