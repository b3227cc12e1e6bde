/**
 * Ties: the junction records of many to many, which `PUT` and `DELETE /7/tags/3` create and delete. Called by `actions.ts`, which
 * finds out whether the client may see both records.
 */
import { isRestError, NOT_FOUND } from '../../base/error.ts'
import { keyNames } from '../../models/key.ts'
import type { Condition, Model } from '../../models/model.ts'
import { ModelError } from '../../models/model-error.ts'
import { NOTHING, Selections } from '../fields.ts'
import type { Relation } from '../plan.ts'
import { translateModelErrors } from '../reads.ts'
import type { NonNullValue } from '../value-from-text.ts'
import type { CrudView } from '../view.ts'
import { idsOf } from './records.ts'

/** Maximum number of junction records that are deleted in one transaction. */
const MAX_TIES = 1_000

export type Through = NonNullable<Relation['link']['through']>

/** A junction record, which ties two others. */
export interface Tie {
	/** By its model's names. */
	readonly values: Readonly<Record<string, NonNullValue>>
	readonly where: Condition
}

/**
 * Ties two records. It has no effect if they are tied already. Without a unique constraint, two requests at the same time may both
 * add a junction record.
 */
export async function tie(view: CrudView, asked: Tie, through: Through): Promise<void> {
	if ((await tiesOf(view, asked, through, 1)).length > 0) return
	try {
		await translateModelErrors(view, 'update', () => through.model.create(asked.values, NOTHING))
	} catch (error) {
		// Another request may have tied them meanwhile; else another constraint of the junction refuses the tie.
		if (!isNotUnique(error) || (await tiesOf(view, asked, through, 1)).length === 0) throw error
	}
}

/** @throws RestError `not_found` unless the records are tied */
export async function untie(view: CrudView, asked: Tie, through: Through): Promise<void> {
	const guard = { where: undefined, version: undefined }
	let ids = await tiesOf(view, asked, through, MAX_TIES)
	if (ids.length === 0) throw NOT_FOUND
	const remove = async (from: Model) => {
		for (const id of ids) await from.delete(id, NOTHING, guard)
	}
	// In a transaction if there are several: after an error, none of these may be deleted.
	const removed = () => (ids.length === 1 ? remove(through.model) : through.model.transaction(remove))
	while (ids.length > 0) {
		await translateModelErrors(view, 'update', removed)
		ids = ids.length < MAX_TIES ? [] : await tiesOf(view, asked, through, MAX_TIES)
	}
}

/** The ids of the junction records that tie two records: several are only possible without a unique constraint. */
function tiesOf(
	view: CrudView,
	{ where }: Tie,
	{ model }: Through,
	limit: number,
): Promise<readonly string[]> {
	const fields = keyNames(model).flatMap((name) => model.fields.find((field) => field.name === name) ?? [])
	const keys = fields.map((field) => ({ name: field.name, field }))
	const between = { model, keys, selections: new Selections(keys, undefined) }
	return translateModelErrors(view, 'read', () => idsOf(between, where, limit))
}

function isNotUnique(error: unknown): boolean {
	const cause = isRestError(error) ? error.cause : undefined
	return cause instanceof ModelError && cause.kind === 'unique'
}
