/** Which `ModelError` an error of PGlite is. */
import { ModelError, type ModelErrorKind } from '../../../../lib/models/index.ts'
import type { Table } from '../../../../lib/models/sql/index.ts'

/** By SQLSTATE, or its class. */
const KINDS: Readonly<Record<string, ModelErrorKind>> = {
	'23505': 'unique',
	'23503': 'foreign_key',
	'23502': 'not_null',
	'23514': 'check',
	'22': 'invalid',
	'40': 'busy',
}

export function failureOf(error: unknown, table: Table): ModelError | undefined {
	const code = textAt(error, 'code')
	const kind = KINDS[code] ?? KINDS[code.slice(0, 2)]
	if (kind === undefined) return undefined
	const [column, name] = [textAt(error, 'column'), textAt(error, 'constraint')]
	const constraint = table.constraints.find((one) => one.name === name)
	// Where others refer to the record, the constraint is theirs.
	const isOwn = textAt(error, 'table') === table.name && !textAt(error, 'detail').includes('still referenced')
	const columns = column === '' ? (constraint?.columns ?? []) : [column]
	return new ModelError(kind, isOwn ? columns : [], error)
}

function textAt(error: unknown, key: string): string {
	const value: unknown = error instanceof Error ? Reflect.get(error, key) : undefined
	return typeof value === 'string' ? value : ''
}
