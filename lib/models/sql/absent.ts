/** `whyAbsent`: why a change matched no record. Used by `sql-model.ts`. */
import type { Absent, Found, Guard } from '../model.ts'
import { ModelError } from '../model-error.ts'
import type { Plan } from './plan.ts'
import type { Runner } from './runner.ts'
import type { Subject } from './subject.ts'
import { isVersion, presenceStatement } from './writes.ts'

/** How often a change is tried again whose record was deleted and restored meanwhile. */
const MAX_AGAIN = 10

/**
 * Determines why a change matched no record. If the record exists and has the required version, a trigger or a policy
 * of the database skipped the change without an error (see `skipsSilently`).
 *
 * @param again tries it again: without triggers and policies, the record has come back after the change has missed it
 * @throws ModelError `refused` if a trigger or a policy skipped the change; in a session `forbidden`; `busy` if others delete and
 * restore the record all the time
 */
export async function whyAbsent(
	runner: Runner,
	subject: Subject,
	id: string,
	plan: Plan,
	guard: Guard,
	again?: () => Promise<Found | undefined>,
): Promise<Found | Absent> {
	const { hasTriggers, hasPolicies = false } = subject.table
	for (let attempt = 0; attempt < MAX_AGAIN; attempt++) {
		const why = await reasonOf(runner, subject, id, plan, guard)
		if (why !== undefined) return why
		// A session is there for policies, so most likely it was one.
		if (runner.session !== undefined) throw new ModelError('forbidden')
		if (again === undefined || hasPolicies || hasTriggers !== false) throw new ModelError('refused')
		const found = await again()
		if (found !== undefined) return found
	}
	throw new ModelError('busy')
}

/** `undefined` if the record is there as the change needs it. */
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
