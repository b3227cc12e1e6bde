/**
 * `upsert`: one record or a list in the body of PUT, each of which is created, or changes the record with the same values in
 * unique fields. It must be within the scopes of both create and update, and have only fields that both may write, because the
 * client doesn't know which it will be. Called by `operations.ts`, and by the handler's method.
 */
import { exchangeOf } from '../../handler/view.ts'
import type { Changes, Condition, Model, Upserted, Values } from '../../models/model.ts'
import { ModelError } from '../../models/model-error.ts'
import { invalid } from '../../validate/problem.ts'
import { type CrudRecord, listOf, recordOf, stripped } from '../answers.ts'
import { beginRecordState } from '../asked.ts'
import { changed, newRecord, translateWriteErrors } from '../changes.ts'
import type { CrudField } from '../fields.ts'
import { allOf } from '../filter-comparison.ts'
import type { CrudPlan } from '../plan.ts'
import { modelOf, resolveScope, translateModelErrors, withNeeded } from '../reads.ts'
import { idsOf } from '../relations/records.ts'
import { both, refuseLeaving, type Scope } from '../scope.ts'
import { touched } from '../stamps.ts'
import { together } from '../transaction.ts'
import { givenChanges } from '../value-from-json.ts'
import { type CrudView, FACTS } from '../view.ts'
import { type BodyReader, checkedChanges, refuseFiles, type WrittenValues } from '../write.ts'
import { boundAnswers, checkedEach, placed, refuseInclude, refuseTags } from './check-list.ts'
import { type UpsertOn, upsertOnOf } from './upsert-option.ts'

type Given = Readonly<Record<string, unknown>>

/** One record, by the model's names. */
interface Upsertable {
	/** The values of a new record. */
	readonly values: Changes
	/** Those for an existing one. */
	readonly changes: Changes
}

/** One record of a request. */
interface Asked extends Upsertable {
	/** By the names for clients, for an overridden `upsert()`. */
	readonly written: WrittenValues
}

/** The values that rules have added for a new record. A symbol, so that the copies that an override makes have it, too. */
const ADDED: unique symbol = Symbol('verbena.added')

/** Serves an `upsert` request. */
export async function upsert(view: CrudView, bodies: BodyReader): Promise<unknown> {
	const exchange = exchangeOf(view, 'upsert')
	beginRecordState(view, exchange, 'upsert')
	const { plan, overridden } = view[FACTS]
	refuseInclude(view)
	if (!overridden.has('upsert')) refuseFiles(exchange)
	refuseTags(exchange)
	const scope = await scopeOf(view)
	const on = upsertOnOf(plan, exchange, scope)
	const isText = exchange.body.isText()
	const read = (body: Given) => readRecord(bodies, { plan, scope, on, isText, body })
	const isMany = Array.isArray(exchange.body.decoded().value)
	const records = isMany ? await checkedEach(plan, exchange, read) : [await read(exchange.body.fields())]
	const names = on.fields.map(({ name }) => name)
	const all = records.map(({ written }) => written)
	const answers = await (overridden.has('upsert')
		? translateModelErrors(view, 'upsert', () => view.upsert(all, names))
		: upsertAll(view, { scope, on: on.fields, isMany }, records))
	if (!Array.isArray(answers)) return answers
	return isMany ? listOf(view, answers) : stripped(view, answers[0])
}

/** The handler's method, with records that a program passes. @throws TypeError for fields that aren't in `upsertOn` */
export async function upsertRecords(
	view: CrudView,
	given: readonly Given[],
	names: readonly string[],
): Promise<readonly CrudRecord[]> {
	const { plan } = view[FACTS]
	const on = names.flatMap((name) => plan.fields.get(name) ?? [])
	if (on.length !== names.length || on.length === 0)
		throw new TypeError(`${plan.owner}.upsert() needs the names of unique fields`)
	const records = given.map((one: Given & { readonly [ADDED]?: Given }): Upsertable => {
		const { [ADDED]: added = {} } = one
		const sent = Object.entries(one).filter(
			([name, value]) => !Object.hasOwn(added, name) || added[name] !== value,
		)
		return {
			values: givenChanges(plan, 'upsert', one),
			changes: changesIn(plan, on, givenChanges(plan, 'upsert', Object.fromEntries(sent))),
		}
	})
	return upsertAll(view, { scope: await scopeOf(view), on, isMany: true }, records)
}

/** The scope of both create and update. */
async function scopeOf(view: CrudView): Promise<Scope> {
	const scope = await resolveScope(view, 'create')
	return view[FACTS].isScoped ? both(scope, await resolveScope(view, 'update')) : scope
}

interface Body {
	readonly plan: CrudPlan
	readonly scope: Scope
	readonly on: UpsertOn
	readonly isText: boolean
	readonly body: Given
}

/** @throws RestError `invalid`, also without a value to find the record by */
async function readRecord(bodies: BodyReader, { plan, scope, on, isText, body }: Body): Promise<Asked> {
	const own: CrudPlan = Object.create(plan, { creatable: { value: on.writable } })
	const written = await bodies.read({ plan: own, kind: 'create', isText, body, scope, id: undefined })
	const missing = on.fields.filter(
		({ name, field }) => !scope.fixed.has(field.name) && (written[name] ?? null) === null,
	)
	if (missing.length > 0)
		throw invalid(missing.map(({ name }) => ({ field: name, code: 'required', message: 'is required' })))
	// A rule's default is for new records.
	const [sent, added] = [true, false].map((isSent) =>
		Object.fromEntries(Object.entries(written).filter(([name]) => Object.hasOwn(body, name) === isSent)),
	) as [WrittenValues, WrittenValues] // parts of one
	return {
		written: { ...written, [ADDED]: added },
		values: checkedChanges(plan, written),
		changes: changesIn(plan, on.fields, checkedChanges(plan, sent)),
	}
}

/** The values for an existing record: without the fields `on`, which are equal, and the key, which never changes. */
function changesIn({ keys }: CrudPlan, on: readonly CrudField[], values: Changes): Changes {
	const fixed = new Set([...on, ...keys].map(({ field }) => field.name))
	return Object.fromEntries(Object.entries(values).filter(([name]) => !fixed.has(name)))
}

interface Upserting {
	readonly scope: Scope
	readonly on: readonly CrudField[]
	/** Whether problems name the place of the record in the list. */
	readonly isMany: boolean
}

async function upsertAll(
	view: CrudView,
	upserting: Upserting,
	records: readonly Upsertable[],
): Promise<readonly CrudRecord[]> {
	const answers: CrudRecord[] = []
	const { plan, audit } = view[FACTS]
	let failed: { readonly index: number; readonly error: unknown } | undefined
	let written: Values = {}
	const each = async (within: CrudView) => {
		const count = boundAnswers(plan)
		for (const [index, { values, changes }] of inOrder(upserting.on, records)) {
			try {
				written = newRecord(plan, upserting.scope, values)
				const answer = await upsertOne(within, upserting, written, changes)
				// Not for a single record, which may be committed already.
				answers[index] = upserting.isMany ? count(answer) : answer
			} catch (error) {
				failed = { index, error }
				throw error
			}
		}
	}
	try {
		const isAlone = !upserting.isMany && audit === undefined
		await (isAlone ? each(view) : together(view, each))
	} catch (error) {
		// Translated after the rollback, so that it can be looked up whether only a deleted record is in the way.
		const own = failed?.error instanceof ModelError ? failed.error : error
		const failing = translateWriteErrors(view, 'create', () => Promise.reject(own), upserting.scope, written)
		await failing.catch((one) => {
			throw upserting.isMany && failed !== undefined ? placed(one, failed.index) : one
		})
	}
	return answers
}

/** In the order of their values in `on`, so that two requests for the same records rarely deadlock. */
function inOrder(on: readonly CrudField[], records: readonly Upsertable[]): readonly [number, Upsertable][] {
	const textOf = ({ values }: Upsertable) => on.map(({ field }) => String(values[field.name])).join()
	return [...records.entries()].sort(([, one], [, other]) => {
		const [a, b] = [textOf(one), textOf(other)]
		return a < b ? -1 : a > b ? 1 : 0
	})
}

async function upsertOne(
	view: CrudView,
	{ scope, on }: Upserting,
	values: Values,
	changes: Changes,
): Promise<CrudRecord> {
	const { plan, audit } = view[FACTS]
	const model = await modelOf(view)
	refuseLeaving(changes, scope, plan)
	const isEmpty = Object.keys(changes).length === 0
	const before = audit === undefined ? undefined : await idOf(plan, on, values, scope)
	const run = async (into: Model): Promise<Upserted> => {
		const done = await into.upsert?.(
			{
				values,
				on: on.map(({ field }) => field.name),
				changes: isEmpty ? changes : touched(plan, changes),
				where: scope.where,
			},
			withNeeded(view),
		)
		if (done === undefined) throw new TypeError(`${model.name} has no upsert`)
		// Another request has been faster, so `before` of the audit is not this record's: the client can retry.
		if (audit !== undefined && (done.isNew ? undefined : done.id) !== before) throw new ModelError('busy')
		return done
	}
	const { id, json, version } = await changed(
		view,
		{ operation: 'upsert', scope, before, mayMove: scope.isOpen, isEmpty },
		run,
	)
	return recordOf(view, id, json, version)
}

/** The id of the record that an upsert changes. */
async function idOf(
	plan: CrudPlan,
	on: readonly CrudField[],
	values: Values,
	{ where }: Scope,
): Promise<string | undefined> {
	const terms = on.map(({ field: { name } }): Condition => {
		const value = values[name]
		if (value === null || value === undefined || typeof value === 'symbol')
			throw new ModelError('not_null', [name])
		return { op: 'eq', field: name, value }
	})
	return (await idsOf(plan, allOf(where, ...terms), 1))[0]
}
