/** SQL that writes a record's fields as one JSON text. */
import type { Selected } from '../../sql/dialect.ts'
import { jsonValue } from './expression.ts'
import { quoteName } from './quote.ts'

/** An expression for the text, and what has to be joined for it; empty for nothing. */
export interface RecordJson {
	readonly text: string
	readonly lateral: string
}

export function recordJson(selected: readonly Selected[], alias: string): RecordJson {
	const before = alias === '' ? '' : `${alias}.`
	const fields = selected.map(({ column, as }) => ({
		as,
		value: jsonValue(column, before + quoteName(column.name)),
	}))
	if (!fields.every(({ as }) => canBeIdentifier(as))) return { text: concatenated(fields), lateral: '' }
	const list = fields.map(({ as, value }) => `${value} as ${quoteName(as)}`).join(', ')
	// `v.*`, as `v` alone would be a field of that name.
	return { text: 'row_to_json(v.*)::text', lateral: `(select ${list}) v` }
}

/** The most bytes of a name; PostgreSQL cuts longer ones silently. */
const LONGEST_NAME = 63

function canBeIdentifier(name: string): boolean {
	return name !== '' && Buffer.byteLength(name) <= LONGEST_NAME && !/[\0\p{Surrogate}]/u.test(name)
}

/** For names that no column can have; somewhat slower, as each value becomes a text by itself. */
function concatenated(fields: readonly { readonly as: string; readonly value: string }[]): string {
	const members = fields.map(
		({ as, value }) => `${literal(`${JSON.stringify(as)}:`)} || coalesce(to_json(${value})::text, 'null')`,
	)
	return `'{' || ${members.join(` || ',' || `)} || '}'`
}

/** A text as a literal, whatever `standard_conforming_strings` is. */
function literal(text: string): string {
	return `E'${text.replace(/['\\]/g, '\\$&')}'`
}
