/**
 * `createMany`: a list of records in the body of POST. Each is checked as the body of a single create, with the same scope,
 * and all are stored in one transaction. Called by `operations.ts`, and by the handler's method.
 */
import type { Exchange } from '../../exchange/exchange.ts'
import { exchangeOf } from '../../handler/view.ts'
import type { Changes, Created, Model, Selection, Values } from '../../models/model.ts'
import { errorAt, ModelError } from '../../models/model-error.ts'
import { type CrudRecord, listOf, recordOf } from '../answers.ts'
import { beginRecordState } from '../asked.ts'
import { createWithin, newRecord, refuseMoved, translateWriteErrors } from '../changes.ts'
import { createConditionally } from '../preconditions.ts'
import { modelOf, resolveScope, translateModelErrors, withNeeded } from '../reads.ts'
import { relatedAccess } from '../relations/access.ts'
import { EVERYTHING, type Scope } from '../scope.ts'
import { together } from '../transaction.ts'
import { givenChanges } from '../value-from-json.ts'
import { type CrudView, FACTS, noteStored } from '../view.ts'
import { type BodyReader, checkedChanges, type WrittenValues } from '../write.ts'
import { checkedEach, placed, placedByModel, refuseInclude } from './check-list.ts'

/** Whether a request is for `createMany`, if that is allowed: its body is a list, or there is no `create`. */
export function isMany(view: CrudView, exchange: Exchange): boolean {
	return !view[FACTS].plan.allow.has('create') || Array.isArray(exchange.body.decoded().value)
}

/** Serves a `createMany` request. */
export async function createMany(view: CrudView, bodies: BodyReader): Promise<unknown> {
	const exchange = exchangeOf(view, 'createMany')
	beginRecordState(view, exchange)
	const { plan, handler } = view[FACTS]
	// The mount has checked the rule for `create` only.
	if (plan.allow.has('create')) await checkAccess(view, handler, exchange)
	refuseInclude(view)
	const scope = await resolveScope(view, 'create')
	const records = await checkedEach(plan, exchange, (body) =>
		bodies.read({ plan, kind: 'create', isText: false, body, scope, id: undefined }),
	)
	view.status(201)
	const answers = await createConditionally(view, exchange.headers, async () =>
		createChecked(view, scope, records),
	)
	return Array.isArray(answers) ? listOf(view, answers) : answers
}

/** Creates checked records, by the override of `createMany` if there is one. */
export function createChecked(
	view: CrudView,
	scope: Scope,
	records: readonly WrittenValues[],
): Promise<unknown> {
	const { plan, overridden } = view[FACTS]
	if (overridden.has('createMany'))
		return translateModelErrors(view, 'createMany', () => view.createMany(records))
	const changes = records.map((one) => checkedChanges(plan, one))
	return createEachOrAll(view, scope, records, changes)
}

/** `access` may have a rule of its own for `createMany`. */
async function checkAccess(view: CrudView, handler: object, exchange: Exchange): Promise<void> {
	const { access } = handler as { readonly access?: object } // a RestHandler
	if (access === undefined || !Object.hasOwn(access, 'createMany')) return
	await relatedAccess(exchange).check({ handler, to: view[FACTS].plan, operation: 'createMany' })
}

/** The handler's method, with values that a program passes. */
export async function createManyRecords(
	view: CrudView,
	given: readonly Readonly<Record<string, unknown>>[],
): Promise<readonly unknown[]> {
	const { plan } = view[FACTS]
	const changes = given.map((one) => givenChanges(plan, 'create', one))
	return createEachOrAll(view, await resolveScope(view, 'create'), given, changes)
}

/** One by one with an overridden `create()` or an audit, so that a list can't get around them; else all at once. */
export function createEachOrAll(
	view: CrudView,
	scope: Scope,
	given: readonly Readonly<Record<string, unknown>>[],
	changes: readonly Changes[],
): Promise<readonly unknown[]> {
	const { overridden, audit } = view[FACTS]
	if (overridden.has('create'))
		return createEach(view, given as readonly WrittenValues[], (within, values) =>
			translateWriteErrors(within, 'create', async () => within.create(values), EVERYTHING, {}),
		)
	if (audit === undefined) return createAll(view, scope, changes)
	return createEach(view, changes, (within, values) => createWithin(within, scope, values))
}

function createEach<T>(
	view: CrudView,
	given: readonly T[],
	create: (within: CrudView, values: T) => Promise<unknown>,
): Promise<readonly unknown[]> {
	return together(view, async (within) => {
		const answers: unknown[] = []
		for (const [index, values] of given.entries()) {
			try {
				answers.push(await create(within, values))
			} catch (error) {
				throw placed(error, index)
			}
		}
		return answers
	})
}

async function createAll(
	view: CrudView,
	scope: Scope,
	changes: readonly Changes[],
): Promise<readonly CrudRecord[]> {
	const { plan } = view[FACTS]
	const all = changes.map((one, index) => {
		try {
			return newRecord(plan, scope, one)
		} catch (error) {
			throw placed(error, index)
		}
	})
	const selection = withNeeded(view)
	try {
		const created = await stored(view, scope, all, selection)
		noteStored(view)
		return created.map(({ id, json, version }) => recordOf(view, id, json, version))
	} catch (error) {
		throw placedByModel(error)
	}
}

async function stored(
	view: CrudView,
	scope: Scope,
	all: readonly Values[],
	selection: Selection,
): Promise<readonly Created[]> {
	const model = await modelOf(view)
	const within = async () => {
		if (!scope.isOpen && model.createMany !== undefined) return model.createMany(all, selection)
		return model.transaction(async (into) => {
			const created = await createIn(into, all, selection)
			for (const [index, { id }] of created.entries())
				if (scope.isOpen)
					await refuseMoved(into, id, scope).catch((error) => Promise.reject(placed(error, index)))
			return created
		})
	}
	try {
		return await within()
	} catch (error) {
		const index = error instanceof ModelError ? (error.index ?? 0) : 0
		return translateWriteErrors(view, 'create', () => Promise.reject(error), scope, all[index] ?? {})
	}
}

/** A model without `createMany` creates one after the other. */
async function createIn(
	into: Model,
	all: readonly Values[],
	selection: Selection,
): Promise<readonly Created[]> {
	if (into.createMany !== undefined) return into.createMany(all, selection)
	const created: Created[] = []
	for (const [index, values] of all.entries()) {
		try {
			created.push(await into.create(values, selection))
		} catch (error) {
			throw errorAt(error, index)
		}
	}
	return created
}
