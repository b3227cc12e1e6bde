/** `introspect`: reads a table's schema from `information_schema`. Called by `model.ts`. */
import type { Bytes } from '../../base/time.ts'
import type { Driver } from '../sql/driver.ts'
import { keyOf, withKey } from '../sql/key.ts'
import type { BigintForm, OpeningOptions } from '../sql/options.ts'
import { ansiQuoted, type Column, type Constraint, type Table } from '../sql/table.ts'
import { type Listing, listingOf, listTables, ofTable, type TableName } from './catalog/listing.ts'
import { columnSql, type MysqlColumn, mysqlColumn, QUOTED_NAME, quoteName, unquoted } from './json.ts'
import type { Server } from './mysql2/server.ts'
import { BESIDES, choicesOf, fieldOf, rangeOf, type TypeDetails } from './types.ts'
import { type Described, originOf, writable } from './views/views.ts'

/** @throws TypeError if there is no such table, or if it has no key */
export async function introspect(
	driver: Driver,
	server: Server,
	name: TableName,
	{ key, bigint }: Pick<OpeningOptions, 'key' | 'bigint'>,
): Promise<Table> {
	const listing = listingOf(await listTables(driver, server, name.schema), name, server)
	const table = await describe(driver, server, { schema: name.schema, ...listing }, bigint)
	return withTableKey(table, keyOf(table, key), server)
}

/** What was read so far, by schema and name. */
export type Read = Map<string, Described>

type Place = TableName & Pick<Listing, 'isView' | 'rigidEngine'>

/**
 * Reads everything about a table except its key.
 *
 * @throws the driver's error for a view that can't be read, because its table is gone for example
 */
export async function describe(
	driver: Driver,
	server: Server,
	place: Place,
	bigint: BigintForm,
	read: Read = new Map(),
): Promise<Described> {
	const described = await describeOnce(driver, server, place, bigint, read)
	if (!place.isView || described.columns.length > 0) return described
	// `information_schema` has no columns of such a view, and doesn't say why; this does.
	const name = [place.schema ?? [], place.name].flat().map(quoteName).join('.')
	await driver.query({ text: `show columns from ${name}`, values: [], writes: false })
	throw new TypeError(`the view ${place.name} has no columns that the user may read`)
}

async function describeOnce(
	driver: Driver,
	server: Server,
	listing: TableName & Partial<Listing>,
	bigint: BigintForm,
	read: Read,
): Promise<Described> {
	const { schema, name, isView } = listing
	const key = JSON.stringify([schema ?? server.schema ?? null, name])
	const known = read.get(key)
	if (known !== undefined) return { ...known, schema }
	const found = isView === undefined ? (await listTables(driver, server, schema, name)).at(0) : undefined
	const place = { isView: false, rigidEngine: undefined, ...listing, ...found, schema }
	const described = await describeAny(driver, server, place, bigint, read)
	read.set(key, described)
	return described
}

async function describeAny(
	driver: Driver,
	server: Server,
	{ schema, name, isView, rigidEngine }: Place,
	bigint: BigintForm,
	read: Read,
): Promise<Described> {
	const values = [schema ?? server.schema ?? null, name, name]
	const ask = async (text: string) => (await driver.query({ text, values, writes: false })).rows
	// Views have neither checks nor indexes nor foreign keys.
	const askTable = async (text: string) => (isView ? [] : ask(text))
	const checks = server.listsChecks ? await askTable(checksText(server)) : []
	const columnRows = await ask(columnsText(server))
	const json = new Set(checks.flatMap(([, clause]) => jsonColumn(String(clause))))
	const columns = columnRows.map((row) => columnOf(row, server, json, bigint))
	const indexes = await askTable(INDEXES)
	const constraints = [
		...grouped(indexes, (constraint) => (constraint === 'PRIMARY' ? 'primary' : 'unique')),
		...foreignKeys(await askTable(FOREIGN_KEYS)),
		...checks.map(([constraint, clause]) => checkOf(String(constraint), String(clause), columns)),
	]
	const primary = constraints.find(({ kind }) => kind === 'primary')?.columns ?? []
	const described = {
		schema,
		name,
		columns,
		constraints,
		isView,
		primary,
		// An index on a prefix of a text counts too: it is even stricter.
		unique: uniqueIndexes(indexes, ([, , nullable]) => nullable !== 'YES'),
		uniques: uniqueIndexes(indexes, ([, , , length]) => length === null),
		...(rigidEngine === undefined ? {} : onlyRead(name, rigidEngine)),
	}
	if (!isView) return described
	const [[definition] = []] = await ask(UPDATABLE)
	const origin = typeof definition === 'string' ? originOf(definition, columns) : undefined
	if (origin === undefined) return described
	const place = { schema: origin.schema ?? schema, name: origin.name }
	const behind = await describeOnce(driver, server, place, bigint, read)
	return writable(described, behind, origin.columns, server)
}

/** Without transactions, a handler couldn't undo a write that it refuses afterwards, such as a record out of its scope. */
function onlyRead(name: string, engine: string): Pick<Table, 'isWritable' | 'readOnlyReason'> {
	const readOnlyReason = `${engine}, the engine of ${name}, has no transactions, so that a refused write would stay stored: alter table ${quoteName(name)} engine=InnoDB`
	return { isWritable: false, readOnlyReason }
}

/** In the order that `columnOf` expects. */
const columnsText = ({
	isMariaDb,
}: Server): string => `select column_name, data_type, column_type, is_nullable, column_default, extra,
	character_maximum_length, numeric_precision, numeric_scale, datetime_precision, character_set_name, collation_name,
	character_octet_length${isMariaDb ? '' : ', srs_id'}
	from information_schema.columns where ${ofTable('')} order by ordinal_position`

const UPDATABLE = `select view_definition from information_schema.views
	where ${ofTable('')} and is_updatable = 'YES'`

const INDEXES = `select index_name, column_name, nullable, sub_part from information_schema.statistics
	where ${ofTable('')} and non_unique = 0 order by index_name, seq_in_index`

const FOREIGN_KEYS = `select constraint_name, column_name, referenced_table_schema, referenced_table_name,
	referenced_column_name from information_schema.key_column_usage
	where ${ofTable('')} and referenced_table_name is not null order by constraint_name, ordinal_position`

/** MySQL's `check_constraints` doesn't have the table's name, so it is joined. */
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

const JSON_VALID = new RegExp(`^json_valid\\(${QUOTED_NAME}\\)$`, 'i')

/** The column of a `json_valid` check, which MariaDB adds to a text column that is declared as JSON. */
function jsonColumn(clause: string): string[] {
	const [, ticked, quoted] = JSON_VALID.exec(clause) ?? []
	const name = unquoted(ticked, quoted)
	return name === undefined ? [] : [name]
}

/** Groups rows by their constraint. A row has its name and a column's, which is null for an expression in an index. */
function grouped(
	rows: readonly (readonly unknown[])[],
	kindOf: (name: string) => Constraint['kind'],
): readonly Constraint[] {
	const groups = new Map<string, string[]>()
	for (const [constraint, column] of rows) {
		const name = String(constraint)
		const columns = groups.get(name) ?? []
		groups.set(name, columns)
		if (column !== null) columns.push(String(column))
	}
	return Array.from(groups, ([name, columns]) => ({ name, kind: kindOf(name), columns }))
}

/** A row has the constraint's name, a column, and the schema, table and column that it refers to. */
function foreignKeys(rows: readonly (readonly unknown[])[]): readonly Constraint[] {
	const constraints = grouped(rows, () => 'foreign_key')
	return constraints.map((constraint) => {
		const own = rows.filter(([name]) => String(name) === constraint.name)
		const [, , schema, name] = own[0] ?? []
		const columns = own.map((row) => String(row[4]))
		return { ...constraint, target: { schema: String(schema), name: String(name), columns } }
	})
}

/** The columns of each unique index whose parts all fit. An expression has no column. */
function uniqueIndexes(
	rows: readonly (readonly unknown[])[],
	fits: (part: readonly unknown[]) => boolean,
): string[][] {
	const indexes = new Map<unknown, (readonly unknown[])[]>()
	for (const row of rows) indexes.set(row[0], [...(indexes.get(row[0]) ?? []), row])
	return [...indexes.values()]
		.filter((parts) => parts.every((part) => typeof part[1] === 'string' && fits(part)))
		.map((parts) => parts.map(([, column]) => String(column)))
}

function checkOf(name: string, clause: string, columns: readonly Column[]): Constraint {
	const names = columns.map((column) => column.name)
	const named = names.filter((each) => clause.includes(quoteName(each)) || clause.includes(ansiQuoted(each)))
	return { name, kind: 'check', columns: named }
}

/**
 * Adds the key. Without `returning`, the server reports only auto-increment keys, so no other default of the key is
 * usable.
 */
export function withTableKey(table: Described, key: readonly string[], { returnsInserted }: Server): Table {
	const result: Table = withKey(table, key)
	const columns = result.columns.map((column) => {
		if (!key.includes(column.name)) return column
		const hasDefault = column.hasDefault && (returnsInserted || mysqlColumn(column).isAutoIncrement)
		// The key decides the order of records that are equal in all else, so it is compared as a whole.
		return { ...mysqlColumn(column), hasDefault, isCut: false }
	})
	return { ...result, columns }
}

/** The longest column that InnoDB indexes as a whole, so that it can be sorted by its index. */
const MAX_INDEXED: Bytes = 3_072

/** `json` has the columns that a check of MariaDB marks as JSON. */
function columnOf(
	row: readonly unknown[],
	server: Server,
	json: ReadonlySet<string>,
	bigint: BigintForm,
): MysqlColumn {
	const [name, sqlType, columnType, isNullable, defaultValue, extra, length] = row
	const [precision, scale, fraction, charset, collation, octets, srid] = row.slice(7)
	const full = String(columnType).toLowerCase()
	const type = String(sqlType).toLowerCase()
	const details: TypeDetails = {
		isUnsigned: / unsigned\b/.test(full) || type === 'bit',
		precision: Number(precision ?? 0),
		scale: Number(scale ?? fraction ?? 0),
		isZeroPadded: type === 'year' || / zerofill\b/.test(full),
		timestampEnd: server.timestampEnd,
		isMariaDb: server.isMariaDb,
		srid: Number(srid ?? 0),
	}
	const fieldType = fieldOf(String(name), type, full, details, json)
	const isAutoIncrement = /auto_increment/i.test(String(extra))
	const column: Column = {
		name: String(name),
		type: fieldType,
		sqlType: type,
		nullable: String(isNullable).toUpperCase() === 'YES',
		hasDefault: isAutoIncrement || isDefault(defaultValue, server.isMariaDb),
		// MySQL's `DEFAULT_GENERATED` means an expression as the default, not a generated column.
		generated: /\b(virtual|stored|persistent)( generated)?\b/i.test(String(extra)),
		maxLength: fieldType === 'text' && length !== null ? Number(length) : undefined,
		choices: type === 'enum' ? choicesOf(String(columnType)) : undefined,
		...rangeOf(type, fieldType, details),
		asText: fieldType === 'bigint' && bigint === 'string' ? true : undefined,
		besides: BESIDES[type],
		loose: fieldType === 'boolean' && type === 'tinyint' ? true : undefined,
		fraction: fieldType === 'timestamp' ? details.scale : undefined,
		digits: fieldType === 'decimal' ? [details.precision - details.scale, details.scale] : undefined,
	}
	return {
		...column,
		isAutoIncrement,
		charset: charset === null || charset === undefined ? undefined : String(charset),
		ignoresCase: /_ci$/i.test(String(collation)),
		isCut: fieldType === 'text' && type !== 'enum' && Number(octets ?? 0) > MAX_INDEXED,
		sql: columnSql(column, details),
	}
}

/** MariaDB lists defaults as SQL, where NULL means that there is none; MySQL lists literals as bare text. */
function isDefault(value: unknown, isMariaDb: boolean): boolean {
	return value !== null && value !== undefined && !(isMariaDb && String(value).toUpperCase() === 'NULL')
}
