/** Reads the schema: tables and views of a database (`listings`), and one of them with its columns (`introspect`). */
import { nearest } from '../../base/options.ts'
import { keyOf, primaryKey, withKey } from '../sql/key.ts'
import type { BigintForm, OpeningOptions } from '../sql/options.ts'
import { ansiQuoted, type Column, type Constraint, type Table } from '../sql/table.ts'
import { checkedChoices } from './catalog/check-choices.ts'
import type { SqliteDriver } from './driver.ts'
import { SCALE, STRICT } from './json.ts'
import { type DeclaredType, fieldOf, fractionOf, storageOf, timestampFormat } from './types.ts'

/** @throws TypeError if there is no key, or the column of the option `key` can't be one */
export function introspect(
	driver: SqliteDriver,
	listing: Listing,
	options: Pick<OpeningOptions, 'key' | 'bigint'>,
): Table {
	const query = queryBy(driver)
	const infos = collated(query, listing, infosOf(query, listing))
	const { name, isView } = listing
	const primary = primaryOf(infos)
	const unique = isView ? [] : uniqueKeys(query, listing, infos)
	const key = keyOf({ name, isView, columns: infos, primary, unique }, options.key)
	const isRowid = (info: Info) =>
		listing.hasRowid && primary.length === 1 && info.name === primary[0] && /^integer$/i.test(info.declared)
	const checked = checkedChoices(sqlOf(query, listing))
	const columns = infos.map((info) => {
		const own = columnOf(query, listing, info, isRowid(info), key.includes(info.name), options.bigint)
		const choices = own.type === 'text' ? checked.get(info.name.toLowerCase()) : undefined
		// In a column that ignores case, `in ('draft')` is true of more texts.
		return choices && info.collation === undefined ? { ...own, choices } : own
	})
	const schema = listing.schema === 'main' ? undefined : listing.schema
	if (!isView)
		return withKey(
			{
				schema,
				name,
				columns,
				constraints: constraintsOf(query, listing, primary),
				unique: [primary, ...unique],
				uniques: [primary, ...uniqueKeys(query, listing, infos, true)].filter(({ length }) => length > 0),
				isView,
				hasTriggers: triggersOf(query, listing).length > 0 || CONFLICT.test(sqlOf(query, listing)),
			},
			key,
		)
	const isWritable = takesWrites(query, listing)
	const behind = isWritable ? tableBehind(query, listing, columns) : undefined
	return withKey({ schema, name, columns, constraints: [], ...behind, isView, isWritable }, key)
}

function columnOf(
	query: Query,
	listing: Listing,
	info: Info,
	isRowid: boolean,
	isKey: boolean,
	bigint: BigintForm,
): Column {
	const declared = fieldOf(info.declared)
	const sampled =
		declared.type === 'other' && (listing.isView || isKey)
			? typeOfValue(sample(query, listing, info.name))
			: undefined
	const type = sampled ?? declared.type
	const timestamp =
		type === 'timestamp'
			? timestampFormat(info.defaultSql, sample(query, listing, info.name), declared.length)
			: undefined
	const decimal = type === 'decimal' && declared.scale !== undefined ? `${SCALE}${declared.scale}` : undefined
	const isExact = isRowid || (listing.isStrict && info.declared.toUpperCase() !== 'ANY')
	return {
		name: info.name,
		type,
		sqlType: declared.name,
		nullable: info.nullable && !isRowid && !isKey,
		hasDefault: info.defaultSql !== null || isRowid,
		generated: info.generated,
		maxLength: type === 'text' ? declared.length : undefined,
		asText: type === 'bigint' && bigint === 'string',
		digits: type === 'decimal' ? digitsOf(declared) : undefined,
		loose: isExact ? undefined : true,
		...(info.collation === undefined ? {} : { collation: info.collation }),
		defaultSql: info.defaultSql ?? undefined,
		fraction: timestamp && fractionOf(timestamp),
		storage: (timestamp && storageOf(timestamp)) ?? decimal ?? (isExact ? STRICT : undefined),
	}
}

/** Triggers for only some columns don't count: without a trigger that fires, an update fails. */
const INSTEAD = /\binstead\s+of\s+(insert|update|delete)\b(?!\s+of\b)/i

/** The SQL of the triggers of a table or view. */
function triggersOf(query: Query, { schema, name }: Listing): readonly string[] {
	// A temporary trigger may be on a table of any schema.
	const all = [schema, 'temp'].map((one) => `select * from ${ansiQuoted(one)}.sqlite_schema`).join(' union ')
	const text = `select sql from (${all}) where type = 'trigger' and lower(tbl_name) = lower(?)`
	return query(text, name).map(([sql]) => String(sql))
}

/** The statement that has created a table or view. */
function sqlOf(query: Query, { schema, name }: Listing): string {
	const text = `select sql from ${ansiQuoted(schema)}.sqlite_schema where type in ('table', 'view') and name = ?`
	return String(query(text, name)[0]?.[0])
}

/** A constraint may skip a change, or keep what it did before it failed: `unique on conflict ignore` or `fail`. */
const CONFLICT = /\bconflict\b/i

/** Whether the view has triggers for inserts, updates and deletes. */
function takesWrites(query: Query, listing: Listing): boolean {
	const events = triggersOf(query, listing).map((sql) => INSTEAD.exec(sql)?.[1]?.toLowerCase())
	return ['insert', 'update', 'delete'].every((event) => events.includes(event))
}

/**
 * The table behind a view, if its definition names only one, and the constraints whose columns have the same names in
 * the view. Errors of the view's triggers name that table.
 */
function tableBehind(
	query: Query,
	view: Listing,
	columns: readonly Column[],
): Pick<Table, 'base' | 'constraints'> | undefined {
	const body = sqlOf(query, view)
		.replace(/^.*?\bas\b/is, '')
		// A selected column may have the name of another table.
		.replace(/^.*?\bfrom\b/is, '')
		.toLowerCase()
	const words = new Set(body.match(/[\p{L}\p{N}_$]+/gu))
	const named = listingsBy(query).filter(
		({ schema, name }) => schema === view.schema && name !== view.name && words.has(name.toLowerCase()),
	)
	const [table] = named
	if (table === undefined || table.isView || named.length > 1) return undefined
	const infos = infosOf(query, table)
	const names = columns.map(({ name }) => name).filter((name) => infos.some((info) => info.name === name))
	return {
		base: { schema: table.schema, name: table.name, columns: new Map(names.map((name) => [name, name])) },
		constraints: constraintsOf(query, table, primaryOf(infos)).filter((constraint) =>
			constraint.columns.every((column) => names.includes(column)),
		),
	}
}

function digitsOf({ length, scale = 0 }: DeclaredType): Column['digits'] {
	return length === undefined ? undefined : [Math.max(0, length - scale), scale]
}

/** A non-null value of a column, from its first 1,000 rows. */
function sample(query: Query, { schema, name }: Listing, column: string): unknown {
	const [row] = query(
		`select c from (select ${ansiQuoted(column)} as c from ${ansiQuoted(schema)}.${ansiQuoted(name)} limit 1000) where c is not null limit 1`,
	)
	return row?.[0]
}

/** The type of an expression in a view, which has no declared type, derived from one of its values. */
function typeOfValue(value: unknown): Column['type'] | undefined {
	if (typeof value === 'bigint') return 'bigint'
	if (typeof value === 'number') return 'float'
	if (typeof value === 'string') return 'text'
	return value instanceof Uint8Array ? 'bytes' : undefined
}

function constraintsOf(query: Query, { name, schema }: Listing, primary: readonly string[]): Constraint[] {
	const constraints: Constraint[] = []
	if (primary.length > 0) constraints.push({ name: '', kind: 'primary', columns: primary })
	for (const [index] of query(
		`select name from pragma_index_list(?, ?) where "unique" = 1 and origin <> 'pk'`,
		name,
		schema,
	)) {
		const columns = query('select name from pragma_index_info(?, ?) order by seqno', index, schema)
		const named = columns.flatMap(([column]) => (typeof column === 'string' ? [column] : []))
		constraints.push({ name: String(index), kind: 'unique', columns: named })
	}
	return [...constraints, ...foreignKeys(query, { name, schema })]
}

function foreignKeys(query: Query, { name, schema }: Pick<Listing, 'name' | 'schema'>): Constraint[] {
	const groups = new Map<unknown, (readonly unknown[])[]>()
	for (const [id, ...row] of query(
		'select id, "from", "to", "table" from pragma_foreign_key_list(?, ?) order by id, seq',
		name,
		schema,
	)) {
		groups.set(id, [...(groups.get(id) ?? []), row])
	}
	return Array.from(groups.values(), (rows) => {
		const table = String(rows[0]?.[2])
		const infos = infosOf(query, { schema, name: table })
		// Names are as the key was declared, in any case; without names, it refers to the primary key.
		const named = (to: unknown) => infos.find((info) => isSame(info.name, String(to)))?.name
		const to = rows.map(([, to]) => (to === null ? undefined : named(to)))
		const columns = rows.every(([, to]) => to === null) ? primaryOf(infos) : to
		return {
			name: '',
			kind: 'foreign_key',
			columns: rows.map(([from]) => String(from)),
			target: { schema, name: table, columns: columns.filter((column) => column !== undefined) },
		}
	})
}

/** A table or view, as `pragma_table_list` describes it. */
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
	readonly type: Column['type'] | undefined
	readonly nullable: boolean
	readonly defaultSql: string | null
	/** Its position in the primary key, from 1; 0 if it isn't in the key. */
	readonly inKey: number
	readonly generated: boolean
	/** See {@link collated}; `undefined` for BINARY. */
	readonly collation?: string | undefined
}

type Query = (text: string, ...values: readonly unknown[]) => readonly (readonly unknown[])[]

/** All tables and views except SQLite's own. */
export function listings(driver: SqliteDriver): Listing[] {
	return listingsBy(queryBy(driver))
}

function listingsBy(query: Query): Listing[] {
	const rows = query(
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

/** @throws TypeError for an unknown table; the message suggests a similar one, or lists all */
export function findListing(driver: SqliteDriver, name: string): Listing {
	const all = listings(driver)
	const found =
		all.find((listing) => isSame(listing.name, name)) ??
		all.find((listing) => isSame(`${listing.schema}.${listing.name}`, name))
	if (found !== undefined) return found
	const names = all.map((listing) =>
		listing.schema === 'main' ? listing.name : `${listing.schema}.${listing.name}`,
	)
	const hint = names.length === 0 ? '; the database has none' : nearest(name, names)
	throw new TypeError(`there is no table or view ${JSON.stringify(name)}${hint}`)
}

function isSame(a: string, b: string): boolean {
	return a.toLowerCase() === b.toLowerCase()
}

/** The primary key; empty if there is none that can be a model's key. */
export function ownKey(driver: SqliteDriver, listing: Listing): readonly string[] {
	const query = queryBy(driver)
	const columns = infosOf(query, listing).map((info) =>
		info.type === undefined && info.inKey > 0
			? { ...info, type: typeOfValue(sample(query, listing, info.name)) ?? 'other' }
			: info,
	)
	return primaryKey({ ...listing, columns, primary: primaryOf(columns), unique: [] })
}

/** The columns of the primary key, in its order. */
function primaryOf(infos: readonly Info[]): string[] {
	const inKey = infos.filter((info) => info.inKey > 0)
	return inKey.sort((a, b) => a.inKey - b.inKey).map(({ name }) => name)
}

function queryBy(driver: SqliteDriver): Query {
	return (text, ...values) => driver.run({ text, values, writes: false }).rows
}

function infosOf(query: Query, { schema, name }: Pick<Listing, 'schema' | 'name'>): Info[] {
	const rows = query(
		'select name, type, "notnull", dflt_value, pk, hidden from pragma_table_xinfo(?, ?) where hidden <> 1 order by cid',
		name,
		schema,
	)
	return rows.map(([column, declaredType, notNull, defaultSql, pk, hidden]) => {
		const declared = String(declaredType ?? '').replace(/\s*generated always\s*$/i, '')
		const { type } = fieldOf(declared)
		return {
			name: String(column),
			declared,
			// The type of a column without a known one is that of its values.
			type: type === 'other' ? undefined : type,
			nullable: Number(notNull) !== 1,
			defaultSql: typeof defaultSql === 'string' ? defaultSql : null,
			inKey: Number(pk),
			generated: Number(hidden) >= 2,
		}
	})
}

/**
 * Columns that have a unique index of their own over all records, and by default aren't nullable. The index must not distinguish texts
 * that are equal in the column's collation: if a page ended between two such keys, the next page would skip the second.
 */
function uniqueKeys(query: Query, listing: Listing, infos: readonly Info[], allowsNull = false): string[][] {
	const { name, schema } = listing
	const indexes = query(
		'select name from pragma_index_list(?, ?) where "unique" = 1 and partial = 0',
		name,
		schema,
	)
	const isUnique = ([column, collation]: readonly unknown[]) => {
		const info = infos.find((one) => one.name === column)
		if (info === undefined || (info.nullable && !allowsNull)) return false
		return info.collation === undefined || collation === info.collation
	}
	return indexes
		.map(([index]) =>
			query(
				'select name, upper(coll) from pragma_index_xinfo(?, ?) where key = 1 order by seqno',
				index,
				schema,
			),
		)
		.filter((parts) => parts.every(isUnique))
		.map((parts) => parts.map(([column]) => String(column)))
}

/**
 * Adds the columns' collations. Tests by comparing, because no pragma reports them: a compound select has that of its first
 * part, which reads nothing.
 */
function collated(query: Query, { schema, name }: Listing, infos: readonly Info[]): Info[] {
	const columns = infos.map((info, at) => `${ansiQuoted(info.name)} as c${at}`).join(', ')
	const [row = []] = query(
		`select ${infos.map((_, at) => `(c${at} = 'A') + 2 * (c${at} = 'a ')`).join(', ')}
		from (select ${columns} from ${ansiQuoted(schema)}.${ansiQuoted(name)} where 0 union all select ${infos.map(() => `'a'`).join(', ')})`,
	)
	return infos.map((info, at) => ({ ...info, collation: [undefined, 'NOCASE', 'RTRIM'][Number(row[at])] }))
}
