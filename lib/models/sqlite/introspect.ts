/** A table or view as SQLite describes it: columns, key, constraints. Read once, when its model is opened. */
import type { Column, Constraint, Table } from '../sql/table.ts'
import { quoted } from './dialect.ts'
import type { SqliteDriver } from './driver.ts'
import { keyOf } from './key.ts'
import { type Ask, asking, type Info, infosOf, type Listing } from './listing.ts'
import { momentForm, storageOf } from './moment.ts'
import { type DeclaredType, declaredType } from './types.ts'
import { SCALE, STRICT } from './value-sql.ts'

export interface Wanted {
	/** The key's column, where the table's own isn't meant or there is none. */
	readonly key?: string | undefined
	/** Whether 64-bit integers are written as strings. */
	readonly asText: boolean
}

/** @throws TypeError where there is no key, or not the one that is wanted */
export function introspect(driver: SqliteDriver, listing: Listing, wanted: Wanted): Table {
	const ask = asking(driver)
	const infos = infosOf(ask, listing)
	const inKey = infos.filter((info) => info.inKey > 0)
	const key = keyOf(ask, listing, infos, inKey, wanted.key)
	const isRowid = (info: Info) =>
		listing.hasRowid && inKey.length === 1 && info === inKey[0] && /^integer$/i.test(info.declared)
	const columns = infos.map((info) => columnOf(ask, listing, info, isRowid(info), info.name === key, wanted))
	const found = columns.find(({ name }) => name === key)
	if (found === undefined || !['integer', 'bigint', 'uuid', 'text'].includes(found.type)) {
		throw new TypeError(
			`the key ${JSON.stringify(key)} of ${listing.name} must be an integer, a uuid or a text, and is ${found?.type}`,
		)
	}
	return {
		schema: listing.schema === 'main' ? undefined : listing.schema,
		name: listing.name,
		columns,
		key,
		constraints: constraintsOf(ask, listing, inKey),
		isView: listing.isView,
	}
}

function columnOf(
	ask: Ask,
	listing: Listing,
	info: Info,
	isRowid: boolean,
	isKey: boolean,
	wanted: Wanted,
): Column {
	const declared = declaredType(info.declared)
	const sampled =
		declared.type === 'other' && (listing.isView || isKey)
			? typeOfValue(sample(ask, listing, info.name))
			: undefined
	const type = sampled ?? declared.type
	const moment =
		type === 'timestamp'
			? storageOf(momentForm(info.defaultSql, sample(ask, listing, info.name), declared.length))
			: undefined
	const decimal = type === 'decimal' && declared.scale !== undefined ? `${SCALE}${declared.scale}` : undefined
	const isExact = isRowid || listing.isStrict
	return {
		name: info.name,
		type,
		sqlType: declared.name,
		nullable: !(info.notNull || isRowid || isKey),
		hasDefault: info.defaultSql !== null || isRowid,
		generated: info.generated,
		maxLength: type === 'text' ? declared.length : undefined,
		asText: type === 'bigint' && wanted.asText,
		digits: type === 'decimal' ? digitsOf(declared) : undefined,
		loose: isExact ? undefined : true,
		defaultSql: info.defaultSql ?? undefined,
		storage: moment ?? decimal ?? (isExact ? STRICT : undefined),
	}
}

function digitsOf({ length, scale = 0 }: DeclaredType): Column['digits'] {
	return length === undefined ? undefined : [Math.max(0, length - scale), scale]
}

/** A value that is there already; the first rows must do. */
function sample(ask: Ask, { schema, name }: Listing, column: string): unknown {
	const [row] = ask(
		`select c from (select ${quoted(column)} as c from ${quoted(schema)}.${quoted(name)} limit 1000) where c is not null limit 1`,
	)
	return row?.[0]
}

/** The type of a view's column that is an expression, and so has no declared one. */
function typeOfValue(value: unknown): Column['type'] | undefined {
	if (typeof value === 'bigint') return 'bigint'
	if (typeof value === 'number') return 'float'
	if (typeof value === 'string') return 'text'
	return value instanceof Uint8Array ? 'bytes' : undefined
}

function constraintsOf(ask: Ask, { name, schema }: Listing, inKey: readonly Info[]): Constraint[] {
	const constraints: Constraint[] = []
	if (inKey.length > 0) {
		const columns = inKey.toSorted((a, b) => a.inKey - b.inKey).map((info) => info.name)
		constraints.push({ name: '', kind: 'primary', columns })
	}
	for (const [index] of ask(
		`select name from pragma_index_list(?, ?) where "unique" = 1 and origin <> 'pk'`,
		name,
		schema,
	)) {
		const columns = ask('select name from pragma_index_info(?, ?) order by seqno', index, schema)
		const named = columns.flatMap(([column]) => (typeof column === 'string' ? [column] : []))
		constraints.push({ name: String(index), kind: 'unique', columns: named })
	}
	const foreign = new Map<string, string[]>()
	for (const [id, column] of ask(
		'select id, "from" from pragma_foreign_key_list(?, ?) order by id, seq',
		name,
		schema,
	)) {
		foreign.set(String(id), [...(foreign.get(String(id)) ?? []), String(column)])
	}
	for (const columns of foreign.values()) constraints.push({ name: '', kind: 'foreign_key', columns })
	return constraints
}
