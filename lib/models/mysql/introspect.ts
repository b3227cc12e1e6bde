/**
 * `introspect`: a table as the live database describes it in `information_schema`; and names of tables as users write
 * them: `article`, `blog.article`, in backticks whatever they hold. Called by `model.ts`.
 */
import { nearest } from '../../base/options.ts'
import type { Driver } from '../sql/driver.ts'
import { type Keyless, keyOf, withKey } from '../sql/key.ts'
import type { Column, Constraint, Table } from '../sql/table.ts'
import { columnSql, type MysqlColumn, quoteName } from './json.ts'
import type { Server } from './mysql2/server.ts'
import { BESIDES, choicesOf, fieldOf, type Measures, rangeOf } from './types.ts'

export interface Wanted {
	/** The field that tells records apart, where no primary key says it. */
	readonly key: string | undefined
	readonly bigintAsText: boolean
}

/** A table or view of a database, before anything else is known of it. */
export interface Listing {
	readonly name: string
	readonly isView: boolean
}

/** The tables and views of a database; of the pool's own one where none is named. */
export async function listTables(
	driver: Driver,
	{ schema: own }: Server,
	named: string | undefined,
): Promise<Listing[]> {
	const schema = named ?? own
	if (schema === undefined) {
		throw new TypeError(
			"the pool uses no database: name the table's, 'blog.article', or create the pool with { database }",
		)
	}
	const text = `select table_name, table_type from information_schema.tables where table_schema = ? order by table_name`
	const { rows } = await driver.query({ text, values: [schema], writes: false })
	return rows.map(([name, type]) => ({ name: String(name), isView: /view/i.test(String(type)) }))
}

/** @throws TypeError when there is no such table, or nothing in it to tell records apart by */
export async function introspect(
	driver: Driver,
	server: Server,
	named: TableName,
	wanted: Wanted,
): Promise<Table> {
	const listing = find(await listTables(driver, server, named.schema), named, server)
	const table = await describe(driver, server, { schema: named.schema, ...listing }, wanted.bigintAsText)
	return keyed(table, keyOf(table, wanted.key), server)
}

/** A table without its key. */
type Described = Omit<Table, 'key' | 'columns'> &
	Omit<Keyless, 'columns'> & { readonly columns: readonly MysqlColumn[] }

function find(listings: readonly Listing[], { schema, name }: TableName, { foldsNames }: Server): Listing {
	const folded = name.toLowerCase()
	const found =
		listings.find((listing) => listing.name === name) ??
		(foldsNames ? listings.find((listing) => listing.name.toLowerCase() === folded) : undefined)
	if (found !== undefined) return found
	const written = schema === undefined ? name : `${schema}.${name}`
	const names = listings.map((listing) => listing.name)
	throw new TypeError(
		`there is no table ${written}${nearest(name, names)}${names.length === 0 ? '; the database has none' : ''}`,
	)
}

/** What the database says of a table. */
export async function describe(
	driver: Driver,
	server: Server,
	{ schema: named, name, isView }: Listing & TableName,
	bigintAsText: boolean,
): Promise<Described> {
	const values = [named ?? server.schema ?? null, name, name]
	const ask = async (text: string) => (await driver.query({ text, values, writes: false })).rows
	const checks = server.tellsChecks ? await ask(checksText(server)) : []
	const columnRows = await ask(
		`select ${ASKED_OF_COLUMNS.join(', ')} from information_schema.columns where ${ofTable('')} order by ordinal_position`,
	)
	const json = new Set(checks.flatMap(([, clause]) => jsonColumn(String(clause))))
	const columns = columnRows.map((row) => columnOf(row, { server, json, bigintAsText }))
	const indexes = await ask(INDEXES)
	const constraints = [
		...grouped(indexes, (constraint) => (constraint === 'PRIMARY' ? 'primary' : 'unique')),
		...grouped(await ask(FOREIGN_KEYS), () => 'foreign_key'),
		...checks.map(([constraint, clause]) => checkOf(String(constraint), String(clause), columns)),
	]
	const primary = constraints.find(({ kind }) => kind === 'primary')?.columns ?? []
	return { schema: named, name, columns, constraints, isView, primary, unique: uniqueAlone(indexes) }
}

/** `information_schema` compares names without case, where tables may differ in nothing else. */
function ofTable(prefix: string, schema = 'table_schema'): string {
	const own = `${prefix}table_name`
	return `${prefix}${schema} = ? and ${own} = ? and cast(${own} as binary) = cast(? as binary)`
}

const INDEXES = `select index_name, column_name, nullable from information_schema.statistics
	where ${ofTable('')} and non_unique = 0 order by index_name, seq_in_index`

const FOREIGN_KEYS = `select constraint_name, column_name from information_schema.key_column_usage
	where ${ofTable('')} and referenced_table_name is not null order by constraint_name, ordinal_position`

/** MySQL's list of checks doesn't say whose they are. */
function checksText({ isMariaDb }: Server): string {
	if (isMariaDb) {
		return `select constraint_name, check_clause from information_schema.check_constraints
			where ${ofTable('', 'constraint_schema')}`
	}
	return `select c.constraint_name, c.check_clause from information_schema.check_constraints c
		join information_schema.table_constraints t
		on t.constraint_schema = c.constraint_schema and t.constraint_name = c.constraint_name
		where ${ofTable('t.')} and t.constraint_type = 'CHECK'`
}

/** How MariaDB says that a text holds JSON; under ANSI_QUOTES it has other quotes. */
function jsonColumn(clause: string): string[] {
	const [, ticked, quoted] = /^json_valid\((?:`((?:[^`]|``)+)`|"((?:[^"]|"")+)")\)$/i.exec(clause) ?? []
	const name = ticked?.replaceAll('``', '`') ?? quoted?.replaceAll('""', '"')
	return name === undefined ? [] : [name]
}

/** Rows of a constraint's name and a column's, in order; a part of an index that is an expression has no column. */
function grouped(
	rows: readonly (readonly unknown[])[],
	kindOf: (name: string) => Constraint['kind'],
): readonly Constraint[] {
	const columns = new Map<string, string[]>()
	for (const [constraint, column] of rows) {
		const name = String(constraint)
		const own = columns.get(name) ?? []
		columns.set(name, own)
		own.push(column === null ? '' : String(column))
	}
	return [...columns].map(([name, own]) => ({
		name,
		kind: kindOf(name),
		columns: own.filter((column) => column !== ''),
	}))
}

/**
 * Columns that are the whole of a unique index, and can't be null. An index over the beginning of a text allows even
 * less than one over all of it.
 */
function uniqueAlone(rows: readonly (readonly unknown[])[]): string[] {
	const parts = new Map<unknown, number>()
	for (const [index] of rows) parts.set(index, (parts.get(index) ?? 0) + 1)
	const alone = rows.filter(
		([index, column, nullable]) => parts.get(index) === 1 && typeof column === 'string' && nullable !== 'YES',
	)
	return [...new Set(alone.map(([, column]) => String(column)))]
}

function checkOf(name: string, clause: string, columns: readonly Column[]): Constraint {
	const named = columns.filter(
		(column) => clause.includes(quoteName(column.name)) || clause.includes(ansiQuoted(column.name)),
	)
	return { name, kind: 'check', columns: named.map((column) => column.name) }
}

function ansiQuoted(name: string): string {
	return `"${name.replaceAll('"', '""')}"`
}

/**
 * A table with its key. A server that answers nothing but what it has counted up doesn't say which key a default
 * has made: such a key has to be given.
 */
export function keyed(table: Described, key: string, { returnsInserted }: Server): Table {
	const found: Table = withKey(table, key)
	if (returnsInserted) return found
	const columns = table.columns.map((column) =>
		column.name === key && !column.isCounted ? { ...column, hasDefault: false } : column,
	)
	return { ...found, columns }
}

interface TableName {
	/** `undefined` for the database that the pool uses. */
	readonly schema: string | undefined
	readonly name: string
}

const PART = '(?:`((?:[^`]|``)+)`|([^`.]+))'
const NAME = new RegExp(`^(?:${PART}\\.)?${PART}$`)

/** @throws TypeError for what is no name */
export function parseTableName(written: string): TableName {
	const found = typeof written === 'string' ? NAME.exec(written) : null
	if (found === null) {
		throw new TypeError(
			`a table is named like 'article', 'blog.article' or '\`odd.name\`', got ${JSON.stringify(written)}`,
		)
	}
	const [, quotedSchema, plainSchema, quotedName, plainName] = found
	const name = unquoted(quotedName) ?? plainName
	if (name === undefined) throw new TypeError('unreachable: the pattern has a name')
	return { schema: unquoted(quotedSchema) ?? plainSchema, name }
}

function unquoted(name: string | undefined): string | undefined {
	return name?.replaceAll('``', '`')
}

/** What is asked of `information_schema.columns`, in this order. */
const ASKED_OF_COLUMNS = [
	'column_name',
	'data_type',
	'column_type',
	'is_nullable',
	'column_default',
	'extra',
	'character_maximum_length',
	'numeric_precision',
	'numeric_scale',
	'datetime_precision',
	'character_set_name',
	'collation_name',
] as const

/** What isn't in the row. */
export interface Around {
	readonly server: Server
	/** Columns that a check of MariaDB says to hold JSON. */
	readonly json: ReadonlySet<string>
	readonly bigintAsText: boolean
}

export function columnOf(row: readonly unknown[], around: Around): MysqlColumn {
	const [
		name,
		sqlType,
		written,
		isNullable,
		preset,
		extra,
		length,
		precision,
		scale,
		fraction,
		charset,
		collation,
	] = row
	const full = String(written).toLowerCase()
	const type = String(sqlType).toLowerCase()
	const measures: Measures = {
		isUnsigned: / unsigned\b/.test(full) || type === 'bit',
		precision: Number(precision ?? 0),
		scale: Number(scale ?? fraction ?? 0),
		isPadded: type === 'year' || / zerofill\b/.test(full),
		untilSecond: around.server.untilSecond,
	}
	const fieldType = fieldOf(String(name), type, full, measures, around.json)
	const isCounted = /auto_increment/i.test(String(extra))
	const column: Column = {
		name: String(name),
		type: fieldType,
		sqlType: type,
		nullable: String(isNullable).toUpperCase() === 'YES',
		hasDefault: isCounted || isPreset(preset, around.server.isMariaDb),
		// MySQL's `DEFAULT_GENERATED` is none: it has an expression for its default.
		generated: /\b(virtual|stored|persistent)( generated)?\b/i.test(String(extra)),
		maxLength: fieldType === 'text' && length !== null ? Number(length) : undefined,
		choices: type === 'enum' ? choicesOf(String(written)) : undefined,
		...rangeOf(type, fieldType, measures),
		asText: fieldType === 'bigint' && around.bigintAsText ? true : undefined,
		besides: BESIDES[type],
		digits: fieldType === 'decimal' ? [measures.precision - measures.scale, measures.scale] : undefined,
	}
	const ownCharset = charset === null || charset === undefined ? undefined : String(charset)
	return {
		...column,
		isCounted,
		charset: ownCharset,
		ignoresCase: /_ci$/i.test(String(collation)),
		sql: columnSql(column, measures),
	}
}

/** MariaDB writes defaults as SQL, MySQL a literal as its bare text. */
function isPreset(preset: unknown, isMariaDb: boolean): boolean {
	return preset !== null && preset !== undefined && !(isMariaDb && String(preset).toUpperCase() === 'NULL')
}
