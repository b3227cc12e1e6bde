/** Makes `Table`s of what the catalog says: columns with their types resolved, constraints, and the key. */

import { nearest } from '../../base/options.ts'
import type { Field } from '../model.ts'
import type { BigintForm } from '../sql/options.ts'
import type { Column, Constraint, Table } from '../sql/table.ts'
import type { Catalog, CatalogColumn, CatalogConstraint, CatalogType, Relation } from './catalog.ts'
import { keepsDimensions } from './expression.ts'
import { fieldOf, isLoose, LOOSE, NESTED, sqlTypeOf } from './types.ts'

const KINDS: Readonly<Record<string, Constraint['kind']>> = {
	p: 'primary',
	u: 'unique',
	// Another record stands against it, as with `unique`.
	x: 'unique',
	f: 'foreign_key',
	c: 'check',
}

/** A table, and the columns of which one alone tells its records apart. */
export interface Found {
	readonly table: Omit<Table, 'key'>
	/** The primary key's columns. */
	readonly primary: readonly string[]
	/** Columns that are unique and never null, each by itself. */
	readonly unique: readonly string[]
}

/** What the catalog says of one relation. */
export function introspect(relation: Relation, catalog: Catalog, bigint: BigintForm): Found {
	const types = new Map(catalog.types.map((type) => [type.oid, type]))
	const own = catalog.columns.filter(({ table }) => table === relation.oid)
	const names = new Map(own.map(({ number, name }) => [number, name]))
	const constraints = catalog.constraints.filter(({ table }) => table === relation.oid)
	const columnsOf = ({ columns }: CatalogConstraint): string[] =>
		(columns ?? []).flatMap((number) => names.get(number) ?? [])
	const columns = own.map((column) => columnFor(column, relation.isView, types, bigint))
	const primary = constraints.find(({ kind }) => kind === 'p')
	const alone = new Set(
		constraints
			.filter(({ kind, isWhole, columns }) => /[pu]/.test(kind) && isWhole && columns?.length === 1)
			.flatMap(columnsOf),
	)
	return {
		table: {
			schema: relation.schema,
			name: relation.name,
			columns,
			constraints: [
				...constraints.flatMap((constraint) => {
					const kind = KINDS[constraint.kind]
					return kind === undefined ? [] : { name: constraint.name, kind, columns: columnsOf(constraint) }
				}),
				...own.flatMap((column) => domainChecks(column, types)),
			],
			isView: relation.isView,
			hasTriggers: relation.hasTriggers,
		},
		primary: primary === undefined ? [] : columnsOf(primary),
		unique: columns.filter((column) => alone.has(column.name) && !column.nullable).map(({ name }) => name),
	}
}

/** A domain, the domain it is made of, and so on, down to the type itself. */
function chainOf(oid: string, types: ReadonlyMap<string, CatalogType>): CatalogType[] {
	const type = types.get(oid)
	if (type === undefined) return []
	return type.kind === 'd' ? [type, ...chainOf(type.base, types)] : [type]
}

function columnFor(
	column: CatalogColumn,
	isOfView: boolean,
	types: ReadonlyMap<string, CatalogType>,
	bigint: BigintForm,
): Column {
	const chain = chainOf(column.type, types)
	const type = chain.at(-1)
	if (type === undefined) throw new Error(`the catalog has no type ${column.type} of column ${column.name}`)
	// A domain has its type's length; its column has none.
	const typmod = chain.reduce((found, { typmod }) => (found === -1 ? typmod : found), column.typmod)
	const field = fieldOf(type, typmod)
	const sqlType = sqlTypeOf(type, types)
	const storage = storageOf(column, type, sqlType)
	const isGenerated = column.generated !== '' || column.identity === 'a'
	return {
		name: column.name,
		sqlType,
		...field,
		// An outer join of a view makes nulls of any type, also of a domain that has none.
		nullable: !column.notNull && (isOfView || !chain.some(({ notNull }) => notNull)),
		hasDefault: !isGenerated && hasDefault(column, chain),
		generated: isGenerated,
		...(field.type === 'bigint' && bigint === 'string' ? { asText: true } : {}),
		...(column.isLoose ? { wholeOnly: true } : {}),
		...(storage === undefined ? {} : { storage }),
	} satisfies Field & Column
}

function storageOf(column: CatalogColumn, type: CatalogType, sqlType: string): string | undefined {
	if (column.dimensions > 1 && keepsDimensions(sqlType)) return NESTED
	return column.isLoose || isLoose(type) ? LOOSE : undefined
}

function hasDefault(column: CatalogColumn, chain: readonly CatalogType[]): boolean {
	return column.hasDefault || column.identity !== '' || chain.some((type) => type.hasDefault)
}

/** The checks of a column's domain: an error names them as it names the table's own. */
function domainChecks(column: CatalogColumn, types: ReadonlyMap<string, CatalogType>): Constraint[] {
	return chainOf(column.type, types)
		.flatMap(({ checks }) => checks ?? [])
		.map((name) => ({ name, kind: 'check', columns: [column.name] }))
}

const KEY_TYPES: ReadonlySet<string> = new Set(['integer', 'bigint', 'uuid', 'text'])

/** Whether the primary key is one column that can be a model's key. */
export function hasKey({ table, primary }: Found): boolean {
	const key = table.columns.find(({ name }) => name === primary[0])
	return primary.length === 1 && key !== undefined && KEY_TYPES.has(key.type)
}

/**
 * The table with its key: the one that was asked for, else the primary key.
 *
 * @throws TypeError where there is none, or it doesn't tell the records apart
 */
export function withKey(
	{ table, primary, unique }: Found,
	asked: string | undefined,
): { readonly table: Table; readonly key: Column } {
	const key = asked ?? keyOf(table, primary)
	const column = table.columns.find(({ name }) => name === key)
	if (column === undefined) {
		const near = nearest(
			key,
			table.columns.map(({ name }) => name),
		)
		throw new TypeError(`${table.name} has no column ${JSON.stringify(key)} to be its key${near}`)
	}
	if (!KEY_TYPES.has(column.type)) {
		throw new TypeError(
			`the key of ${table.name}, ${key}, is of type ${column.sqlType}; a key is an integer, a uuid or a text`,
		)
	}
	// What a view holds is not in the catalog: there, whoever names the key answers for it.
	if (!table.isView && !unique.includes(key)) {
		throw new TypeError(
			`${key} can't be the key of ${table.name}: a key is unique by itself, and not null${choices(table, unique)}`,
		)
	}
	return { table: { ...table, key }, key: column }
}

function keyOf(table: Omit<Table, 'key'>, primary: readonly string[]): string {
	const [only, ...more] = primary
	if (only !== undefined && more.length === 0) return only
	const what = table.isView ? 'is a view' : primary.length === 0 ? 'has no primary key' : 'has a primary key'
	const of = primary.length > 1 ? ` of ${primary.length} columns, ${primary.join(', ')}` : ''
	throw new TypeError(
		`${table.name} ${what}${of}: pass { key: '…' }, a column that is unique and not null, by which its records are told apart`,
	)
}

function choices({ columns }: Omit<Table, 'key'>, unique: readonly string[]): string {
	const fit = columns.filter(({ name, type }) => unique.includes(name) && KEY_TYPES.has(type))
	return fit.length === 0 ? '' : `; it could be ${fit.map(({ name }) => name).join(' or ')}`
}
