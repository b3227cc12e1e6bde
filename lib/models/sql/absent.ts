/** `whyAbsent`: why a change matched no record. Used by `sql-model.ts`. */
import type { Absent, Guard } from '../model.ts'
import { ModelError } from '../model-error.ts'
import type { Plan } from './plan.ts'
import type { Runner } from './runner.ts'
import type { Subject } from './subject.ts'
import { isVersion, presenceStatement } from './writes.ts'

/**
 * Determines why a change matched no record. If the record exists and has the required version, a trigger or a policy
 * of the database skipped the change without an error (see `skipsSilently`).
 *
 * @throws ModelError `refused` if a trigger or a policy skipped the change; in a session `forbidden`
 */
export async function whyAbsent(
	runner: Runner,
	subject: Subject,
	id: string,
	plan: Plan,
	guard: Guard,
): Promise<Absent> {
	const { skipsSilently } = subject.dialect
	if (guard.version === undefined && !skipsSilently) return 'missing'
	const { rows } = await runner.run(presenceStatement(subject, id, plan, guard))
	const [row] = rows
	if (row === undefined) return 'missing'
	if (guard.version !== undefined && !isVersion(row[0], guard.version)) return 'stale'
	// A session is there for policies, so most likely it was one.
	if (skipsSilently) throw new ModelError(runner.session !== undefined ? 'forbidden' : 'refused')
	return 'stale'
}
