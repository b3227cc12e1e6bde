/** A table or view as SQLite describes it: columns, key, constraints. Read once, when its model is opened. */
import { nearest } from '../../mount/nearest.ts'
import type { Column, Constraint, Table } from '../../sql/table.ts'
import { declaredType } from './declared-type.ts'
import { quoted } from './dialect.ts'
import type { SqliteDriver } from './driver.ts'
import { momentForm, storageOf } from './moment.ts'
import { SCALE, STRICT } from './value-sql.ts'

export interface Wanted {
	/** The key's column, where the table's own isn't meant or there is none. */
	readonly key?: string | undefined
	/** Whether 64-bit integers are written as strings. */
	readonly asText: boolean
}

/** A table as the list of all tables has it. */
export interface Listing {
	readonly schema: string
	readonly name: string
	readonly isView: boolean
	readonly isStrict: boolean
	readonly hasRowid: boolean
}

interface Info {
	readonly name: string
	readonly declared: string
	readonly notNull: boolean
	readonly defaultSql: string | null
	/** Its place in the primary key from 1, or 0. */
	readonly inKey: number
	readonly generated: boolean
}

type Ask = (text: string, ...values: readonly unknown[]) => readonly (readonly unknown[])[]

/** Tables and views, without those that are SQLite's own. */
export function listings(driver: SqliteDriver): Listing[] {
	const rows = asking(driver)(
		`select schema, name, type, strict, wr from pragma_table_list
		where type <> 'shadow' and name not like 'sqlite\\_%' escape '\\' order by schema <> 'main', schema, name`,
	)
	return rows.map(([schema, name, type, strict, wr]) => ({
		schema: String(schema),
		name: String(name),
		isView: type === 'view',
		isStrict: Number(strict) === 1,
		hasRowid: type === 'table' && Number(wr) === 0,
	}))
}

/** @throws TypeError that lists the tables there are */
export function findListing(driver: SqliteDriver, name: string): Listing {
	const all = listings(driver)
	const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
	const found =
		all.find((listing) => isSame(listing.name, name)) ??
		all.find((listing) => isSame(`${listing.schema}.${listing.name}`, name))
	if (found !== undefined) return found
	const names = all.map((listing) =>
		listing.schema === 'main' ? listing.name : `${listing.schema}.${listing.name}`,
	)
	const listed = names.length === 0 ? 'the database has none' : `there are ${names.slice(0, 50).join(', ')}`
	throw new TypeError(`there is no table or view ${JSON.stringify(name)}; ${listed}`)
}

/** The name of the table's own key, if it is one column. */
export function ownKey(driver: SqliteDriver, listing: Listing): string | undefined {
	const [first, ...others] = infosOf(asking(driver), listing).filter(({ inKey }) => inKey > 0)
	return others.length === 0 ? first?.name : undefined
}

/** @throws TypeError where there is no key, or not the one that is wanted */
export function introspect(driver: SqliteDriver, listing: Listing, wanted: Wanted): Table {
	const ask = asking(driver)
	const infos = infosOf(ask, listing)
	const inKey = infos.filter((info) => info.inKey > 0)
	const key = keyOf(listing, infos, inKey, wanted.key)
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

function asking(driver: SqliteDriver): Ask {
	return (text, ...values) => driver.run({ text, values, writes: false }).rows
}

function infosOf(ask: Ask, { schema, name }: Listing): Info[] {
	const rows = ask(
		'select name, type, "notnull", dflt_value, pk, hidden from pragma_table_xinfo(?, ?) where hidden <> 1 order by cid',
		name,
		schema,
	)
	return rows.map(([column, type, notNull, defaultSql, pk, hidden]) => ({
		name: String(column),
		declared: String(type ?? '').replace(/\s*generated always\s*$/i, ''),
		notNull: Number(notNull) === 1,
		defaultSql: typeof defaultSql === 'string' ? defaultSql : null,
		inKey: Number(pk),
		generated: Number(hidden) >= 2,
	}))
}

function keyOf(
	{ name, isView }: Listing,
	infos: readonly Info[],
	inKey: readonly Info[],
	wanted: string | undefined,
): string {
	if (wanted !== undefined) {
		if (infos.some((info) => info.name === wanted)) return wanted
		const names = infos.map((info) => info.name)
		throw new TypeError(`key ${JSON.stringify(wanted)} is no column of ${name}${nearest(wanted, names)}`)
	}
	const [only, ...others] = inKey
	if (only !== undefined && others.length === 0) return only.name
	const reason = isView
		? 'is a view'
		: others.length > 0
			? 'has a key of several columns'
			: 'has no primary key'
	throw new TypeError(
		`${name} ${reason}: say which column tells its records apart, { key: ${JSON.stringify(infos[0]?.name ?? 'id')} }`,
	)
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
		defaultSql: info.defaultSql ?? undefined,
		storage: moment ?? decimal ?? (isExact ? STRICT : undefined),
	}
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
