/** `whyAbsent`: why a change matched no record. Used by `sql-model.ts`. */
import type { Absent, Found, Guard } from '../model.ts'
import { ModelError } from '../model-error.ts'
import type { Plan } from './plan.ts'
import type { Runner } from './runner.ts'
import type { Subject } from './subject.ts'
import { isVersion, type Locking, lockStatement, presenceStatement } from './writes.ts'

/**
 * Determines why a change matched no record. If the record exists and has the required version, a trigger or a policy
 * of the database skipped the change without an error (see `skipsSilently`).
 *
 * @param change retries the change on the locked record, which may have been created again since
 * @throws ModelError `refused` if a trigger or a policy skipped the change; in a session `forbidden`
 */
export async function whyAbsent(
	runner: Runner,
	subject: Subject,
	id: string,
	plan: Plan,
	guard: Locking,
	change?: (runner: Runner) => Promise<Found | undefined>,
): Promise<Found | Absent> {
	const { hasTriggers, hasPolicies = false } = subject.table
	const why = await reasonOf(runner, subject, id, plan, guard)
	if (why !== undefined) return why
	// A session is there for policies, so most likely it was one.
	if (runner.session !== undefined) throw new ModelError('forbidden')
	if (change === undefined || hasPolicies || hasTriggers !== false) throw new ModelError('refused')
	const again = async (inner: Runner): Promise<Found | Absent> => {
		const { rows } = await inner.run(lockStatement(subject, id, plan, { ...guard, version: undefined }))
		const [row] = rows
		if (row === undefined) return 'missing'
		const { version } = plan.selectedRow.found(row)
		if (guard.version !== undefined && !isVersion(version, guard.version)) return 'stale'
		const changed = await change(inner)
		if (changed === undefined) throw new ModelError('refused')
		return changed
	}
	return runner.isInTransaction ? again(runner) : runner.transaction(again)
}

/** `undefined` if the record exists and fits the guard. */
async function reasonOf(
	runner: Runner,
	subject: Subject,
	id: string,
	plan: Plan,
	guard: Guard,
): Promise<Absent | undefined> {
	const { skipsSilently } = subject.dialect
	if (guard.version === undefined && !skipsSilently) return 'missing'
	const { rows } = await runner.run(presenceStatement(subject, id, plan, guard))
	const [row] = rows
	if (row === undefined) return 'missing'
	if (guard.version !== undefined && !isVersion(row[0], guard.version)) return 'stale'
	return skipsSilently ? undefined : 'stale'
}
