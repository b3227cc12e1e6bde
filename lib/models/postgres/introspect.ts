/**
 * Reads PostgreSQL's catalog. `readRelations` lists all tables and views; `readCatalog` reads the columns, types and
 * constraints of any number of them in one statement; `introspect` makes a `Table` from the result. `relationCalled`
 * finds a relation by name. Called by `model.ts`.
 */
import { nearest } from '../../base/options.ts'
import type { Driver } from '../sql/driver.ts'
import type { Keyless } from '../sql/key.ts'
import type { BigintForm } from '../sql/options.ts'
import type { Column, Constraint, Table } from '../sql/table.ts'
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
): Omit<Table, 'key'> & Keyless {
	const types = new Map(catalog.types.map((type) => [type.oid, type]))
	const own = catalog.columns.filter(({ table }) => table === relation.oid)
	const names = new Map(own.map(({ number, name }) => [number, name]))
	const constraints = catalog.constraints.filter(({ table }) => table === relation.oid)
	const columnsOf = ({ columns }: CatalogConstraint): string[] =>
		(columns ?? []).flatMap((number) => names.get(number) ?? [])
	const columns = own.map((column) => columnFor(column, relation.isView, types, bigint))
	const primary = constraints.find(({ kind }) => kind === 'p')
	const nullable = new Set(columns.filter((column) => column.nullable).map(({ name }) => name))
	return {
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
		primary: primary === undefined ? [] : columnsOf(primary),
		unique: constraints
			.filter(({ kind, isWhole }) => /[pu]/.test(kind) && isWhole)
			.map(columnsOf)
			.filter((names) => names.every((name) => !nullable.has(name))),
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
): Column {
	const chain = chainOf(column.type, types)
	const type = chain.at(-1)
	if (type === undefined) throw new Error(`the catalog has no type ${column.type} of column ${column.name}`)
	// The length of a domain belongs to the domain, not to the column.
	const typmod = chain.reduce((found, { typmod }) => (found === -1 ? typmod : found), column.typmod)
	const field = fieldOf(type, typmod)
	const sqlType = sqlTypeOf(type, types)
	const storage = storageOf(column, type, sqlType)
	const isGenerated = column.generated !== '' || column.identity === 'a'
	return {
		name: column.name,
		sqlType,
		...field,
		// In a view, an outer join may yield null for any type, even for a domain that is not null.
		nullable: !column.notNull && (isOfView || !chain.some(({ notNull }) => notNull)),
		hasDefault:
			!isGenerated && (column.hasDefault || column.identity !== '' || chain.some((each) => each.hasDefault)),
		generated: isGenerated,
		...(field.type === 'bigint' && bigint === 'string' ? { asText: true } : {}),
		...(column.isLoose ? { wholeOnly: true } : {}),
		...(storage === undefined ? {} : { storage }),
	}
}

function storageOf(column: CatalogColumn, type: CatalogType, sqlType: string): string | undefined {
	if (column.dimensions > 1 && keepsDimensions(sqlType)) return NESTED
	return column.isLoose || isLoose(type) ? LOOSE : undefined
}

/** Checks of a column's domain; errors name them like the table's own checks. */
function domainChecks(column: CatalogColumn, types: ReadonlyMap<string, CatalogType>): Constraint[] {
	return chainOf(column.type, types)
		.flatMap(({ checks }) => checks ?? [])
		.map((name) => ({ name, kind: 'check', columns: [column.name] }))
}

/** A table, view, materialized view, foreign or partitioned table. */
interface Relation {
	readonly oid: string
	readonly schema: string
	readonly name: string
	readonly isView: boolean
	/** Whether its unqualified name refers to it, according to the connection's `search_path`. */
	readonly isVisible: boolean
	/** Whether it is a partition. */
	readonly isPart: boolean
	/** Whether it, or a partition of it, has rules or triggers. The triggers of foreign keys don't count. */
	readonly hasTriggers: boolean
}

export interface Relations {
	readonly relations: readonly Relation[]
	/** The first existing schema of the `search_path`; null for none. */
	readonly currentSchema: string | null
	/** The setting `extra_float_digits`; below 1, floats lose digits. */
	readonly extraFloatDigits: number
}

interface CatalogColumn {
	readonly table: string
	readonly number: number
	readonly name: string
	readonly type: string
	readonly typmod: number
	/** Declared dimensions of an array, which the server doesn't enforce: 2 for `int4[][]`. */
	readonly dimensions: number
	readonly notNull: boolean
	readonly hasDefault: boolean
	/** `a` for always, `d` for by default, empty for none. */
	readonly identity: string
	/** `s` for stored, `v` for virtual, empty for none. */
	readonly generated: string
	/** Whether its collation is nondeterministic: different texts can be equal. */
	readonly isLoose: boolean
}

interface CatalogConstraint {
	readonly table: string
	readonly name: string
	/** `p` primary, `u` unique, `f` foreign key, `c` check, `x` exclusion. */
	readonly kind: string
	/** Column numbers. */
	readonly columns: readonly number[] | null
	/** Whether it applies to all rows and to the columns themselves: not a partial index, and not one on expressions. */
	readonly isWhole: boolean
}

interface Catalog {
	readonly columns: readonly CatalogColumn[]
	readonly types: readonly CatalogType[]
	readonly constraints: readonly CatalogConstraint[]
}

const RELATIONS = `select json_build_object('currentSchema', current_schema(),
	'extraFloatDigits', current_setting('extra_float_digits')::int,
	'relations', (select coalesce(json_agg(json_build_object('oid', c.oid::text, 'schema', n.nspname,
		'name', c.relname, 'isView', c.relkind in ('v', 'm'), 'isVisible', pg_table_is_visible(c.oid),
		'isPart', c.relispartition, 'hasTriggers', c.relhasrules or exists (select from pg_catalog.pg_trigger t
			where not t.tgisinternal and (t.tgrelid = c.oid or c.relkind = 'p' and t.tgrelid in (
				select p.relid from pg_catalog.pg_partition_tree(c.oid) p)))) order by n.nspname, c.relname), '[]')
	from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
	where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname <> 'information_schema'
	and n.nspname not in ('pg_catalog', 'pg_toast')))::text`

/**
 * `$1` is an array of oids of relations. `pg_depend` has the columns of an expression index. A view's column is not
 * null if it is a not-null column of a table, and the view is a single select with inner joins only: no union, no
 * grouping sets, no subquery. The view's query tree lists its columns in order.
 */
const CATALOG = `with recursive own as (
	select a.* from pg_catalog.pg_attribute a
	where a.attrelid = any($1::oid[]) and a.attnum > 0 and not a.attisdropped
), used(oid) as (
	select atttypid from own
	union select next.oid from used u join pg_catalog.pg_type t on t.oid = u.oid
	cross join lateral (values (t.typbasetype), (t.typelem)) next(oid) where next.oid <> 0
), certain as (
	select v.oid, o.number from pg_catalog.pg_class v
	join pg_catalog.pg_rewrite r on r.ev_class = v.oid and r.ev_type = '1'
	cross join lateral (select r.ev_action::text) t(tree)
	cross join lateral regexp_matches(tree, ':resorigtbl ([0-9]+) :resorigcol ([0-9]+) :resjunk false', 'g')
		with ordinality o(origin, number)
	join pg_catalog.pg_attribute a on a.attrelid = o.origin[1]::oid and a.attnum = o.origin[2]::int and a.attnotnull
	join pg_catalog.pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p')
	where v.oid = any($1::oid[]) and v.relkind = 'v' and tree !~ ':jointype [1-9]'
	and tree ~ ':groupingSets <>' and tree ~ ':setOperations <>'
	and strpos(substr(tree, strpos(tree, '{QUERY ') + 1), '{QUERY ') = 0
), constrained as (
	select conrelid as "table", conname as name, contype::text as kind, conkey as columns, true as whole
	from pg_catalog.pg_constraint where conrelid = any($1::oid[]) and contype in ('p', 'u', 'f', 'c', 'x')
	union all select i.indrelid, c.relname, 'u', case when 0 = any(i.indkey::int2[])
		then (select array_agg(distinct d.refobjsubid::int2) from pg_catalog.pg_depend d
			where d.classid = 'pg_catalog.pg_class'::regclass and d.objid = i.indexrelid
			and d.refobjid = i.indrelid and d.refobjsubid > 0)
		else (i.indkey::int2[])[0:i.indnkeyatts - 1] end,
		i.indpred is null and i.indexprs is null and i.indisvalid
	from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = i.indexrelid
	where i.indrelid = any($1::oid[]) and i.indisunique
	and not exists (select from pg_catalog.pg_constraint k where k.conindid = i.indexrelid
		and k.contype in ('p', 'u', 'x'))
)
select json_build_object(
	'columns', (select coalesce(json_agg(json_build_object('table', attrelid::text, 'number', attnum,
		'name', attname, 'type', atttypid::text, 'typmod', atttypmod,
		'notNull', attnotnull or exists (select from certain c where c.oid = attrelid and c.number = attnum),
		'dimensions', (select greatest(attndims, t.typndims) from pg_catalog.pg_type t where t.oid = atttypid),
		'hasDefault', atthasdef, 'identity', attidentity, 'generated', attgenerated,
		'isLoose', exists (select from pg_catalog.pg_collation l
			where l.oid = attcollation and not l.collisdeterministic))
		order by attrelid, attnum), '[]') from own),
	'types', (select coalesce(json_agg(json_build_object('oid', t.oid::text, 'schema', n.nspname,
		'name', t.typname, 'kind', t.typtype, 'category', t.typcategory, 'base', t.typbasetype::text,
		'element', t.typelem::text, 'typmod', t.typtypmod, 'notNull', t.typnotnull,
		'hasDefault', t.typdefault is not null,
		'labels', (select json_agg(e.enumlabel order by e.enumsortorder) from pg_catalog.pg_enum e
			where e.enumtypid = t.oid),
		'checks', (select json_agg(k.conname) from pg_catalog.pg_constraint k
			where k.contypid = t.oid and k.contype = 'c'))), '[]')
		from used u join pg_catalog.pg_type t on t.oid = u.oid
		join pg_catalog.pg_namespace n on n.oid = t.typnamespace),
	'constraints', (select coalesce(json_agg(json_build_object('table', "table"::text, 'name', name,
		'kind', kind, 'columns', columns, 'isWhole', whole)), '[]') from constrained))::text`

/** All tables and views except system tables. */
export async function readRelations(driver: Driver): Promise<Relations> {
	// RELATIONS builds an object of this type.
	return (await readJson(driver, RELATIONS, [])) as Relations
}

export async function readCatalog(driver: Driver, relations: readonly Relation[]): Promise<Catalog> {
	const oids = `{${relations.map(({ oid }) => oid).join(',')}}`
	// CATALOG builds an object of this type.
	return (await readJson(driver, CATALOG, [oids])) as Catalog
}

async function readJson(driver: Driver, text: string, values: readonly unknown[]): Promise<unknown> {
	const { rows } = await driver.query({ text, values, writes: false })
	return JSON.parse(String(rows[0]?.[0]))
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
