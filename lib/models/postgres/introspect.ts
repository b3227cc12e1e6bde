/**
 * `introspect` makes a `Table` from what `catalog/read-catalog.ts` has read; `relationCalled` finds a relation by name. Called by
 * `model.ts`.
 */
import { nearest } from '../../base/options.ts'
import type { Keyless } from '../sql/key.ts'
import type { BigintForm } from '../sql/options.ts'
import type { Base, Column, Constraint, Table } from '../sql/table.ts'
import type { Catalog, CatalogColumn, CatalogConstraint, Origin, Relation } from './catalog/read-catalog.ts'
import { keepsDimensions } from './json.ts'
import { type CatalogType, fieldOf, isLoose, LOOSE, NESTED, sqlTypeOf } from './types.ts'

const KINDS: Readonly<Record<string, Constraint['kind']>> = {
	p: 'primary',
	u: 'unique',
	// Exclusion: like `unique`, a conflict with another record.
	x: 'unique',
	f: 'foreign_key',
	c: 'check',
}

export function introspect(
	relation: Relation,
	catalog: Catalog,
	bigint: BigintForm,
): Omit<Table, 'key'> & Keyless & Pick<Relation, 'isPlain'> {
	const types = new Map(catalog.types.map((type) => [type.oid, type]))
	const own = catalog.columns.filter(({ table }) => table === relation.oid)
	const origins = new Map(
		catalog.origins.filter(({ view }) => view === relation.oid).map((one) => [one.number, one]),
	)
	const base = baseOf(own, origins)
	const names = base?.names ?? new Map(own.map(({ number, name }) => [number, name]))
	const constraints = catalog.constraints.filter(({ table }) => table === (base?.oid ?? relation.oid))
	const columnsOf = ({ columns }: CatalogConstraint): string[] =>
		(columns ?? []).flatMap((number) => names.get(number) ?? [])
	const columns = own.map((column) =>
		withChoices(columnFor(column, relation.isView, types, bigint, origins.get(column.number)), [
			...constraints.filter(({ columns }) => !relation.isView && columns?.[0] === column.number),
			...chainOf(column.type, types).flatMap(({ checks }) => checks ?? []),
		]),
	)
	const primary = relation.isView ? undefined : constraints.find(({ kind }) => kind === 'p')
	const whole = constraints.filter(({ kind, isWhole }) => !relation.isView && /[pu]/.test(kind) && isWhole)
	const nullable = new Set(columns.filter((column) => column.nullable).map(({ name }) => name))
	return {
		schema: relation.schema,
		name: relation.name,
		columns,
		constraints: [
			...constraints.flatMap((constraint) => {
				const kind = KINDS[constraint.kind]
				if (kind === undefined) return []
				const { name, target } = constraint
				return { name, kind, columns: columnsOf(constraint), ...(target === null ? {} : { target }) }
			}),
			...own.flatMap((column) => domainChecks(column, types)),
		],
		isView: relation.isView,
		...(relation.isView ? { isWritable: catalog.writable.includes(relation.oid), base: base?.base } : {}),
		hasTriggers: relation.hasTriggers,
		hasPolicies: relation.hasPolicies,
		isPlain: relation.isPlain,
		uniques: whole.filter(({ isDeferrable }) => !isDeferrable).map(columnsOf),
		primary: primary === undefined ? [] : columnsOf(primary),
		unique: whole.map(columnsOf).filter((names) => names.every((name) => !nullable.has(name))),
	}
}

/** The table behind a view into which the database itself writes, not a trigger. */
function baseOf(
	own: readonly CatalogColumn[],
	origins: ReadonlyMap<number, Origin>,
): { readonly oid: string; readonly base: Base; readonly names: ReadonlyMap<number, string> } | undefined {
	const traced = own.flatMap(({ number, name }) => {
		const origin = origins.get(number)
		return origin?.table === null || origin === undefined ? [] : { ...origin, oid: origin.table, name }
	})
	const [first] = traced
	if (first === undefined) return undefined
	const columns = new Map(traced.map(({ column, name }) => [String(column), name]))
	const names = new Map(traced.map(({ place, name }) => [place, name]))
	return {
		oid: first.oid,
		names,
		base: { schema: first.tableSchema ?? undefined, name: String(first.tableName), columns },
	}
}

/** A domain, its base domain, and so on, down to the base type. */
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
	origin: Origin | undefined,
): Column {
	const chain = chainOf(column.type, types)
	const type = chain.at(-1)
	if (type === undefined) throw new Error(`the catalog has no type ${column.type} of column ${column.name}`)
	// The length of a domain belongs to the domain, not to the column.
	const typmod = chain.reduce((found, { typmod }) => (found === -1 ? typmod : found), column.typmod)
	const field = fieldOf(type, typmod)
	const sqlType = sqlTypeOf(type, types)
	const storage = storageOf(column, type, sqlType)
	const isGenerated =
		column.generated !== '' || column.identity === 'a' || column.isFixed || origin?.isGenerated === true
	return {
		name: column.name,
		sqlType,
		...field,
		// In a view, an outer join may yield null for any type, even for a domain that is not null.
		nullable: !column.notNull && (isOfView || !chain.some(({ notNull }) => notNull)),
		hasDefault:
			!isGenerated &&
			(column.hasDefault ||
				column.identity !== '' ||
				(origin?.defaultSql ?? null) !== null ||
				chain.some((each) => each.hasDefault)),
		generated: isGenerated,
		...(field.type === 'bigint' && bigint === 'string' ? { asText: true } : {}),
		...(column.isLoose ? { wholeOnly: true } : {}),
		...(storage === undefined ? {} : { storage }),
		...(isGenerated || column.hasDefault || !origin?.defaultSql ? {} : { defaultSql: origin.defaultSql }),
	}
}

/** The column with the texts that its checks, and those of its domain, allow. */
function withChoices(column: Column, checks: readonly { readonly condition: string | null }[]): Column {
	// For a type or a collation that ignores case or blanks, such a check is true of more texts.
	if (column.type !== 'text' || column.choices !== undefined || column.storage === LOOSE) return column
	const [choices] = checks.flatMap(({ condition }) => {
		const found = condition === null ? undefined : checkedChoices(condition)
		return found === undefined ? [] : [found]
	})
	return choices === undefined ? column : { ...column, choices }
}

/** The operator `=` of texts, by its oid. */
const EQUAL = /^\{(?:OPEXPR|SCALARARRAYOPEXPR) :opno 98 (?!.*:useOr false)/s

/** A column or the value of a domain, and texts; other nodes only say that a varchar is compared as a text. */
const NODES =
	/^\w+ (?:RELABELTYPE )?(?:VAR|COERCETODOMAINVALUE) (?:(?:ARRAYCOERCEEXPR )?ARRAYEXPR )?CONST(?: CONST)*(?: RELABELTYPE CASETESTEXPR)?$/

/** A constant of type text or varchar, as bytes from -128 to 127, of which the first four are its length. */
const TEXT = /\{CONST :consttype (?:25|1043) [^{}]*:constvalue \d+ \[ ((?:-?\d+ )+)\]\}/g

const LENGTH_BYTES = 4

/**
 * The texts that a check constraint allows in a column, `check (state in ('draft', 'public'))`, read from the expression tree in
 * the catalog. The functions that write a check as SQL would wait for a lock on the table, so that a model couldn't be opened
 * during a migration.
 *
 * @param condition the tree, in UTF-8; `undefined` if it is of another form, which is left to the database
 */
function checkedChoices(condition: string): readonly string[] | undefined {
	if (!EQUAL.test(condition)) return undefined
	const nodes = Array.from(condition.matchAll(/\{([A-Z]+) /g), ([, node = '']) => node)
	if (!NODES.test(nodes.join(' '))) return undefined
	const texts = Array.from(condition.matchAll(TEXT), ([, bytes = '']) => textOf(bytes))
	const constants = nodes.filter((node) => node === 'CONST')
	return texts.length === constants.length ? [...new Set(texts)] : undefined
}

function textOf(bytes: string): string {
	return Buffer.from(bytes.trim().split(' ').map(Number)).toString('utf8', LENGTH_BYTES)
}

function storageOf(column: CatalogColumn, type: CatalogType, sqlType: string): string | undefined {
	if (column.dimensions > 1 && keepsDimensions(sqlType)) return NESTED
	return column.isLoose || isLoose(type) ? LOOSE : undefined
}

/** Checks of a column's domain; errors name them like the table's own checks. */
function domainChecks(column: CatalogColumn, types: ReadonlyMap<string, CatalogType>): Constraint[] {
	return chainOf(column.type, types)
		.flatMap(({ checks }) => checks ?? [])
		.map(({ name }) => ({ name, kind: 'check', columns: [column.name] }))
}

/** A qualified name. Each part is quoted, or contains neither quotes nor dots. */
const QUALIFIED = /^(?:("(?:[^"]|"")+"|[^".]+)\.)?("(?:[^"]|"")+"|[^".]+)$/

/**
 * Finds a relation by its literal name (`article`, `my "table"`), by `schema.name`, or with either part quoted as in
 * SQL (`"my.schema"."my ""table"""`). Without a schema it must be in the connection's `search_path`.
 *
 * @throws TypeError if there is none; the message suggests the nearest name
 */
export function relationCalled(name: string, relations: readonly Relation[]): Relation {
	const found =
		visible(name, relations) ??
		// Names of schemas may contain dots, too.
		relations.find((relation) => `${relation.schema}.${relation.name}` === name) ??
		quoted(name, relations)
	if (found !== undefined) return found
	const names = relations.map((relation) =>
		relation.isVisible ? relation.name : `${relation.schema}.${relation.name}`,
	)
	throw new TypeError(`there is no table or view ${JSON.stringify(name)}${nearest(name, names)}`)
}

function visible(name: string, relations: readonly Relation[]): Relation | undefined {
	return relations.find((relation) => relation.isVisible && relation.name === name)
}

function quoted(name: string, relations: readonly Relation[]): Relation | undefined {
	const [, schema, own] = QUALIFIED.exec(name) ?? []
	if (own === undefined) return undefined
	if (schema === undefined) return visible(unquoted(own), relations)
	return relations.find((relation) => relation.schema === unquoted(schema) && relation.name === unquoted(own))
}

function unquoted(part: string): string {
	return part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part
}
