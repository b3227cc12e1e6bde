/**
 * The option `audit`: each change is recorded in another model, in the same transaction. Checked when the handler is
 * constructed; `changes.ts` calls `audited` with each change.
 */
import { nearest } from '../base/options.ts'
import type { Absent, Condition, Field, Found, Model, Selection, Values, Within } from '../models/model.ts'
import { isTransient, ModelError } from '../models/model-error.ts'
import { RawJson } from '../wire/raw-json.ts'
import { reasonOf } from './check-fields.ts'
import { NOTHING } from './fields.ts'
import { recordTexts, withMembers } from './json-text.ts'
import type { AuditOption, CrudOperation } from './options.ts'
import type { CrudPlan } from './plan.ts'
import { timeFor } from './stamps.ts'

/** The model that changes are recorded in, and the fields that are recorded. */
export interface Audit {
	readonly model: Model
	readonly selection: Selection
	/** The names of the audit model's fields. */
	readonly has: ReadonlySet<string>
	/** Those of `before` and `after` whose column has the type JSON; the others get JSON as text. */
	readonly json: ReadonlySet<string>
}

/** The fields of an audit's records, with the types that each may have. */
const COLUMNS = {
	who: ['text', 'uuid'],
	at: ['timestamp'],
	operation: ['text'],
	record: ['text'],
	before: ['json', 'text'],
	after: ['json', 'text'],
	resource: ['text'],
} as const satisfies Readonly<Record<string, readonly Field['type'][]>>

type Column = keyof typeof COLUMNS

/** Those that the model may lack. */
const OPTIONAL: readonly Column[] = ['resource']
/** Those that must be nullable: the user may be unknown, a new record has no `before`, and a deleted one no `after`. */
const NULLABLE: readonly Column[] = ['who', 'before', 'after']

/** @throws TypeError for a model that can't record the changes, and for unknown fields */
export function auditOf(plan: CrudPlan, given: AuditOption | undefined): Audit | undefined {
	if (given === undefined) return undefined
	const place = `${plan.owner}: audit`
	const { to: model, fields: names } = 'to' in given ? given : { to: given, fields: undefined }
	if (!Array.isArray(model.fields))
		throw new TypeError(
			`${place} must be a model, such as the result of PostgresModel.open(): of a handler, its model`,
		)
	const fields = new Map(model.fields.map((field) => [field.name, field]))
	for (const [name, types] of Object.entries(COLUMNS) as [Column, readonly Field['type'][]][])
		checkColumn(`${place}: ${model.name}`, name, types, fields.get(name))
	const more = model.fields.find(
		({ name, nullable, hasDefault, generated }) => !(name in COLUMNS || nullable || hasDefault || generated),
	)
	if (more !== undefined)
		throw new TypeError(`${place}: ${model.name}.${more.name} needs a value, and an audit has none for it`)
	if (model.readOnly) throw new TypeError(`${place}: ${model.name} can only be read${reasonOf(model)}`)
	if (plan.model.transactionWith === undefined || plan.model.transactsWith?.(model) !== true)
		throw new TypeError(
			`${place}: ${plan.model.name} and ${model.name} must be in one database, with the same pool`,
		)
	const selected = names ?? [...plan.visible.keys()]
	const unknown = selected.find((name) => !plan.fields.has(name))
	if (unknown !== undefined)
		throw new TypeError(
			`${place}.fields: there is no field ${unknown}${nearest(unknown, plan.fields.keys())}`,
		)
	return {
		model,
		selection: Object.freeze({
			fields: selected.map((name) => plan.fields.get(name)?.field.name ?? name),
			names: selected,
			version: undefined,
		}),
		has: new Set(fields.keys()),
		json: new Set(['before', 'after'].filter((name) => fields.get(name)?.type === 'json')),
	}
}

function checkColumn(
	place: string,
	name: Column,
	types: readonly Field['type'][],
	field: Field | undefined,
): void {
	if (field === undefined && OPTIONAL.includes(name)) return
	if (field === undefined)
		throw new TypeError(`${place} needs the fields ${Object.keys(COLUMNS).join(', ')}: ${name} is missing`)
	if (!types.includes(field.type))
		throw new TypeError(`${place}.${name} is of type ${field.type}: it must be ${types.join(' or ')}`)
	if (field.generated) throw new TypeError(`${place}.${name} is written by the store alone`)
	if (!field.nullable && NULLABLE.includes(name)) throw new TypeError(`${place}.${name} must be nullable`)
}

export interface AuditedChange {
	/** The handler's model, and that of the audit; both within the request's transaction, if there is one. */
	readonly model: Model
	readonly audit: Audit
	/** The id of the user; `undefined` for an anonymous one. */
	readonly who: string | undefined
	readonly operation: CrudOperation
	/** The ids before and after the change; `undefined` if there is no record then. */
	readonly before: string | undefined
	readonly after: string | undefined
	/** The condition that the record must match before the change. */
	readonly where: Condition | undefined
	/** Whether an upsert leaves an existing record as it is: nothing is recorded then. */
	readonly isEmpty: boolean
	/** Whether the record is deleted from the store, and not only marked. */
	readonly deletes: boolean
}

/**
 * Runs a change, and records it in the same transaction.
 *
 * @param run changes one record of the model that it is given
 */
export function audited<T extends Found | Absent>(
	change: AuditedChange,
	run: (into: Model) => Promise<T>,
): Promise<T> {
	const { model, audit } = change
	// Checked by `auditOf`.
	if (model.transactionWith === undefined)
		throw new TypeError(`${model.name} has no transactions with ${audit.model.name}`)
	return model.transactionWith([audit.model], (within) => recorded(change, run, within))
}

async function recorded<T extends Found | Absent>(
	change: AuditedChange,
	run: (into: Model) => Promise<T>,
	within: Within,
): Promise<T> {
	const { audit, model, who = null } = change
	const into = within.of(model)
	const { selection } = audit
	const lock = into.lock?.bind(into) ?? into.read.bind(into)
	const written = (id: string) => into.readWritten?.(id, selection) ?? into.read(id, selection, undefined)
	const before =
		change.before === undefined
			? undefined
			: await lock(change.before, selection, change.where, change.deletes)
	if (change.before !== undefined && before === undefined) {
		// Not there, or outside of the scope. `run` isn't called: the record may be there again, and `before` would be missing.
		if (change.operation === 'upsert') throw new ModelError('busy')
		return 'missing' as T // an Absent
	}
	const result = await run(into)
	if (typeof result === 'string' || (change.isEmpty && before !== undefined)) return result
	const record: Found & { readonly id?: string } = result // T may be a Created
	const id = record.id ?? change.after ?? change.before ?? ''
	const isGone = change.operation === 'remove'
	const after = isGone ? undefined : await written(id)
	const values: Values = {
		who,
		at: timeFor(audit.model),
		operation: change.operation,
		record: id,
		...differences(audit, before, after),
		...(audit.has.has('resource') ? { resource: model.name } : {}),
	}
	await store(within.of(audit.model), values)
	return result
}

/** The audited fields whose JSON texts differ; for a new or deleted record, all of them. */
function differences({ selection: { names }, json }: Audit, before?: Found, after?: Found): Values {
	const [old, now] = [before, after].map((found) => found && recordTexts(found.json, [], names)[0]?.values)
	const written = (column: string, values: readonly (string | undefined)[] | undefined) => {
		if (values === undefined) return null
		const changed = names.flatMap((name, at) => {
			const value = values[at]
			const isSame = old !== undefined && now !== undefined && old[at] === now[at]
			return value === undefined || isSame ? [] : [[name, value] as const]
		})
		const text = withMembers('{}', changed)
		return json.has(column) ? new RawJson(text) : text
	}
	return { before: written('before', old), after: written('after', now) }
}

/** @throws TypeError if the store refuses the audit: the client can do nothing about it */
async function store(model: Model, values: Values): Promise<void> {
	try {
		await model.create(values, NOTHING)
	} catch (cause) {
		if (!(cause instanceof ModelError) || isTransient(cause)) throw cause
		throw new TypeError(`the change could not be recorded in ${model.name}: ${cause.message}`, { cause })
	}
}
