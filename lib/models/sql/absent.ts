/** `whyAbsent`: why a change has met no record. Called by `sql-model.ts` behind an update or a delete of nothing. */
import type { Absent, Guard } from '../model.ts'
import { ModelError } from '../model-error.ts'
import type { Asking } from './asking.ts'
import { Sql } from './dialect.ts'
import type { Statement } from './driver.ts'
import { INTEGER } from './key.ts'
import { ALIAS, tableName } from './name.ts'
import type { Plan } from './plan.ts'
import { type Subject, writeGuarded } from './writes.ts'

/**
 * Only a version that differs makes a record stale. One that is there as it was asked for was left alone by a trigger
 * or a policy of the database, which tells nobody.
 *
 * @throws ModelError `refused`
 */
export async function whyAbsent(
	subject: Subject,
	asking: Asking,
	id: string,
	plan: Plan,
	guard: Guard,
): Promise<Absent> {
	const { skipsSilently } = subject.dialect
	if (guard.version === undefined && !skipsSilently) return 'missing'
	const { rows } = await asking.ask(presenceOf(subject, id, plan, guard))
	const [row] = rows
	if (row === undefined) return 'missing'
	if (guard.version !== undefined && !isVersion(row[0], guard.version)) return 'stale'
	if (skipsSilently) throw new ModelError('refused')
	return 'stale'
}

/** Asks for the version of the record, within the condition but of whatever version; for nothing without one. */
function presenceOf(subject: Subject, id: string, plan: Plan, guard: Guard): Statement {
	const sql = new Sql(subject.dialect)
	const what = plan.version === undefined ? '1' : subject.dialect.exact(plan.version, ALIAS)
	sql.add(`select ${what} from ${tableName(subject.dialect, subject.table)} ${ALIAS} where `)
	writeGuarded(sql, subject, id, plan, { where: guard.where, version: undefined }, ALIAS)
	return sql.statement(false)
}

/** Whether a version in a column's own digits is the one that was asked for. */
function isVersion(stored: unknown, asked: string): boolean {
	return INTEGER.test(asked) && BigInt(String(stored)) === BigInt(asked)
}
