/** PostgreSQL's catalog: `readRelations` lists all tables and views, `readCatalog` reads columns, types and constraints. */
import type { Driver } from '../../sql/driver.ts'
import type { CatalogType } from '../types.ts'

/** A table, view, materialized view, foreign or partitioned table. */
export interface Relation {
	readonly oid: string
	readonly schema: string
	readonly name: string
	readonly isView: boolean
	/** Whether its unqualified name refers to it, according to the connection's `search_path`. */
	readonly isVisible: boolean
	readonly isPart: boolean
	/** Whether it, or a partition of it, has rules or triggers. The triggers of foreign keys don't count. */
	readonly hasTriggers: boolean
	/** Whether row level security is on: its policies may skip records. */
	readonly hasPolicies: boolean
	/** Whether it is a table that isn't partitioned and not foreign, so that `returning` has system columns. */
	readonly isPlain: boolean
}

export interface Relations {
	readonly relations: readonly Relation[]
	/** The first existing schema of the `search_path`; null for none. */
	readonly currentSchema: string | null
	/** The setting `extra_float_digits`; below 1, floats lose digits. */
	readonly extraFloatDigits: number
}

export interface CatalogColumn {
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
	/** Whether it can't be written although its view can: it is an expression. */
	readonly isFixed: boolean
}

/** Where the database stores a column of a writable view: in a table, or in a view with triggers. */
export interface Origin {
	readonly view: string
	readonly number: number
	/** The table; null for a view with triggers. */
	readonly table: string | null
	readonly tableSchema: string | null
	readonly tableName: string | null
	/** The column's number and name in the table. */
	readonly place: number
	readonly column: string | null
	/** The default as SQL: for the view, the keyword `default` would mean null in updates. */
	readonly defaultSql: string | null
	readonly isGenerated: boolean
}

export interface CatalogConstraint {
	readonly table: string
	readonly name: string
	/** `p` primary, `u` unique, `f` foreign key, `c` check, `x` exclusion. */
	readonly kind: string
	readonly columns: readonly number[] | null
	/** For a foreign key; null if it isn't compared by `=`, and for the copies that the server makes for partitions of the target. */
	readonly target: {
		readonly schema: string
		readonly name: string
		readonly columns: readonly string[]
	} | null
	/** The tree of a check on one column, in UTF-8; null if it may not hold for all rows. */
	readonly condition: string | null
	/** Whether it applies to all rows and to the columns themselves: not a partial index, and not one on expressions. */
	readonly isWhole: boolean
	/** Whether it may be checked only at the end of a transaction; `on conflict` can't use it then. */
	readonly isDeferrable: boolean
}

export interface Catalog {
	readonly columns: readonly CatalogColumn[]
	readonly types: readonly CatalogType[]
	/** Views that accept inserts, updates and deletes. */
	readonly writable: readonly string[]
	readonly origins: readonly Origin[]
	readonly constraints: readonly CatalogConstraint[]
}

const RELATIONS = `select json_build_object('currentSchema', current_schema(),
	'extraFloatDigits', current_setting('extra_float_digits')::int,
	'relations', (select coalesce(json_agg(json_build_object('oid', c.oid::text, 'schema', n.nspname,
		'name', c.relname, 'isView', c.relkind in ('v', 'm'), 'isVisible', pg_table_is_visible(c.oid),
		'isPart', c.relispartition, 'hasTriggers', c.relhasrules or exists (select from pg_catalog.pg_trigger t
			where not t.tgisinternal and (t.tgrelid = c.oid or c.relkind = 'p' and t.tgrelid in (
				select p.relid from pg_catalog.pg_partition_tree(c.oid) p))), 'hasPolicies', c.relrowsecurity, 'isPlain', c.relkind = 'r') order by n.nspname, c.relname), '[]')
	from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
	where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname <> 'information_schema'
	and n.nspname not in ('pg_catalog', 'pg_toast')))::text`

/**
 * `$1` is an array of oids of relations. `pg_depend` has the columns of an expression index. A view's column is not
 * null if it is a not-null column of a table, and the view is a single select with inner joins only: no union, no
 * grouping sets, no subquery. The view's query tree lists its columns in order.
 *
 * A view is writable if all three of `INSERT`, `UPDATE` and `DELETE` (28) are possible; views with rules aren't, because a
 * rule may lack `returning`. `traced` follows each column of such a view down to a table, or to a view with `instead of
 * insert` triggers (bits 68). An entry of the view's own select list is in two braces; escaped ones are parts of names.
 *
 * A foreign key to a partitioned table has copies for each of its partitions: a constraint whose parent refers to another
 * table. A key over periods compares them by `&&`.
 *
 * `materialized` searches a view's query tree once, not once per column. `distinct` changes no rows, but the planner's
 * estimate: at 200 tables it would otherwise compile the statement (`jit`), which takes seconds.
 */
const CATALOG = `with recursive own as (
	select a.* from pg_catalog.pg_attribute a
	where a.attrelid = any($1::oid[]) and a.attnum > 0 and not a.attisdropped
), used(oid) as (
	select atttypid from own
	union select next.oid from used u join pg_catalog.pg_type t on t.oid = u.oid
	cross join lateral (values (t.typbasetype), (t.typelem)) next(oid) where next.oid <> 0
), certain as materialized (
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
), writable as (
	select v.oid from pg_catalog.pg_class v where v.oid = any($1::oid[]) and v.relkind = 'v'
	and pg_catalog.pg_relation_is_updatable(v.oid, true) & 28 = 28
	and not exists (select from pg_catalog.pg_rewrite r where r.ev_class = v.oid and r.ev_type <> '1')
), traced(view, number, origin, place, step) as (
	select own.attrelid, own.attnum::int, own.attrelid, own.attnum::int, 0 from own join writable on oid = attrelid
	union all select t.view, t.number, o.origin[1]::oid, o.origin[2]::int, t.step + 1 from traced t
	join pg_catalog.pg_class c on c.oid = t.origin and c.relkind = 'v'
	join pg_catalog.pg_rewrite r on r.ev_class = c.oid and r.ev_type = '1'
	cross join lateral (
		select regexp_match(s.entry, '^([0-9]+) :resorigcol ([0-9]+)') as origin, row_number() over (order by s.at) as place
		from (select p.at, lead(p.part) over (order by p.at) as entry,
			sum(length(replace(p.part, '}', '')) - length(replace(p.part, '{', ''))) over (order by p.at) as depth
			from regexp_split_to_table(replace(replace(r.ev_action::text, E'\\\\{', ''), E'\\\\}', ''), ':resorigtbl ')
				with ordinality p(part, at)) s
		where s.depth = 2 and s.entry ~ '^[0-9]+ :resorigcol [0-9]+ :resjunk false'
	) o
	where o.place = t.place and o.origin[1] <> '0' and not exists (select from pg_catalog.pg_trigger g
		where g.tgrelid = c.oid and g.tgtype & 68 = 68)
), origins as (
	select distinct on (t.view, t.number) t.view, t.number, c.oid, n.nspname, c.relname, t.place, a.attname,
		(select coalesce(pg_catalog.pg_get_expr(d.adbin, d.adrelid), format('nextval(%L::regclass)',
				pg_catalog.pg_get_serial_sequence(f.attrelid::regclass::text, f.attname)))
			from traced u join pg_catalog.pg_attribute f on f.attrelid = u.origin and f.attnum = u.place
			left join pg_catalog.pg_attrdef d on d.adrelid = f.attrelid and d.adnum = f.attnum
			where u.view = t.view and u.number = t.number and u.step > 0 and (f.atthasdef or f.attidentity <> '')
			order by u.step limit 1) as default_sql,
		a.attgenerated <> '' or a.attidentity = 'a' as fixed
	from traced t
	join pg_catalog.pg_attribute a on a.attrelid = t.origin and a.attnum = t.place
	left join pg_catalog.pg_class c on c.oid = t.origin and c.relkind <> 'v'
	left join pg_catalog.pg_namespace n on n.oid = c.relnamespace
	where t.step > 0 order by t.view, t.number, t.step desc
), relations(oid) as (
	select unnest($1::oid[]) union select oid from origins where oid is not null
), constrained as (
	select conrelid as "table", conname as name, contype::text as kind, conkey as columns, true as whole,
		condeferrable as "isDeferrable", (
		select json_build_object('schema', n.nspname, 'name', c.relname, 'columns', (
			select json_agg(a.attname order by f.at) from unnest(confkey) with ordinality f(number, at)
			join pg_catalog.pg_attribute a on a.attrelid = confrelid and a.attnum = f.number))
		from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.oid = confrelid
		and not exists (select from pg_catalog.pg_constraint p where p.oid = k.conparentid and p.confrelid <> k.confrelid)
		and not exists (select from pg_catalog.pg_operator o where o.oid = any(k.conpfeqop) and o.oprname <> '=')
		and not exists (select from unnest(k.conkey, k.confkey) f(own, other)
			join pg_catalog.pg_attribute a on a.attrelid = k.conrelid and a.attnum = f.own
			join pg_catalog.pg_attribute b on b.attrelid = k.confrelid and b.attnum = f.other
			where a.attcollation <> b.attcollation and ('pg_catalog."default"'::regcollation not in (a.attcollation, b.attcollation)
				or exists (select from pg_catalog.pg_collation l
					where l.oid in (a.attcollation, b.attcollation) and not l.collisdeterministic)))
	) as target, case when convalidated and not connoinherit and pg_catalog.cardinality(conkey) = 1
		and pg_catalog.getdatabaseencoding() = 'UTF8' then conbin::text end as condition
	from pg_catalog.pg_constraint k
	where conrelid in (select oid from relations) and contype in ('p', 'u', 'f', 'c', 'x')
	union all select i.indrelid, c.relname, 'u', case when 0 = any(i.indkey::int2[])
		then (select array_agg(distinct d.refobjsubid::int2) from pg_catalog.pg_depend d
			where d.classid = 'pg_catalog.pg_class'::regclass and d.objid = i.indexrelid
			and d.refobjid = i.indrelid and d.refobjsubid > 0)
		else (i.indkey::int2[])[0:i.indnkeyatts - 1] end,
		i.indpred is null and i.indexprs is null and i.indisvalid, false, null, null
	from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = i.indexrelid
	where i.indrelid in (select oid from relations) and i.indisunique
	and not exists (select from pg_catalog.pg_constraint k where k.conindid = i.indexrelid
		and k.contype in ('p', 'u', 'x'))
)
select json_build_object(
	'columns', (select coalesce(json_agg(json_build_object('table', attrelid::text, 'number', attnum,
		'name', attname, 'type', atttypid::text, 'typmod', atttypmod,
		'notNull', attnotnull or (attrelid, attnum) in (select oid, number from certain),
		'dimensions', (select greatest(attndims, t.typndims) from pg_catalog.pg_type t where t.oid = atttypid),
		'hasDefault', atthasdef, 'identity', attidentity, 'generated', attgenerated,
		'isLoose', exists (select from pg_catalog.pg_collation l
			where l.oid = attcollation and not l.collisdeterministic),
		'isFixed', exists (select from writable w where w.oid = attrelid)
			and not pg_catalog.pg_column_is_updatable(attrelid, attnum, true))
		order by attrelid, attnum), '[]') from own),
	'types', (select coalesce(json_agg(json_build_object('oid', t.oid::text, 'schema', n.nspname,
		'name', t.typname, 'kind', t.typtype, 'category', t.typcategory, 'base', t.typbasetype::text,
		'element', t.typelem::text, 'typmod', t.typtypmod, 'notNull', t.typnotnull,
		'hasDefault', t.typdefault is not null,
		'labels', (select json_agg(e.enumlabel order by e.enumsortorder) from pg_catalog.pg_enum e
			where e.enumtypid = t.oid),
		'checks', (select json_agg(json_build_object('name', k.conname, 'condition', case when k.convalidated
				and pg_catalog.getdatabaseencoding() = 'UTF8' then k.conbin::text end))
			from pg_catalog.pg_constraint k where k.contypid = t.oid and k.contype = 'c'))), '[]')
		from (select distinct oid from used) u join pg_catalog.pg_type t on t.oid = u.oid
		join pg_catalog.pg_namespace n on n.oid = t.typnamespace),
	'writable', (select coalesce(json_agg(oid::text), '[]') from writable),
	'origins', (select coalesce(json_agg(json_build_object('view', view::text, 'number', number, 'table', oid::text,
		'tableSchema', nspname, 'tableName', relname, 'place', place, 'column', attname, 'defaultSql', default_sql,
		'isGenerated', fixed)), '[]') from origins),
	'constraints', (select coalesce(json_agg(json_build_object('table', "table"::text, 'name', name,
		'kind', kind, 'columns', columns, 'isWhole', whole, 'isDeferrable', "isDeferrable", 'target', target, 'condition', condition)
		order by "table", name), '[]') from constrained))::text`

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
